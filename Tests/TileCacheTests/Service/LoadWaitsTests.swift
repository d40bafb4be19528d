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
}
