import TileCache

/// What the threads of a store share, under its lock.
struct DiskStoreState {
    var buffer: WriteBuffer
    var generations: [TileStoreNamespace: UInt64] = [:]
    var hits = HitLog()
    /// Clock of the eviction rule after the last batch.
    var clock = 0.0
    /// The entries on disk; `nil` until it is built.
    var filter: CuckooFilter?
    var counts = TileStoreStatistics()
    var limit: Int
    var isClosed = false
    var isReadOnly = false
    var isDrainScheduled = false
    /// Bytes that look-ups lend at present.
    var lentBytes = 0
    var pause = WritePause()
    var lastFailure: String?

    init(limit: Int, options: TileDiskStoreOptions) {
        self.limit = limit
        buffer = WriteBuffer(capacity: options.writeBufferBytes)
    }

    mutating func miss(_ cause: TileStoreMiss) -> TileStoreMiss {
        counts.misses[cause, default: 0] += 1
        return cause
    }
}

/// Time without writes after a failure, which doubles until one succeeds.
struct WritePause: Equatable {
    private static let first: Int64 = 1_000_000_000
    private static let longest: Int64 = 60_000_000_000

    private var length: Int64 = 0
    private var end = MonotonicTime(nanoseconds: .min)

    func covers(_ now: MonotonicTime) -> Bool { now < end }

    mutating func fail(at now: MonotonicTime) {
        length = length == 0 ? Self.first : min(length * 2, Self.longest)
        end = MonotonicTime(nanoseconds: MonotonicTime.bounded(now.nanoseconds) + length)
    }

    mutating func succeed() { self = WritePause() }
}
