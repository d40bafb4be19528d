import Testing

@testable import TileCache

/// Invalidations of data that several layers, caches or runs use.
extension LayerStoreTests {
    private static let (old, newer, newest) = (0x0707_0707 as UInt32, 0x0808_0808 as UInt32, 0x0909_0909 as UInt32)

    /// One second later, a run reads the generations with its next load.
    private func readGenerations(_ run: Run) {
        run.scene.scheduler.spend(nanoseconds: 1_000_000_000)
        run.need([TileCoordinate(level: 6, column: 20, row: 20)])
    }

    /// A layer of the same data stores tiles between its invalidations and the one of this layer, which was the last.
    @Test(arguments: [1, 2]) func noInvalidationIsLostToThoseOfAnotherLayer(others: Int) throws {
        let store = MemoryStore()
        let origin = Origin()
        origin.colour = Self.old
        let (first, second) = (try Run([store], origin, made: 6), try Run([store], origin, made: 6))
        first.need(Run.children)
        second.need(Run.children)
        origin.colour = Self.newer
        for _ in 0..<others {
            first.layer.invalidate()
            first.scene.run()
        }
        origin.colour = Self.newest
        second.layer.invalidate()
        second.scene.run()
        #expect(store.generation(of: store.onlyNamespace) == UInt64(others + 1))
        // It is not behind: what it makes is stored.
        second.need([Run.parent])
        #expect(second.lastPixels == [Self.newest])
        let loads = origin.loads.count
        let third = try Run([store], origin, made: 6)
        third.need([Run.parent])
        #expect(third.lastPixels == [Self.newest] && origin.loads.count == loads)
    }

    /// The store does not answer when a layer is invalidated. Another layer of the same data has chosen the same
    /// generation before, and stored a tile.
    @Test func noInvalidationIsLostToAStoreThatDidNotAnswer() throws {
        let store = MemoryStore()
        let origin = Origin()
        let (first, second) = (try Run([store], origin), try Run([store], origin))
        first.need(5..<6)
        second.layer.invalidate()
        second.scene.run()
        origin.colour = Self.old
        second.need(0..<1)
        origin.colour = Self.newer
        store.lateGeneration = 0
        first.layer.invalidate()
        first.scene.run()
        store.lateGeneration = nil
        readGenerations(first)
        #expect(store.generation(of: store.onlyNamespace) == 2)
        first.need(0..<1)
        #expect(first.drawn.map(\.colour) == [Self.newer])
        readGenerations(first)
        #expect(store.generation(of: store.onlyNamespace) == 2)
    }

    /// A load begins before its layer has raised the generation. Another layer then chooses the same one.
    @Test func nothingLoadedBeforeItsGenerationIsStored() throws {
        let store = MemoryStore()
        let origin = Origin()
        let (first, second) = (try Run([store], origin), try Run([store], origin))
        first.need(0..<1)
        second.need(0..<1)
        let (scene, layer, view) = (first.scene, first.layer, first.view)
        let (other, otherLayer) = (second.scene, second.layer)
        store.whileReadingGeneration = { [unowned store] in
            store.whileReadingGeneration = nil
            origin.colour = 8
            scene.need(0..<2, of: layer, view)
            #expect(scene.resident(1..<2, of: layer) == 1)
            origin.colour = 9
            otherLayer.invalidate()
            other.run()
        }
        first.layer.invalidate()
        first.scene.run()
        second.need(0..<2)
        #expect(second.drawn.map(\.colour) == [9, 9])
    }

    /// An invalidation of a region raises the generation of a shared store. The rest of the pool stays as old as it
    /// was.
    @Test func aRegionDoesNotMakeTheRestOfALayerCurrent() throws {
        let store = MemoryStore(keepsUndrawnTiles: true)
        let origin = Origin()
        origin.colour = Self.old
        let run = try Run([store], origin, made: 6)
        run.need(Run.children)
        origin.colour = Self.newer
        let other = try Run([store], origin, made: 6)
        other.layer.invalidate()
        other.scene.run()
        readGenerations(run)
        run.layer.invalidate(region: PixelRect(minX: 1000, minY: 1000, maxX: 1064, maxY: 1064))
        run.scene.run()
        run.need([Run.parent])
        #expect(run.lastPixels == [Self.old])
        readGenerations(other)
        other.need([Run.parent])
        #expect(other.lastPixels == [Self.newer])
    }

    /// A layer is removed and added again before its invalidation has reached the stores.
    @Test(arguments: [false, true]) func aLayerThatIsAddedAgainReadsNothingInvalid(isWhole: Bool) throws {
        let (near, far) = (MemoryStore(), MemoryStore())
        let origin = Origin()
        let run = try Run([near, far], origin)
        run.need(0..<1)
        origin.colour = 8
        let (scene, layer) = (run.scene, run.layer)
        let drawn = Lock([UInt32]())
        // The invalidation is at the far store.
        far.refuses = { [unowned near, unowned far] in
            far.refuses = nil
            layer.remove()
            let options = LayerOptions(stores: LayerStores([near, far], dataSet: ["world"]))
            let source = origin as any BlockingTileSource
            guard let again = try? scene.cache.addLayer(source, pyramid: scene.pyramid, options: options) else {
                return false
            }
            let view = ServiceSetup.quiet(scene.cache, [again])
            scene.need(0..<1, of: again, view)
            drawn.withLock { $0 = Run.drawn(view).map(\.colour) }
            return false
        }
        layer.invalidate(region: isWhole ? nil : PixelRect(minX: 0, minY: 0, maxX: 64, maxY: 64))
        scene.run()
        #expect(drawn.withLock { $0 } == [8])
        let last = try Run([near, far], origin)
        last.need(0..<1)
        #expect(last.drawn.map(\.colour) == [8])
        // From then on it uses them.
        let again = try scene.cache.addLayer(
            origin as any BlockingTileSource,
            pyramid: scene.pyramid,
            options: LayerOptions(stores: LayerStores([near, far], dataSet: ["world"]))
        )
        let loads = origin.loads.count
        scene.need(0..<1, of: again, ServiceSetup.quiet(scene.cache, [again]))
        #expect(origin.loads.count == loads)
    }

    /// Each look-up compares its tile with all regions that are being removed.
    @Test func ofVeryManyRegionsTheWholeLayerIsInvalidated() throws {
        let store = MemoryStore()
        let run = try Run([store], Origin())
        run.need(0..<1)
        let namespace = store.onlyNamespace
        for number in 0...LayerTiers.mostRemovals {
            let x = Double(number)
            run.layer.invalidate(region: PixelRect(minX: x, minY: 0, maxX: x + 1, maxY: 1))
        }
        run.scene.run()
        #expect(store.generation(of: namespace) == 1)
    }

    /// Another worker needs a tile while a store does not answer the question for its generation.
    @Test func aHangingReadingHoldsOneWorkerUp() throws {
        let store = MemoryStore()
        let run = try Run([store], Origin())
        run.need(0..<1)
        let (scene, layer, view) = (run.scene, run.layer, run.view)
        let readings = Lock(0)
        store.whileReadingGeneration = {
            guard
                readings.withLock({
                    $0 += 1
                    return $0 == 1
                })
            else { return }
            scene.scheduler.spend(nanoseconds: 1_000_000_000)
            scene.need(1..<3, of: layer, view)
            #expect(scene.resident(2..<3, of: layer) == 1 && readings.withLock { $0 } == 1)
        }
        scene.scheduler.spend(nanoseconds: 1_000_000_000)
        run.need(1..<2)
        #expect(readings.withLock { $0 } == 1)
    }
}

/// Tiles that must not be stored, and those that are made of others.
extension LayerStoreTests {
    /// A tile whose turn it is, for the first store.
    private static func save(
        _ tile: TileCoordinate,
        of layer: TileLayer,
        epoch: LayerTiers.Epoch = .init()
    ) -> SaveQueue.Save {
        SaveQueue.Save(
            key: TileKey(layer: layer.id.index, tile),
            layer: layer.id,
            takers: 1,
            cost: 0,
            freshness: nil,
            epoch: epoch
        )
    }

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

    /// The tiles below are absent until a time, and may be there after it.
    @Test(arguments: [true, false]) func nothingMadeOfAbsencesThatExpireIsStored(isBlocking: Bool) throws {
        let store = MemoryStore()
        let origin = Origin()
        origin.outcome = .absent
        origin.freshness = TileStoreFreshness(stored: 1_000_000, expires: 1_000_100)
        let run = try Run([store], origin, isBlocking: isBlocking, made: 6)
        run.need([Run.parent])
        #expect(origin.loads.count == 4 && store.count == 0)
    }

    /// The tiles below must not be stored, however long they are valid.
    @Test(arguments: [true, false]) func nothingMadeOfTilesThatMustNotBeStoredIsStored(isBlocking: Bool) throws {
        for freshness in [TileStoreFreshness(stored: 1_000_000, isStorable: false), .notStored] {
            let store = MemoryStore()
            let origin = Origin()
            origin.freshness = freshness
            let run = try Run([store], origin, isBlocking: isBlocking, made: 6)
            run.need([Run.parent])
            #expect(origin.loads.count == 4 && run.lastPixels.count == 1 && store.count == 0)
        }
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
        run.layer.prefetch([run.scene.tile(0)])
        run.scene.run()
        // An entry that no look-up can use.
        let told = store.all.map(\.entry.freshness)
        #expect(origin.loads.count == 2 && told.map(\.expires) == [0] && told.map(\.hasValidator) == [false])
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
            let tiers = try #require(core.read { $0.record(of: layer.id)?.tiers })
            origin.whileLoading = {
                let old = Self.save(tile, of: layer, epoch: tiers.prepare(now: core.clock()))
                core.perform { state in _ = state.changeSaves { $0.add(old) } }
            }
            layer.prefetch([tile])
            run.scene.run()
            origin.whileLoading = nil
            #expect(store.all.map(\.entry.freshness) == (freshness == new ? [new] : []))
        }
    }

    /// A tile that was not drawn waits for the near store; the far one has it.
    @Test(arguments: [false, true]) func whatWaitsToBeStoredIsGivenUpAtTheEnd(isShutDown: Bool) throws {
        let (near, far) = (MemoryStore(), MemoryStore(keepsUndrawnTiles: true))
        let run = try Run([near, far], Origin())
        let (cache, tile) = (run.scene.cache, run.scene.tile(0))
        run.layer.prefetch([tile])
        run.scene.run()
        #expect(near.count == 0 && far.count == 1)
        if isShutDown { _ = cache.shutdown(timeout: .zero) } else { run.layer.remove() }
        run.scene.run()
        #expect(near.givenUp == [tile] && far.givenUp.isEmpty)
        #expect(cache.statistics.stores.map(\.dropped) == [1, 0])
    }

    /// A tile waits for the stores, and is invalidated while it is loaded again.
    @Test func whatIsNotStoredForALaterLoadCounts() throws {
        let store = MemoryStore()
        let origin = Origin()
        let run = try Run([store], origin)
        let (cache, layer, tile) = (run.scene.cache, run.layer, run.scene.tile(0))
        origin.whileLoading = { [unowned origin] in
            origin.whileLoading = nil
            let waiting = Self.save(tile, of: layer)
            cache.core.perform { state in _ = state.changeSaves { $0.add(waiting) } }
            layer.invalidate()
        }
        layer.prefetch([tile])
        run.scene.run()
        #expect(cache.statistics.stores.map(\.dropped) == [1])
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

    @Test func theLookUpOfAPrefetchedAbsentTileEnds() throws {
        let store = MemoryStore()
        let origin = Origin()
        origin.outcome = .absent
        let run = try Run([store], origin)
        run.layer.prefetch([run.scene.tile(0)])
        run.scene.run()
        #expect(store.givenUp == [run.scene.tile(0)] && store.count == 0 && run.counts[0].dropped == 0)
    }

    /// Tiles that are gone and were never drawn make way for another one.
    @Test func theLookUpsOfTilesThatWereNeverDrawnEnd() throws {
        let store = MemoryStore()
        let run = try Run([store], Origin())
        let (cache, layer) = (run.scene.cache, run.layer)
        let gone = (64..<64 + SaveQueue.mostUndrawn).map { run.scene.tile($0 % 64, row: $0 / 64) }
        cache.core.perform { state in
            for tile in gone { _ = state.changeSaves { $0.addUndrawn(Self.save(tile, of: layer)) } }
        }
        layer.prefetch([run.scene.tile(0)])
        run.scene.run()
        #expect(store.givenUp.count == gone.count && Set(store.givenUp) == Set(gone))
        #expect(cache.statistics.stores[0].dropped == gone.count)
    }

    /// A tile is drawn while as many others as may wait have their turn.
    @Test func theLookUpOfATileThatFindsNoPlaceEnds() throws {
        let store = MemoryStore()
        let run = try Run([store], Origin())
        let (layer, drawn) = (run.layer, run.scene.tile(0))
        let others = (64..<64 + SaveQueue.mostReady).map { run.scene.tile($0 % 64, row: $0 / 64) }
        run.scene.cache.core.perform { state in
            for tile in others { _ = state.changeSaves { $0.add(Self.save(tile, of: layer)) } }
            _ = state.changeSaves { $0.addUndrawn(Self.save(drawn, of: layer)) }
            state.noteDrawn([TileKey(layer: layer.id.index, drawn)])
        }
        #expect(store.givenUp == [drawn] && run.counts[0].dropped == 1)
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
        let save = Self.save(Run.parent, of: layer)
        cache.core.perform { state in
            var step = 1 << 20
            while step > 0 {
                while state.pool.charge(step, to: .demand) {}
                step /= 2
            }
            _ = state.changeSaves { $0.add(save) }
        }
        #expect(cache.core.read { $0.saves.isEmpty } && store.givenUp == [Run.parent])
        #expect(cache.statistics.stores[0].dropped == 1)
    }
}
