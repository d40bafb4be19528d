/// What the pool counts; `TileCacheStatistics` takes it over.
package struct PoolCounters: Sendable, Hashable {
    package internal(set) var loads = TileCacheStatistics.LoadCounts()
    package internal(set) var prefetches = TileCacheStatistics.PrefetchCounts()
    package internal(set) var tiers = TileCacheStatistics.TierCounts()
    /// Plan entries that found no room.
    package internal(set) var refusals = 0
    /// Changes after which more than the limit was in use, other than by a lower limit: there must be none.
    package internal(set) var limitBreaches = 0
    package internal(set) var peakBytes = 0
    package internal(set) var peakDecodedBytes = 0
    package internal(set) var peakCompressedBytes = 0
    package internal(set) var peakInFlightBytes = 0

    /// Whether nothing has come, gone or moved since another moment; an entry that found no room is no change.
    func isUnchanged(since before: PoolCounters) -> Bool {
        var before = before
        before.refusals = refusals
        return self == before
    }
}
