import Testing

@testable import TileCache

/// Memory of stores, and what is left of one when its layers end.
extension LayerStoreTests {
    @Test func storesCountAgainstTheLimit() throws {
        let store = MemoryStore(memorySize: .bytes(5 * StillScene.tileBytes))
        let origin = Origin()
        let run = try Run([store], origin, tiles: 8)
        #expect(run.scene.cache.core.read { $0.pool.ledger[.stores] } == 5 * StillScene.tileBytes)
        #expect(throws: TileCacheError.self) {
            _ = try run.scene.cache.addLayer(
                origin as any BlockingTileSource,
                pyramid: run.scene.pyramid,
                options: LayerOptions(stores: LayerStores([store], dataSet: [""]))
            )
        }
    }

    /// A needed tile that waits for the room of another one's copy for the stores is loaded once that is back.
    @Test func copiesForStoresGiveTheirRoomBack() throws {
        let scene = try StillScene(tiles: 64, workers: 2) { $0.grantsBookkeeping = false }
        let store = MemoryStore()
        let layer = try scene.cache.addLayer(
            RunLengthSource(padding: 10_000),
            pyramid: scene.pyramid,
            options: LayerOptions(stores: LayerStores([store], dataSet: ["world"]))
        )
        let view = ServiceSetup.quiet(scene.cache, [layer])
        let second = scene.tile(1)
        let hasWaited = Lock(false)
        store.afterPutting = {
            // All but a few bytes of what the second tile takes.
            let used = scene.cache.statistics.memory.used
            scene.cache.byteLimit = .bytes(used.bytes + StillScene.tileBytes - 1000)
            view.update(needing: [0, 1].map { NeededTile(layer: layer.id, tile: scene.tile($0)) })
            #expect(scene.scheduler.runAll())
            hasWaited.withLock { $0 = !layer.isResident(second) }
        }
        scene.need(0..<1, of: layer, view)
        // No timer would help either.
        #expect(scene.scheduler.settle(atMost: 10_000))
        #expect(hasWaited.withLock { $0 } && layer.isResident(second))
    }

    /// A view whose tiles fit the limit keeps its level while one of them is copied for the stores.
    @Test func copiesForStoresMakeNoViewCoarser() throws {
        /// Memory beside the tiles, and the level of the view in the end.
        func run(_ limit: Int) throws -> (tables: Int, level: Int?) {
            let scene = try StillScene(tiles: 0, bytes: limit, workers: 1) { $0.grantsBookkeeping = false }
            let store = MemoryStore()
            let layer = try scene.cache.addLayer(
                RunLengthSource(padding: 10_000),
                pyramid: scene.pyramid,
                options: LayerOptions(stores: LayerStores([store], dataSet: ["world"]))
            )
            let view = ServiceSetup.quiet(scene.cache, [layer])
            store.afterPutting = {
                // Any plan.
                layer.prefetch([])
                #expect(scene.scheduler.runAll())
            }
            view.update(ServiceSetup.viewport(2000, 2000))
            #expect(scene.scheduler.settle(atMost: 10_000))
            return scene.cache.core.read { ($0.pool.bookkeepingBytes, $0.views[0]?.model.layers[0].needs.level) }
        }
        let roomy = try run(8 << 20)
        let needed = 20 * StillScene.tileBytes
        let tight = try run(roomy.tables + needed + 2000)
        #expect(roomy.level == 6 && tight.level == 6)
    }

    /// Stores compress and decompress with a codec of their own. It follows the limit, down to none, as the pool's do.
    @Test func theirCodecFollowsTheLimit() throws {
        let store = MemoryStore()
        let run = try Run([store], Origin(), tiles: 64)
        let codecBytes = try TileCodec(maximumTileBytes: StillScene.tileBytes).scratchByteCount
        func held() -> Int { run.scene.cache.core.read { $0.pool.ledger[.stores] } }
        run.need(0..<3)
        #expect(held() == codecBytes && store.puts == 3)
        // Just too low for a codec: stored pixels are not compressed any more.
        let low = 4 * codecBytes - 1
        run.scene.cache.byteLimit = .bytes(low)
        run.scene.run()
        #expect(held() == 0)
        run.need(4..<5)
        #expect(held() == 0 && store.puts == 4)
        run.scene.cache.byteLimit = .bytes(low + 1)
        run.need(5..<6)
        #expect(held() == codecBytes && store.puts == 5)
        run.layer.remove()
        run.scene.run()
        #expect(held() == 0)
    }

    @Test func removedLayersKeepTheirCounts() throws {
        let store = MemoryStore()
        let origin = Origin()
        let run = try Run([store], origin)
        run.need(0..<3)
        let before = run.counts
        run.layer.remove()
        run.scene.run()
        #expect(run.counts == before && before[0].writes == 3)
        #expect(run.scene.cache.core.read { $0.saves.byteCount == 0 })
        // A store that is named again has one row.
        let options = LayerOptions(stores: LayerStores([store], dataSet: ["world"]))
        _ = try run.scene.cache.addLayer(
            origin as any BlockingTileSource,
            pyramid: run.scene.pyramid,
            options: options
        )
        #expect(run.counts == before)
    }

    /// The last layer of a store releases it and its bytes; its counts stay.
    @Test func aStoreEndsWithTheLastOfItsLayers() throws {
        var store: MemoryStore? = MemoryStore(memorySize: .bytes(4096))
        weak let known = store
        let run = try Run([try #require(store)], Origin())
        let second = try run.scene.cache.addLayer(
            Origin() as any BlockingTileSource,
            pyramid: run.scene.pyramid,
            options: LayerOptions(stores: LayerStores([try #require(store)], dataSet: ["second"]))
        )
        store = nil
        run.need(0..<2)
        let before = run.counts
        let bytes = { run.scene.cache.core.read { $0.pool.ledger[.stores] } }
        run.layer.remove()
        run.scene.run()
        #expect(known != nil && bytes() == 4096)
        second.remove()
        run.scene.run()
        #expect(known == nil && bytes() == 0 && run.counts == before && before[0].writes == 2)
    }

    /// The table keeps the record of a removed layer while a later one exists.
    @Test func aStoreEndsWithItsLayerWhileALaterOneStays() throws {
        var store: MemoryStore? = MemoryStore(memorySize: .bytes(4096))
        weak let known = store
        let run = try Run([try #require(store)], Origin())
        _ = try run.scene.cache.addLayer(Origin() as any BlockingTileSource, pyramid: run.scene.pyramid)
        store = nil
        run.need(0..<2)
        #expect(known != nil && run.counts[0].writes == 2)
        run.layer.remove()
        run.scene.run()
        let bytes = run.scene.cache.core.read { $0.pool.ledger[.stores] }
        #expect(known == nil && bytes == 0)
    }

    /// All stores of a cache together are allowed an eighth of the limit in force, whatever changes it, until no layer
    /// names them.
    @Test func storesAreAllowedAPartOfTheLimit() throws {
        let (first, second) = (MemoryStore(), MemoryStore())
        let run = try Run([first], Origin(), tiles: 64)
        let cache = run.scene.cache
        let limit = cache.byteLimit.bytes
        #expect(Array(first.allowances.values) == [limit / 8])
        let options = LayerOptions(stores: LayerStores([first, second], dataSet: ["second"]))
        let layer = try cache.addLayer(Origin() as any BlockingTileSource, pyramid: run.scene.pyramid, options: options)
        #expect([first, second].allSatisfy { Array($0.allowances.values) == [limit / 16] })
        cache.noteMemoryPressure(.critical)
        #expect(run.scene.scheduler.runAll())
        #expect([first, second].allSatisfy { Array($0.allowances.values) == [limit / 4 / 16] })
        #expect(run.scene.scheduler.reaches { first.allowances.values.first == limit / 16 })
        // Another cache has its own number.
        let other = try Run([first], Origin(), tiles: 64)
        #expect(first.allowances.count == 2 && second.allowances.count == 1)
        layer.remove()
        run.scene.run()
        #expect(first.allowances.count == 2 && second.allowances.isEmpty)
        #expect(first.allowances.values.allSatisfy { $0 == limit / 8 }, "the others have their parts")
        #expect(cache.shutdown() && first.allowances.count == 1)
        #expect(other.scene.cache.shutdown() && first.allowances.isEmpty)
        // A layer that is refused leaves nothing behind.
        let third = try Run([first], Origin(), tiles: 64)
        #expect(third.scene.cache.shutdown() && first.allowances.isEmpty)
        #expect(throws: TileCacheError.isShutDown) {
            _ = try third.scene.cache.addLayer(
                Origin() as any BlockingTileSource,
                pyramid: third.scene.pyramid,
                options: LayerOptions(stores: LayerStores([second], dataSet: ["third"]))
            )
        }
        #expect(first.allowances.isEmpty && second.allowances.isEmpty)
    }

    /// A store that the program still holds counts only while a layer names it.
    @Test func aStoreWithoutALayerDoesNotCount() throws {
        let store = MemoryStore(memorySize: .bytes(4096))
        let run = try Run([store], Origin())
        _ = try run.scene.cache.addLayer(Origin() as any BlockingTileSource, pyramid: run.scene.pyramid)
        let bytes = { run.scene.cache.core.read { $0.pool.ledger[.stores] } }
        #expect(bytes() == 4096 && run.scene.cache.statistics.memory.stores.bytes == 4096)
        run.layer.remove()
        run.scene.run()
        #expect(bytes() == 0 && run.scene.cache.statistics.memory.stores.bytes == 0)
        // It counts again with its next layer, once.
        for name in ["a", "b"] {
            _ = try run.scene.cache.addLayer(
                Origin() as any BlockingTileSource,
                pyramid: run.scene.pyramid,
                options: LayerOptions(stores: LayerStores([store], dataSet: [name]))
            )
            #expect(bytes() == 4096)
        }
    }
}
