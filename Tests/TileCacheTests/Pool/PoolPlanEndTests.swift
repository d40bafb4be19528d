import TestSupport
import Testing

@testable import TileCache

/// Ends and pauses of a plan.
@Suite struct PoolPlanEndTests {
    /// A worker that finds every codec busy must not end the plan. The rest would not load when the codec is free.
    @Test(arguments: [1, 4]) func aBusyCodecDoesNotEndThePlan(codecJobs: Int) throws {
        var configuration = PoolConfiguration(byteLimit: 2 * 65_536)
        configuration.grantsBookkeeping = true
        configuration.maximumCodecJobs = codecJobs
        var pool = PoolState(configuration: configuration)
        let layer = pool.addLayer(tileBytes: 65_536)
        var plan = Plan()
        plan.entries.append(PlanEntry(key: key(0, layer: layer), value: 1, reason: .prefetch))
        pool.install(plan)
        guard case .load(let first) = pool.nextJob(now: 0) else { throw Problem.noLoad }
        pool.finishLoad(first.load, .pixels, now: 1)

        // Room for one more; the third must wait until the first is compressed.
        plan = Plan()
        for column in 1...2 {
            plan.entries.append(PlanEntry(key: key(column), value: .infinity, reason: .demand, wantsDecoded: true))
        }
        pool.install(plan)
        guard case .load(let second) = pool.nextJob(now: 2) else { throw Problem.noLoad }
        guard case .demote(let demotion) = pool.nextJob(now: 2) else { throw Problem.noDemotion }
        let other = pool.nextJob(now: 2)
        #expect(other == nil)

        if let stored = pool.finishDemotion(demotion, .solid(7)) { pool.finishStore(stored) }
        guard case .load(let third) = pool.nextJob(now: 3) else { throw Problem.noLoad }
        #expect(third.key == key(2))
        pool.finishLoad(second.load, .pixels, now: 4)
        pool.finishLoad(third.load, .pixels, now: 4)
    }

    /// A fallback whose load began as a prefetch makes a plan, if it does not come: there is a coarser one.
    @Test(arguments: [LoadResult.absent, .failed(isPermanent: false, retryAfter: nil), .pixels])
    func aPrefetchThatBecameAFallback(result: LoadResult) throws {
        let small = TilePool(tiles: 4)
        small.install([small.wish(9, 1)])
        let ticket = try #require(small.beginLoad())
        small.install([PlanEntry(key: key(9), value: .infinity, reason: .fallback)])
        _ = small.pool.takeDemand()
        small.end(ticket, result)
        let plans = small.pool.takeDemand()
        #expect(plans == (result == .absent))
    }

    /// Nothing else may make the plan that loads the fallback of a needed tile that does not come.
    @Test(arguments: [
        LoadResult.absent, .failed(isPermanent: true, retryAfter: nil), .failed(isPermanent: false, retryAfter: nil),
        .pixels,
    ]) func aNeededTileThatDoesNotComeMakesAPlan(result: LoadResult) throws {
        let small = TilePool(tiles: 4)
        var needs = ViewNeeds()
        small.need([1], &needs)
        small.install([small.demand(key(1))])
        let ticket = try #require(small.beginLoad())
        _ = small.pool.takeDemand()
        small.end(ticket, result)
        let plans = small.pool.takeDemand()
        #expect(plans == result.isUnavailable)
    }

    /// Plans of any size, each after any other. Each is charged for at least its lists, and not for those of a far
    /// larger one before it.
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
                small.pool.queue.plan.entries.capacity * MemoryLayout<PlanEntry>.stride
                + small.pool.queue.valued.capacity * MemoryLayout<EntryID>.stride
            let charged = small.pool.ledger[.plan]
            // An allocator rounds each list to its pages.
            #expect(charged >= taken - 2 * 4096 && charged <= 4 * (3 * taken + 4096))
            #expect(charged >= small.pool.queue.plan.entries.count * MemoryLayout<PlanEntry>.stride)
        }
    }

    /// A plan without room for its lists loads nothing; freed room requests the next one.
    @Test func aPlanWithoutRoomWaitsForIt() {
        let small = TilePool(tiles: 30) { $0.grantsBookkeeping = false }
        small.install((0..<20_000).map { small.wish($0, 1) })
        let (entries, lacksRoom) = (small.pool.queue.plan.entries.count, small.pool.queue.lacksRoomForNeeds)
        #expect(entries == 0 && lacksRoom)
        small.install([])
        let lacksRoomAfter = small.pool.queue.lacksRoomForNeeds
        #expect(!lacksRoomAfter)
    }

    /// A request that is refused in spite of all that it made free has returned nothing that the next one could use: a
    /// plan for it would free as much, be refused, and ask for another one.
    @Test func whatARefusedRequestFreesIsNoSupply() {
        let small = TilePool(tiles: 4)
        let large = small.pool.addLayer(tileBytes: 3 * TilePool.tileBytes)
        var needs = ViewNeeds()
        small.need([0, 1], &needs)
        small.load(0, 1)
        for _ in 0..<3 {
            small.load(2)
            small.install([small.demand(key(0, layer: large))])
            _ = small.pool.takeSupply()
            #expect(small.beginLoad() == nil)
            let (supply, refused) = (small.pool.takeSupply(), small.pool.queue.unmet.rank)
            #expect(supply == nil && refused == .demand)
            #expect(small.decoded == [0, 1])
        }
    }

    /// A needed tile was refused memory that the system did not have back yet. The load under way may never end: the
    /// decommit itself is a supply.
    @Test func memoryThatHasGoneIsASupplyForWhatLacksIt() throws {
        let small = TilePool(tiles: 4)
        let large = small.pool.addLayer(tileBytes: 4 * TilePool.tileBytes)
        for isLacking in [false, true] {
            small.load(key(0, layer: large))
            small.install((0..<(isLacking ? 2 : 1)).map { small.demand(key($0)) })
            guard case .load(let first) = small.pool.nextJob(now: small.now) else { throw Problem.noLoad }
            let leaving = small.pool.takePendingDecommits()
            #expect(leaving.map(\.countedBytes) == [3 * TilePool.tileBytes])
            #expect(small.beginLoad() == nil)
            _ = small.pool.takeSupply()
            let before = small.pool.takeSupply()
            small.pool.finishDecommits(leaving)
            let (supply, refused) = (small.pool.takeSupply(), small.pool.queue.unmet.rank)
            #expect(before == nil && (supply == .prefetch) == isLacking && (refused == .demand) == isLacking)
            small.install([small.demand(key(1))])
            small.end(try #require(small.beginLoad()))
            small.end(first)
        }
    }

    /// The next plan knows what a plan lacked if views are at rest in both, also if it had no turn itself.
    @Test(arguments: [false, true], [false, true]) func theLackOfAPlanAtRestIsRemembered(before: Bool, after: Bool) {
        var queue = PlanQueue()
        func install(isAtRest: Bool) {
            var plan = Plan(entries: [PlanEntry(key: key(0), reason: .demand)])
            plan.isAtRest = isAtRest
            queue.install(plan, hasRoom: true)
        }
        install(isAtRest: before)
        queue.noteLack()
        for _ in 0..<2 {
            install(isAtRest: after)
            #expect(queue.formerLack.exists == (before && after))
        }
        install(isAtRest: false)
        #expect(!queue.formerLack.exists)
    }

    /// A prefetch that may evict nothing does not end the plan. Needed tiles behind it load.
    @Test func neededTilesPassPrefetchesWithoutRoom() {
        let small = TilePool(tiles: 2) { $0.eviction = .value }
        small.load(0, 1)
        small.install([small.wish(0, 3), small.wish(1, 4), small.wish(9, 0.5), small.demand(key(8))])
        small.runPlan()
        #expect(small.resident == [1, 8])
        let isShort = small.pool.queue.unmet.rank != nil
        #expect(isShort)
    }

    /// More pins than a plan holds are all loaded. Outdated ones are all reloaded.
    @Test func pinsBeyondOnePlanAreLoadedAndLoadedAnew() {
        let small = TilePool(tiles: 400)
        let pins = (0..<300).map { key($0) }
        for pin in pins { _ = small.pool.enter(pin, for: .pin) }
        for _ in 0..<2 {
            var plans = 0
            let ofAPlan = small.pool.pinsToLoad.count
            #expect(ofAPlan == PoolState.pinsOfAPlan)
            var hasMore = true
            while hasMore {
                _ = small.pool.takeDemand()
                small.install(small.pool.pinsToLoad.map { PlanEntry(key: $0, reason: .pin, wantsDecoded: true) })
                small.runPlan()
                plans += 1
                hasMore = small.pool.takeDemand()
            }
            #expect(plans == 2)
            let fresh = pins.count { small.residency(of: $0) == .decoded && !small.isStale($0) }
            #expect(fresh == 300)
            small.pool.invalidate(layer: 0, dropsAtOnce: false) { _ in true }
        }
    }

    private enum Problem: Error { case noLoad, noDemotion }
}
