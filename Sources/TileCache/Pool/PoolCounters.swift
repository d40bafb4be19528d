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
