import TestSupport
import Testing

@testable import TileCache

/// Order in which loads start, and tiles that never start.
@Suite struct PoolOrderTests {
    /// A tile that is needed again after a few demands was resident all the time.
    @Test func visitsAreCountedWithSomeDemandsInBetween() {
        let small = TilePool(tiles: 40)
        var needs = ViewNeeds()
        func visits(after demands: Int) -> Int {
            for column in 0..<demands { small.need([100 + column], &needs) }
            small.need([0], &needs)
            return Int(small.entry(0)?.visits ?? 0)
        }
        small.load(0)
        #expect(visits(after: 0) == 1)
        #expect(visits(after: 2) == 1)
        #expect(visits(after: VisitClass.demandsOfAVisit + 2) == 2)
        #expect(visits(after: VisitClass.demandsOfAVisit) == 2)
        #expect(visits(after: VisitClass.demandsOfAVisit + 1) == 3)
        #expect(needs.hasBegun)
    }

    /// A tile that was in view 255 times is counted no further.
    @Test func visitsAreCountedUpToTheirMaximum() throws {
        let small = TilePool(tiles: 40)
        var needs = ViewNeeds()
        small.install([PlanEntry(key: key(0), value: 1, reason: .prefetch, visits: .max - 1, age: 100)])
        small.end(try #require(small.beginLoad()))
        for _ in 0..<2 {
            small.need([0], &needs)
            #expect(small.entry(0)?.visits == .max)
            for column in 0...VisitClass.demandsOfAVisit { small.need([100 + column], &needs) }
        }
    }

    /// A policy remembers visits of evicted tiles and their last time. The pool has those of the others.
    @Test func aPlanTellsTheHistoryOfTilesThatWereGone() {
        let small = TilePool(tiles: 8)
        var needs = ViewNeeds()
        small.need([1, 2, 3, 4, 5, 6, 7, 8], &needs)
        let known = small.entry(1)?.lastDemand
        small.install([0, 1].map { PlanEntry(key: key($0), value: 1, reason: .prefetch, visits: 3, age: 5) })
        for _ in 0..<2 { _ = small.beginLoad() }
        let clock = small.pool.demandClock
        #expect(small.entry(0)?.visits == 3 && small.entry(0)?.lastDemand == clock - 5)
        #expect(small.entry(1)?.visits == 3 && small.entry(1)?.lastDemand == known)
    }

    @Test func neededTilesPassAPrefetchThatThereIsNoRoomFor() {
        let small = TilePool(tiles: 2) { $0.eviction = .value }
        small.install([small.wish(0, 5), small.wish(1, 5)])
        small.runPlan()
        // Nothing is evicted for a tile of lower value, except for a needed one.
        small.install([small.wish(0, 5), small.wish(1, 5), small.wish(2, 1), small.demand(key(3)), small.wish(4, 1)])
        #expect(small.beginLoad()?.key == key(3))
        #expect(small.beginLoad() == nil)
        let isShort = small.pool.queue.unmet.rank != nil
        #expect(isShort)
    }

    /// Urgent entries are in order of time and not of worth. Others may therefore have room.
    @Test func anUrgentTileWithoutRoomIsPassedOver() {
        for isUrgent in [true, false] {
            let small = TilePool(tiles: 2) { $0.eviction = .value }
            small.install([small.wish(0, 5), small.wish(1, 2)])
            small.runPlan()
            var poor = small.wish(7, 1)
            poor.isUrgent = isUrgent
            small.install([poor, small.wish(0, 5), small.wish(1, 2), small.wish(8, 3)])
            #expect(small.beginLoad()?.key == (isUrgent ? key(8) : nil))
        }
    }

    /// A view turns around before a new plan is made.
    @Test func whatHasGoneOutOfViewNeverStarts() {
        let small = TilePool(tiles: 32) { $0.workers = 1 }
        var needs = ViewNeeds()
        small.need([0, 1, 2, 3], &needs)
        small.pool.install(Plan(entries: (0..<4).map { small.demand(key($0)) }, followsNeeds: true))
        let first = small.beginLoad()
        #expect(first?.key == key(0))
        small.need([3, 4], &needs)
        if let first { small.end(first) }
        #expect(small.beginLoad()?.key == key(3))
    }

    /// A load in flight may evict tiles of lower value. If its tile is needed, any.
    @Test func aPrefetchIsWorthMoreOnceItIsNeeded() throws {
        let small = TilePool(tiles: 8)
        var needs = ViewNeeds()
        small.pool.install(Plan(entries: [small.wish(0, 3), small.demand(key(1))], margin: 1))
        let tickets = [try #require(small.beginLoad()), try #require(small.beginLoad())]
        func worth(_ index: Int) -> Float? {
            small.pool.loads[tickets[index].load].map { small.pool.worth(of: $0) }
        }
        #expect(worth(0) == 2 && worth(1) == .infinity)
        small.need([0], &needs)
        #expect(worth(0) == .infinity)
        small.need([], &needs)
        #expect(worth(0) == 2)
    }

    /// A planned tile without an entry has left the view, unless the table is full. It keeps no room from prefetches: a
    /// fast pan leaves the tiles of most plans behind.
    @Test func whatHasLeftTheViewLacksNoRoom() throws {
        let small = TilePool(tiles: 32)
        small.install([small.demand(key(0))])
        small.end(try #require(small.beginLoad()), .failed(isPermanent: false, retryAfter: nil))
        for column in [0, 1, 0] {
            small.now += 1_000_000_000_000
            let entries = [small.demand(key(column)), small.wish(10 + column, 1)]
            small.pool.install(Plan(entries: entries, followsNeeds: true))
            let begun = small.beginLoad()
            let lacksRoom = small.pool.queue.lacksRoomForNeeds
            #expect(!lacksRoom && (begun?.key == key(10 + column) || small.decoded.contains(10 + column)))
            if let begun { small.end(begun) }
        }
    }

    /// The table is full of entries that others need. The rest is missed, and entered once there is room.
    @Test func whatTheTableHasNoRoomForIsMissedAndEnteredLater() {
        let small = TilePool(tiles: 4)
        let room = small.pool.table.maximumCount
        var (first, second) = (ViewNeeds(), ViewNeeds())
        small.need([0], &second)
        small.need(Array(1...room - 5), &first)
        var (pan, zoom) = (TileCacheStatistics.DemandCounts(), TileCacheStatistics.DemandCounts())
        let wanted = (0..<10).map { key(10_000 + $0) }
        small.pool.update(&second, tiles: wanted, level: 3, pan: &pan, zoom: &zoom, now: 7)
        // The entry of column 0 is replaced by one of them.
        #expect(second.entries.count { $0 == .none } == 5 && second.isIncomplete)
        #expect(pan.total == 10 && pan.missed == 10 && pan.hits == 0 && zoom.total == 0)
        #expect(second.missingSince == Array(repeating: 7, count: 10))
        small.pool.enterMissing(of: &second)
        #expect(second.isIncomplete)
        // A planned tile without an entry lacks room then.
        small.pool.install(Plan(entries: [small.demand(wanted[9])], followsNeeds: true))
        let (begun, lacksRoom) = (small.beginLoad(), small.pool.queue.lacksRoomForNeeds)
        #expect(begun == nil && lacksRoom)
        small.pool.clear(&first)
        small.pool.enterMissing(of: &second)
        let entries = wanted.map { small.pool.table.find($0) }
        #expect(second.entries == entries && !entries.contains(.none) && !second.isIncomplete)
        #expect(wanted.allSatisfy { small.pool.table[small.pool.table.find($0)].needCount == 1 })
        #expect(wanted.allSatisfy { small.pool.table[small.pool.table.find($0)].visits == 1 })
        small.pool.clear(&second)
        #expect(small.entryCount == 0)
    }

    /// While all workers are busy, a plan may be replaced before its first turn. It says nothing about the room.
    @Test func aLackOfRoomOutlivesPlansWithoutATurn() {
        let small = TilePool(tiles: 2)
        var needs = ViewNeeds()
        small.load(0, 1)
        small.need([0, 1, 2], &needs)
        func install() {
            var plan = Plan(entries: [PlanEntry(key: key(9), value: 1, reason: .fallback), small.demand(key(2))])
            plan.isAtRest = true
            small.pool.install(plan)
        }
        install()
        #expect(small.beginLoad() == nil)
        for _ in 0..<3 { install() }
        var lacks = small.pool.queue.formerLack.exists
        #expect(lacks)
        // A tile has room now, and the next plan finds it.
        small.need([0, 2], &needs)
        #expect(small.beginLoad()?.key == key(2))
        install()
        lacks = small.pool.queue.formerLack.exists
        #expect(!lacks)
    }

    private func promotion(_ column: Int) -> PlanEntry {
        PlanEntry(key: key(column), value: .infinity, reason: .fallback, wantsDecoded: true)
    }

    /// A fallback that is only to be decompressed is never loaded: neither if it has gone, nor if it is outdated.
    @Test func aCompressedFallbackIsNotLoaded() {
        let small = TilePool(tiles: 4) { $0.compressedTier = true }
        func runs(isStale: Bool) -> Residency {
            small.load(0)
            small.demote(small.pool.beginDemotion(small.pool.table.find(key(0))))
            if isStale { small.pool.invalidate(layer: 0, dropsAtOnce: false) { _ in true } }
            small.install([promotion(0), promotion(9)])
            #expect(small.beginLoad() == nil && small.residency(of: key(9)) == .none)
            return small.residency(of: key(0))
        }
        #expect(runs(isStale: false) == .decoded)
        #expect(runs(isStale: true) == .compressed)
    }

    /// Without room for it, needed tiles behind it begin, and none counts as without room.
    @Test func aCompressedFallbackWithoutRoomIsPassedOver() {
        let small = TilePool(tiles: 3) { $0.compressedTier = true }
        let late = small.pool.addLayer(tileBytes: TilePool.tileBytes, reservesLate: true)
        small.load(0)
        small.demote(small.pool.beginDemotion(small.pool.table.find(key(0))))
        small.load(1, 2)
        var needs = ViewNeeds()
        small.need([1, 2], &needs)
        small.install([promotion(0), small.demand(key(5, layer: late))])
        #expect(small.beginLoad()?.key == key(5, layer: late))
        let lacksRoom = small.pool.queue.lacksRoomForNeeds
        #expect(!lacksRoom && small.residency(of: key(0)) == .compressed)
    }

    /// Plans with needed tiles and prefetches in any order, against the order in one sentence.
    @Test(arguments: 1...40) func anyPlanStartsInItsOrder(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        let workers = 1 + random.below(5)
        let small = TilePool(tiles: 400) { $0.workers = workers }
        var left = (0..<random.below(60)).map { (column: $0, isDemand: random.oneIn(3)) }
        small.install(left.map { $0.isDemand ? small.demand(key($0.column)) : small.wish($0.column, 1) })
        var running: [(ticket: LoadTicket, isDemand: Bool)] = []
        for _ in 0..<200 {
            if random.oneIn(3), !running.isEmpty {
                small.end(running.remove(at: random.below(running.count)).ticket)
            }
            let next = running.count < workers ? left.first : nil
            let begun = small.beginLoad()
            #expect(begun?.key == next.map { key($0.column) })
            if let begun { running.append((begun, left.removeFirst().isDemand)) }
        }
    }
}
