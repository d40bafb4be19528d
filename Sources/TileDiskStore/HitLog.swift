/// Uses of entries that are not stored yet, so that a read costs no write.
///
/// Evictions take them into account. They are stored when there are too many, and when the store is closed.
struct HitLog {
    /// Uses of one entry.
    struct Uses: Equatable {
        var count: Int
        /// The clock of the eviction rule at the last one.
        var clock: Double
    }

    /// Entries that are kept, unless memory is short.
    static let capacity = 8192
    /// Entries that are kept.
    var most = capacity

    private(set) var uses: [UInt64: Uses] = [:]

    /// Whether the uses are to be stored before more entries are used.
    var isFull: Bool { uses.count >= most }

    /// Bytes of the table, which has room for more entries than it has.
    var byteCount: Int { uses.capacity * 32 }

    /// Counts a use. If there is no room for another entry, it is not counted.
    mutating func add(_ id: UInt64, clock: Double) {
        if let old = uses[id] {
            uses[id] = Uses(count: min(old.count + 1, EvictionRule.largestUses), clock: clock)
        } else if !isFull {
            uses[id] = Uses(count: 1, clock: clock)
        }
    }

    mutating func remove(_ id: UInt64) { uses[id] = nil }

    mutating func take() -> [UInt64: Uses] {
        defer { uses = [:] }
        return uses
    }
}
