import Testing

@testable import TileCache

/// When a plan has come to its end, and when it only waits.
@Suite struct PoolPlanEndTests {
    /// A worker that finds every codec busy must not end the plan: nobody would load the rest when the codec is done.
    @Test(arguments: [1, 4]) func aBusyCodecDoesNotEndThePlan(codecJobs: Int) throws {
        var configuration = PoolConfiguration(byteLimit: 2 * 65_536)
        configuration.grantsBookkeeping = true
        configuration.maximumCodecJobs = codecJobs
        var pool = PoolState(configuration: configuration)
        let layer = pool.addLayer(tileBytes: 65_536)
        var plan = Plan()
        plan.wish(for: TileCoordinate(level: 3, column: 0, row: 0), layer: layer, value: 1)
        pool.install(plan)
        guard case .load(let first) = pool.nextJob(now: 0) else { throw Problem.noLoad }
        _ = pool.finishLoad(first.load, .pixels, now: 1)

        // Room for one more; the third has to wait until the first is compressed.
        plan = Plan()
        for column in 1...2 {
            plan.entries.append(PlanEntry(key: key(column), value: .infinity, reason: .demand, wantsDecoded: true))
        }
        pool.install(plan)
        guard case .load(let second) = pool.nextJob(now: 2) else { throw Problem.noLoad }
        guard case .demote(let demotion) = pool.nextJob(now: 2) else { throw Problem.noDemotion }
        let other = pool.nextJob(now: 2)
        #expect(other == nil)

        if let stored = pool.finishDemotion(demotion, .solid(7), now: 3) { pool.finishStore(stored) }
        guard case .load(let third) = pool.nextJob(now: 3) else { throw Problem.noLoad }
        #expect(third.key == key(2))
        _ = pool.finishLoad(second.load, .pixels, now: 4)
        _ = pool.finishLoad(third.load, .pixels, now: 4)
    }

    private enum Problem: Error { case noLoad, noDemotion }
}
