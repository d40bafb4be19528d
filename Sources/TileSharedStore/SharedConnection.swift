import CTileMemcached
import TileCache

/// How an operation on a server ended.
enum SharedAnswer: Hashable {
    /// The command succeeded.
    case done
    /// The server has no such value, or, for an addition, has one.
    case missing
    /// The server refused the value: too large, out of memory. It works otherwise.
    case refused
    /// The server did not answer in time, or broke the protocol.
    case failed

    init(_ code: memcached_return_t) {
        self =
            switch code {
            case MEMCACHED_SUCCESS, MEMCACHED_STORED, MEMCACHED_DELETED, MEMCACHED_END: .done
            case MEMCACHED_NOTFOUND, MEMCACHED_NOTSTORED, MEMCACHED_DATA_EXISTS: .missing
            case MEMCACHED_E2BIG, MEMCACHED_SERVER_MEMORY_ALLOCATION_FAILURE, MEMCACHED_SERVER_ERROR: .refused
            default: .failed
            }
    }
}

/// A value that a server sent, freed with its owner.
final class SharedValue: @unchecked Sendable {
    // Never written.
    let bytes: UnsafeRawBufferPointer

    init(_ start: UnsafeMutableRawPointer, count: Int) { bytes = UnsafeRawBufferPointer(start: start, count: count) }

    deinit { free(UnsafeMutableRawPointer(mutating: bytes.baseAddress)) }
}

/// Connections to all servers, for one operation at a time.
///
/// Keys are spread over the servers by ketama (consistent hashing). A server that fails keeps its keys: no removal would
/// find their entries on other servers once it is back.
final class SharedConnection {
    private let handle: UnsafeMutablePointer<memcached_st>
    private let largest: UnsafeMutablePointer<Int>

    init(_ servers: [SharedServer], _ options: TileSharedStoreOptions) throws(TileSharedStoreError) {
        guard let handle = memcached_create(nil) else { throw TileSharedStoreError("servers: there is no memory") }
        self.handle = handle
        largest = .allocate(capacity: 1)
        largest.pointee = Self.tableBytes(servers: servers.count)
        memcached_set_memory_allocators(
            handle,
            { _, size, limit in SharedConnection.permits(size, limit) ? malloc(size) : nil },
            { _, memory, _ in free(memory) },
            { _, memory, size, limit in SharedConnection.permits(size, limit) ? realloc(memory, size) : nil },
            { _, count, size, limit in
                let (total, overflow) = count.multipliedReportingOverflow(by: size)
                return !overflow && SharedConnection.permits(total, limit) ? calloc(count, size) : nil
            },
            largest
        )
        func set(_ behavior: memcached_behavior_t, _ value: Int) {
            memcached_behavior_set(handle, behavior, UInt64(value))
        }
        let milliseconds = { (time: Duration) in max(Int(time / .milliseconds(1)), 1) }
        set(MEMCACHED_BEHAVIOR_NO_BLOCK, 1)
        set(MEMCACHED_BEHAVIOR_TCP_NODELAY, 1)
        set(MEMCACHED_BEHAVIOR_KETAMA, 1)
        set(MEMCACHED_BEHAVIOR_CONNECT_TIMEOUT, milliseconds(options.connectTime))
        set(MEMCACHED_BEHAVIOR_POLL_TIMEOUT, milliseconds(options.answerTime))
        set(MEMCACHED_BEHAVIOR_RCV_TIMEOUT, 1000 * milliseconds(options.answerTime))
        set(MEMCACHED_BEHAVIOR_SND_TIMEOUT, 1000 * milliseconds(options.answerTime))
        // The breakers decide alone when a server is asked: libmemcached never leaves one out.
        set(MEMCACHED_BEHAVIOR_SERVER_TIMEOUT_LIMIT, Int(Int32.max))
        for server in servers {
            guard SharedServer.ports.contains(server.port) else {
                throw TileSharedStoreError("server '\(server)': a port from 1 to 65535 was expected")
            }
            guard memcached_server_add(handle, server.host, in_port_t(server.port)) == MEMCACHED_SUCCESS else {
                throw TileSharedStoreError("server '\(server)': libmemcached does not accept it")
            }
        }
        // The tables are there. A server that states a larger value than any that was stored gets no memory for it.
        largest.pointee = options.largestEntry.bytes + Self.spareBytes
    }

    /// Bytes of libmemcached's tables at most: a server's state and its points on the ring, and those of ten more.
    private static func tableBytes(servers: Int) -> Int { 20 * 1024 * servers + spareBytes }
    /// Bytes by which the buffer of a value may be larger than it, and those of short-lived objects.
    private static let spareBytes = 32 * 1024

    /// Memory of the connections to some servers at most: their tables and a value.
    static func memorySize(servers: Int, _ options: TileSharedStoreOptions) -> Int {
        tableBytes(servers: servers) + options.largestEntry.bytes + spareBytes
    }

    deinit {
        memcached_free(handle)
        largest.deallocate()
    }

    /// Index of the server that has a name.
    func server(of name: String) -> Int { Int(memcached_generate_hash(handle, name, name.utf8.count)) }

    /// Names of the copies of a generation. Each is on another server, so that the loss of one does not lose them all.
    func generationNames(of namespace: TileStoreNamespace) -> [String] {
        let count = min(SharedName.generationCopies, Int(memcached_server_count(handle)))
        var names: [String] = []
        var taken: Set<Int> = []
        // Two addresses of one server share its keys: there may be fewer.
        for copy in 0..<256 where names.count < count {
            let name = SharedName.generation(namespace, copy: copy)
            if taken.insert(server(of: name)).inserted { names.append(name) }
        }
        return names
    }

    func value(of name: String) -> (SharedAnswer, SharedValue?) {
        var count = 0
        var flags: UInt32 = 0
        var code = MEMCACHED_FAILURE
        let start = memcached_get(handle, name, name.utf8.count, &count, &flags, &code)
        // An empty value is none of ours, and has no address.
        guard let start else { return (code == MEMCACHED_SUCCESS ? .missing : SharedAnswer(code), nil) }
        return (.done, SharedValue(start, count: count))
    }

    /// Stores a value. It expires after some seconds, or, if over 30 days, at that many since 1970; 0 is never.
    func set(_ name: String, _ bytes: UnsafeRawBufferPointer, expires: Int = 0) -> SharedAnswer {
        SharedAnswer(memcached_set(handle, name, name.utf8.count, bytes.chars, bytes.count, expires, 0))
    }

    /// Stores a value unless there is one, which is `.missing`.
    func add(_ name: String, _ bytes: UnsafeRawBufferPointer, expires: Int) -> SharedAnswer {
        SharedAnswer(memcached_add(handle, name, name.utf8.count, bytes.chars, bytes.count, expires, 0))
    }

    /// Stores a generation unless there is one as high; `.missing` if another client has changed it meanwhile.
    func raise(_ name: String, to generation: UInt64) -> SharedAnswer {
        var isAsHigh = false
        let answer = change(name) { bytes in
            isAsHigh = bytes.flatMap(Self.generation).map { $0 >= generation } ?? false
            return isAsHigh ? nil : (withUnsafeBytes(of: generation.littleEndian) { Array($0) }, 0)
        }
        return isAsHigh ? .done : answer
    }

    /// Replaces a value by another one, unless another client changes or removes it meanwhile, which is `.missing`.
    ///
    /// - Parameter make: Makes the new value and its expiry, as of ``set(_:_:expires:)``, of the present one; `nil` for
    ///   none, which is `.missing`.
    func change(
        _ name: String,
        _ make: (UnsafeRawBufferPointer?) -> (bytes: [UInt8], expires: Int)?
    ) -> SharedAnswer {
        memcached_behavior_set(handle, MEMCACHED_BEHAVIOR_SUPPORT_CAS, 1)
        defer { memcached_behavior_set(handle, MEMCACHED_BEHAVIOR_SUPPORT_CAS, 0) }
        // `memcached_get` has no version of the value.
        var code = name.withCString { key in
            withUnsafePointer(to: UnsafePointer?(key)) { memcached_mget(handle, $0, [name.utf8.count], 1) }
        }
        guard code == MEMCACHED_SUCCESS else { return SharedAnswer(code) }
        var version: UInt64?
        var new: (bytes: [UInt8], expires: Int)?
        while let result = memcached_fetch_result(handle, nil, &code) {
            version = memcached_result_cas(result)
            let (start, count) = (memcached_result_value(result), memcached_result_length(result))
            new = make(UnsafeRawBufferPointer(start: start, count: count))
            memcached_result_free(result)
        }
        // At the end there is nothing more, or the server has failed.
        guard [.done, .missing].contains(SharedAnswer(code)) else { return SharedAnswer(code) }
        if version == nil { new = make(nil) }
        guard let new else { return .missing }
        return new.bytes.withUnsafeBytes { bytes in
            guard let version else { return add(name, bytes, expires: new.expires) }
            return SharedAnswer(
                memcached_cas(handle, name, name.utf8.count, bytes.chars, bytes.count, new.expires, 0, version)
            )
        }
    }

    /// The generation that a value is; `nil` if it is none, or damaged.
    static func generation(_ bytes: UnsafeRawBufferPointer) -> UInt64? {
        guard bytes.count == 8 else { return nil }
        let generation = UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
        return generation <= SharedStoreState.highestGeneration ? generation : nil
    }

    func remove(_ name: String) -> SharedAnswer { SharedAnswer(memcached_delete(handle, name, name.utf8.count, 0)) }

    private static func permits(_ size: Int, _ limit: UnsafeMutableRawPointer?) -> Bool {
        size <= limit?.load(as: Int.self) ?? 0
    }
}

extension UnsafeRawBufferPointer {
    fileprivate var chars: UnsafePointer<CChar>? { baseAddress?.assumingMemoryBound(to: CChar.self) }
}
