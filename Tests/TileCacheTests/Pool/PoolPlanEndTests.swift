import TestSupport
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

    /// Plans of any size, each after any other: charged for at least what their lists hold, and not for what a far larger
    /// one held.
    @Test func aPlanIsChargedForItsLists() {
        let small = TilePool(tiles: 8)
        var random = SplitMix64(seed: 7)
        for _ in 0..<200 {
            var plan = Plan()
            for column in 0..<(random.oneIn(2) ? 1 << random.below(13) + 1 : random.below(3000)) {
                plan.entries.append(small.wish(column, 1))
            }
            small.pool.install(plan)
            let taken =
                small.pool.plan.entries.capacity * MemoryLayout<PlanEntry>.stride
                + small.pool.valued.capacity * MemoryLayout<Int32>.stride
            let charged = small.pool.planBytes
            // An allocator rounds each list to its pages.
            #expect(charged >= taken - 2 * 4096 && charged <= 4 * (3 * taken + 4096))
        }
    }

    /// More pins than a plan takes are all loaded, and all loaded anew when they are outdated.
    @Test func pinsBeyondOnePlanAreLoadedAndLoadedAnew() {
        let small = TilePool(tiles: 400)
        let pins = (0..<300).map { key($0) }
        for pin in pins { _ = small.pool.pin(pin) }
        for _ in 0..<2 {
            var plans = 0
            repeat {
                small.install(small.pool.pinsToLoad.map { PlanEntry(key: $0, reason: .floor, wantsDecoded: true) })
                small.runPlan()
                plans += 1
            } while small.pool.hasMorePins
            #expect(plans == 2)
            let fresh = pins.count { small.residency(of: $0) == .decoded && !small.isStale($0) }
            #expect(fresh == 300)
            small.pool.invalidate(layer: 0, dropsAtOnce: false) { _ in true }
        }
    }

    private enum Problem: Error { case noLoad, noDemotion }
}
