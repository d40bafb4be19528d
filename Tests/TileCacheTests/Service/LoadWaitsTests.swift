import Testing

@testable import TileCache

@Suite struct LoadWaitsTests {
    /// The wait of a prefetch starts at the first of consecutive plans with it.
    @Test func wishesKeepTheirTimesFromPlanToPlan() {
        func wishes(_ prefetched: [Int], after older: LoadWaits.Watched, at now: Int64) -> LoadWaits.Watched {
            let entries =
                [PlanEntry(key: key(0), reason: .demand)]
                + prefetched.map { PlanEntry(key: key($0), reason: .prefetch) }
            return LoadWaits.Watched(of: Plan(entries: entries), after: older, now: now)
        }
        let first = wishes([1, 2, 2], after: LoadWaits.Watched(), at: 5)
        let second = wishes([3, 2], after: first, at: 9)
        let third = wishes([1, 2], after: second, at: 12)
        #expect((0..<4).map { first.since(key($0)) } == [nil, 5, 5, nil])
        #expect((0..<4).map { second.since(key($0)) } == [nil, nil, 5, 9])
        #expect((0..<4).map { third.since(key($0)) } == [nil, 12, 5, nil])
        let many = wishes(Array(1..<301), after: third, at: 20)
        let last = LoadWaits.maximumWatched
        #expect(many.since(key(last)) == 20 && many.since(key(last + 1)) == nil)
    }

    /// By an eighth of the difference. A clock that goes back or far ahead counts as no time, or as an hour.
    @Test func theMeanFollowsTheLoads() {
        var waits = LoadWaits(mean: 8)
        let means = [16, -1, .max, .min].map { (took: Int64) -> Int64 in
            waits.noteLoad(took: took)
            return waits.mean
        }
        #expect(means == [9, 8, 450_000_000_007, 393_750_000_007])
    }

    @Test func onlyWatchedPrefetchesHaveAWait() {
        var waits = LoadWaits(mean: 8)
        let plan = Plan(entries: [PlanEntry(key: key(1), reason: .prefetch)])
        waits.set(wished: LoadWaits.Watched(of: plan, after: waits.wished, now: 5))
        waits.notePrefetch(key(1), now: 12)
        waits.notePrefetch(key(2), now: 20)
        #expect(waits.prefetch.count == 1 && waits.prefetch.maximum == 7 && waits.demand.count == 0)
    }
}
