/// Limits and rules of a pool.
struct PoolConfiguration: Sendable {
    /// Order of eviction.
    enum Eviction: Sendable, Hashable {
        /// Least recently used first.
        case recency
        /// Least value in the plan first; unplanned tiles by age. Evicts nothing for a tile that is worth less.
        case value
    }

    /// Maximum committed bytes, at every moment.
    var byteLimit: Int
    /// Maximum of later limits; the limit itself if that is larger.
    var maximumByteLimit = 0
    var eviction: Eviction = .recency
    /// Whether tiles are compressed before they are evicted.
    var compressedTier = true
    /// Fraction of the limit for compressed tiles while both tiers compete, 0...1. Default: nil, adapts to the traffic.
    var compressedShare: Double?
    /// Whether tables and scratch memory do not count: a limit given in tiles means that many tiles.
    var grantsBookkeeping = false
    /// Maximum concurrent loads.
    var workers = 4
    /// Workers reserved for needed tiles.
    var reservedWorkers = 0
    /// Bytes of a page of memory, a power of two, 4096 or more. Slots, blocks' pages and tables consist of such pages.
    var pageBytes = 4096
    /// Fixed memory of the owner (scratch buffers of workers).
    var fixedBytes = 0
    /// Maximum concurrent compressions and decompressions by workers.
    var maximumCodecJobs = 2
    /// First wait before a failed tile is retried, in nanoseconds; doubled with each failure.
    var retryDelay: Int64 = 500_000_000
    /// Maximum wait before a failed tile is retried, in nanoseconds.
    var maximumRetryDelay: Int64 = 60_000_000_000
    /// Rounds bytes up to whole pages.
    func paged(_ bytes: Int) -> Int { bytes.roundedUp(toPages: pageBytes) }

    /// Maximum wait that a source may ask for: a day, in nanoseconds.
    static let longestRetryWait: Int64 = 86_400_000_000_000
}

/// State of a layer in the pool.
struct PoolLayer: Sendable {
    /// Bytes of a decoded tile, the maximum of all levels.
    let tileBytes: Int
    /// The same by level; empty if all are equal.
    var levelBytes: [Int] = []
    /// Index of the slot allocator.
    let slotClass: Int
    /// Incremented by each invalidation.
    var generation: UInt32 = 1
    /// Invalidations under way: some outdated tiles may not be marked yet.
    var invalidations = 0
    /// Whether its tiles may be compressed.
    var isCompressible: Bool
    /// Whether a slot is taken when the source is ready to write, not when the load starts.
    let reservesLate: Bool
    /// Exponential mean of its block sizes, in bytes; 0 before the first.
    var meanBlockBytes = 0
    /// Maximum and guaranteed share of the limit.
    var share: LayerShare
    /// Group of its evictable tiles in `TileLists`.
    let group: Int
    /// Bytes of slots with its current or arriving pixels. Leased old pixels count for no layer.
    var slotBytes = 0
    /// Bytes of its compressed blocks.
    var blockBytes = 0
    /// Number of its hanging decoders.
    var stuckDecodes = 0
    /// Number of its entries in the table.
    var entries = 0
    /// Number of its compressions and decompressions under way.
    var jobs = 0
    /// Whether it was removed: nothing of it is loaded.
    var isRemoved = false
    /// Whether nothing of it is left: its index is free.
    var isGone = false
}
