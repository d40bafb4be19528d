import TestSupport
import Testing

@testable import TileCache

/// Parents, ancestors and children against brute force over whole levels.
@Suite struct NaiveFamilyTests {
    @Test(arguments: 0..<12) func powersOfTwoHalveCoordinates(seed: Int) throws {
        var dice = NaiveDice(seed: UInt64(seed + 400))
        let pyramid = try dice.world().pyramid()
        for tile in allTiles(of: pyramid) {
            for level in 0..<tile.level {
                let steps = tile.level - level
                let expected = TileCoordinate(level: level, column: tile.column >> steps, row: tile.row >> steps)
                #expect(pyramid.ancestor(of: tile, at: level) == expected)
            }
            guard tile.level < pyramid.maximumLevel else { continue }
            let finer = pyramid.levels[tile.level + 1]
            var children: [TileCoordinate] = []
            for row in [2 * tile.row, 2 * tile.row + 1] where row < finer.rows {
                for column in [2 * tile.column, 2 * tile.column + 1] where column < finer.columns {
                    children.append(TileCoordinate(level: tile.level + 1, column: column, row: row))
                }
            }
            #expect(pyramid.children(of: tile).map(Array.init) == children)
        }
    }

    /// Pyramids with steps of four, tile sizes by level, and grids with other origins.
    @Test(arguments: 0..<40) func oddTablesAreSearchedTileByTile(seed: Int) throws {
        var dice = NaiveDice(seed: UInt64(seed + 500))
        let pyramid = try dice.oddPyramid()
        for tile in allTiles(of: pyramid) {
            let own = rectangle(of: tile, in: pyramid)
            // A grid that starts left of the world, or continues beyond it, has tiles outside the world.
            guard own.left < own.right, own.top < own.bottom else { continue }
            for level in 0..<tile.level {
                let over = tiles(of: level, in: pyramid).filter {
                    let other = rectangle(of: $0, in: pyramid)
                    return other.left <= own.middleX && own.middleX < other.right
                        && other.top <= own.middleY && own.middleY < other.bottom
                }
                #expect(over == [pyramid.ancestor(of: tile, at: level)])
            }
            #expect(pyramid.parent(of: tile) == pyramid.ancestor(of: tile, at: tile.level - 1))
            guard tile.level < pyramid.maximumLevel else {
                #expect(pyramid.children(of: tile) == nil)
                continue
            }
            let children = tiles(of: tile.level + 1, in: pyramid).filter {
                let other = rectangle(of: $0, in: pyramid)
                return max(other.left, own.left) < min(other.right, own.right)
                    && max(other.top, own.top) < min(other.bottom, own.bottom)
            }
            #expect(pyramid.children(of: tile).map(Array.init) == children)
        }
    }

    @Test(arguments: 0..<40, [false, true]) func oddTablesAreCoveredTileByTile(seed: Int, wraps: Bool) throws {
        var dice = NaiveDice(seed: UInt64(seed + 800))
        let pyramid = try dice.oddPyramid(wraps: wraps)
        for _ in 0..<30 {
            let level = dice.whole(0...pyramid.maximumLevel)
            // Whole numbers, so that touching differs from overlapping.
            let (width, height) = (2 * Double(dice.whole(1...200)), 2 * Double(dice.whole(1...200)))
            let center = WorldPoint(x: Double(dice.whole(-900...1500)), y: Double(dice.whole(-200...900)))
            let left = center.x - width / 2
            var needed: [TileCoordinate] = []
            for row in 0..<pyramid.levels[level].rows {
                for copy in wraps ? -9...14 : 0...0 {
                    for column in 0..<pyramid.levels[level].columns {
                        let tile = TileCoordinate(level: level, column: column, row: row)
                        let own = rectangle(of: tile, in: pyramid)
                        let offset = Double(copy) * pyramid.worldWidth
                        let isUnder =
                            max(own.left + offset, left) < min(own.right + offset, left + width)
                            && max(own.top, center.y - height / 2) < min(own.bottom, center.y + height / 2)
                        if isUnder, !needed.contains(tile) { needed.append(tile) }
                    }
                }
            }
            let viewport = TileViewport(center: center, width: width, height: height)
            #expect(pyramid.neededTiles(under: viewport, at: level) == needed)
        }
    }

    @Test func columnsBesideAWrappingWorldAreRefused() {
        for (origin, width) in [(0.0, 1025), (-256, 1024), (-100, 1100)] {
            let level = PyramidLevel(
                width: width,
                height: 512,
                tileWidth: 256,
                tileHeight: 256,
                worldPixelsPerPixel: 1,
                origin: WorldPoint(x: origin, y: 0)
            )
            let pyramid = try? TilePyramid(worldWidth: 1024, worldHeight: 512, wrapsX: true, levels: [level])
            #expect((pyramid != nil) == (origin == -100))
        }
    }

    /// The last column begins left of the world's edge by less than a rounding error. Walks around the world left it out,
    /// and other copies of the world had wrong tiles.
    @Test func aColumnThinnerThanRoundingIsRefused() {
        let level = PyramidLevel(
            width: 793,
            height: 793,
            tileWidth: 88,
            tileHeight: 88,
            worldPixelsPerPixel: 2.4226980453362827
        )
        let side = 1918.776851906336
        let isLeftOfTheEdge = 9 * level.tileSpanX < side
        let pyramid = try? TilePyramid(worldWidth: side, worldHeight: side, wrapsX: true, levels: [level])
        #expect(isLeftOfTheEdge && level.columns == 10 && pyramid == nil)
    }

    @Test func theCoarsestTileHasNoAncestor() throws {
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 1000, worldHeight: 600)
        let top = TileCoordinate(level: 0, column: 0, row: 0)
        #expect(pyramid.parent(of: top) == nil)
        #expect(pyramid.ancestor(of: top, at: 0) == nil)
        #expect(pyramid.ancestor(of: TileCoordinate(level: 1, column: 0, row: 0), at: -1) == nil)
    }

    private func allTiles(of pyramid: TilePyramid) -> [TileCoordinate] {
        pyramid.levels.indices.flatMap { tiles(of: $0, in: pyramid) }
    }

    private func tiles(of level: Int, in pyramid: TilePyramid) -> [TileCoordinate] {
        (0..<pyramid.levels[level].rows).flatMap { row in
            (0..<pyramid.levels[level].columns).map { TileCoordinate(level: level, column: $0, row: row) }
        }
    }

    private struct Cut {
        var left: Double
        var top: Double
        var right: Double
        var bottom: Double
        var middleX: Double { (left + right) / 2 }
        var middleY: Double { (top + bottom) / 2 }
    }

    /// Part of the world in a tile.
    private func rectangle(of tile: TileCoordinate, in pyramid: TilePyramid) -> Cut {
        let level = pyramid.levels[tile.level]
        let width = Double(level.tileWidth) * level.worldPixelsPerPixel
        let height = Double(level.tileHeight) * level.worldPixelsPerPixel
        let left = level.origin.x + Double(tile.column) * width
        let top = level.origin.y + Double(tile.row) * height
        return Cut(
            left: max(left, 0),
            top: max(top, 0),
            right: min(left + width, pyramid.worldWidth),
            bottom: min(top + height, pyramid.worldHeight)
        )
    }
}

extension NaiveDice {
    /// Three levels with steps of four, or of three and two. Each has a tile size of its own, and often an origin of
    /// its own.
    mutating func oddPyramid(wraps: Bool = false) throws -> TilePyramid {
        let (worldWidth, worldHeight) = (whole(200...700), whole(200...700))
        let steps = [[16, 4, 1], [6, 3, 1], [64, 8, 2]][whole(0...2)]
        let hasOrigins = whole(0...1) == 1
        let levels = steps.map { step in
            let (tileWidth, tileHeight) = (whole(7...60), whole(7...60))
            // If a world wraps, no column may lie outside it.
            let reach = wraps ? min(60, tileWidth * step - 1) : 60
            let origin = hasOrigins ? (-whole(0...reach), -whole(0...60)) : (0, 0)
            return PyramidLevel(
                width: (worldWidth - origin.0 + step - 1) / step,
                height: (worldHeight - origin.1 + step - 1) / step,
                tileWidth: tileWidth,
                tileHeight: tileHeight,
                worldPixelsPerPixel: Double(step),
                origin: WorldPoint(x: Double(origin.0), y: Double(origin.1))
            )
        }
        return try TilePyramid(
            worldWidth: Double(worldWidth),
            worldHeight: Double(worldHeight),
            wrapsX: wraps,
            levels: levels
        )
    }
}
