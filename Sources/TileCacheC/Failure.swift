package import CTileCache
package import TileCache

/// Error of a call: a status and the text of `tilecache_last_error`.
package struct Failure: Error {
    package let status: tilecache_status
    let message: String

    private init(_ status: Int, _ message: String) {
        self.status = tilecache_status(status)
        self.message = message
    }

    package init(_ error: TileCacheError) {
        let status =
            switch error {
            case .invalidPyramid: TILECACHE_ERROR_INVALID_PYRAMID
            case .invalidConfiguration: TILECACHE_ERROR_INVALID_CONFIGURATION
            case .invalidLayer: TILECACHE_ERROR_INVALID_LAYER
            case .outOfMemory: TILECACHE_ERROR_OUT_OF_MEMORY
            case .invalidProfile: TILECACHE_ERROR_INVALID_PROFILE
            case .isShutDown: TILECACHE_ERROR_SHUT_DOWN
            }
        self.init(Int(status), error.description)
    }

    package static func argument(_ message: String) -> Failure {
        Failure(Int(TILECACHE_ERROR_INVALID_ARGUMENT), message)
    }
    package static func isNull(_ name: String) -> Failure { .argument("\(name) must not be NULL") }
    static func unsupported(_ message: String) -> Failure { Failure(Int(TILECACHE_ERROR_UNSUPPORTED), message) }
    static func timedOut(_ message: String) -> Failure { Failure(Int(TILECACHE_ERROR_TIMED_OUT), message) }
    static func notResident(_ message: String) -> Failure { Failure(Int(TILECACHE_ERROR_NOT_RESIDENT), message) }
    package static func invalidSource(_ message: String) -> Failure {
        Failure(Int(TILECACHE_ERROR_INVALID_SOURCE), message)
    }
    package static func invalidStore(_ message: String) -> Failure {
        Failure(Int(TILECACHE_ERROR_INVALID_STORE), message)
    }
    static func invalidProfile(_ message: String) -> Failure {
        Failure(Int(TILECACHE_ERROR_INVALID_PROFILE), message)
    }
    static func clamped(_ message: String) -> Failure { Failure(Int(TILECACHE_ERROR_LIMIT_CLAMPED), message) }
    static func noRoom(_ message: String) -> Failure { Failure(Int(TILECACHE_ERROR_NO_ROOM), message) }
    static var alreadyCompleted: Failure {
        Failure(Int(TILECACHE_ERROR_ALREADY_COMPLETED), "the request has been completed before")
    }
}

/// Runs the body of a call and returns its status. Stores its error text for this thread.
package func attempt(_ body: () throws(Failure) -> Void) -> tilecache_status {
    do throws(Failure) {
        try body()
        return tilecache_status(TILECACHE_OK)
    } catch {
        var message = error.message
        message.withUTF8 { text in
            text.withMemoryRebound(to: CChar.self) { ctilecache_set_last_error($0.baseAddress, $0.count) }
        }
        return error.status
    }
}

/// Runs the body of a call on what a handle stands for.
func attempt<Object>(
    on object: @autoclosure () throws(Failure) -> Object,
    _ body: (Object) throws(Failure) -> Void
) -> tilecache_status {
    attempt { () throws(Failure) in try body(try object()) }
}

/// Runs a call of the library and translates its error to this interface.
package func library<Result>(_ body: () throws(TileCacheError) -> Result) throws(Failure) -> Result {
    do throws(TileCacheError) { return try body() } catch { throw Failure(error) }
}

/// Returns the object behind a handle.
package func object<Object: AnyObject>(
    _ handle: OpaquePointer?,
    as type: Object.Type,
    _ name: String
) throws(Failure) -> Object {
    guard let handle else { throw .isNull(name) }
    #if !canImport(ObjectiveC)
        // An object begins with its class; an object of another copy of this library has another class.
        guard UnsafeRawPointer(handle).load(as: ObjectIdentifier.self) == ObjectIdentifier(type) else {
            throw .argument("\(name) is a handle of another kind, or of another library with the same functions")
        }
    #endif
    return Unmanaged<Object>.fromOpaque(UnsafeRawPointer(handle)).takeUnretainedValue()
}

/// A handle that owns an object until `giveBack` ends it.
package func makeHandle<Object: AnyObject>(_ object: Object) -> OpaquePointer {
    OpaquePointer(Unmanaged.passRetained(object).toOpaque())
}

/// Ends a handle and returns what it owned; `nil` for NULL.
package func giveBack<Object: AnyObject>(_ handle: OpaquePointer?, as type: Object.Type) -> Object? {
    handle.map { Unmanaged<Object>.fromOpaque(UnsafeRawPointer($0)).takeRetainedValue() }
}
