import TestSupport
import Testing

@testable import TileCache

/// Whole scales of levels whose sizes are rounded.
@Suite struct LevelScalesTests {
    private func scale(_ width: Int, _ height: Int, of world: (Int, Int)) -> Int? {
        var scales = LevelScales(of: (width: world.0, height: world.1))
        return scales.take(width: width, height: height)
    }

    /// Both sides of each boundary, by hand: 16,383 / 2 is 8,191.5, and 12,287 / 2 is 6,143.5.
    @Test func sidesAreRoundedDownOrUp() {
        let world = (16_383, 12_287)
        for (width, height) in [(8191, 6143), (8192, 6144), (8191, 6144), (8192, 6143)] {
            #expect(scale(width, height, of: world) == 2)
        }
        for (width, height) in [(8190, 6143), (8193, 6144), (8191, 6142), (8192, 6145)] {
            #expect(scale(width, height, of: world) == nil)
        }
        // What divides without a rest has one size.
        #expect(scale(8192, 6144, of: (16_384, 12_288)) == 2)
        #expect(scale(8191, 6144, of: (16_384, 12_288)) == nil && scale(8193, 6144, of: (16_384, 12_288)) == nil)
        // Nothing is a level of the same size, or of a larger one.
        #expect(scale(16_383, 12_287, of: world) == nil && scale(16_384, 12_288, of: world) == nil)
    }

    /// 2.1, 2.5, 1.5 and the like are no whole numbers.
    @Test(arguments: [1.5, 2.1, 2.5, 3.9, 1.99, 7.9]) func otherRatiosAreKept(ratio: Double) {
        for world in [(16_383, 12_287), (3001, 2003), (99_991, 40_009)] {
            let (width, height) = (Double(world.0) / ratio, Double(world.1) / ratio)
            for rule in [FloatingPointRoundingRule.down, .up, .toNearestOrEven] {
                #expect(scale(Int(width.rounded(rule)), Int(height.rounded(rule)), of: world) == nil)
            }
        }
    }

    /// One side of one pixel leaves its scale open; the other tells it, and the steps.
    @Test func smallLevelsFollowTheSteps() {
        func all(_ world: (Int, Int), _ sizes: [(Int, Int)]) -> [Int?] {
            var scales = LevelScales(of: (width: world.0, height: world.1))
            return sizes.map { scales.take(width: $0.0, height: $0.1) }
        }
        #expect(all((37, 1184), [(19, 592), (10, 296), (5, 148), (1, 37), (1, 19)]) == [2, 4, 8, 32, 64])
        // Halved and rounded down: 1000, 500, 250, 125, 62, 31, 15, 7, 3, 1. 1000 / 3 is 333 as well.
        let halves = [500, 250, 125, 62, 31, 15, 7, 3, 1].map { ($0, $0) }
        #expect(all((1000, 1000), halves) == [2, 4, 8, 16, 32, 64, 128, 256, 512])
        // Quartered, at first to 15 of 63, then to 3.
        #expect(all((63, 63), [(15, 15), (3, 3)]) == [4, 16])
        // Levels of a half and a third.
        #expect(all((3001, 2003), [(1500, 1001), (1000, 667)]) == [2, 3])
        #expect(all((1, 1), [(1, 1), (1, 1)]) == [2, 4])
        let most = 1 << 40
        #expect(all((most, most), [(1, 1), (1, 1), (1, 1)]) == [most, 2 * most, nil])
    }

    /// Tables of hosts. OpenSlide states 4.00004 and 16.0010 for these levels, the means of both quotients.
    @Test func tablesOfSizes() {
        let sizes = [(width: 2874, height: 2057), (11_499, 8228), (45_999, 32_914)]
        #expect(TilePyramid.scales(ofLevels: sizes) == [16, 4, 1])
        // Tall, and of no whole ratio: 2500 / 1000.
        #expect(TilePyramid.scales(ofLevels: [(400, 1000), (1000, 2500)]) == [2.5, 1])
        #expect(TilePyramid.scales(ofLevels: []).isEmpty && TilePyramid.scales(ofLevels: [(1, 1)]) == [1])
        let huge = TilePyramid.scales(ofLevels: [(0, 1), (-1, Int.min), (Int.max, 1), (Int.max, Int.max)])
        #expect(huge.count == 4 && huge[3] == 1)
    }

    /// Random sizes and steps, rounded in each way, at once and level by level.
    @Test(arguments: [1, 2, 3] as [UInt64]) func roundingIsFound(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        func divide(_ side: Int, _ by: Int, _ way: Int) -> Int {
            let exact = Double(side) / Double(by)
            switch way {
            case 0: return max(Int(exact), 1)
            case 1: return Int(exact.rounded(.up))
            case 2: return max(Int(exact.rounded(.toNearestOrAwayFromZero)), 1)
            // As Python rounds.
            default: return max(Int(exact.rounded(.toNearestOrEven)), 1)
            }
        }
        for _ in 0..<3000 {
            let world = (1 + Int(random.next() % 200_000), 1 + Int(random.next() % 200_000))
            let step = [2, 2, 2, 3, 4, 8][Int(random.next() % 6)]
            let (way, isRepeated) = (Int(random.next() % 5), random.next() % 2 == 0)
            var scales = LevelScales(of: (width: world.0, height: world.1))
            var (size, total, before) = (world, 1, 1)
            while max(size.0, size.1) > 1 {
                total *= step
                // One writer in five rounds each side of each level as it likes.
                let ways = way < 4 ? (way, way) : (Int(random.next() % 4), Int(random.next() % 4))
                let next =
                    isRepeated
                    ? (divide(size.0, step, ways.0), divide(size.1, step, ways.1))
                    : (divide(world.0, total, ways.0), divide(world.1, total, ways.1))
                if next == size { break }
                size = next
                let found = scales.take(width: size.0, height: size.1)
                let context = "seed \(seed): \(world) by \(total), \(size), way \(way), repeated \(isRepeated)"
                // Of some twenty pixels or more there is one answer; of fewer the steps tell it.
                #expect(
                    found == total || max(size.0, size.1) < 4 && found ?? 0 > before,
                    "\(context), not \(found ?? 0)"
                )
                before = found ?? before
                if found != total { break }
            }
        }
    }
}

/// Levels that end less than a pixel before the world are drawn up to its edge.
@Suite struct LevelEndTests {
    /// A world of 33 x 17 pixels; the half has 16 x 8, in tiles of 8.
    private func pyramid(wrapsX: Bool = false) throws -> TilePyramid {
        let sizes = [(16, 8, 2.0), (33, 17, 1.0)]
        return try TilePyramid(
            worldWidth: 33,
            worldHeight: 17,
            wrapsX: wrapsX,
            levels: sizes.map {
                PyramidLevel(width: $0.0, height: $0.1, tileWidth: 8, tileHeight: 8, worldPixelsPerPixel: $0.2)
            }
        )
    }

    @Test(arguments: [false, true]) func theLastColumnAndRowEndWithTheWorld(wrapsX: Bool) throws {
        let pyramid = try pyramid(wrapsX: wrapsX)
        let last = TileCoordinate(level: 0, column: 1, row: 0)
        #expect(pyramid.worldRectangle(of: last) == PixelRect(minX: 16, minY: 0, maxX: 33, maxY: 17))
        let first = TileCoordinate(level: 0, column: 0, row: 0)
        #expect(pyramid.worldRectangle(of: first) == PixelRect(minX: 0, minY: 0, maxX: 16, maxY: 17))
        // All of the last tile, and of the first all columns.
        let level = pyramid.levels[0]
        let whole = PixelRect(minX: 0, minY: 0, maxX: 8, maxY: 8)
        for tile in [first, last] {
            #expect(level.tileRectangle(of: tile, showing: pyramid.worldRectangle(of: tile)) == whole)
        }
        // The parts of a tile that two finer ones show meet.
        let part = level.tileRectangle(of: last, showing: PixelRect(minX: 24, minY: 0, maxX: 32, maxY: 8))
        let rest = level.tileRectangle(of: last, showing: PixelRect(minX: 32, minY: 0, maxX: 33, maxY: 8))
        #expect(part.maxX == rest.minX && rest.maxX == 8 && rest.minX > 7 && rest.width > 0.4)
        // A view of the strip beyond the last pixel needs the last tile.
        let strip = pyramid.range(overlapping: PixelRect(minX: 32.2, minY: 16.2, maxX: 32.8, maxY: 16.9), at: 0)
        #expect(strip.columns == 1..<2 && strip.rows == 0..<1)
        for rotation in [0, 0.3] {
            let view = TileViewport(center: WorldPoint(x: 32.5, y: 16.5), width: 0.5, height: 0.5, rotation: rotation)
            #expect(pyramid.neededTiles(under: view, at: 0) == [last])
        }
        let child = TileCoordinate(level: 1, column: 4, row: 2)
        #expect(pyramid.parent(of: child) == last)
        #expect(pyramid.children(of: last)?.columns == 2..<5 && pyramid.children(of: last)?.rows == 0..<3)
        #expect(try TilePyramid(worldWidth: 33, worldHeight: 17, wrapsX: wrapsX, levels: pyramid.levels) == pyramid)
    }

    /// A level that ends a whole pixel before the world does, or more, ends where its tiles do.
    @Test func levelsThatAreTooSmallAreNotEnlarged() throws {
        for (width, isReached) in [(33.0, true), (33.99, true), (34.0, false), (35.0, false), (32.0, false)] {
            let level = PyramidLevel(width: 16, height: 16, tileWidth: 8, tileHeight: 8, worldPixelsPerPixel: 2)
            let pyramid = try TilePyramid(worldWidth: width, worldHeight: 32, levels: [level])
            let last = pyramid.worldRectangle(of: TileCoordinate(level: 0, column: 1, row: 1))
            #expect(last.maxX == (isReached ? width : 32) && last.maxY == 32)
            let beyond = pyramid.range(overlapping: PixelRect(minX: 32.1, minY: 0, maxX: 32.2, maxY: 1), at: 0)
            #expect(beyond.columns.isEmpty != isReached)
        }
    }

    /// Tiles of random levels of rounded sizes cover the world without gaps and overlaps.
    @Test(arguments: [1, 2] as [UInt64]) func tilesCoverTheWorld(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<300 {
            let world = (2 + Int(random.next() % 500), 2 + Int(random.next() % 500))
            let (scale, tile) = (2 + Int(random.next() % 7), 4 + Int(random.next() % 13))
            let level = PyramidLevel(
                width: max(world.0 / scale, 1),
                height: max(world.1 / scale, 1),
                tileWidth: tile,
                tileHeight: tile,
                worldPixelsPerPixel: Double(scale)
            )
            let pyramid = try TilePyramid(
                worldWidth: Double(world.0),
                worldHeight: Double(world.1),
                levels: [level]
            )
            var area = 0.0
            for column in 0..<level.columns {
                for row in 0..<level.rows {
                    let place = TileCoordinate(level: 0, column: column, row: row)
                    let own = pyramid.worldRectangle(of: place)
                    area += own.area
                    let middle = PixelRect(
                        minX: (own.minX + own.maxX) / 2,
                        minY: (own.minY + own.maxY) / 2,
                        maxX: own.maxX,
                        maxY: own.maxY
                    )
                    let found = pyramid.range(overlapping: middle, at: 0)
                    #expect(found.columns == column..<column + 1 && found.rows == row..<row + 1)
                    let part = pyramid.levels[0].tileRectangle(of: place, showing: own)
                    #expect(part.width > 0 && part.height > 0 && part.maxX <= Double(tile) && part.maxY <= Double(tile))
                }
            }
            #expect(area == Double(world.0 * world.1), "seed \(seed): \(world), \(scale), \(tile)")
        }
    }
}
