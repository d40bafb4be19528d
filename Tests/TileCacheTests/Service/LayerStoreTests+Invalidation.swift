import Testing

@testable import TileCache

/// Tiles that must not be stored, and those that are made of others.
extension LayerStoreTests {
    /// The tiles below are read from the store, and expire.
    @Test func nothingMadeOfStoredTilesThatExpireIsStored() throws {
        let store = MemoryStore()
        let (origin, clock) = (Origin(), Clock())
        origin.freshness = TileStoreFreshness(stored: 1_000_000, expires: 1_000_100)
        try Run([store], origin, clock: clock, made: 6).need(Run.children)
        let run = try Run([store], origin, clock: clock, made: 6)
        run.need([Run.parent])
        #expect(origin.loads.count == 4 && run.lastPixels.count == 1 && store.count == 4)
    }

    /// A tile that failed for good may be there in the next run.
    @Test func noTileWithHolesIsStored() throws {
        let store = MemoryStore()
        let origin = Origin()
        origin.lost = Run.children[3]
        let above = TileCoordinate(level: 4, column: 0, row: 0)
        let run = try Run([store], origin, made: 6)
        run.need([Run.parent])
        run.need([Run.parent, above])
        #expect(run.scene.cache.statistics.loads.finished == 2 && store.count == 0)
        run.need([TileCoordinate(level: 5, column: 5, row: 5)])
        #expect(store.count == 1)
    }

    /// The answer to a prefetch is not drawn; the entry that it replaces goes at once.
    @Test func whatMustNotBeStoredReplacesAnEntryBeforeItIsDrawn() throws {
        let store = MemoryStore()
        let (origin, clock) = (Origin(), Clock())
        origin.freshness = TileStoreFreshness(stored: 1_000_000, expires: 1_000_001, entityTag: "a")
        try Run([store], origin, clock: clock).need(0..<1)
        clock.seconds = 1_000_002
        origin.freshness = .notStored
        let run = try Run([store], origin, clock: clock)
        run.scene.cache.prefetch([run.scene.tile(0)], of: run.layer)
        run.scene.run()
        #expect(origin.loads.count == 2 && store.all.map(\.entry.freshness) == [.notStored])
    }

    /// A tile waits for the stores, is evicted and loaded again, with another freshness.
    @Test func aTileIsStoredWithItsOwnFreshness() throws {
        let new = TileStoreFreshness(stored: 1_000_000, expires: 1_000_100)
        for freshness in [new, .notStored] {
            let store = MemoryStore()
            let origin = Origin()
            origin.freshness = freshness
            let run = try Run([store], origin)
            let (core, layer, tile) = (run.scene.cache.core, run.layer, run.scene.tile(0))
            let tiers = try #require(core.read { $0.record(of: layer)?.tiers })
            origin.whileLoading = {
                let old = SaveQueue.Save(
                    key: TileKey(layer: layer.index, tile),
                    layer: layer,
                    takers: 1,
                    cost: 0,
                    freshness: nil,
                    epoch: tiers.prepare(now: core.clock())
                )
                core.perform { state in _ = state.changeSaves { $0.add(old) } }
            }
            run.scene.cache.prefetch([tile], of: layer)
            run.scene.run()
            origin.whileLoading = nil
            #expect(store.all.map(\.entry.freshness) == (freshness == new ? [new] : []))
        }
    }

    /// A shared store that cannot confirm a removal raises the generation of the whole data set.
    @Test func noStoreIsToldToRemoveWhatItDoesNotHave() throws {
        let (near, far) = (MemoryStore(), MemoryStore())
        let (origin, clock) = (Origin(), Clock())
        origin.freshness = TileStoreFreshness(stored: 1_000_000, expires: 1_000_001, entityTag: "a")
        try Run([far], origin, clock: clock).need(0..<1)
        clock.seconds = 1_000_002
        origin.confirms = .notStored
        try Run([near, far], origin, clock: clock).need(0..<1)
        #expect(far.count == 0 && far.removals == 1 && near.removals == 0)
    }

    // MARK: - Look-ups that end without an entry

    /// A tile that the cache makes finds no room, after a look-up that another process may wait for.
    @Test func theLookUpOfATileWithoutRoomEnds() throws {
        let store = MemoryStore()
        let run = try Run([store], Origin(), isBlocking: false, tiles: 4, made: 6)
        run.need(Run.children)
        let frame = run.view.frame()
        run.need([Run.parent])
        #expect(frame.count == 4 && run.scene.cache.statistics.loads.refused > 0)
        #expect(store.givenUp.contains(Run.parent))
    }

    /// Without room for their queue, the stores are told of all tiles that waited.
    @Test func theLookUpsOfAQueueWithoutRoomEnd() throws {
        let store = MemoryStore()
        let cache = try StepScheduler.calm().cache(byteLimit: .mebibytes(1))
        let layer = try cache.addLayer(
            PlainSource(),
            pyramid: ServiceSetup.pyramid(),
            options: LayerOptions(stores: LayerStores([store], dataSet: ["world"]))
        )
        let save = SaveQueue.Save(
            key: TileKey(layer: layer.index, Run.parent),
            layer: layer,
            takers: 1,
            cost: 0,
            freshness: nil,
            epoch: .init()
        )
        cache.core.perform { state in
            var step = 1 << 20
            while step > 0 {
                while state.pool.charge(step, to: .views) {}
                step /= 2
            }
            _ = state.changeSaves { $0.add(save) }
        }
        #expect(cache.core.read { $0.saves.isEmpty } && store.givenUp == [Run.parent])
        #expect(cache.statistics.stores[0].dropped == 1)
    }
}
