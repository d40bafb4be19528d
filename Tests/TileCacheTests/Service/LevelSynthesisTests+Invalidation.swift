import Dispatch
import Testing

@testable import TileCache

/// Invalidations of tiles that others are made from.
extension LevelSynthesisTests {
    @Test func anInvalidationUnderWayLeavesNoOldPixels() throws {
        let gate = DispatchSemaphore(value: 0)
        let (world, source, cache, layer) = try gated(by: gate, side: 128, depth: 3)
        let view = quiet(cache, layer)
        let top = TileCoordinate(level: 0, column: 0, row: 0)
        view.update(needing: [NeededTile(layer: layer.id, tile: top)])
        for _ in 0..<9 { gate.signal() }
        #expect(eventually { source.loads.count == 10 })
        layer.invalidate()
        for _ in 0..<300 { gate.signal() }
        #expect(show([top], view, layer))
        expect(top, in: cache, layer, world)
        #expect(cache.statistics.loads.outdated == 1)
        // The tenth tile was the last of the outdated one.
        #expect(source.loads.values.reduce(0, +) == 10 + 64)
        cache.shutdown()
    }

    /// A stale child may be drawn, but no parent is made from it.
    @Test func staleChildrenAreLoadedAnew() throws {
        let world = try MadeWorld(width: 32, height: 32, depth: 1)
        let source = MadeSource(world)
        let cache = try TileCache(byteLimit: .mebibytes(1), workers: 1)
        let layer = try cache.addLayer(source, pyramid: world.pyramid, options: world.options)
        let view = quiet(cache, layer)
        #expect(show(world.allTiles.filter { $0.level == 1 }, view, layer))
        view.update(needing: [])
        layer.invalidate(region: PixelRect(minX: 20, minY: 20, maxX: 21, maxY: 21))
        #expect(show([TileCoordinate(level: 0, column: 0, row: 0)], view, layer))
        #expect(cache.statistics.synthesis.loads == 1)
        cache.shutdown()
    }

    /// Between the steps of an invalidation some outdated tiles are not marked yet.
    @Test func aTileMadeDuringAnInvalidationIsNotMadeOfOutdatedOnes() throws {
        let world = try MadeWorld(width: 32, height: 32, depth: 1)
        let scene = try StillScene(tiles: 64)
        let source = PlainSource()
        let layer = try scene.cache.addLayer(source, pyramid: world.pyramid, options: world.options)
        let (fine, coarse) = (quiet(scene.cache, layer), quiet(scene.cache, layer))
        let children = (0..<4).map { TileCoordinate(level: 1, column: $0 % 2, row: $0 / 2) }
        fine.update(needing: children.map { NeededTile(layer: layer.id, tile: $0) })
        scene.run()
        let top = TileCoordinate(level: 0, column: 0, row: 0)
        let before = scene.cache.statistics.synthesis.loads
        var hasMade = false
        // At the first lock acquisition of the invalidation it has not started; at the second no tile is marked.
        var turns = 0
        scene.meanwhile = {
            turns += 1
            guard turns == 2 else { return false }
            coarse.update(needing: [NeededTile(layer: layer.id, tile: top)])
            scene.run()
            hasMade = layer.isResident(top)
            return true
        }
        layer.invalidate()
        #expect(hasMade && scene.cache.statistics.synthesis.loads == before + 4)
        withExtendedLifetime(fine) {}
    }

    /// An invalidation cancels loads in flight without a new plan.
    @Test func sourcesHearOfChildrenThatAreGivenUp() throws {
        let world = try MadeWorld(width: 128, height: 128, depth: 3)
        let cache = try TileCache(byteLimit: .mebibytes(1), workers: 1)
        let source = QueuedSource()
        let layer = try cache.addLayer(source, pyramid: world.pyramid, options: world.options)
        let view = quiet(cache, layer)
        view.update(needing: [NeededTile(layer: layer.id, tile: TileCoordinate(level: 0, column: 0, row: 0))])
        let requests = source.taken()
        #expect(!requests.isEmpty)
        let told = Lock(0)
        requests[0].onCancel { told.withLock { $0 += 1 } }
        layer.invalidate()
        #expect(eventually { told.withLock { $0 } == 1 })
        #expect(!requests[0].isWanted)
        #expect(cache.shutdown(timeout: .seconds(600)))
    }
}
