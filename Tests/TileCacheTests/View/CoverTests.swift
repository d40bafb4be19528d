import Testing

@testable import TileCache

/// Covers worked out by hand, and at extreme numbers.
@Suite struct CoverTests {
    @Test func edgesThatOnlyTouchAreNotNeeded() throws {
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 1024, worldHeight: 1024, tileSize: 256)
        let exact = TileViewport(center: WorldPoint(x: 512, y: 512), width: 512, height: 512)
        #expect(
            pyramid.neededTiles(under: exact, at: 2).map(\.description) == ["2/1/1", "2/2/1", "2/1/2", "2/2/2"]
        )
        var moved = exact
        moved.center.x += 0.001
        #expect(pyramid.neededTiles(under: moved, at: 2).count == 6)
    }

    @Test func viewportsThatCannotBeDrawnNeedNothing() throws {
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 1024, worldHeight: 1024, wrapsX: true)
        for bad in [Double.nan, .infinity, -.infinity] {
            for viewport in [
                TileViewport(center: WorldPoint(x: bad, y: 0), width: 10, height: 10),
                TileViewport(center: WorldPoint(x: 0, y: 0), width: bad, height: 10),
                TileViewport(center: WorldPoint(x: 0, y: 0), width: 10, height: 10, scale: bad),
                TileViewport(center: WorldPoint(x: 0, y: 0), width: 10, height: 10, rotation: bad),
            ] { #expect(pyramid.neededTiles(under: viewport, at: 0).isEmpty) }
        }
        // Far away, tiny and huge scales: no trap, and never more tiles than the grid has.
        for scale in [1e-12, 1e12] {
            for x in [-1e300, -1e18, 1e18, 1e300] {
                let viewport = TileViewport(center: WorldPoint(x: x, y: 5), width: 1000, height: 800, scale: scale)
                for level in pyramid.levels.indices {
                    #expect(pyramid.neededTiles(under: viewport, at: level).count <= 16)
                }
            }
        }
    }

    /// Far from the origin a deep zoom is narrower than the distance of adjacent numbers. It still covers its tile, and
    /// nothing outside the world.
    @Test(arguments: [0, 0.7]) func whatIsTooSmallToHaveEdgesIsStillSomewhere(rotation: Double) throws {
        let side = 1 << 40
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: side, worldHeight: side)
        func needed(_ x: Double, _ y: Double, scale: Double) -> [TileCoordinate] {
            let viewport = TileViewport(
                center: WorldPoint(x: x, y: y),
                width: 1000,
                height: 800,
                scale: scale,
                rotation: rotation
            )
            return pyramid.neededTiles(under: viewport, at: pyramid.maximumLevel)
        }
        for scale in [1e7, 1e12, 1e300] {
            let place = Double(side) - 100
            let tile = TileCoordinate(level: 32, column: side / 256 - 1, row: side / 256 - 1)
            #expect(needed(place, place, scale: scale) == [tile])
            #expect(needed(Double(side), Double(side), scale: scale) == [tile])
            #expect(needed(Double(side) + 1, place, scale: scale).isEmpty)
            #expect(needed(0, 0, scale: scale) == [TileCoordinate(level: 32, column: 0, row: 0)])
        }
    }

    @Test func worldsOfAnySizeCanBeAddressed() throws {
        let side = 1 << 40
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: side, worldHeight: side, tileSize: 1)
        #expect(pyramid.maximumLevel == 40)
        let viewport = TileViewport(
            center: WorldPoint(x: Double(side) - 2, y: Double(side) - 2),
            width: 4,
            height: 4
        )
        let tiles = pyramid.neededTiles(under: viewport, at: 40)
        #expect(tiles.count == 16)
        #expect(tiles.last == TileCoordinate(level: 40, column: side - 1, row: side - 1))
        #expect(TileKey(layer: 65_535, tiles.last!).coordinate == tiles.last)
        #expect(throws: TileCacheError.self) {
            try TilePyramid.powerOfTwo(worldWidth: side + 1, worldHeight: 1, tileSize: 1)
        }
    }

    /// An extreme scale takes at most the memory of one walk's most tiles. Whole rows or not.
    @Test(arguments: [258, 300, 1000], [0, 0.3])
    func noWalkGivesMoreThanItsMost(side: Int, rotation: Double) throws {
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 4096, worldHeight: 4096, tileSize: 1)
        let viewport = TileViewport(
            center: WorldPoint(x: 2048, y: 2048),
            width: Double(side),
            height: Double(side),
            rotation: rotation
        )
        let tiles = pyramid.neededTiles(under: viewport, at: pyramid.maximumLevel)
        #expect(tiles.count == 65_536)
        #expect(Set(tiles).count == tiles.count)
    }

    /// A world of 2^32 rows of one tile. The left corner of a turned view touches it far below the first row in view;
    /// all other rows show nothing.
    @Test func rowsThatShowNothingHaveAnEnd() throws {
        let side = 1 << 40
        let level = PyramidLevel(width: 256, height: side, tileWidth: 256, tileHeight: 256, worldPixelsPerPixel: 1)
        let pyramid = try TilePyramid(worldWidth: 256, worldHeight: Double(side), levels: [level])
        func count(reach: Double) -> Int {
            let viewport = TileViewport(
                center: WorldPoint(x: reach + 128, y: Double(side / 2)),
                width: reach * 2.0.squareRoot(),
                height: reach * 2.0.squareRoot(),
                rotation: .pi / 4
            )
            return pyramid.neededTiles(under: viewport, at: 0).count
        }
        #expect(count(reach: 10_000) == 2)
        #expect(count(reach: Double(side / 4)) == 0)
    }
}
