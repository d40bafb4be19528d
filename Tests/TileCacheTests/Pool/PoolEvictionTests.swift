import Testing

@testable import TileCache

/// Choice of the tile to evict, in examples small enough to work out by hand.
@Suite struct PoolEvictionTests {
    private func byValue(_ configuration: inout PoolConfiguration) { configuration.eviction = .value }

    @Test func theLeastRecentlyUsedGoesFirst() {
        let small = TilePool(tiles: 3)
        small.load(0, 1, 2)
        small.touch(0)
        small.load(3)
        #expect(small.resident == [0, 2, 3])
        small.touch(2)
        small.load(4, 5)
        #expect(small.resident == [2, 4, 5])
        #expect(small.counters.tiers.removed[TileCacheStatistics.RemovalCause.capacity.rawValue] == 3)
    }

    /// A slot without memory is declared when it is taken. One that is used again has its memory.
    @Test func slotsWithoutMemoryAreDeclared() {
        let small = TilePool(tiles: 2)
        small.load(0, 1)
        let fresh = small.pool.takeEffects().fresh
        #expect(fresh == [MemoryRange(slotClass: 0, number: 0), MemoryRange(slotClass: 0, number: 1)])
        small.load(2, 3)
        let reused = small.pool.takeEffects().fresh
        #expect(small.resident == [2, 3] && reused.isEmpty)
    }

    @Test func whatWasNeverCompressedHasNoRatio() {
        let ratio = TileCacheStatistics(of: TilePool(tiles: 3).pool).tiers.compressionRatio
        #expect(ratio == nil)
    }

    @Test func theLowestValueGoesFirst() {
        let small = TilePool(tiles: 3, byValue)
        small.load(0, 1, 2)
        small.install([small.wish(0, 3), small.wish(1, 1), small.wish(2, 2), small.wish(9, 2.5)])
        small.runPlan()
        #expect(small.resident == [0, 2, 9])
    }

    /// What a load takes once it is in flight, for its source or for scratch memory, evicts no more than its slot may.
    @Test(arguments: [Rank.prefetch, .margin, .fallback, .demand, .pin], [false, true])
    func aLoadInFlightEvictsWhatItsReasonAllows(reason: Rank, isAtRest: Bool) throws {
        let small = TilePool(tiles: 4, byValue)
        small.load(0, 1, 2)
        var plan = Plan(entries: [PlanEntry(key: key(9), value: 2.5, reason: reason)])
        plan.keepValues = [small.wish(0, 2), small.wish(1, 3), small.wish(2, 3)]
        plan.isAtRest = isAtRest
        small.pool.install(plan)
        let load = try #require(small.beginLoad())
        var evicted = 0
        var slots: [SlotID] = []
        while case .granted(let slot) = small.pool.takeScratch(for: load.load) {
            slots.append(slot)
            evicted += 1
        }
        let expected = reason == .prefetch || reason == .margin ? 1 : reason == .fallback && isAtRest ? 0 : 3
        #expect(evicted == expected && small.resident.count == 3 - expected)
        for slot in slots { small.pool.returnScratch(slot, layer: 0) }
        small.end(load)
    }

    /// Between its landing and the next plan, needed tiles evict others, of more worth than tiles that were never needed.
    @Test(arguments: [Rank.prefetch, .margin, .fallback]) func whatLandsIsKeptUntilItIsValued(
        reason: Rank
    ) throws {
        let small = TilePool(tiles: 3, byValue)
        var needs = ViewNeeds()
        small.load(0, 1)
        for _ in 0..<3 {
            small.need([0, 1], &needs)
            small.need((0...VisitClass.demandsOfAVisit).map { 100 + $0 }, &needs)
        }
        small.need([2, 3], &needs)
        let first = PlanEntry(key: key(9), value: 1, reason: reason)
        small.install([first, small.demand(key(2)), small.demand(key(3))], recency: .standard)
        small.runPlan()
        #expect(small.resident == [2, 3, 9])
    }

    /// Of the tiles that a plan does not value, a search compares so many of the oldest.
    @Test(arguments: [(PoolState.tilesWeighed - 1, true), (PoolState.tilesWeighed, false)])
    func aSearchWeighsTheOldestTiles(older: Int, isWeighed: Bool) throws {
        let small = TilePool(tiles: older + 1, byValue)
        for column in 0..<older { small.load(column) }
        // Of another visit class, and worth less.
        small.install([PlanEntry(key: key(older), reason: .demand, visits: 2, age: 0)])
        small.runPlan()
        #expect(small.entry(older)?.visits == 2)
        var recency = RecencyWorth()
        for _ in 0..<VisitClass.ages { recency.worths += [2, 1, 2, 2] }
        small.install([small.wish(9999, 9)], recency: recency)
        small.runPlan()
        let gone = Set(0...older).subtracting(small.resident)
        #expect(gone == [isWeighed ? older : 0])
    }

    /// Comparing values takes time. A large trim evicts the oldest, a small one the least valuable.
    @Test func aSmallTrimWeighsAndALargeOneDoesNot() {
        let small = TilePool(tiles: 40, byValue)
        for column in 0..<40 { small.load(column) }
        small.install((0..<40).map { small.wish($0, $0 == 7 ? 1 : 2) })
        small.pool.trim(toBytes: 39 * TilePool.tileBytes)
        #expect(small.resident == Set(0..<40).subtracting([7]))
        small.pool.trim(toBytes: 20 * TilePool.tileBytes)
        #expect(!small.resident.contains(0))
    }

    /// A slot whose tile also needs table bytes has room for both. The 65th does, whatever remains of the limit.
    @Test func noLimitIsTooOddForTheTables() {
        var breaches = 0
        for odd in stride(from: 0, to: 8 * TilePool.tileBytes, by: 32) {
            let small = TilePool(tiles: 64) {
                $0.grantsBookkeeping = false
                $0.byteLimit += odd
            }
            for column in 0..<70 {
                small.install([small.demand(key(column))])
                let ticket = small.beginLoad()
                if small.committedBytes > small.byteLimit { breaches += 1 }
                if let ticket { small.end(ticket) }
            }
        }
        #expect(breaches == 0)
    }

    /// A tile that the table had no room for is needed like others. Another view has loaded it since.
    @Test func aNeededTileThatIsEnteredLateStays() {
        let small = TilePool(tiles: 2)
        small.load(5)
        var needs = ViewNeeds(tiles: [key(5)], entries: [.none], missingSince: [ViewNeeds.notMissing])
        small.pool.enterMissing(of: &needs)
        small.load(6, 7)
        #expect(small.resident == [5, 7])
    }

    /// Pages for a block come from a compressed tile of lower value, by plan or age. Otherwise from unused ones.
    @Test(arguments: [(PoolConfiguration.Eviction.value, Float(1), false), (.value, 3, true), (.recency, 1, true)])
    func blocksTakeThePagesOfWhatIsWorthLess(eviction: PoolConfiguration.Eviction, worth: Float, takes: Bool) {
        for isPlanned in [true, false] {
            let small = TilePool(tiles: 3) {
                $0.eviction = eviction
                $0.compressedTier = true
                $0.compressedShare = 0.3
            }
            small.compressed = .block(4096)
            func demote(_ column: Int) {
                small.demote(small.pool.beginDemotion(small.pool.table.find(key(column))))
                small.pool.finishDecommits(small.pool.takePendingDecommits())
            }
            small.load(0)
            demote(0)
            small.load(1, 2)
            small.install(
                [small.wish(0, 2), small.wish(2, 9)] + (isPlanned ? [small.wish(1, worth)] : []),
                recency: RecencyWorth(worths: Array(repeating: worth, count: VisitClass.ages * VisitClass.count))
            )
            demote(1)
            #expect(small.resident == (takes ? [1, 2] : [0, 1, 2]), "\(isPlanned)")
        }
    }

    @Test(arguments: [Float(0.5), 1])
    func nothingGoesForWhatIsWorthLessOrAsMuch(worth: Float) {
        let small = TilePool(tiles: 2, byValue)
        small.load(0, 1)
        small.install([small.wish(0, 3), small.wish(1, 1), small.wish(9, worth)])
        small.runPlan()
        #expect(small.resident == [0, 1])
        #expect(small.counters.refusals == 1)
    }

    @Test func unmentionedTilesAreWorthWhatThePlansTableSays() {
        let small = TilePool(tiles: 3, byValue)
        small.load(0, 1, 2)
        small.touch(0)
        // Tiles 0 and 1 have the same value, so the one used longer ago is evicted.
        let recency = RecencyWorth(
            worths: [Float](repeating: 0.14, count: VisitClass.ages * VisitClass.count)
        )
        small.install([small.wish(2, 0.16), small.wish(9, 0.15)], recency: recency)
        small.runPlan()
        #expect(small.resident == [0, 2, 9])
        // Tiles that a plan values less than the table values others are evicted before them.
        small.install([small.wish(2, 0.01), small.wish(8, 0.5)], recency: recency)
        small.runPlan()
        #expect(small.resident == [0, 8, 9])
    }

    @Test func whatAPlanHasJustLoadedKeepsThePlansValue() {
        let small = TilePool(tiles: 2, byValue)
        small.install([small.wish(9, 5), small.wish(8, 4), small.wish(7, 3)])
        small.runPlan()
        #expect(small.resident == [8, 9])
    }

    @Test func aTileWishedForTwiceIsWorthTheLargerValue() {
        let small = TilePool(tiles: 2, byValue)
        small.load(0, 1)
        small.install([small.wish(0, 5), small.wish(1, 1), small.wish(0, 0.5), small.wish(9, 2)])
        small.runPlan()
        #expect(small.resident == [0, 9])
    }

    @Test(arguments: [PoolConfiguration.Eviction.recency, .value])
    func aPrefetchNeverTakesTheRoomOfANeededTile(eviction: PoolConfiguration.Eviction) {
        let small = TilePool(tiles: 3) { $0.eviction = eviction }
        var needs = ViewNeeds()
        small.need([0, 1, 2], &needs)
        small.load(0, 1, 2)
        small.install([small.wish(9, .greatestFiniteMagnitude)])
        small.runPlan()
        #expect(small.resident == [0, 1, 2])
        small.need([1, 2], &needs)
        small.install([small.wish(9, .greatestFiniteMagnitude)])
        small.runPlan()
        #expect(small.resident == [1, 2, 9])
    }

    @Test(arguments: [PoolConfiguration.Eviction.recency, .value])
    func ademandTakesTheRoomOfPrefetchedTiles(eviction: PoolConfiguration.Eviction) {
        let small = TilePool(tiles: 3) { $0.eviction = eviction }
        small.install([small.wish(7, 1e30), small.wish(8, 1e30), small.wish(9, 1e30)])
        small.runPlan()
        #expect(small.resident == [7, 8, 9])
        var needs = ViewNeeds()
        small.need([0, 1], &needs)
        small.install([
            small.demand(key(0)), small.demand(key(1)), small.wish(7, 1e30), small.wish(8, 2e30), small.wish(9, 3e30),
        ])
        _ = small.beginLoad().map { small.end($0) }
        _ = small.beginLoad().map { small.end($0) }
        #expect(small.resident == [0, 1, 9])
        #expect(small.counters.prefetches.wasted == 2)
    }

    /// Order of use throughout, whichever tier a tile is in: the last loaded tiles remain.
    @Test(arguments: [0.25, 0.5, 1])
    func theSecondTierDropsTheColdestAndKeepsToItsShare(share: Double) {
        let small = TilePool(tiles: 40) {
            $0.compressedTier = true
            $0.compressedShare = share
        }
        for column in 0..<300 { small.load(column) }
        let kept = small.resident.count
        #expect(small.resident == Set(300 - kept..<300))
        #expect(small.decoded == Set(300 - small.decoded.count..<300))
        #expect(kept > 40)
        // Four slots beyond the share are the band in which pages are not turned into slots.
        #expect(small.usedPages <= Int(40 * share) + 5)
        #expect(small.committedBytes <= small.byteLimit)
    }

    /// A single-colour tile takes no page, so evicting it makes no room for pages.
    @Test func coldSingleColoursDoNotShieldWhatIsBehindThem() {
        let small = TilePool(tiles: 40) {
            $0.compressedTier = true
            $0.compressedShare = 0.25
        }
        small.compressed = .solid(7)
        for column in 0..<50 { small.load(column) }
        small.compressed = .block(4000)
        for column in 50..<250 {
            small.load(column)
            #expect(small.usedPages <= 11)
        }
    }

    /// By age, the tile compressed the longest is evicted first. Uses before that do not matter.
    @Test func whatWasCompressedFirstGoesFirst() {
        let small = TilePool(tiles: 8) { $0.compressedTier = true }
        small.compressed = .block(4096)
        small.load(0, 1, 2)
        #expect(small.decoded == [0, 1, 2])
        for column in [2, 0, 1] {
            small.demote(small.pool.beginDemotion(small.pool.table.find(key(column))))
            small.pool.finishDecommits(small.pool.takePendingDecommits())
        }
        #expect(small.resident == [0, 1, 2] && small.decoded.isEmpty)
        for left in [[0, 1], [1], []] as [Set<Int>] {
            let bytes = left.count * 4096
            small.pool.trim(toBytes: bytes)
            small.pool.finishDecommits(small.pool.takePendingDecommits())
            #expect(small.resident == left)
        }
    }

    /// Tiles examined by a search. The evicted one, and by value each tile on the way.
    @Test func searchesAreCounted() {
        for (eviction, steps) in [(PoolConfiguration.Eviction.recency, 1), (.value, 1 + 1)] {
            let small = TilePool(tiles: 2) { $0.eviction = eviction }
            small.load(0, 1)
            #expect(small.pool.evictionSteps == 0)
            small.load(2)
            #expect(small.pool.evictionSteps == steps && small.resident == [1, 2])
        }
    }

    @Test func aTileLargerThanTheLimitIsRefusedAndCostsNothing() {
        let small = TilePool(tiles: 4)
        let large = small.pool.addLayer(tileBytes: 5 * TilePool.tileBytes)
        small.load(0, 1, 2, 3)
        small.load(key(0, layer: large))
        #expect(small.resident == [0, 1, 2, 3])
        #expect(small.residency(of: key(0, layer: large)) == .none)
        #expect(small.counters.refusals == 1)
        small.load(4)
        #expect(small.resident == [1, 2, 3, 4])
    }

    /// A request that fits the limit, but not without the tables, is refused. It costs nothing.
    @Test func aTileLargerThanTablesLeaveIsRefusedAndCostsNothing() {
        let small = TilePool(tiles: 64) { $0.grantsBookkeeping = false }
        small.load(0, 1, 2)
        let large = small.pool.addLayer(tileBytes: small.byteLimit - small.pool.bookkeepingBytes + 1)
        small.load(key(0, layer: large))
        #expect(small.resident == [0, 1, 2] && small.counters.refusals == 1)
    }

    @Test func aTileAsLargeAsTheLimitTakesAllOfIt() {
        let small = TilePool(tiles: 4)
        let large = small.pool.addLayer(tileBytes: 4 * TilePool.tileBytes)
        small.load(0, 1, 2, 3)
        small.load(key(0, layer: large))
        #expect(small.resident.isEmpty && small.residency(of: key(0, layer: large)) == .decoded)
        #expect(small.committedBytes == small.byteLimit && small.counters.refusals == 0)
    }

    @Test func aLargerTileTakesTheRoomOfSeveral() {
        let small = TilePool(tiles: 4)
        let large = small.pool.addLayer(tileBytes: 3 * TilePool.tileBytes)
        small.load(0, 1, 2, 3)
        small.load(key(0, layer: large))
        #expect(small.resident == [3])
        #expect(small.residency(of: key(0, layer: large)) == .decoded)
        small.load(4)
        #expect(small.resident == [3, 4] || small.resident == [4])
        #expect(small.committedBytes <= small.byteLimit)
    }

    @Test func leasedPixelsOutliveTheNewerOnesThatReplaceThem() throws {
        let small = TilePool(tiles: 3)
        small.load(0)
        let number = small.pool.table.find(key(0))
        let slot = small.pool.table[number].slot
        small.pool.lease(number)
        small.pool.invalidate(layer: 0, dropsAtOnce: false) { _ in true }
        small.load(0)
        let entry = small.pool.table[number]
        #expect(entry.residency == .decoded && entry.slot != slot && !entry.flags.contains(.stale))
        #expect(small.usedSlots == 2)
        // The old pixels' slot is not reassigned, however tight memory gets.
        for column in 1..<9 { small.load(column) }
        #expect(!small.decoded.isEmpty && small.decoded.count == 2)
        for column in small.decoded { #expect(small.entry(column)?.slot != slot) }
        small.pool.release(LeaseToken(entry: number, slot: slot, slotClass: 0))
        small.load(9)
        #expect(small.decoded.count == 3)
    }

    /// Single-colour tiles take no pages or slots and outlive the others. They are evicted only for table space.
    @Test func singleColoursAreKeptWhileTheyAreFree() {
        let small = TilePool(tiles: 4) {
            $0.compressedTier = true
            $0.compressedShare = 0.25
        }
        small.compressed = .solid(7)
        for column in 0..<40 { small.load(column) }
        #expect(small.resident == Set(0..<40) && small.usedPages == 0)
        small.compressed = .block(3000)
        for column in 100..<160 { small.load(column) }
        // The last four were still decoded, and have been compressed.
        let kept = small.resident
        #expect(kept.isSuperset(of: 0..<36) && kept.count < 46)
        small.compressed = .solid(7)
        let room = small.pool.table.maximumCount
        for column in 1000..<1000 + room { small.load(column) }
        let isBounded = small.entryCount <= room
        // The oldest are evicted, the newest remain.
        let hasNewest = small.residency(of: key(0)) == .none && small.residency(of: key(999 + room)).isResident
        #expect(isBounded && hasNewest)
    }
}
