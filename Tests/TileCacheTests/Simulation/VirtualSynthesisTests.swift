import Testing

@testable import TileCache

/// Cost of tiles on generated levels, under the virtual clock.
@Suite struct VirtualSynthesisTests {
    /// Levels of 1, 2 x 2, 4 x 4 and 8 x 8 tiles. Of the last column only half lies in the world.
    private let pyramid: TilePyramid

    init() throws { pyramid = try .powerOfTwo(worldWidth: 1920, worldHeight: 1000, tileSize: 256) }

    private func loads(_ level: Int, levels: Int, resident: Set<TileCoordinate> = []) throws -> Int {
        let synthesis = try #require(VirtualSynthesis(pyramid, levels: levels))
        var count = 0
        synthesis.forEachLoad(
            below: TileCoordinate(level: level, column: 0, row: 0),
            isResident: { resident.contains($0) },
            { tile in
                #expect(tile.level == levels && !resident.contains(tile))
                count += 1
            }
        )
        return count
    }

    @Test func aTileIsMadeOfAllBelowItButWhatIsThere() throws {
        #expect(pyramid.maximumLevel == 3)
        #expect(VirtualSynthesis(pyramid, levels: 0) == nil)
        #expect(try loads(2, levels: 3) == 4)
        #expect(try loads(1, levels: 3) == 16)
        // The world is 8 tiles wide and 4 high.
        #expect(try loads(0, levels: 3) == 32)
        #expect(try loads(0, levels: 1) == 2)
        let child = TileCoordinate(level: 2, column: 0, row: 0)
        let grandchild = TileCoordinate(level: 3, column: 2, row: 0)
        #expect(try loads(1, levels: 3, resident: [child]) == 12)
        #expect(try loads(1, levels: 3, resident: [child, grandchild]) == 11)
    }

    /// One worker, loads of 10 ms, a view of two tiles of level 1. Each is made from 16 loads.
    @Test func aTileTakesAsLongAsAllItsLoads() throws {
        let (cache, view) = try cache(limitTiles: 16)
        func ready(at milliseconds: Int64) -> Int {
            cache.frame(view: view, whole, at: milliseconds * 1_000_000)
            var count = 0
            cache.forEachNeeded(view: view) { _, isDrawable, _ in if isDrawable { count += 1 } }
            return count
        }
        #expect(ready(at: 0) == 0 && cache.neededTileCount(view: view) == 2)
        #expect(ready(at: 159) == 0)
        #expect(ready(at: 160) == 1)
        #expect(ready(at: 319) == 1)
        #expect(ready(at: 320) == 2)
        #expect(cache.counters.loads.started == 2 && cache.counters.loads.cancelled == 0)
    }

    /// A tile that leaves the view is cancelled; one of the source's would be completed.
    @Test func whatNoViewNeedsIsCancelled() throws {
        let (cache, view) = try cache(limitTiles: 16)
        cache.frame(view: view, whole, at: 0)
        #expect(cache.loadsInFlight == 1)
        // At 1:1 one tile of the source.
        let near = TileViewport(center: WorldPoint(x: 128, y: 128), width: 64, height: 64, scale: 1)
        cache.frame(view: view, near, at: 20_000_000)
        #expect(cache.counters.loads.cancelled == 1 && cache.loadsInFlight == 1)
        cache.frame(view: view, near, at: 30_000_000)
        #expect(cache.coverage.missingTiles == 0)
    }

    /// Scratch memory counts. Tables and two tiles fit in the memory of three tiles, but not with scratch memory.
    @Test(arguments: [0, 3])
    func scratchMemoryIsPartOfTheLimit(levels: Int) throws {
        let (cache, view) = try cache(limitTiles: 3, levels: levels, workers: 2)
        for frame in 0...60 { cache.frame(view: view, whole, at: Int64(frame) * 16_666_667) }
        #expect(cache.counters.peakBytes <= 3 * tileBytes)
        #expect(cache.coverage.missingTiles == (levels == 0 ? 0 : 1))
    }

    /// As in the service, which refuses the layer. The scratch memory was counted beyond the limit.
    @Test func aLayerWithoutRoomForItsScratchMemoryIsRefused() throws {
        var options = VirtualCache.Options()
        func cache() -> VirtualCache { VirtualCache(options: options, expectedLatency: 0, latency: { _, _ in 0 }) }
        let tables = cache().bookkeepingBytes
        options.byteLimit = tables + tileBytes
        let fitting = cache()
        _ = try fitting.addLayer(tileBytes: tileBytes, pyramid: pyramid, synthesizedLevels: 1)
        #expect(fitting.counters.peakBytes == options.byteLimit)
        options.byteLimit -= 1
        let small = cache()
        #expect(throws: TileCacheError.self) {
            try small.addLayer(tileBytes: tileBytes, pyramid: pyramid, synthesizedLevels: 1)
        }
        #expect(small.counters.peakBytes <= options.byteLimit)
        #expect(throws: Never.self) { try small.addLayer(tileBytes: tileBytes) }
        // The tables alone.
        options.byteLimit = tables - 1
        #expect(throws: TileCacheError.self) { try cache().addLayer(tileBytes: 64) }
    }

    private let tileBytes = 256 * 256 * 4
    /// All of the world at level 1.
    private let whole = TileViewport(center: WorldPoint(x: 960, y: 500), width: 480, height: 250, scale: 0.25)

    private func cache(limitTiles: Int, levels: Int = 3, workers: Int = 1) throws -> (VirtualCache, view: Int) {
        var options = VirtualCache.Options()
        options.byteLimit = limitTiles * tileBytes
        options.workers = workers
        options.compressedTier = false
        let cache = VirtualCache(options: options, expectedLatency: 10_000_000, latency: { _, _ in 10_000_000 })
        let layer = try cache.addLayer(tileBytes: tileBytes, pyramid: pyramid, synthesizedLevels: levels)
        return (cache, cache.addView(layers: [(layer, pyramid, NoPrefetch())]))
    }
}
