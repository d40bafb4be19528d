import Testing

@testable import TileCache
@testable import TileSources

/// Waits for reads that begin together, without a clock or a server.
@Suite struct RangeGatheringTests {
    private static let millisecond: Int64 = 1_000_000

    /// The wait of a first read after these answers; `nil` without one.
    private func wait(after latencies: Int64...) -> Int64? {
        var gathering = RangeGathering()
        for latency in latencies { gathering.note(latency: latency) }
        return gathering.add(now: 0)
    }

    @Test func nobodyWaitsBeforeAnAnswerOrForANearServer() {
        #expect(wait() == nil && wait(after: RangeGathering.near) == nil && wait(after: -1) == nil)
        var gathering = RangeGathering()
        let isOver = gathering.isOver(now: 0)
        #expect(isOver)
    }

    @Test func readsOfAMomentAreSentTogether() {
        var gathering = RangeGathering()
        gathering.note(latency: 24 * Self.millisecond)
        // The first read's wait counts: the last one of a stream of them would never be sent.
        let waits = [gathering.add(now: 100), gathering.add(now: 200)]
        #expect(waits == [2 * Self.millisecond, nil] && gathering.due == 100 + 2 * Self.millisecond)
        let areOver = [99, 100, 0].map { gathering.isOver(now: $0 + 2 * Self.millisecond) }
        #expect(areOver == [false, true, true])
        let next = gathering.add(now: 300)
        gathering.end()
        let isOver = gathering.isOver(now: 301)
        #expect(next == 2 * Self.millisecond && isOver)
    }

    @Test func theWaitIsASmallPartOfAnAnswersTime() {
        for latency in stride(from: Int64(0), to: 3_000_000_000, by: 7_654_321) {
            let wait = wait(after: latency) ?? 0
            #expect(wait * RangeGathering.part <= latency && wait <= RangeGathering().longest)
        }
        #expect(wait(after: .max) == RangeGathering().longest)
    }

    @Test func oneSlowAnswerChangesLittle() {
        var gathering = RangeGathering()
        let latencies = ([300, 20, 100, -1] as [Int64]).map { latency in
            gathering.note(latency: latency * Self.millisecond)
            return gathering.latency
        }
        #expect(latencies == [300, 20, 30, 0].map { $0 * Self.millisecond })
    }
}
