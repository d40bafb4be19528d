/// Why a tile's pixels left the pool.
public enum RemovalCause: Int, Sendable, Hashable, CaseIterable {
    /// Room was needed for another tile.
    case capacity
    /// A tile that would not become smaller by compression was given up instead of compressed.
    case incompressible
    /// Newer pixels of the same tile landed, or the tile is gone at its source.
    case replaced
    /// An invalidation asked for it to go at once.
    case invalidated
    /// `trim(toBytes:)`, a lower limit or memory pressure.
    case trimmed
    /// The compressed block did not pass its checksum.
    case damaged

    /// The name in reports.
    public var name: String {
        switch self {
        case .capacity: "capacity"
        case .incompressible: "incompressible"
        case .replaced: "replaced"
        case .invalidated: "invalidated"
        case .trimmed: "trimmed"
        case .damaged: "damaged"
        }
    }
}

/// Counters that only grow; `Statistics` derives its figures from them.
struct PoolCounters: Sendable, Hashable {
    var loadsStarted = 0
    var loadsFinished = 0
    var loadsAbsent = 0
    var loadsFailed = 0
    var loadsCancelled = 0
    var loadsOutdated = 0
    var loadedBytes = 0
    /// Finished loads whose pixels left without having been drawn.
    var loadsUnseen = 0
    var prefetchStarted = 0
    var prefetchUseful = 0
    var prefetchLate = 0
    var prefetchWasted = 0
    var prefetchCancelled = 0
    var demotions = 0
    var promotions = 0
    var demotedRawBytes = 0
    var demotedBlockBytes = 0
    var storedRaw = 0
    var damagedBlocks = 0
    var removals = [Int](repeating: 0, count: RemovalCause.allCases.count)
    /// Wishes that found no room.
    var refusals = 0
    var peakBytes = 0
    var peakDecodedBytes = 0
    var peakCompressedBytes = 0
    var peakInFlightBytes = 0
}
