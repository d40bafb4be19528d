extension TileCacheStatistics {
    /// Reason for which a tile's pixels left the pool.
    public enum RemovalCause: Int, Sendable, Hashable, CaseIterable {
        /// Evicted to make room for another tile.
        case capacity
        /// Evicted because compression would not make the tile smaller.
        case incompressible
        /// Replaced by newer pixels, or absent at its source.
        case replaced
        /// Removed by an invalidation.
        case invalidated
        /// Evicted by `trim(to:)`, a lower limit or memory pressure.
        case trimmed
        /// The compressed block failed its checksum, or the source could not decode its payload.
        case damaged

        /// Name in reports.
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
