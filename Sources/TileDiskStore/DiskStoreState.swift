import TileCache

/// What the threads of a store share, under its lock.
struct DiskStoreState {
    var buffer: WriteBuffer
    var generations: [TileStoreNamespace: UInt64] = [:]
    /// Number of a namespace's last hit, or of its last new entry.
    private(set) var namespaceUses: [TileStoreNamespace: UInt64] = [:]
    private var uses: UInt64 = 0
    var hits = HitLog()
    /// Clock of the eviction rule after the last batch.
    var clock = 0.0
    /// The entries on disk; `nil` until it is built.
    var filter: CuckooFilter?
    /// Bytes of a filter that is being built.
    var buildingBytes = 0
    var counts = TileStoreStatistics()
    var limit: Int
    var isClosed = false
    /// Whether the files are another store's or another program's, or could not be opened again.
    var isLost = false
    /// Whether the file was opened for reading only.
    var isOpenedReadOnly = false
    /// Whether that, or the last write failed because the file cannot be written.
    var isReadOnly = false
    /// Whether a drain is to begin after a delay.
    var isDrainScheduled = false
    /// Whether a drain waits on the queue.
    var isDrainQueued = false
    /// Whether the files are being checked, or are to be.
    var isVerifying = false
    /// Bytes that look-ups lend at present.
    var lentBytes = 0
    /// Bytes of the largest entry that was read or accepted.
    var largestEntry = 0
    /// Division of the memory in force. While it changes, the larger one.
    var memory: DiskMemory
    /// Bytes that each cache allows.
    var allowances: [Int: Int] = [:]
    var pause = RetryPause()
    var lastFailure: String?

    init(limit: Int, options: TileDiskStoreOptions) {
        self.limit = limit
        memory = DiskMemory(allowed: nil, options: options, limit: limit, largestEntry: 0)
        buffer = WriteBuffer(capacity: options.writeBuffer.bytes)
    }

    /// Division of the memory that is allowed now.
    func wantedMemory(_ options: TileDiskStoreOptions) -> DiskMemory {
        let allowed = allowances.values.min()
        return DiskMemory(allowed: allowed, options: options, limit: limit, largestEntry: largestEntry)
    }

    /// Takes less memory from now on, as far as that needs no connection.
    mutating func shrink(to wanted: DiskMemory) {
        buffer.capacity = wanted.bufferBytes
        hits.most = wanted.uses
    }

    /// Notes a use of a namespace, if there is room.
    mutating func use(_ namespace: TileStoreNamespace) {
        // More than are on disk: those that wait to be written, too.
        guard namespaceUses.count < 2 * DiskWriter.mostNamespaces || namespaceUses[namespace] != nil else { return }
        uses += 1
        namespaceUses[namespace] = uses
    }

    mutating func forget(_ namespace: TileStoreNamespace) { namespaceUses[namespace] = nil }

    /// Notes that a drain is scheduled. Returns whether it is for the caller to schedule it.
    mutating func claimDrain() -> Bool {
        defer { isDrainScheduled = true }
        return !isDrainScheduled
    }

    /// Notes that a drain is queued. Returns whether it is for the caller to queue it.
    mutating func claimEarlyDrain() -> Bool {
        defer { isDrainQueued = true }
        return !isDrainQueued
    }

    mutating func fail(_ message: String) {
        counts.failures += 1
        lastFailure = message
    }

    mutating func miss(_ cause: TileStoreMiss) -> TileStoreMiss {
        counts.misses[cause, default: 0] += 1
        return cause
    }
}

/// Time without writes after a failure, or before a read is tried again. It doubles until one succeeds.
struct RetryPause {
    private static let first: Int64 = 1_000_000_000
    private static let longest: Int64 = 60_000_000_000

    /// Nanoseconds; 0 after a success.
    private(set) var length: Int64 = 0
    private var end = MonotonicTime(nanoseconds: .min)

    func covers(_ now: MonotonicTime) -> Bool { now < end }

    mutating func fail(at now: MonotonicTime) {
        length = length == 0 ? Self.first : min(length * 2, Self.longest)
        end = MonotonicTime(nanoseconds: MonotonicTime.bounded(now.nanoseconds) + length)
    }

    mutating func succeed() { self = RetryPause() }
}
