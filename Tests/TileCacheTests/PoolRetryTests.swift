import Testing

@testable import TileCache

/// When a tile that failed is tried again.
@Suite struct PoolRetryTests {
    private func pool() -> TilePool {
        TilePool(tiles: 4) {
            $0.retryDelay = 100
            $0.maximumRetryDelay = 1000
        }
    }

    /// Lets the tile's load fail and finds out when the next one may begin.
    private func wait(_ small: TilePool, _ isPermanent: Bool = false, retryAfter: Int64? = nil) -> Int64? {
        small.install([small.demand(key(0))])
        guard let ticket = small.beginLoad() else { return nil }
        small.end(ticket, .failed(isPermanent: isPermanent, retryAfter: retryAfter))
        let failed = small.now
        for after in 0...6000 as ClosedRange<Int64> {
            small.now = failed + after
            small.install([small.demand(key(0))])
            if let next = small.beginLoad() {
                small.end(next, .cancelled)
                return after
            }
        }
        return nil
    }

    @Test func eachFailureDoublesTheWaitUpToTheLongest() {
        let small = pool()
        #expect((0..<6).map { _ in wait(small) } == [100, 200, 400, 800, 1000, 1000])
        // Newer pixels may be there: what failed before counts for nothing.
        small.pool.invalidate(layer: 0, dropsAtOnce: true) { _ in true }
        #expect(wait(small) == 100)
    }

    @Test func aSourceMayAskForMoreTimeAndNotForLess() {
        let small = pool()
        #expect(wait(small, retryAfter: 5000) == 5000)
        #expect(wait(small, retryAfter: 1) == 200)
    }

    @Test func whatNeverCanSucceedIsNotTriedBeforeAnInvalidation() {
        let small = pool()
        #expect(wait(small, true) == nil)
        small.pool.invalidate(layer: 0, dropsAtOnce: false) { _ in true }
        small.load(0)
        #expect(small.resident == [0])
    }
}
