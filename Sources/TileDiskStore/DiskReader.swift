import Dispatch
import TileCache

/// Copy of an entry's bytes. The connection is free for others while it is used.
final class EntryBytes {
    let header: UnsafeRawBufferPointer
    let payload: UnsafeRawBufferPointer
    private let memory: UnsafeMutableRawBufferPointer

    init(header: UnsafeRawBufferPointer, payload: UnsafeRawBufferPointer) {
        memory = .allocate(byteCount: max(header.count + payload.count, 1), alignment: 16)
        // The payload first, for its alignment.
        self.payload = UnsafeRawBufferPointer(rebasing: memory[..<payload.count])
        self.header = UnsafeRawBufferPointer(rebasing: memory[payload.count..<payload.count + header.count])
        if payload.count > 0 { memory.copyMemory(from: payload) }
        if header.count > 0 {
            UnsafeMutableRawBufferPointer(rebasing: memory[payload.count...]).copyMemory(from: header)
        }
    }

    deinit { memory.deallocate() }
}

/// A connection that reads, used by one thread at a time.
final class DiskReader: @unchecked Sendable {
    // Only the thread that has taken it from the pool uses it.
    private let connection: SQLConnection

    init(path: String, vfs: String?, pages: Int, until deadline: MonotonicTime) throws(SQLFailure) {
        connection = try SQLConnection(path: path, isReadOnly: true, vfs: vfs)
        // The first pragma reads the schema, under a lock.
        connection.waitForLocks(until: deadline)
        try connection.run("PRAGMA cache_size = \(pages)")
        try connection.run("PRAGMA mmap_size = 0")
        try connection.run("PRAGMA temp_store = MEMORY")
    }

    /// Copies an entry; `nil` if there is none. A forged header or payload may be larger than any entry: it is left
    /// out.
    func read(_ id: UInt64, atMost most: Int, until deadline: MonotonicTime) throws(SQLFailure) -> EntryBytes? {
        connection.waitForLocks(until: deadline)
        var found: EntryBytes?
        var isDenied = false
        try connection.run(
            """
            SELECT \(DiskSchema.header),
                CASE WHEN typeof(p.bytes) = 'blob' AND length(p.bytes) <= ?2 THEN p.bytes END
            FROM entry e LEFT JOIN payload p ON p.id = e.id WHERE e.id = ?1
            """,
            .bits(id),
            .integer(most)
        ) { row in
            guard let header = row.bytes(0), let payload = row.bytes(1) else { return isDenied = true }
            found = EntryBytes(header: header, payload: payload)
        }
        if isDenied { throw SQLFailure.noMemory }
        return found
    }
}

/// The reading connections of a store, opened when they are needed.
final class ReaderPool: Sendable {
    private let path: String
    private let vfs: String?
    private let permits = DispatchSemaphore(value: 0)
    private let state: Lock<State>

    private struct State {
        var idle: [DiskReader] = []
        var isClosed = false
        /// Connections, and pages that each keeps.
        var size: (connections: Int, pages: Int)
    }

    /// - Parameters:
    ///   - capacity: Number of connections.
    ///   - pages: Pages that each keeps.
    init(path: String, vfs: String?, capacity: Int, pages: Int) {
        self.path = path
        self.vfs = vfs
        state = Lock(State(size: (capacity, pages)))
        for _ in 0..<capacity { permits.signal() }
    }

    /// Reads an entry. Throws if no connection is free before the deadline, or the pool is closed.
    func read(_ id: UInt64, atMost most: Int, until deadline: MonotonicTime) throws(SQLFailure) -> EntryBytes? {
        let wait = max(MonotonicTime.bounded(deadline.nanoseconds) - MonotonicTime.now.nanoseconds, 0)
        guard permits.wait(timeout: .now() + .nanoseconds(Int(wait))) == .success else { throw .late }
        defer { permits.signal() }
        // With the permit: the pool cannot be closed between this and the opening of a connection.
        let (free, isClosed, pages) = state.withLock { ($0.idle.popLast(), $0.isClosed, $0.size.pages) }
        if isClosed { throw .closed }
        let reader =
            if let free { free } else { try DiskReader(path: path, vfs: vfs, pages: pages, until: deadline) }
        do {
            let result = try reader.read(id, atMost: most, until: deadline)
            state.withLock { $0.idle.append(reader) }
            return result
        } catch {
            // After any other failure the next read begins with a new connection.
            if error.kind == .busy { state.withLock { $0.idle.append(reader) } }
            throw error
        }
    }

    /// Closes all connections and calls a closure while none is open. One such call at a time.
    ///
    /// - Parameters:
    ///   - forever: Whether later reads fail.
    ///   - body: Called once all reads have ended.
    func whileClosed(forever: Bool, _ body: () -> Void) {
        let connections = state.withLock { $0.size.connections }
        for _ in 0..<connections { permits.wait() }
        state.withLock { $0 = State(isClosed: forever, size: $0.size) }
        body()
        for _ in 0..<state.withLock({ $0.size.connections }) { permits.signal() }
    }

    /// Changes the number of connections and the pages that each keeps. Reads that run end before; at most one call of
    /// this or ``whileClosed(forever:_:)`` at a time.
    func resize(connections: Int, pages: Int) {
        guard state.withLock({ !$0.isClosed && $0.size != (connections, pages) }) else { return }
        whileClosed(forever: false) { state.withLock { $0.size = (connections, pages) } }
    }
}
