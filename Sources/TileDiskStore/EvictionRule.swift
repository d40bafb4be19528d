/// Priorities of entries: GreedyDual-Size-Frequency (Cherkasova, 1998).
///
/// The priority of an entry is clock + uses x cost / size at its last use; the entry with the lowest one is evicted, and
/// the clock becomes its priority. Entries that are not used fall behind the clock; expensive, small and frequent ones
/// fall behind later.
struct EvictionRule: Equatable {
    /// What is stored about an entry.
    struct Entry: Equatable {
        /// Bytes of header and payload.
        var byteCount: Int
        /// Microseconds that obtaining it took.
        var cost: Int
        /// Times that it was written or read.
        var uses: Int
        /// Priority at its last use that is stored.
        var priority: Double
    }

    static let largestUses = 255
    static let largestCost = 3_600_000_000
    /// Larger clocks are damage: the clock advances by a cost a byte.
    private static let largestClock = 1e15

    private(set) var clock: Double

    /// Begins with a stored clock; one that cannot be is 0.
    init(clock: Double = 0) { self.clock = clock >= 0 && clock <= Self.largestClock ? clock : 0 }

    /// Priority of an entry that is used now.
    func priority(uses: Int, cost: Int, byteCount: Int, clock: Double? = nil) -> Double {
        let uses = Double(min(max(uses, 1), Self.largestUses))
        let cost = Double(min(max(cost, 1), Self.largestCost))
        return (clock ?? self.clock) + uses * cost / Double(max(byteCount, 1))
    }

    /// Priority of an entry, with its uses that are not stored yet.
    ///
    /// The clock is that of the last of these uses.
    /// A stored priority above what it can be is damage, and does not keep an entry for ever.
    func priority(of entry: Entry, newUses: Int = 0, at clock: Double = 0) -> Double {
        let highest = priority(uses: entry.uses, cost: entry.cost, byteCount: entry.byteCount)
        let stored = entry.priority >= 0 ? min(entry.priority, highest) : 0
        guard newUses > 0 else { return stored }
        let uses = min(entry.uses, Self.largestUses) + newUses
        return max(stored, priority(uses: uses, cost: entry.cost, byteCount: entry.byteCount, clock: clock))
    }

    /// Advances the clock to the priority of an entry that has been evicted.
    mutating func advance(to priority: Double) {
        if priority > clock, priority <= Self.largestClock { clock = priority }
    }
}
