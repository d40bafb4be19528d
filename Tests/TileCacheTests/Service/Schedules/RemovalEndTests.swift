import Dispatch
import Testing

@testable import TileCache

/// A removed layer ends with its last job, hold and byte, without affecting other layers. No view is updated
/// afterwards, and no timer fires.
@Suite(.timeLimit(.minutes(45))) struct RemovalEndTests {
    private func layers(_ scene: StillScene) -> Int { scene.cache.core.read { $0.layers.count } }
    private func slotSizes(_ scene: StillScene) -> Int { scene.cache.core.read { $0.pool.slots.count } }

    @Test func aLayerIsGoneWhenItsDecoderReturns() throws {
        let scene = try StillScene(tiles: 16) { $0.usesCompressedTier = true }
        _ = try scene.plainLayer()
        let source = PausedDecoder(payloadBytes: 4096)
        // The closure may own the cache, which owns the source.
        defer { source.whileDecoding = nil }
        let layer = try scene.cache.addLayer(source, pyramid: scene.pyramid)
        let view = ServiceSetup.quiet(scene.cache, [layer])
        defer { withExtendedLifetime(view) {} }
        scene.need(0..<1, of: layer, view)
        view.update(needing: [])
        scene.run()
        #expect(layer.demote(scene.tile(0)))
        source.whileDecoding = { _ in
            layer.remove()
            scene.run()
            #expect(layers(scene) == 2)
        }
        scene.need(0..<1, of: layer, view)
        #expect(layers(scene) == 1)
    }

    /// Slots of a size that no layer has any more. They take more steps than one hold of the lock allows.
    @Test(arguments: [1, 3 * PoolState.stepsAtOnce]) func aSizeIsGoneWhenTheLastFrameEnds(count: Int) throws {
        let scene = try StillScene(tiles: 200)
        _ = try scene.plainLayer()
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 4096, worldHeight: 4096, tileSize: 32)
        let layer = try scene.cache.addLayer(PlainSource(), pyramid: pyramid)
        let view = ServiceSetup.quiet(scene.cache, [layer])
        defer { withExtendedLifetime(view) {} }
        view.update(
            needing: (0..<count).map {
                NeededTile(layer: layer.id, tile: TileCoordinate(level: 7, column: $0 % 128, row: $0 / 128))
            }
        )
        scene.run()
        var frame: TileFrame? = view.frame()
        #expect(frame?.count == count)
        layer.remove()
        scene.run()
        #expect(layers(scene) == 1 && slotSizes(scene) == 2)
        withExtendedLifetime(frame) {}
        frame = nil
        scene.run()
        #expect(slotSizes(scene) == 1 && scene.cache.statistics.memory.used.bytes == 0)
    }

    /// Memory of the tiles is freed in several steps. Another layer has tiles of the same size.
    @Test func whatARemovedLayerLeavesUnusedGoes() throws {
        let count = 8 * PoolState.stepsAtOnce
        let scene = try StillScene(tiles: 400)
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 4096, worldHeight: 4096, tileSize: 32)
        _ = try scene.cache.addLayer(PlainSource(), pyramid: pyramid)
        let layer = try scene.cache.addLayer(PlainSource(), pyramid: pyramid)
        let view = ServiceSetup.quiet(scene.cache, [layer])
        defer { withExtendedLifetime(view) {} }
        view.update(
            needing: (0..<count).map {
                NeededTile(layer: layer.id, tile: TileCoordinate(level: 7, column: $0 % 128, row: $0 / 128))
            }
        )
        scene.run()
        #expect(scene.cache.statistics.memory.used.bytes == count * 4096)
        layer.remove()
        #expect(scene.run() && slotSizes(scene) == 1 && scene.cache.statistics.memory.used.bytes == 0)
    }

    /// A plan is made after the removal has started. The end of the removal drops that plan before a worker has taken
    /// it.
    @Test func anotherLayersTilesComeThoughTheRemovalDropsTheirPlan() throws {
        let scene = try StillScene(tiles: 16)
        let layer = try scene.plainLayer()
        let other = try scene.plainLayer()
        let view = ServiceSetup.quiet(scene.cache, [layer, other])
        defer { withExtendedLifetime(view) {} }
        scene.need(0..<3, of: other, view)
        view.update(needing: [])
        scene.run()
        scene.scheduler.nestsWorkers = false
        scene.meanwhile = {
            scene.run()
            return false
        }
        defer { scene.meanwhile = nil }
        scene.scheduler.post(
            {
                view.update(needing: [NeededTile(layer: layer.id, tile: scene.tile(9))])
                other.remove()
            },
            on: DispatchQueue(label: "test.renderer")
        )
        #expect(scene.run() && layers(scene) == 1)
        #expect(scene.resident(9..<10, of: layer) == 1)
    }

    /// A plan is made before the pinned tiles of the removed layer go. A load of that layer goes on.
    @Test func whatARemovedLayerLeftNoRoomForComes() throws {
        let scene = try StillScene(tiles: 4)
        let source = QueuedSource()
        let gone = try scene.cache.addLayer(source, pyramid: scene.pyramid)
        let layer = try scene.plainLayer()
        try gone.pin([scene.tile(0), scene.tile(1)])
        scene.run()
        for request in source.take() { source.answer(request) }
        gone.prefetch([scene.tile(2)])
        scene.run()
        let request = try #require(source.take().first)
        let view = ServiceSetup.quiet(scene.cache, [layer])
        defer { withExtendedLifetime(view) {} }
        scene.need(0..<2, of: layer, view)
        #expect(scene.isShort && scene.resident(0..<2, of: layer) == 1)
        scene.meanwhile = {
            guard scene.cache.core.read({ $0.pool.layers[gone.id.index].isRemoved }) else { return false }
            scene.run()
            return true
        }
        gone.remove()
        #expect(scene.meanwhile == nil && layers(scene) == 2)
        #expect(scene.run() && scene.resident(0..<2, of: layer) == 2)
        request.cancel()
        #expect(scene.run())
    }

    /// A removal that ends while a plan is being made waits for it.
    @Test func aLayerThatAPlanNamesIsGoneAfterThePlan() throws {
        let scene = try StillScene(tiles: 16)
        _ = try scene.plainLayer()
        let layer = try scene.plainLayer()
        let view = ServiceSetup.quiet(scene.cache, [layer])
        defer { withExtendedLifetime(view) {} }
        scene.need(0..<3, of: layer, view)
        let core = scene.cache.core
        scene.meanwhile = {
            guard core.lock.withLock({ $0.planning.isMaking && !$0.layers.removed.isEmpty }) else { return false }
            _ = core.perform { $0.pool.removeTiles(onPages: $0.pool.table.pages, ofLayer: layer.id.index) }
            core.perform { _ = $0.finishRemovals(now: core.clock()) }
            return true
        }
        // The first half of a removal; the second half comes during the plan.
        let record = core.perform { $0.beginRemoval(of: layer.id, now: 0) }
        #expect(record != nil && scene.run())
        #expect(scene.meanwhile == nil && layers(scene) == 1)
    }

    /// A request that comes too late is unwanted from the start. The cache or the layer ends before the source receives
    /// it.
    @Test(arguments: [true, false]) func aRequestThatComesTooLateIsUnwanted(isRemoval: Bool) throws {
        let scene = try StillScene(tiles: 16)
        let source = QueuedSource()
        let layer = try scene.cache.addLayer(source, pyramid: scene.pyramid)
        let view = ServiceSetup.quiet(scene.cache, [layer])
        defer { withExtendedLifetime(view) {} }
        scene.meanwhile = {
            let isUnseen = scene.cache.core.lock.withLock { $0.pool.loads.count == 1 && $0.requests.isEmpty }
            guard isUnseen else { return false }
            if isRemoval { layer.remove() } else { scene.cache.shutdown(timeout: .zero) }
            return true
        }
        scene.need(0..<1, of: layer, view)
        let request = try #require(source.take().first)
        #expect(scene.meanwhile == nil && !request.isWanted)
        request.cancel()
        #expect(scene.run() && scene.cache.shutdown(timeout: .zero))
    }
}
