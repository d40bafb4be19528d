import Testing

@testable import TileCache

/// What changes the demand, and with it requests a plan.
@Suite struct PoolDemandTests {
    private let small = TilePool(tiles: 4)

    /// Whether the demand changes meanwhile.
    private func isDemand(_ body: () -> Void) -> Bool {
        _ = small.pool.takeDemand()
        body()
        return small.pool.takeDemand()
    }

    private func pin(_ column: Int) { _ = small.pool.enter(key(column), for: .pin) }

    private func unpin(_ column: Int) { small.pool.letGo(small.pool.table.find(key(column)), by: .pin) }

    private func trim(to tiles: Int) { small.pool.trim(toBytes: tiles * TilePool.tileBytes) }

    @Test func needsOfAViewAreDemand() {
        var needs = ViewNeeds()
        #expect(isDemand { small.need([0, 1], &needs) })
        #expect(!isDemand { small.need([0, 1], &needs) })
        #expect(isDemand { small.need([1], &needs) })
        #expect(isDemand { small.pool.clear(&needs) })
    }

    /// Of a pinned tile. The loads of others end without a demand, whatever their result.
    @Test(arguments: [true, false]) func theEndsOfALoadAreDemandIfNothingElseBringsTheTile(isPinned: Bool) throws {
        let results: [(LoadResult, isDemand: Bool)] = [
            (.cancelled, true), (.failed(isPermanent: true, retryAfter: nil), true), (.absent, true), (.pixels, false),
            (.failed(isPermanent: false, retryAfter: nil), false), (.refused, false), (.postponed(wait: 1), false),
        ]
        for (column, end) in results.enumerated() {
            let pinned = isDemand { if isPinned { pin(column) } }
            #expect(pinned == isPinned)
            small.install([PlanEntry(key: key(column), value: 1, reason: isPinned ? .pin : .prefetch)])
            var ticket: LoadTicket?
            let hasBegun = isDemand { ticket = small.beginLoad() }
            #expect(!hasBegun)
            let load = try #require(ticket)
            let hasEnded = isDemand { small.end(load, end.0) }
            #expect(hasEnded == (isPinned && end.isDemand), "\(end.0)")
            unpin(column)
        }
    }

    /// A plan has to cancel the load.
    @Test func aLoadThatNobodyWaitsForAnyMoreIsDemand() throws {
        pin(0)
        #expect(!isDemand { unpin(0) })
        pin(0)
        small.install([PlanEntry(key: key(0), value: .infinity, reason: .pin)])
        let load = try #require(small.beginLoad())
        #expect(isDemand { unpin(0) })
        #expect(!isDemand { small.end(load, .cancelled) })
    }

    /// Evicted, outdated, or compressed while it was not needed.
    @Test func whatHappensToTilesThatAreWaitedForIsDemand() throws {
        var needs = ViewNeeds()
        small.load(0, 1)
        small.need([0], &needs)
        #expect(isDemand { trim(to: 0) })
        small.load(0, 1)
        #expect(!isDemand { trim(to: 1) } && small.resident == [0])
        #expect(isDemand { small.expire(0) })

        let tiers = TilePool(tiles: 4) { $0.compressedTier = true }
        tiers.load(0)
        let ticket = tiers.pool.beginDemotion(tiers.pool.table.find(key(0)))
        let block = tiers.pool.finishDemotion(ticket, .block(1024))
        let stored = try #require(block)
        var others = ViewNeeds()
        tiers.need([0], &others)
        _ = tiers.pool.takeDemand()
        tiers.pool.finishStore(stored)
        let hasDemand = tiers.pool.takeDemand()
        #expect(hasDemand)
    }

    /// An entry that was passed by, since its layer had all its loads at work, has its turn again.
    @Test func aBusyLayerIsDemandOnceALoadEnds() {
        var unmet = Unmet()
        #expect(unmet.isEmpty && !unmet.takeBusy())
        unmet.noteBusy()
        #expect(!unmet.isEmpty && unmet.takeBusy() && unmet.isEmpty && !unmet.takeBusy())
    }
}
