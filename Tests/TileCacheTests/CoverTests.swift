import Testing

@testable import TileCache

/// The library's covers against looking at every tile.
@Suite struct CoverTests {
    /// Some thousands of viewports over worlds that wrap and worlds that do not, cut last columns among them, scales from
    /// 2^-20 to 2^4, a third of them turned.
    @Test(arguments: 0..<8) func coversEqualBruteForce(seed: Int) throws {
        var random = SplitMix64(seed: UInt64(seed))
        func uniform(_ low: Double, _ high: Double) -> Double {
            low + (high - low) * Double(random.next() >> 11) / 0x1p53
        }
        for round in 0..<500 {
            let tileSize = [16, 64, 256][Int(random.next() % 3)]
            let width = Int(uniform(1, Double(tileSize) * 20))
            let height = Int(uniform(1, Double(tileSize) * 20))
            let wraps = random.next() % 2 == 0
            let pyramid = try TilePyramid.powerOfTwo(
                worldWidth: width,
                worldHeight: height,
                tileSize: tileSize,
                wrapsX: wraps
            )
            let scale = PortableMath.exp2(uniform(-20, 4))
            // On a wrapping world the walk shows at most 64 copies; a viewport beyond that still needs each tile once.
            let viewport = Viewport(
                center: WorldPoint(
                    x: uniform(-2, 3) * Double(width),
                    y: uniform(-0.3, 1.3) * Double(height)
                ),
                width: uniform(1, Double(tileSize) * 6),
                height: uniform(1, Double(tileSize) * 4),
                scale: scale,
                rotation: round % 3 == 0 ? uniform(-7, 7) : 0
            )
            let level = LevelSelection().level(for: scale, in: pyramid)
            let world = NaiveWorld(
                width: Double(width),
                height: Double(height),
                wraps: wraps,
                tileSize: Double(tileSize)
            )
            #expect(level == world.idealLevel(scale: scale))
            let own = pyramid.neededTiles(under: viewport, at: level)
            let naive = naiveNeededTiles(
                centerX: viewport.center.x,
                centerY: viewport.center.y,
                width: viewport.width,
                height: viewport.height,
                scale: scale,
                rotation: viewport.rotation,
                world: world
            )
            let ownTiles = own.map { NaiveTile(level: $0.level, column: $0.column, row: $0.row) }
            #expect(Set(ownTiles).count == ownTiles.count, "a tile came twice")
            #expect(
                Set(ownTiles).subtracting(naive.doubtful) == Set(naive.needed).subtracting(naive.doubtful),
                "\(viewport) over \(width) x \(height), tiles of \(tileSize), wrapping: \(wraps)"
            )
            if viewport.rotation == 0 {
                #expect(ownTiles.map(\.row) == ownTiles.map(\.row).sorted(), "not row by row")
            }
            // No tile is magnified, so no more than these are needed; where even the finest level is magnified, fewer.
            if viewport.rotation == 0, level > 0 {
                let across = (2 * viewport.width / Double(tileSize)).rounded(.up) + 1
                let down = (2 * viewport.height / Double(tileSize)).rounded(.up) + 1
                // Each copy of a wrapping world may show a cut column more.
                let cuts = wraps ? 2 * (viewport.width / scale / Double(width)).rounded(.up) : 0
                #expect(Double(own.count) <= (across + cuts) * down)
            }
        }
    }

    @Test func edgesThatOnlyTouchAreNotNeeded() throws {
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 1024, worldHeight: 1024, tileSize: 256)
        let exact = Viewport(center: WorldPoint(x: 512, y: 512), width: 512, height: 512)
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
                Viewport(center: WorldPoint(x: bad, y: 0), width: 10, height: 10),
                Viewport(center: WorldPoint(x: 0, y: 0), width: bad, height: 10),
                Viewport(center: WorldPoint(x: 0, y: 0), width: 10, height: 10, scale: bad),
                Viewport(center: WorldPoint(x: 0, y: 0), width: 10, height: 10, rotation: bad),
            ] { #expect(pyramid.neededTiles(under: viewport, at: 0).isEmpty) }
        }
        // Far away, tiny and huge scales: no trap, and never more than the grid has.
        for scale in [1e-12, 1e12] {
            for x in [-1e300, -1e18, 1e18, 1e300] {
                let viewport = Viewport(center: WorldPoint(x: x, y: 5), width: 1000, height: 800, scale: scale)
                for level in pyramid.levels.indices {
                    #expect(pyramid.neededTiles(under: viewport, at: level).count <= 16)
                }
            }
        }
    }

    @Test func worldsOfAnySizeCanBeAddressed() throws {
        let side = 1 << 40
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: side, worldHeight: side, tileSize: 1)
        #expect(pyramid.maximumLevel == 40)
        let viewport = Viewport(
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
}
