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

    init(path: String, vfs: String?, until deadline: MonotonicTime) throws(SQLFailure) {
        connection = try SQLConnection(path: path, isReadOnly: true, vfs: vfs)
        // The first pragma reads the schema, under a lock.
        connection.waitForLocks(until: deadline)
        try connection.run("PRAGMA cache_size = \(DiskMemory.readerPages)")
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
    private let permits: DispatchSemaphore
    private let state = Lock(State())
    let capacity: Int

    private struct State {
        var idle: [DiskReader] = []
        var isClosed = false
    }

    init(path: String, vfs: String?, capacity: Int) {
        self.path = path
        self.vfs = vfs
        self.capacity = capacity
        permits = DispatchSemaphore(value: capacity)
    }

    /// Reads an entry. Throws if no connection is free before the deadline, or the pool is closed.
    func read(_ id: UInt64, atMost most: Int, until deadline: MonotonicTime) throws(SQLFailure) -> EntryBytes? {
        let wait = max(MonotonicTime.bounded(deadline.nanoseconds) - MonotonicTime.now.nanoseconds, 0)
        guard permits.wait(timeout: .now() + .nanoseconds(Int(wait))) == .success else { throw .late }
        defer { permits.signal() }
        // With the permit: the pool cannot be closed between this and the opening of a connection.
        let (free, isClosed) = state.withLock { ($0.idle.popLast(), $0.isClosed) }
        if isClosed { throw .closed }
        let reader = if let free { free } else { try DiskReader(path: path, vfs: vfs, until: deadline) }
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

    /// Closes all connections and calls a closure while none is open.
    ///
    /// - Parameters:
    ///   - forever: Whether later reads fail.
    ///   - body: Called once all reads have ended.
    func whileClosed(forever: Bool, _ body: () -> Void) {
        for _ in 0..<capacity { permits.wait() }
        state.withLock { $0 = State(isClosed: forever) }
        body()
        for _ in 0..<capacity { permits.signal() }
    }
}
