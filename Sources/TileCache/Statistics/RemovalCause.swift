extension TileCacheStatistics {
    /// Why a tile's pixels left the pool.
    public enum RemovalCause: Int, Sendable, Hashable, CaseIterable {
        /// Room was needed for another tile.
        case capacity
        /// A tile that compression would not make smaller was evicted.
        case incompressible
        /// Newer pixels of the same tile landed, or the tile is gone at its source.
        case replaced
        /// An invalidation asked for it to go at once.
        case invalidated
        /// `trim(to:)`, a lower limit or memory pressure.
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
}
