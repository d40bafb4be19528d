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
    /// Whether tables and scratch memory do not count. A limit given in tiles means that many tiles.
    var grantsBookkeeping = false
    /// Number of workers: of loads in flight, apart from those in the windows of layers.
    var workers = 4
    /// Maximum loads that occupy workers, and hanging decoders, of a layer with hanging ones: as many as workers, at least
    /// two.
    ///
    /// With one, a single hanging tile would keep the others of its layer from ever being loaded.
    var mostOfHangingLayer: Int { max(workers, 2) }
    /// Workers that replace hanging ones. The second half of them is for layers that do not hang yet.
    var spareWorkers = Int.max
    /// Time of a layer's load until one has ended, in nanoseconds.
    var expectedLoadTime: Int64 = 40_000_000
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

    /// Minimum wait after a source has put a load off, in nanoseconds.
    static let leastPause: Int64 = 50_000_000

    /// Maximum wait that a source may set: a day, in nanoseconds.
    static let longestRetryWait: Int64 = 86_400_000_000_000
}
