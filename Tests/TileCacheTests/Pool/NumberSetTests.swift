import TestSupport
import Testing

@testable import TileCache

/// Random operations on a set of numbers, against a set of the standard library.
@Suite struct NumberSetTests {
    /// Bounds of the numbers of a round: both sides of each level of the tree, and of what an empty set keeps.
    private static let bounds = [
        1, 64, 65, 64 * 64, 64 * 64 + 1, 1024 * 64, 1024 * 64 + 1, 64 * 64 * 64, 64 * 64 * 64 + 1, 300_000,
    ]

    /// In each round the set is filled and emptied. It is used again with fewer and with more words.
    @Test(arguments: 0..<8) func holdsWhatASetHolds(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        var tested = NumberSet()
        var plain: Set<Int32> = []
        for round in 0..<40 {
            let bound = random.element(of: Self.bounds)
            let fillingSteps = 1 + random.below(200)
            var step = 0
            while step < fillingSteps || !plain.isEmpty {
                let number = Self.number(below: bound, &random)
                let found = Self.operate(random.below(step < fillingSteps ? 12 : 5), number, &tested, &plain, &random)
                let others = [number, number ^ 1, number ^ 64, 0, Int32(bound - 1), Int32(bound), 1 << 24]
                let isRight =
                    found && tested.count == plain.count
                    && others.allSatisfy { tested.contains($0) == plain.contains($0) }
                guard isRight else {
                    Issue.record("seed \(seed), round \(round) below \(bound), step \(step), number \(number)")
                    return
                }
                step += 1
            }
            #expect(tested.popFirst() == nil && tested.popLast() == nil && tested.count == 0, "seed \(seed)")
        }
    }

    /// Any number below a bound, often the last ones or one beside the bound of a word.
    private static func number(below bound: Int, _ random: inout SplitMix64) -> Int32 {
        let last = bound - 1
        switch random.below(6) {
        case 0: return Int32(max(last - random.below(2), 0))
        case 1: return Int32(random.below(min(bound, 130)))
        case 2: return Int32(random.below(bound) & ~63)
        case 3: return Int32(min(random.below(bound) | 63, last))
        default: return Int32(random.below(bound))
        }
    }

    /// Carries out one operation on both; returns whether the results are equal.
    private static func operate(
        _ operation: Int,
        _ number: Int32,
        _ tested: inout NumberSet,
        _ plain: inout Set<Int32>,
        _ random: inout SplitMix64
    ) -> Bool {
        switch operation {
        case 0:
            let least = plain.min()
            if let least { plain.remove(least) }
            return tested.popFirst() == least
        case 1:
            let most = plain.max()
            if let most { plain.remove(most) }
            return tested.popLast() == most
        case 2:
            plain.remove(number)
            tested.remove(number)
            return true
        case 3, 4:
            // Sorted, so that the drawn one is the same in each run.
            guard !plain.isEmpty else { return true }
            let member = random.element(of: plain.sorted())
            plain.remove(member)
            tested.remove(member)
            return true
        default:
            plain.insert(number)
            tested.insert(number)
            return true
        }
    }
}
