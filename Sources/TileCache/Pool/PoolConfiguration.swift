/// What the pool is allowed and how it chooses.
struct PoolConfiguration: Sendable {
    /// Which tile is given up when room is needed.
    enum Eviction: Sendable, Hashable {
        /// The least recently used one that nobody needs.
        case recency
        /// The one that the plan values least; tiles that it does not mention by their age. Nothing is given up for
        /// a tile that is worth less.
        case value
    }

    /// Bytes of everything together, at every moment.
    var byteLimit: Int
    /// What the limit may be raised to later; the limit itself where it is larger.
    var maximumByteLimit = 0
    var eviction: Eviction = .recency
    /// Whether cold tiles are kept compressed before they are given up.
    var compressedTier = true
    /// The share of the limit that compressed tiles may take where decoded ones want it too, 0 to 1; `nil` lets what the
    /// traffic earns decide.
    var compressedShare: Double?
    /// Counts tables and scratch memory outside of the limit: a limit given in tiles means that many tiles.
    var grantsBookkeeping = false
    /// Loads at the same time.
    var workers = 4
    /// Of those, how many never load what nobody needs yet.
    var reservedWorkers = 0
    /// Bytes of a page of memory, a power of two, 4096 or more: slots, pages of blocks and tables are multiples of it, and
    /// begin on one.
    var pageBytes = 4096
    /// Memory that the owner holds for the pool's sake (workers' scratch buffers).
    var fixedBytes = 0
    /// Compressions and decompressions by workers at the same time.
    var maximumCodecJobs = 2
    /// The first wait, in nanoseconds, before a failed tile is tried again; doubled with each failure.
    var retryDelay: Int64 = 500_000_000
    /// The longest wait before a failed tile is tried again, in nanoseconds.
    var maximumRetryDelay: Int64 = 60_000_000_000
    /// Bytes of the whole pages that so many bytes take.
    func paged(_ bytes: Int) -> Int { bytes.roundedUp(toPages: pageBytes) }

    /// What a source asks for counts up to this: a day, in nanoseconds.
    static let longestRetryWait: Int64 = 86_400_000_000_000
}

/// What the pool knows of a layer.
struct PoolLayer: Sendable {
    /// Bytes of a decoded tile, the largest of all levels.
    let tileBytes: Int
    /// The same by level; empty if they are all of one size.
    var levelBytes: [Int] = []
    /// Which allocator of slots.
    let slotClass: Int
    /// Raised by each invalidation.
    var generation: UInt32 = 1
    /// Whether its tiles may be kept compressed at all.
    var isCompressible: Bool
    /// Whether a slot is taken when the source is ready to write, and not when the load starts.
    let reservesLate: Bool
    /// What compression makes of its tiles, an exponential mean in bytes; 0 until one has been compressed.
    var meanBlockBytes = 0
    /// How much of the limit its tiles may take, and how much of it is guaranteed.
    var share: LayerShare
    /// Which evictable tiles its own are among.
    let group: Int
    /// Bytes of slots that hold or receive its pixels; where newer pixels have landed, what is still held of the old
    /// ones counts for no layer.
    var slotBytes = 0
    /// Bytes of its compressed blocks.
    var blockBytes = 0
    /// Decoders of its source that have taken too long and are still at work.
    var stuckDecodes = 0
    /// Entries of its tiles in the table.
    var entries = 0
    /// Compressions and decompressions of its tiles under way.
    var jobs = 0
    /// Nothing of it is loaded any more.
    var isRemoved = false
    /// Nothing of it is left: another layer may take its index.
    var isGone = false
}
