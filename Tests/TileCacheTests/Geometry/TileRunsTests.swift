import TestSupport
import Testing

@testable import TileCache

/// Sets of tiles as runs, against sets of single tiles.
@Suite struct TileRunsTests {
    private static let side = 6

    private static func tiles(_ random: inout SplitMix64, _ count: Int) -> Set<TileCoordinate> {
        Set(
            (0..<count).map { _ in
                TileCoordinate(level: random.below(2), column: random.below(side), row: random.below(side))
            }
        )
    }

    private static func ranges(_ random: inout SplitMix64) -> [TileRange] {
        (0..<2).map { level in
            let (column, row) = (random.below(side), random.below(side))
            return TileRange(
                level: level,
                columns: column..<column + random.below(side),
                rows: row..<row + random.below(side)
            )
        }
        .filter { !$0.isEmpty }
    }

    @Test(arguments: 0..<50) func theyAreSets(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        for _ in 0..<40 {
            let one = Self.tiles(&random, random.below(40))
            let other = Self.tiles(&random, random.below(40))
            let ranges = Self.ranges(&random)
            let (left, right) = (TileRuns(Array(one) + one), TileRuns(other))
            let rest = left.subtracting(right)
            let difference = one.subtracting(other)
            for (runs, expected) in [
                (left, one), (rest, difference), (right.union(disjoint: rest), one.union(other)),
                (TileRuns(ranges), Set(ranges.joined())),
                (left.intersection(ranges), one.intersection(ranges.joined())),
            ] {
                let found = Array(runs.tiles)
                #expect(found.count == expected.count && Set(found) == expected, "seed \(seed)")
                #expect(runs.count == expected.count && runs.isEmpty == expected.isEmpty)
                #expect(zip(runs.runs, runs.runs.dropFirst()).allSatisfy { $0.isBefore($1) })
            }
            for tile in Self.tiles(&random, 20) { #expect(rest.contains(tile) == difference.contains(tile)) }
        }
    }
}
