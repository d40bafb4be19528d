import Synchronization
import TileCache

/// Counters by name, for what was done and what was injected.
final class StressCounts<Key: Hashable & Sendable & CaseIterable>: Sendable {
    private let counts = Lock<[Key: Int]>([:])

    init() {}

    func add(_ key: Key, _ count: Int = 1) { counts.withLock { $0[key, default: 0] += count } }

    var sum: Int { counts.withLock { $0.values.reduce(0, +) } }
    /// A copy: every case has a number.
    var all: [(key: Key, count: Int)] {
        counts.withLock { counts in Key.allCases.map { ($0, counts[$0] ?? 0) } }
    }
}
