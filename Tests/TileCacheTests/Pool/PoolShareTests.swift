import Testing

@testable import TileCache

/// Shares of the limit that bound a layer's memory. A tile is a page.
@Suite struct PoolShareTests {
    private func pool(
        tiles: Int,
        _ shares: Double...,
        configure: (inout PoolConfiguration) -> Void = { _ in }
    ) -> TilePool {
        let small = TilePool(tiles: tiles, configure)
        // The layer that is created with it has no share.
        for share in shares { _ = small.pool.addLayer(tileBytes: TilePool.tileBytes, maximumShare: share) }
        return small
    }

    private func decoded(_ small: TilePool, layer: Int) -> [Int] {
        (0..<100).filter { small.residency(of: key($0, layer: layer)).isDecoded }
    }

    @Test func aLayerThatHasItsShareMakesRoomAmongItsOwn() {
        let small = pool(tiles: 8, 0.5)
        small.load(0, 1)
        for column in 0..<6 { small.load(key(column, layer: 1)) }
        // Two of eight are free, and its own oldest two were evicted nevertheless.
        #expect(decoded(small, layer: 1) == [2, 3, 4, 5])
        #expect(decoded(small, layer: 0) == [0, 1])
        // Other layers may use the rest.
        for column in 2..<9 { small.load(column) }
        #expect(decoded(small, layer: 0).count + decoded(small, layer: 1).count == 8)
        #expect(small.committedBytes <= small.byteLimit)
    }

    @Test func whatIsNeededDoesNotExceedTheShareEither() {
        let small = pool(tiles: 8, 0.25)
        var needs = ViewNeeds()
        var pan = TileCacheStatistics.DemandCounts()
        var zoom = TileCacheStatistics.DemandCounts()
        let keys = (0..<4).map { key($0, layer: 1) }
        small.pool.update(&needs, tiles: keys, level: 3, pan: &pan, zoom: &zoom, now: 0)
        // Loads of a full layer do not delay those of others.
        small.install(keys.map { small.demand($0) } + [small.demand(key(7))])
        small.runPlan()
        #expect(decoded(small, layer: 1) == [0, 1])
        #expect(decoded(small, layer: 0) == [7])
        let isShort = small.pool.queue.unmet.rank != nil
        #expect(isShort)
    }

    /// While a needed tile lacks room, tiles that nobody needs yet are not loaded into what it lacks: each would land, make
    /// way in vain, and be loaded again, for as long as the view moves. Where the needed tile's own layer is full, other
    /// layers have their room.
    @Test(arguments: [1, 0.5]) func prefetchesLeaveTheRoomThatANeededTileLacks(share: Double) {
        let small = pool(tiles: 8, share, 0.9)
        let large = small.pool.addLayer(tileBytes: 4 * TilePool.tileBytes, maximumShare: share == 1 ? 1 : 0.25)
        var needs = ViewNeeds()
        small.need([0, 1, 2, 3, 4], &needs)
        small.load(0, 1, 2, 3, 4)
        let prefetches = (0..<2).map { PlanEntry(key: key($0, layer: 1), value: 1, reason: .prefetch) }
        small.install([small.demand(key(0, layer: large))] + prefetches)
        small.runPlan()
        #expect(decoded(small, layer: 1) == (share == 1 ? [] : [0, 1]))
    }

    /// Layers without a share are one permanent group. The group of a removed layer is reused by the next one.
    @Test func groupsAreReused() {
        var lists = TileLists()
        func groups(_ shares: [Double]) -> [Int] { shares.map { lists.group(forShare: $0) } }
        let first = groups([0.5, 1, 0.5])
        #expect(first == [1, 0, 2])
        for group in first.prefix(2) { lists.remove(group: group) }
        let later = groups([1, 0.5, 0.5])
        #expect(later == [0, 1, 3] && lists.groups.count == 4)
    }

    @Test func compressedTilesCountToo() {
        let small = pool(tiles: 16, 0.25) { $0.compressedTier = true }
        for column in 0..<60 {
            small.load(key(column, layer: 1))
            let used = small.pool.usedBytes(ofLayer: 1)
            #expect(used <= 4 * TilePool.tileBytes)
        }
        let compressed = (0..<60).filter { small.residency(of: key($0, layer: 1)).isCompressed }
        #expect(compressed.count >= 4)
    }

    /// Full, a layer first evicts what it has compressed beyond the split between the tiers, to the byte.
    @Test func theCompressedPartOfAFullLayerFollowsTheSplit() {
        let small = pool(tiles: 16, 0.5) {
            $0.compressedTier = true
            $0.compressedShare = 0.125
        }
        func demote(_ columns: Range<Int>) -> [Bool] {
            for column in columns {
                small.load(key(column, layer: 1))
                small.demote(small.pool.beginDemotion(small.pool.table.find(key(column, layer: 1))))
            }
            return [small.pool.isFull(layer: 1), small.pool.hasFullCompressedShare(layer: 1)]
        }
        // Four blocks of a quarter of a tile are an eighth of its eight tiles; full with seven decoded ones beside them.
        let before = demote(0..<4)
        for column in 10..<17 { small.load(key(column, layer: 1)) }
        let full = demote(0..<0)
        let number = small.pool.table.find(key(10, layer: 1))
        small.demote(small.pool.beginDemotion(number))
        let beyond = demote(0..<0)
        #expect(before == [false, false] && full == [true, false] && beyond == [true, true])
    }

    /// A payload counts for its layer's share, to the byte.
    @Test(arguments: [(512, true), (513, false)])
    func payloadsStayWithinTheShare(bytes: Int, fits: Bool) throws {
        let small = pool(tiles: 8, (3 * 4096 + 512) / (8 * 4096.0)) { $0.compressedTier = true }
        small.load(key(0, layer: 1))
        small.load(key(1, layer: 1))
        small.install([small.demand(key(2, layer: 1))])
        let ticket = try #require(small.beginLoad())
        let block = small.pool.reserveEncoded(ticket, bytes: bytes, checksum: 1)
        #expect((block != nil) == fits)
        small.end(ticket)
    }

    /// Freed scratch memory is on no account. Nor is a block that an invalidation detached from its reader.
    @Test func makingCoarserTilesLeavesNothingOnTheAccount() throws {
        let small = pool(tiles: 16, 0.5) { $0.compressedTier = true }
        for round in 0..<20 {
            small.install([small.demand(key(round, layer: 1))])
            let load = try #require(small.beginLoad())
            let room = small.pool.takeScratch(for: load.load)
            guard case .granted(let slot) = room else {
                Issue.record("no scratch memory in round \(round)")
                return
            }
            small.pool.returnScratch(slot, layer: 1)
            small.end(load)
            let number = small.pool.table.find(key(round, layer: 1))
            small.demote(small.pool.beginDemotion(number))
            let begun = small.pool.beginPeek(key(round, layer: 1))
            let peek = try #require(begun)
            small.pool.invalidate(layer: 1, dropsAtOnce: true) { _ in true }
            small.pool.finishPromotion(peek, .pixels)
            let used = small.pool.usedBytes(ofLayer: 1)
            #expect(used == 0)
        }
    }

    /// Pinned tiles that are compressed leave a view less room. Those that it needs give it back, one by one.
    @Test func compressedPinsTakeTheirPartOfTheLimit() {
        let small = TilePool(tiles: 8) { $0.compressedTier = true }
        let tiles = [key(0), key(1), key(2)]
        for column in 0..<3 {
            small.load(column)
            small.demote(small.pool.beginDemotion(small.pool.table.find(key(column))))
        }
        let before = small.pool.unpinnedBytes
        for tile in tiles { _ = small.pool.enter(tile, for: .pin) }
        let (unpinned, attainable) = (small.pool.unpinnedBytes, small.pool.attainableBytes(ofLayer: 0))
        #expect(before - unpinned == 3 * 1024 && attainable == unpinned)
        let needed = small.pool.bytes(toLoad: tiles + [key(9)], ofLayer: 0, within: .max)
        #expect(needed == 4 * TilePool.tileBytes - 2 * 1024)
        small.install(tiles.map { small.demand($0) })
        #expect(small.beginLoad() == nil && small.decoded == [0, 1, 2])
        let (pinned, rest) = (small.pool.layers[0].pinnedBytes, small.pool.unpinnedBytes)
        #expect(pinned == 3 * TilePool.tileBytes && before - rest == pinned)
        for tile in tiles { small.pool.letGo(small.pool.table.find(tile), by: .pin) }
        let after = small.pool.unpinnedBytes
        #expect(after == before)
    }

    /// A margin at rest waits for needed tiles without room, unless it would take another layer's.
    @Test func aMarginDoesNotWaitForAnotherLayersRoom() {
        let small = pool(tiles: 8, 0.25)
        var needs = ViewNeeds()
        var (pan, zoom) = (TileCacheStatistics.DemandCounts(), TileCacheStatistics.DemandCounts())
        let keys = (0..<3).map { key($0, layer: 1) }
        small.pool.update(&needs, tiles: keys, level: 3, pan: &pan, zoom: &zoom, now: 0)
        func margin(_ key: TileKey) -> PlanEntry { PlanEntry(key: key, value: 2, reason: .margin) }
        var plan = Plan(entries: keys.map { small.demand($0) } + [margin(key(9, layer: 1)), margin(key(7))])
        plan.entries.append(small.wish(8, 1))
        plan.isAtRest = true
        small.pool.install(plan)
        small.runPlan()
        #expect(decoded(small, layer: 1) == [0, 1] && decoded(small, layer: 0) == [7])
    }

    /// With its slot the layer is at its maximum: tiles of others would not make room for what the load takes beside it.
    @Test(arguments: [3, 4, 5]) func aLoadAtTheMaximumLacksItsOwnLayersRoom(most: Int) throws {
        let small = pool(tiles: 8, Double(most) / 8)
        var needs = ViewNeeds()
        let tiles = (0..<4).map { key($0, layer: 1) }
        for tile in tiles.dropLast() { small.load(tile) }
        small.load(0, 1, 2, 3, 4)
        var (pan, zoom) = (TileCacheStatistics.DemandCounts(), TileCacheStatistics.DemandCounts())
        let needed = tiles + (most == 5 ? (0..<5).map { key($0) } : [])
        small.pool.update(&needs, tiles: needed, level: 3, pan: &pan, zoom: &zoom, now: small.now)
        small.pool.table.stage(small.pool.table.find(tiles[3])) {
            $0.flags.insert(.refused)
            $0.refusedPages = 1
        }
        small.install([small.demand(tiles[3])])
        #expect(small.beginLoad() == nil)
        let lack = small.pool.queue.lack
        #expect(lack.isOfAll == (most == 5) && lack.layers == (most == 5 ? [] : [1]))
    }

    /// The same decisions under a virtual clock. A second layer in the same view is bounded by its share, and draws a
    /// coarser level.
    @Test func sharesCountUnderAVirtualClock() throws {
        var options = VirtualCache.Options()
        options.byteLimit = 100 * 16_384
        options.grantsBookkeeping = true
        options.compressedTier = false
        options.fitsBudget = true
        let cache = VirtualCache(options: options, expectedLatency: 1_000_000, latency: { _, _ in 1_000_000 })
        let pyramid = try ServiceSetup.pyramid()
        let free = try cache.addLayer(tileBytes: 16_384)
        let held = try cache.addLayer(tileBytes: 16_384, maximumShare: 0.1)
        let view = cache.addView(layers: [(free, pyramid, AdaptivePolicy()), (held, pyramid, AdaptivePolicy())])
        for frame in 0..<300 {
            let x = 400 + Double(min(frame, 250)) * 9
            cache.frame(view: view, ServiceSetup.viewport(x, 900), at: Int64(frame) * 16_666_667)
            #expect(cache.pool.usedBytes(ofLayer: held) <= 10 * 16_384)
        }
        #expect(cache.pool.usedBytes(ofLayer: free) > 20 * 16_384)
        #expect(cache.coverage.missingTiles == 0)
    }
}
