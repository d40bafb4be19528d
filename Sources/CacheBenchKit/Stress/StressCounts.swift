import TileCache

/// Counters by name, for operations and injected faults.
final class StressCounts<Key: Hashable & Sendable & CaseIterable>: Sendable {
    private let counts = Lock<[Key: Int]>([:])

    func add(_ key: Key, _ count: Int = 1) { counts.withLock { $0[key, default: 0] += count } }

    var sum: Int { counts.withLock { $0.values.reduce(0, +) } }
    /// A copy with a count for every case.
    var all: [(key: Key, count: Int)] {
        counts.withLock { counts in Key.allCases.map { ($0, counts[$0] ?? 0) } }
    }
}
