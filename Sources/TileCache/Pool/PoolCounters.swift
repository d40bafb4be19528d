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
    /// The compressed block did not pass its checksum, or the source could not decode what it had handed over.
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
package struct PoolCounters: Sendable, Hashable {
    package var loadsStarted = 0
    /// Loads of tiles that had failed, or had been refused memory, since they were last loaded.
    package var loadsRetried = 0
    package var loadsFinished = 0
    package var loadsAbsent = 0
    package var loadsFailed = 0
    package var loadsCancelled = 0
    package var loadsOutdated = 0
    /// Loads that ended because they were refused memory.
    package var loadsRefused = 0
    package var loadedBytes = 0
    /// Loads that landed and have been drawn.
    package var loadsDrawn = 0
    /// Loads that never will be drawn: their pixels left before, or were outdated, refused or cancelled.
    package var loadsUnseen = 0
    package var prefetchStarted = 0
    package var prefetchUseful = 0
    package var prefetchLate = 0
    package var prefetchWasted = 0
    package var prefetchCancelled = 0
    /// Prefetches that ended without pixels, other than by being cancelled.
    package var prefetchEmpty = 0
    package var demotions = 0
    package var promotions = 0
    package var demotedRawBytes = 0
    package var demotedBlockBytes = 0
    package var storedRaw = 0
    package var damagedBlocks = 0
    /// Payloads that sources handed over and that were kept.
    package var encodedKept = 0
    /// Of those, the ones that their source could not decode.
    package var undecodable = 0
    package var removals = [Int](repeating: 0, count: RemovalCause.allCases.count)
    /// Wishes that found no room.
    package var refusals = 0
    /// Changes after which more than the limit was in use, other than by a lower limit: there must be none.
    package var limitBreaches = 0
    package var peakBytes = 0
    package var peakDecodedBytes = 0
    package var peakCompressedBytes = 0
    package var peakInFlightBytes = 0

    /// Whether nothing has come, gone or moved since another moment; a wish that found no room is no change.
    func isUnchanged(since before: PoolCounters) -> Bool {
        var before = before
        before.refusals = refusals
        return self == before
    }
}
