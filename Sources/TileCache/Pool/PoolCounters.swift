/// Counters of the pool, copied into `TileCacheStatistics`.
package struct PoolCounters: Sendable, Hashable {
    package internal(set) var loads = TileCacheStatistics.LoadCounts()
    package internal(set) var revalidations = TileCacheStatistics.RevalidationCounts()
    package internal(set) var prefetches = TileCacheStatistics.PrefetchCounts()
    package internal(set) var tiers = TileCacheStatistics.TierCounts()
    /// Plan entries without room.
    package internal(set) var refusals = 0
    /// Violations of the limit, not counting a lowered one; must stay 0.
    package internal(set) var limitBreaches = 0
    package internal(set) var peakBytes = 0
    package internal(set) var peakDecodedBytes = 0
    package internal(set) var peakCompressedBytes = 0
    package internal(set) var peakInFlightBytes = 0

    /// Whether only `refusals` differ from earlier counters.
    func isUnchanged(since before: PoolCounters) -> Bool {
        var before = before
        before.refusals = refusals
        return self == before
    }
}
