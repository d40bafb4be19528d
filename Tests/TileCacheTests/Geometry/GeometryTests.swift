import TestSupport
import Testing

@testable import TileCache

@Suite struct GeometryTests {
    @Test func pyramidsWithoutSizeAreRefused() throws {
        #expect(throws: TileCacheError.self) {
            try TilePyramid.powerOfTwo(worldWidth: 64, worldHeight: 64, tileSize: 0)
        }
        #expect(throws: TileCacheError.self) {
            try TilePyramid.powerOfTwo(worldWidth: 64, worldHeight: 64, tileSize: 1 << 30 + 1)
        }
        #expect(try TilePyramid.powerOfTwo(worldWidth: 64, worldHeight: 64, tileSize: 1 << 30).maximumLevel == 0)
        for (width, height) in [(0, 64), (64, 0), (-1, 64)] {
            let text = "a world of 1 to 2^40 pixels a side is expected, not \(width) x \(height)"
            #expect(throws: TileCacheError.invalidPyramid(text)) {
                try TilePyramid.powerOfTwo(worldWidth: width, worldHeight: height, tileSize: 64)
            }
        }
        let flat = PyramidLevel(width: 64, height: 64, tileWidth: 64, tileHeight: 64, worldPixelsPerPixel: 0)
        #expect(throws: TileCacheError.self) { try TilePyramid(worldWidth: 64, worldHeight: 64, levels: [flat]) }
        #expect(try ServiceSetup.pyramid().obstacle(toSynthesizing: 0) == nil)
    }

    /// A level has tiles only if it and they have a size, to the pixel.
    @Test func gridsAreExact() throws {
        let grids = [(1, 1, 1), (64, 64, 1), (65, 64, 2), (0, 64, 0), (-1, 64, 0), (64, 0, 0), (64, -1, 0)]
        for (size, tile, count) in grids {
            let wide = PyramidLevel(width: size, height: 64, tileWidth: tile, tileHeight: 64, worldPixelsPerPixel: 1)
            let high = PyramidLevel(width: 64, height: size, tileWidth: 64, tileHeight: tile, worldPixelsPerPixel: 1)
            #expect(wide.columns == count && wide.rows == 1 && high.columns == 1 && high.rows == count)
            for level in [wide, high] where count == 0 {
                #expect(throws: TileCacheError.self) {
                    try TilePyramid(worldWidth: 64, worldHeight: 64, levels: [level])
                }
            }
        }
        let values = [-1, 0, 0.9, 7, 8, .infinity, -.infinity, .nan]
        #expect(values.map { clampedInteger($0, below: 8) } == [0, 0, 0, 7, 7, 7, 0, 0])
    }

    /// In a far copy of a wrapping world positions are multiples of 256: the tile from 124 to 186 is as wide there.
    /// A renderer that rounds edges to pixels shows a line between neighbours whose edges differ by a rounding error.
    @Test(arguments: [40_075_016.685578488, 1000 / 3.0, 0.7]) func neighboursShareAnEdge(side: Double) throws {
        let levels = (0..<6).map { level in
            PyramidLevel(
                width: 256 << level,
                height: 256 << level,
                tileWidth: 256,
                tileHeight: 256,
                worldPixelsPerPixel: side / Double(256 << level)
            )
        }
        let pyramid = try TilePyramid(worldWidth: side, worldHeight: side, levels: levels)
        for level in levels.indices {
            let look = LevelLook(pyramid, level: level)
            let diagonal = (0..<levels[level].columns).map { TileCoordinate(level: level, column: $0, row: $0) }
            for (tile, next) in zip(diagonal, diagonal.dropFirst()) {
                let (area, beside) = (pyramid.worldRectangle(of: tile), pyramid.worldRectangle(of: next))
                #expect(area.maxX == beside.minX && area.maxY == beside.minY, "\(tile)")
                #expect(look.worldRectangle(of: TileKey(layer: 0, tile)) == area)
                // Its pixels are whole ones, in other copies of the world too.
                for offset in [0, 3 * side] {
                    let place = area.offsetBy(x: offset, y: 0)
                    let part = levels[level].tileRectangle(of: tile, showing: place, offset: offset)
                    #expect(part == PixelRect(minX: 0, minY: 0, maxX: 256, maxY: 256), "\(tile)")
                }
            }
        }
    }

    @Test func partsLieWithinTheirTile() {
        let level = PyramidLevel(
            width: 992,
            height: 992,
            tileWidth: 62,
            tileHeight: 62,
            worldPixelsPerPixel: 1,
            border: 1
        )
        let tile = TileCoordinate(level: 4, column: 2, row: 1)
        let shown = PixelRect(minX: 0x1p60 + 124, minY: 62, maxX: 0x1p60 + 186, maxY: 124)
        #expect(shown.width == 256)
        let part = level.tileRectangle(of: tile, showing: shown, offset: 0x1p60)
        #expect(part == PixelRect(minX: 1, minY: 1, maxX: 63, maxY: 63))
    }

    /// A rule that is changed is the rule that is made with the same numbers.
    @Test func aRuleForLevelsFollowsItsNumbers() throws {
        let pyramid = try ServiceSetup.pyramid()
        var rule = TileLevelSelection()
        rule.bias = 1
        #expect(rule == TileLevelSelection(bias: 1) && rule.level(for: 1, in: pyramid) == 5)
        rule.hysteresis = 0.5
        #expect(rule == TileLevelSelection(bias: 1, hysteresis: 0.5))
        #expect(rule.level(for: 1.2, in: pyramid, previous: 5) == 5)
        rule.bias = .nan
        rule.hysteresis = 7
        #expect(rule == TileLevelSelection(bias: 0, hysteresis: 1))
    }

    /// Tiles and identities compare like the lists of their parts.
    @Test func orderIsThatOfTheParts() {
        var random = SplitMix64(seed: 3)
        func identity() -> (TileIdentity, [Int]) {
            let parts = (0..<5).map { _ in random.below(2) }
            let tile = TileCoordinate(level: parts[1], column: parts[3], row: parts[2])
            return (TileIdentity(layer: LayerID(parts[0]), tile: tile, generation: UInt32(parts[4])), parts)
        }
        for _ in 0..<2000 {
            let (a, b) = (identity(), identity())
            #expect((a.0 < b.0) == a.1.lexicographicallyPrecedes(b.1))
            #expect((a.0.tile < b.0.tile) == a.1[1...3].lexicographicallyPrecedes(b.1[1...3]))
        }
    }
}
