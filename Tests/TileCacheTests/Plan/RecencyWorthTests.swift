import TestSupport
import Testing

@testable import TileCache

/// Worths of unplanned tiles, over all ages and classes of visits.
@Suite struct RecencyWorthTests {
    /// Both sides of each class.
    private static let visits = [0, 1, 2, 3, 4, 7, 8, 255]
    /// Both sides of each bound, and far beyond the last.
    private static let ages = [0] + (4...13).flatMap { [1 << $0, 1 << $0 + 1] } + [1 << 30]

    @Test func theStandardWorthDoesNotRiseWithAge() {
        for visits in Self.visits {
            let worths = Self.ages.map { RecencyWorth.standard.worth(visits: visits, age: $0) }
            #expect(zip(worths, worths.dropFirst()).allSatisfy { $0 >= $1 } && worths.allSatisfy { $0 > 0 })
        }
        // Each class is one of the table's rows.
        let classes = Set(Self.ages.map { RecencyWorth.standard.worth(visits: 1, age: $0) })
        #expect(classes.count == VisitClass.ages)
        #expect(Set(Self.visits.map(VisitClass.of)).count == VisitClass.count)
    }

    /// Searches for a victim end early by it: it must not exceed the worth of any tile of another class.
    @Test(arguments: 0..<1 << VisitClass.count) func theLeastWorthIsThatOfAllRows(classes: Int) {
        var random = SplitMix64(seed: UInt64(classes))
        let tables = [RecencyWorth.standard, RecencyWorth()] + (0..<50).map { _ in Self.table(&random) }
        for (number, recency) in tables.enumerated() {
            var least = Float.infinity
            for visits in Self.visits where classes & (1 << VisitClass.of(visits: visits)) == 0 {
                for age in Self.ages { least = min(least, recency.worth(visits: visits, age: age)) }
            }
            #expect(recency.least(outside: classes) == least, "seed \(classes), table \(number)")
        }
    }

    /// Worths that do not rise with age, with equal ones, and in any order of the classes.
    private static func table(_ random: inout SplitMix64) -> RecencyWorth {
        var recency = RecencyWorth(worths: Array(repeating: 0, count: VisitClass.ages * VisitClass.count))
        for visitClass in 0..<VisitClass.count {
            var worth = Float(30 + random.below(4))
            for age in 0..<VisitClass.ages {
                recency.worths[age * VisitClass.count + visitClass] = worth
                worth -= Float(random.below(3))
            }
        }
        return recency
    }
}
