import TestSupport
import Testing

@testable import TileCache

@Suite struct DurationHistogramTests {
    /// Quantiles against sorting: never too short, at most a sixteenth too long.
    @Test(arguments: 1...20) func quantilesAreThoseOfTheSortedDurations(seed: Int) throws {
        var random = SplitMix64(seed: UInt64(seed))
        var durations: [Int64] = []
        var histogram = DurationHistogram()
        var half = DurationHistogram()
        for index in 0..<1 + random.below(400) {
            let duration = Int64(random.next() >> UInt64(1 + random.below(63)))
            durations.append(duration)
            if index.isMultiple(of: 2) { histogram.add(duration) } else { half.add(duration) }
        }
        histogram.merge(half)
        durations.sort()
        #expect(histogram.count == durations.count && histogram.maximum == durations.last)
        for share in [0, 0.01, 0.5, 0.95, 0.99, 1] {
            let rank = max(Int((share * Double(durations.count)).rounded(.up)), 1)
            let exact = durations[rank - 1]
            let shown = try #require(histogram.quantile(share))
            #expect(shown >= exact && Double(shown) <= Double(exact) * (1 + 1.0 / 16) + 1, "\(exact), not \(shown)")
        }
    }

    @Test func theExtremesHaveTheirPlace() {
        var histogram = DurationHistogram()
        #expect(histogram.quantile(0.5) == nil)
        for duration in [Int64.min, -1, 0, 15, 16, 31, 32] { histogram.add(duration) }
        #expect(histogram.quantile(0.4) == 0)
        #expect(histogram.quantile(4.0 / 7) == 15)
        #expect(histogram.quantile(5.0 / 7) == 16)
        #expect(histogram.quantile(1) == 32)
        histogram.add(.max)
        #expect(histogram.quantile(1) == .max && histogram.maximum == .max)
    }
}
