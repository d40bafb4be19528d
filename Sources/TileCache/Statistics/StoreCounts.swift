extension TileCacheStatistics {
    /// Look-ups and writes of one store, for all layers of a cache; see ``LayerStores``.
    public struct StoreCounts: Hashable, Sendable, CountFields {
        /// Look-ups that found the tile, or that it does not exist.
        public internal(set) var hits = 0
        /// Hits that were out of date: drawn during a new request to the source.
        public internal(set) var staleHits = 0
        /// Look-ups that found nothing usable.
        public internal(set) var misses = 0
        /// Tiles that the store was known not to have, without a look-up.
        public internal(set) var absences = 0
        /// Look-ups left out because the store has been slower than the source.
        public internal(set) var skipped = 0
        /// Tiles that the store took.
        public internal(set) var writes = 0
        /// Tiles that were not written because the store or the cache was behind.
        public internal(set) var dropped = 0
        /// Tiles that the store refused.
        public internal(set) var refused = 0
        package internal(set) var waitNanoseconds = 0

        /// All counts are 0.
        package init() {}

        static var fields: [WritableKeyPath<Self, Int>] {
            [\.hits, \.staleHits, \.misses, \.absences, \.skipped, \.writes, \.dropped, \.refused, \.waitNanoseconds]
        }

        /// Sum of the waits for look-ups.
        public var waits: Duration { .nanoseconds(waitNanoseconds) }
        /// Mean wait for a look-up; `nil` if there was none.
        public var meanWait: Duration? {
            let count = hits + misses
            return count == 0 ? nil : .nanoseconds(waitNanoseconds / count)
        }

        /// Adds field by field.
        package static func + (a: Self, b: Self) -> Self { a.combined(with: b, +) }
        /// Subtracts field by field.
        package static func - (a: Self, b: Self) -> Self { a.combined(with: b, -) }
    }
}
