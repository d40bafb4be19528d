import Testing

@testable import TileCache

/// Loads whose source does not answer.
@Suite struct PoolWriteOffTests {
    @Test func aLoadThatTakesTooLongGivesItsPlaceToAnother() {
        let small = TilePool(tiles: 32) { $0.workers = 2 }
        _ = small.pool.addLayer(tileBytes: TilePool.tileBytes)
        small.install([small.wish(0, 1)] + (1..<4).map { small.demand(key($0)) } + [small.demand(key(0, layer: 1))])
        let first = small.beginLoad()
        let second = small.beginLoad()
        #expect(first?.key == key(0) && second?.key == key(1))
        #expect(small.beginLoad() == nil)
        let early = small.pool.writeOffLoads(startedBefore: small.now, atMost: 8, now: small.now)
        #expect(early == 0)
        small.now += 1000
        let late = small.pool.writeOffLoads(startedBefore: small.now, atMost: 8, now: small.now)
        #expect(late == 2)
        let again = small.pool.writeOffLoads(startedBefore: small.now, atMost: 8, now: small.now)
        #expect(again == 0)
        // Their layer has two loads in flight, as many as there are workers; another layer continues.
        let third = small.beginLoad()
        #expect(third?.key == key(0, layer: 1))
        #expect(small.beginLoad() == nil)
        // A source that answers at last is asked again, and its tile lands.
        if let second { small.end(second) }
        #expect(small.residency(of: key(1)) == .decoded)
        small.install([small.wish(9, 1), small.demand(key(2))])
        #expect(small.beginLoad()?.key == key(9))
        if let third { small.end(third) }
        if let first { small.end(first) }
        #expect(small.beginLoad()?.key == key(2))
        let counts = [small.pool.loads.writtenOffCount, small.pool.loads.count]
        #expect(counts == [0, 2])
    }

    /// Tiles skipped because of too many loads of their layer get a new plan. It comes as soon as those end.
    @Test func whatALayerWithStuckLoadsHadToLeaveIsPlannedAgain() {
        let small = TilePool(tiles: 32) { $0.workers = 2 }
        small.install([small.demand(key(0))])
        let stuck = small.beginLoad()
        small.now += 1000
        let count = small.pool.writeOffLoads(startedBefore: small.now, atMost: 1, now: small.now)
        #expect(stuck != nil && count == 1)
        small.install((1..<4).map { small.demand(key($0)) })
        let first = small.beginLoad()
        var waits = small.pool.queue.unmet.isBusy
        #expect(first?.key == key(1) && !waits)
        #expect(small.beginLoad() == nil)
        waits = small.pool.queue.unmet.isBusy
        #expect(waits)
        if let first { small.end(first) }
        small.install((1..<4).map { small.demand(key($0)) })
        #expect(small.beginLoad()?.key == key(2))
    }

    /// Prefetches of a source that hangs have all loads of its layer, and the plan still wishes for them.
    @Test func prefetchesThatHangMakeWayForNeededTiles() {
        let small = TilePool(tiles: 32) { $0.workers = 2 }
        let layer = small.pool.addLayer(tileBytes: TilePool.tileBytes, reservesLate: true, loadsInFlight: .fixed(2))
        func wish(_ column: Int) -> PlanEntry {
            PlanEntry(key: key(column, layer: layer), value: 1, reason: .prefetch)
        }
        small.install([wish(0), wish(1)])
        let stuck = (0..<2).compactMap { _ in small.beginRequest() }
        small.now += 1000
        let count = small.pool.writeOffLoads(startedBefore: small.now, atMost: 2, now: small.now)
        #expect(stuck.count == 2 && count == 0)
        small.install([wish(0), wish(1), wish(2)])
        #expect(small.beginLoad() == nil)
        var superseded = small.pool.takeEffects().superseded
        #expect(superseded.isEmpty)
        small.install([small.demand(key(3, layer: layer)), wish(0), wish(1)])
        #expect(small.beginLoad() == nil)
        superseded = small.pool.takeEffects().superseded
        #expect(superseded == stuck.map(\.load))
        // The end of one of them is worth a plan.
        _ = small.pool.takeDemand()
        small.end(stuck[0], .cancelled)
        let isDemanded = small.pool.takeDemand()
        #expect(isDemanded)
        small.install([small.demand(key(3, layer: layer)), wish(0), wish(1)])
        #expect(small.beginLoad()?.key == key(3, layer: layer))
    }

    /// Two calls of a source hang, as many as its layer may have. The tiles that are passed by are planned again as soon as
    /// one returns, though its request goes on.
    @Test func aCallThatReturnsIsWorthAPlan() {
        let small = TilePool(tiles: 32) { $0.workers = 2 }
        let layer = small.pool.addLayer(tileBytes: TilePool.tileBytes, reservesLate: true, loadsInFlight: .fixed(8))
        let needed = (0..<3).map { small.demand(key($0, layer: layer)) }
        small.install(needed)
        let stuck = (0..<2).compactMap { _ in small.beginLoad() }
        small.now += 1000
        let replaced = small.pool.writeOffLoads(startedBefore: small.now, atMost: 2, now: small.now)
        #expect(replaced == 2)
        small.install(needed)
        #expect(small.beginLoad() == nil)
        _ = small.pool.takeDemand()
        small.pool.releaseWorker(of: stuck[0], at: small.now)
        let isDemanded = small.pool.takeDemand()
        let late = small.pool.takeEffects().lateWorkers
        #expect(isDemanded && late == 1)
        small.install(needed)
        #expect(small.beginLoad()?.key == key(2, layer: layer))
    }

    /// Two needed tiles hang, as many as their layer may load: the end of another layer's prefetch makes no place.
    @Test func prefetchesThatHangGoOnIfTheirEndWouldNotHelp() {
        let small = TilePool(tiles: 32) {
            $0.workers = 2
            $0.spareWorkers = 6
        }
        let bytes = TilePool.tileBytes
        let first = small.pool.addLayer(tileBytes: bytes, reservesLate: true, loadsInFlight: .fixed(2))
        let second = small.pool.addLayer(tileBytes: bytes, reservesLate: true, loadsInFlight: .fixed(2))
        let wish = PlanEntry(key: key(0, layer: second), value: 1, reason: .prefetch)
        let needed = (0..<4).map { small.demand(key($0, layer: first)) }
        var superseded: [LoadID] = []
        for _ in 0..<3 {
            small.install(needed + [wish])
            while small.beginRequest() != nil {}
            superseded += small.pool.takeEffects().superseded
            small.now += 1000
            _ = small.pool.writeOffLoads(startedBefore: small.now, atMost: 6, now: small.now)
        }
        let stuck = small.pool.loads.writtenOffCount
        #expect(stuck == 3 && superseded.isEmpty)
    }

    @Test func noMoreAreWrittenOffThanCanBeReplaced() {
        let small = TilePool(tiles: 32) { $0.workers = 4 }
        small.install((0..<4).map { small.demand(key($0)) })
        for _ in 0..<4 { _ = small.beginLoad() }
        let before = small.pool.bookkeepingBytes
        let count = small.pool.writeOffLoads(startedBefore: 1, atMost: 3, now: 1)
        #expect(count == 3)
        // Each frees its worker's record for another load.
        #expect(small.pool.bookkeepingBytes == before + 3 * MemoryLayout<Load?>.stride)
        let oldest = small.pool.loads.oldestStart
        #expect(oldest == 0)
    }
}
