import Dispatch
import TileCache

/// Bytes of a range.
enum RangeBytes: Sendable {
    /// Of a file on a disk.
    case lent(ScratchBytes)
    /// Of a server's answer.
    case received([UInt8])

    var count: Int {
        switch self {
        case .lent(let bytes): bytes.memory.count
        case .received(let bytes): bytes.count
        }
    }

    /// All bytes; a copy of those that are lent.
    var array: [UInt8] {
        switch self {
        case .lent(let bytes): bytes.array
        case .received(let bytes): bytes
        }
    }

    func withBytes<Value>(_ body: (UnsafeBufferPointer<UInt8>) -> Value) -> Value {
        switch self {
        case .lent(let bytes): withExtendedLifetime(bytes) { body(UnsafeBufferPointer(bytes.memory)) }
        case .received(let bytes): bytes.withUnsafeBufferPointer(body)
        }
    }
}

/// How a read ended.
enum RangeEnd: Sendable {
    case bytes(RangeBytes)
    /// The reader has counted the failure.
    case failed(TileFailure, TileLoadFailure)
    case cancelled
}

/// A read that has begun.
struct RangeRead: Sendable {
    /// Cancels the read; its end is still delivered.
    var cancel: @Sendable () -> Void = {}
    /// Makes the read one that a view needs.
    var raise: @Sendable () -> Void = {}
}

/// Urgency of a read, and the count of its bytes.
struct RangeClient: Sendable {
    /// Whether a view needs it now.
    var isDemand: Bool
    /// Whether a thread that opens the source waits for it.
    var isOpening = false
    /// Counts the bytes against the cache's limit; returns whether there is room.
    var hold: @Sendable (Int) -> Bool

    init(_ request: TileRequest) {
        isDemand = request.isDemand
        hold = { request.holdsEncoded(.bytes($0)) }
    }

    init(isDemand: Bool, isOpening: Bool = false) {
        (self.isDemand, self.isOpening) = (isDemand, isOpening)
        hold = { _ in true }
    }

    static var opening: RangeClient { RangeClient(isDemand: true, isOpening: true) }

    /// Gets bytes that are at hand, if the cache has room for them.
    func held(_ range: Range<Int>, _ name: String, _ counter: SourceCounter, _ get: () -> RangeEnd) -> RangeEnd {
        guard hold(range.count) else {
            let failure = TileLoadFailure(.noRoom, "the cache has no room for \(range.count) encoded bytes")
            counter.count(failure, of: name)
            return .failed(.transient(retryAfter: .seconds(1)), failure)
        }
        return get()
    }
}

/// Reads byte ranges of one unchanging file, on a disk or on a web server.
///
/// On a disk it reads in the call. On a server, near ranges that begin together or wait for a connection become one request,
/// and the file is pinned by its size, `ETag` and `Last-Modified`.
final class ByteRangeReader: Sendable {
    private enum Origin {
        case file(LocalRanges)
        case server(HTTPRanges)
    }

    /// Path or address.
    let name: String
    /// Bytes of the file.
    let size: Int
    /// What identifies the file's present content.
    let dataSet: [String]
    let counter: SourceCounter
    private let origin: Origin

    /// Opens a file and reads its beginning, with one request, or with three if the server refuses to answer one that
    /// reaches beyond the file's end.
    ///
    /// - Parameters:
    ///   - place: A path, or an address of http or https.
    ///   - expected: What the file should be, for messages.
    ///   - count: Bytes to read; fewer if the file is shorter.
    ///   - least: Bytes that each such file has.
    ///   - http: Options of requests; those for tiles with addresses of their own are ignored.
    ///   - scratch: Memory for the bytes of a file on a disk. Default: of its own.
    static func open(
        _ place: String,
        expecting expected: String,
        first count: Int,
        least: Int,
        http: HTTPTileOptions,
        counter: SourceCounter,
        scratch: ScratchMemory = ScratchMemory()
    ) throws(TileSourceError) -> (reader: ByteRangeReader, beginning: [UInt8]) {
        try http.check(place)
        guard HTTPAddress.begins(place) else {
            let file = try LocalRanges(place, expecting: expected, counter: counter, scratch: scratch)
            let reader = ByteRangeReader(place, .file(file), size: file.size, file.dataSet, counter)
            return (reader, try reader.readNow(0..<min(count, file.size)))
        }
        guard let ranges = HTTPRanges(place, http, counter: counter) else {
            throw TileSourceError(place, "libcurl cannot begin")
        }
        do throws(TileSourceError) {
            var bytes = try wait(place) { _ = ranges.read(0..<count, least: least, for: .opening, then: $0) }.array
            guard let pin = ranges.pin else { throw TileSourceError(place, "there is no answer") }
            let reader = ByteRangeReader(place, .server(ranges), size: pin.size, [place] + pin.names, counter)
            if bytes.count < min(count, pin.size) { bytes += try reader.readNow(bytes.count..<min(count, pin.size)) }
            return (reader, bytes)
        } catch {
            ranges.stop()
            throw error
        }
    }

    /// Opens a source, and a second time if its file changed meanwhile: nothing of it is used yet.
    static func unchanged<Source>(_ open: () throws(TileSourceError) -> Source) throws(TileSourceError) -> Source {
        do { return try open() } catch { guard error.cause == .changed else { throw error } }
        do { return try open() } catch {
            guard error.cause == .changed, HTTPAddress.begins(error.subject) else { throw error }
            throw TileSourceError(error.subject, TileLoadFailure(.changed, RangeRule.changedTwice))
        }
    }

    private init(
        _ name: String,
        _ origin: Origin,
        size: Int,
        _ dataSet: [String],
        _ counter: SourceCounter
    ) {
        (self.name, self.origin, self.size, self.dataSet, self.counter) = (name, origin, size, dataSet, counter)
    }

    /// What has been found to be wrong with the file or its server; `nil` if nothing has.
    var warning: String? {
        switch origin {
        case .file(let file): file.isChanged ? RangeRule.changed : nil
        case .server(let server): server.warning
        }
    }

    /// Whether stores may keep what was read.
    var isStorable: Bool { if case .server(let server) = origin { server.isStorable } else { true } }

    /// Bytes of the file that stay in memory.
    var heldBytes: Int { if case .server(let server) = origin { server.heldBytes } else { 0 } }

    /// Whether reads return later, on other threads.
    var isRemote: Bool { if case .server = origin { true } else { false } }

    /// Reads a range within ``size``.
    ///
    /// - Parameter then: Called once: within this call for a file on a disk or an empty range, else later on a thread
    ///   that may decode.
    @discardableResult
    func read(
        _ range: Range<Int>,
        for client: RangeClient,
        then: @escaping @Sendable (RangeEnd) -> Void
    ) -> RangeRead {
        guard range.lowerBound >= 0, range.upperBound <= size else {
            let message = "bytes \(range.lowerBound) to \(range.upperBound) lie beyond the file's end at \(size)"
            let failure = TileLoadFailure(.undecodable, message)
            counter.count(failure, of: name)
            then(.failed(.permanent, failure))
            return RangeRead()
        }
        guard !range.isEmpty else {
            then(.bytes(.received([])))
            return RangeRead()
        }
        switch origin {
        case .file(let file):
            then(file.read(range, for: client))
            return RangeRead()
        case .server(let server): return server.read(range, for: client, then: then)
        }
    }

    /// Reads a range of a source that is being opened, and waits.
    func readNow(_ range: Range<Int>) throws(TileSourceError) -> [UInt8] { try bytesNow(range).array }

    /// Reads a range that is used once, as ``readNow(_:)`` does.
    func bytesNow(_ range: Range<Int>) throws(TileSourceError) -> RangeBytes {
        try Self.wait(name) { read(range, for: .opening, then: $0) }
    }

    /// Ends all reads; later ones are cancelled at once.
    func stop() { if case .server(let server) = origin { server.stop() } }

    private static func wait(
        _ name: String,
        _ read: (@escaping @Sendable (RangeEnd) -> Void) -> Void
    ) throws(TileSourceError) -> RangeBytes {
        guard !TileSourceOpening.isInterrupted else {
            throw TileSourceError(name, TileSourceOpening.interruption, .cancelled)
        }
        let answer = Awaited<RangeEnd>()
        read { answer.set($0) }
        switch answer.wait(orInterrupted: .cancelled) {
        case .bytes(let bytes): return bytes
        case .failed(let end, let failure):
            var error = TileSourceError(name, failure)
            if end != .permanent { error.reason = .mayPass }
            throw error
        case .cancelled: throw TileSourceError(name, TileSourceOpening.interruption, .cancelled)
        }
    }
}

/// A value that a thread waits for. The first one that is set stays.
final class Awaited<Value: Sendable>: Sendable {
    private let value = Lock<Value?>(nil)
    private let isThere = DispatchSemaphore(value: 0)

    func set(_ value: Value) {
        self.value.withLock { $0 = $0 ?? value }
        isThere.signal()
    }

    /// Waits.
    ///
    /// - Parameter interrupted: The value if the opening that waits is cancelled. Default: `nil`, it goes on waiting.
    func wait(orInterrupted interrupted: Value? = nil) -> Value {
        TileSourceOpening.waiting({ if let interrupted { self.set(interrupted) } }) {
            while true {
                isThere.wait()
                if let value = value.withLock({ $0 }) { return value }
            }
        }
    }
}
