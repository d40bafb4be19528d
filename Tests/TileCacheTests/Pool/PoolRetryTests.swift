import Testing

@testable import TileCache

/// Time of the next try after a failure or a refused reservation.
@Suite struct PoolRetryTests {
    private func pool() -> TilePool {
        TilePool(tiles: 4) {
            $0.retryDelay = 100
            $0.maximumRetryDelay = 1000
        }
    }

    /// Fails the tile's load and returns when the next one may start.
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
        // Newer pixels may exist: earlier failures no longer count.
        small.pool.invalidate(layer: 0, dropsAtOnce: true) { _ in true }
        #expect(wait(small) == 100)
    }

    /// The same for a tile that a view needs, whose entry stays.
    @Test func anInvalidationForgetsTheFailuresOfNeededTiles() {
        let small = pool()
        var needs = ViewNeeds()
        small.need([0], &needs)
        #expect((0..<3).map { _ in wait(small) } == [100, 200, 400])
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

    /// Its fallback may have been evicted for it, and nothing else makes a plan.
    @Test(arguments: [true, false]) func whatIsLostForAViewIsPlannedFor(isNeeded: Bool) throws {
        let small = pool()
        var needs = ViewNeeds()
        if isNeeded { small.need([0], &needs) }
        small.install([small.demand(key(0))])
        let ticket = try #require(small.beginLoad())
        _ = (small.pool.takeEffects(), small.pool.takeDemand())
        small.end(ticket, .failed(isPermanent: true, retryAfter: nil))
        let (effects, hasDemand) = (small.pool.takeEffects(), small.pool.takeDemand())
        #expect(hasDemand == isNeeded && effects.replanAt == .max)
    }

    // MARK: - Refused memory

    /// A pool for a number of tiles. Its layer's source takes its slot when it is ready to write.
    private func latePool(tiles: Int) -> (TilePool, layer: Int) {
        let small = TilePool(tiles: tiles) {
            $0.eviction = .value
            $0.retryDelay = 100
            $0.maximumRetryDelay = 1000
        }
        return (small, small.pool.addLayer(tileBytes: TilePool.tileBytes, reservesLate: true))
    }

    private func wish(_ column: Int, _ layer: Int, _ value: Float) -> PlanEntry {
        PlanEntry(key: key(column, layer: layer), value: value, reason: .prefetch)
    }

    /// Nothing is evicted for bytes that would not fit beside held memory.
    @Test func nothingIsGivenUpForWhatCouldNotBeHeld() throws {
        let small = TilePool(tiles: 8)
        small.load(0, 1, 2, 3)
        small.install([small.demand(key(4)), small.demand(key(5))])
        let loads = [try #require(small.beginLoad()), try #require(small.beginLoad())]
        let first = small.pool.holdEncoded(loads[0], bytes: 3 * 4096)
        #expect(first == .granted(3 * 4096) && small.resident == [1, 2, 3])
        let second = small.pool.holdEncoded(loads[1], bytes: 6 * 4096)
        #expect(second == .refused && small.resident == [1, 2, 3])
    }

    /// A refusal that was followed by a grant does not affect the next try.
    @Test func whatWasHeldAfterAllIsNotLackedAnyMore() throws {
        let small = pool()
        small.install([small.demand(key(0))])
        let ticket = try #require(small.beginLoad())
        let answers = [100 * 4096, 100].map { small.pool.holdEncoded(ticket, bytes: $0) }
        #expect(answers == [.refused, .granted(100)])
        small.end(ticket, .refused)
        #expect(small.entry(0)?.flags.contains(.refused) == true && small.entry(0)?.refusedPages == 0)
    }

    /// A source may not hold more than fits an empty pool. Other tiles are not affected.
    @Test func whatNeverFitsIsNotWaitedFor() throws {
        let small = pool()
        small.load(0, 1)
        small.install([small.demand(key(2))])
        let ticket = try #require(small.beginLoad())
        let held = small.pool.holdEncoded(ticket, bytes: small.byteLimit + 1)
        #expect(held == .refused)
        small.end(ticket, .failed(isPermanent: false, retryAfter: nil))
        small.now += 20
        small.install([small.demand(key(2)), small.demand(key(3))])
        let loads = [small.beginLoad(), small.beginLoad()]
        #expect(loads.map { $0?.key } == [key(3), nil] && small.resident == [0, 1])
        small.pool.setByteLimit(10 * TilePool.tileBytes)
        small.install([small.demand(key(2))])
        #expect(small.beginLoad()?.key == key(2))
    }

    /// All of the limit may be held for one tile. One byte more evicts nothing.
    @Test(arguments: [0, 1]) func asMuchIsHeldAsFitsTheLimit(more: Int) throws {
        let (small, late) = latePool(tiles: 3)
        small.load(0, 1)
        small.install([small.demand(key(5, layer: late))])
        let ticket = try #require(small.beginLoad())
        let bytes = small.byteLimit + more
        let held = small.pool.holdEncoded(ticket, bytes: bytes)
        small.pool.finishDecommits(small.pool.takePendingDecommits())
        #expect(held == (more == 0 ? .granted(bytes) : .refused))
        #expect(small.resident == (more == 0 ? [] : [0, 1]) && !small.isOverLimit)
        small.end(ticket, .cancelled)
    }

    @Test func aPrefetchBeginsOnlyWithASlot() throws {
        let (small, late) = latePool(tiles: 3)
        var needs = ViewNeeds()
        small.load(0, 1)
        small.need([0, 1], &needs)
        // Of two that would fit alone, the second must count the first one's bytes.
        small.install([wish(5, late, 2), wish(6, late, 1)])
        let first = try #require(small.beginLoad())
        #expect(first.slot != .none && small.beginLoad() == nil)
        small.end(first)
        // Nothing may be evicted for a tile of lower value.
        small.install([wish(5, late, 2), wish(6, late, 1)])
        #expect(small.beginLoad() == nil)
        small.install([wish(6, late, 3)])
        let second = try #require(small.beginLoad())
        #expect(second.slot != .none && small.residency(of: key(5, layer: late)) == .none)
        small.end(second)
        #expect(small.counters.loads.refused == 0)
    }

    @Test func aNeededTileThatWasRefusedBeginsOnlyWithASlot() throws {
        let (small, late) = latePool(tiles: 2)
        var needs = ViewNeeds()
        small.load(0, 1)
        small.need([0, 1], &needs)
        let needed = key(5, layer: late)
        small.install([small.demand(needed)])
        let first = try #require(small.beginLoad())
        #expect(first.slot == .none)
        let room = small.pool.reserve(first.load)
        #expect(room == .refused)
        small.end(first, .refused)
        #expect(small.counters.loads.refused == 1)
        small.now += 19
        small.install([small.demand(needed)])
        #expect(small.beginLoad() == nil)
        // The wait is over, but there still is no room.
        small.now += 1
        small.install([small.demand(needed)])
        let (began, lacks) = (small.beginLoad(), small.pool.queue.lacksRoomForNeeds)
        #expect(began == nil && lacks)
        small.need([0], &needs)
        small.install([small.demand(needed)])
        let second = try #require(small.beginLoad())
        #expect(second.slot != .none)
        small.end(second)
        #expect(small.residency(of: needed) == .decoded)
    }

    /// A prefetch's source requests more memory than exists. Returns when the tile is retried, though memory is freed
    /// at once.
    @Test func eachRefusalDoublesTheWait() throws {
        let (small, late) = latePool(tiles: 2)
        for expected in [20, 40, 80, 160, 320, 640, 1000, 1000] as [Int64] {
            small.install([wish(5, late, 1)])
            let ticket = try #require(small.beginLoad())
            let held = small.pool.holdEncoded(ticket, bytes: small.byteLimit - TilePool.tileBytes + 1)
            #expect(held == .refused)
            // A source that cancels then has not failed.
            small.pool.finishLoad(
                ticket.load,
                .failed(isPermanent: false, retryAfter: 5000),
                now: small.now
            )
            #expect(small.pool.takeEffects().replanAt == .max, "no view needs it")
            small.pool.setByteLimit(small.byteLimit + TilePool.tileBytes)
            small.now += expected - 1
            small.install([wish(5, late, 1)])
            #expect(small.beginLoad() == nil)
            small.now += 1
        }
        #expect(small.counters.loads.refused == 8 && small.counters.loads.failed == 0)
    }

    /// The refused amount is remembered in pages, and reserved before the source is called.
    @Test func whatWasRefusedMustBeThereTheNextTime() throws {
        let (small, late) = latePool(tiles: 3)
        var needs = ViewNeeds()
        small.load(0)
        small.need([0], &needs)
        small.install([small.demand(key(5, layer: late))])
        let first = try #require(small.beginLoad())
        _ = small.pool.reserve(first.load)
        let held = small.pool.holdEncoded(first, bytes: TilePool.tileBytes + 1)
        #expect(held == .refused)
        small.pool.finishLoad(first.load, .cancelled, now: small.now)
        #expect(small.pool.takeEffects().replanAt == .max && small.counters.loads.cancelled == 0)
        small.now += 100
        small.install([small.demand(key(5, layer: late))])
        #expect(small.beginLoad() == nil)
        small.need([], &needs)
        small.install([small.demand(key(5, layer: late))])
        let second = try #require(small.beginLoad())
        let again = small.pool.holdEncoded(second, bytes: TilePool.tileBytes + 1)
        #expect(again == .granted(TilePool.tileBytes + 1))
        small.end(second)
        #expect(small.residency(of: key(5, layer: late)) == .decoded)
    }

    /// A needed or pinned tile that lacks room beside its slot ended each plan: others that only need a slot waited for
    /// as long.
    @Test(arguments: [Rank.demand, .pin])
    func whatOneTileLacksBesideItsSlotKeepsNoOtherWaiting(reason: Rank) throws {
        let small = pool()
        var needs = ViewNeeds()
        small.load(0, 1)
        small.need([0, 1, 3], &needs)
        let large = PlanEntry(key: key(2), value: .infinity, reason: reason)
        small.install([large])
        let first = try #require(small.beginLoad())
        let held = small.pool.holdEncoded(first, bytes: 2 * TilePool.tileBytes)
        #expect(held == .refused)
        small.end(first, .refused)
        small.now += 100
        // No prefetch takes what it lacks.
        small.install([large, small.wish(4, 1), small.demand(key(3)), small.wish(5, 1)])
        let loads = [small.beginLoad(), small.beginLoad()]
        let lacks = small.pool.queue.lacksRoomForNeeds
        #expect(loads.map { $0?.key } == [key(3), nil] && lacks)
    }

    /// A layer of large tiles kept those of small ones waiting.
    @Test func whatIsTooLittleForALargeTileIsForSmallOnes() {
        let small = TilePool(tiles: 6)
        let large = small.pool.addLayer(tileBytes: 2 * TilePool.tileBytes)
        var needs = ViewNeeds()
        small.load(0, 1, 2, 3, 4)
        small.need([0, 1, 2, 3, 4, 5], &needs)
        small.install([small.demand(key(0, layer: large)), small.wish(6, 1), small.demand(key(5)), small.wish(7, 1)])
        let loads = [small.beginLoad(), small.beginLoad()]
        let lacks = small.pool.queue.lacksRoomForNeeds
        #expect(loads.map { $0?.key } == [key(5), nil] && lacks)
    }

    /// Each of many large tiles looked for a victim, under the lock.
    @Test(arguments: [2, 200]) func oneSearchIsEnoughForTilesOfOneSize(count: Int) {
        let small = TilePool(tiles: 6)
        let large = small.pool.addLayer(tileBytes: 2 * TilePool.tileBytes)
        var needs = ViewNeeds()
        small.load(0, 1, 2, 3, 4)
        small.need([0, 1, 2, 3, 4, 5], &needs)
        let before = small.pool.evictionSteps
        small.install((0..<count).map { small.demand(key($0, layer: large)) } + [small.demand(key(5))])
        let load = small.beginLoad()
        #expect(load?.key == key(5) && small.pool.queue.lacksRoomForNeeds)
        #expect(small.pool.evictionSteps - before <= 4, "\(small.pool.evictionSteps - before) steps")
    }

    /// A cold tile is evicted uncompressed, so that the source is not called twice.
    @Test func aBusyCodecIsNoReasonToRefuse() throws {
        let small = TilePool(tiles: 3) {
            $0.compressedTier = true
            $0.maximumCodecJobs = 1
        }
        let late = small.pool.addLayer(tileBytes: TilePool.tileBytes, reservesLate: true)
        small.load(0, 1, 2)
        small.install([small.demand(key(5, layer: late))])
        let ticket = try #require(small.beginLoad())
        let demotion = small.pool.beginDemotion(small.pool.table.find(key(2)))
        guard case .granted = small.pool.reserve(ticket.load) else {
            Issue.record("a tile was refused while the codec was busy")
            return
        }
        small.end(ticket)
        small.demote(demotion)
        #expect(small.decoded.count == 1 && small.residency(of: key(5, layer: late)) == .decoded)
    }
}
