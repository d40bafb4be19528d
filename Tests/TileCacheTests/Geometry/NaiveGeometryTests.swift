import Foundation
import TestSupport
import Testing

@testable import TileCache

/// Covers and levels against brute force, and the naive geometry itself against known covers.
@Suite struct NaiveGeometryTests {
    /// Every number is a whole one over a power of two. So both sides are exact: touching edges must not count, and
    /// nothing depends on rounding.
    @Test(arguments: 0..<8) func exactCoversAreEqual(seed: Int) throws {
        var dice = NaiveDice(seed: UInt64(seed))
        for _ in 0..<500 {
            let world = dice.world()
            let pyramid = try world.pyramid()
            let scale = pow(2, Double(dice.whole(-20...4)))
            let view = NaiveView(
                x: Double(dice.whole(-2 * Int(world.width)...3 * Int(world.width))) / 2,
                y: Double(dice.whole(-Int(world.height)...3 * Int(world.height))) / 2,
                width: dice.screenSide(world) * 2,
                height: dice.screenSide(world) * 2,
                scale: scale
            )
            let needed = naiveNeeded(view, in: world)
            #expect(pyramid.neededTiles(under: view.viewport, at: pyramid.level(scale)).map(NaiveTile.init) == needed)
        }
    }

    @Test(arguments: 0..<8, [false, true]) func coversAreThoseOfBruteForce(seed: Int, isTurned: Bool) throws {
        var dice = NaiveDice(seed: UInt64(seed + 100))
        var clear = 0
        for _ in 0..<400 {
            let world = dice.world()
            let pyramid = try world.pyramid()
            let view = dice.view(of: world, isTurned: isTurned)
            let level = min(max(pyramid.level(view.scale) + dice.whole(-1...1), 0), pyramid.maximumLevel)
            // Levels finer than the ideal one have too many tiles for brute force.
            guard view.tileCount(atSpan: world.span(level)) < 4000 else { continue }
            let tiles = pyramid.neededTiles(under: view.viewport, at: level).map(NaiveTile.init)
            // Only differences within the rounding error are allowed.
            let hair = 1e-9 * (world.span(level) + abs(view.x) + view.width / view.scale)
            let least = Set(naiveNeeded(view.grown(by: -hair), in: world, level: level))
            let most = naiveNeeded(view.grown(by: hair), in: world, level: level)
            #expect(Set(tiles).count == tiles.count, "a tile comes twice: \(view) \(world)")
            #expect(least.isSubset(of: tiles), "a tile is left out: \(view) \(world) level \(level)")
            let chosen = Set(tiles)
            #expect(most.filter(chosen.contains) == tiles, "tiles too many, or in another order: \(view) \(world)")
            if least.count == most.count { clear += 1 }
        }
        #expect(clear > 300)
    }

    @Test(arguments: 0..<4) func levelsAreTheCoarsestThatAreNotMagnified(seed: Int) throws {
        var dice = NaiveDice(seed: UInt64(seed + 200))
        for _ in 0..<1000 {
            let world = dice.world()
            let pyramid = try world.pyramid()
            #expect(pyramid.maximumLevel == world.maximumLevel)
            let scale = dice.scale()
            #expect(pyramid.level(scale) == world.idealLevel(scale: scale))
            let power = pow(2, Double(dice.whole(-20...4)))
            for factor in [1, 1 + 9e-7, 1 - 9e-7, 1 + 1.1e-6, 1 - 1.1e-6] {
                #expect(pyramid.level(power * factor) == world.idealLevel(scale: power * factor))
            }
            #expect(pyramid.level(power * (1 + 9e-7)) == pyramid.level(power))
        }
    }

    /// A level changes if the scale leaves its bounds by more than the band's width. In both directions.
    @Test(arguments: 0..<4) func hysteresisKeepsALevelWithinItsBand(seed: Int) throws {
        var dice = NaiveDice(seed: UInt64(seed + 250))
        for _ in 0..<200 {
            let world = dice.paintedWorld()
            let pyramid = try world.pyramid()
            let (band, bias) = (dice.unit(), [0, 0, 0.5, -1][dice.whole(0...3)])
            let selection = TileLevelSelection(bias: bias, hysteresis: band)
            var level: Int?
            for _ in 0..<40 {
                let near = world.levels[dice.whole(0...world.levels.count - 1)].perPixel
                let scale = pow(2, (dice.unit() - 0.5) * 4) / near
                let wanted = scale * pow(2, -bias)
                let ideal = world.idealLevel(scale: wanted)
                // The scales at which a level is drawn go from the next coarser level's bound to its own.
                var expected = ideal
                if let level {
                    let isBelowTop =
                        level == world.levels.count - 1 || wanted * world.levels[level].perPixel <= pow(2, band)
                    let isAboveBottom = level == 0 || wanted * world.levels[level - 1].perPixel > pow(2, -band)
                    if isBelowTop, isAboveBottom { expected = level }
                }
                #expect(selection.level(for: scale, in: pyramid, previous: level) == expected, "seed \(seed): \(world)")
                level = expected
            }
        }
    }

    /// (ceil(2w/T) + 1)(ceil(2h/T) + 1), the bound that a renderer may rely on.
    @Test(arguments: 0..<4) func neverMoreTilesThanPromised(seed: Int) throws {
        var dice = NaiveDice(seed: UInt64(seed + 300))
        for _ in 0..<2000 {
            var world = dice.world()
            // At the seam of a world whose last column is cut, one tile more may be in view.
            if world.width.remainder(dividingBy: world.tileSize) != 0 { world.wraps = false }
            let pyramid = try world.pyramid()
            var view = dice.view(of: world, isTurned: false)
            let coarsest = pow(2, -Double(pyramid.maximumLevel))
            view.scale = min(max(view.scale, coarsest), 1)
            let bound =
                ((2 * view.width / world.tileSize).rounded(.up) + 1)
                * ((2 * view.height / world.tileSize).rounded(.up) + 1)
            let count = pyramid.neededTiles(under: view.viewport, at: pyramid.level(view.scale)).count
            #expect(Double(count) <= bound, "\(view) \(world)")
        }
    }

    // MARK: - The naive geometry itself

    /// A wrapping world's seam is inside: the last column and the first, in this order.
    @Test func wrapsAtTheSeam() {
        let world = NaiveWorld(width: 1024, height: 1024, wraps: true, tileSize: 256)
        let needed = naiveNeeded(NaiveView(x: 1024, y: 128, width: 256, height: 256, scale: 1), in: world)
        #expect(needed == [NaiveTile(level: 2, column: 3, row: 0), NaiveTile(level: 2, column: 0, row: 0)])
    }

    /// A square turned by 45 degrees reaches 212 px to each side of its middle. It misses the corners.
    @Test func aTurnedViewportNeedsItsOutline() {
        let world = NaiveWorld(width: 1024, height: 1024, wraps: false, tileSize: 256)
        var view = NaiveView(x: 384, y: 384, width: 300, height: 300, scale: 1)
        #expect(naiveNeeded(view, in: world).count == 9)
        view.rotation = .pi / 4
        let turned = naiveNeeded(view, in: world).map { [$0.column, $0.row] }
        #expect(turned == [[1, 0], [0, 1], [1, 1], [2, 1], [1, 2]])
    }

    /// At the seam, a cut last column is a separate tile.
    @Test func aCutColumnEndsWithTheWorld() {
        let world = NaiveWorld(width: 600, height: 300, wraps: true, tileSize: 256)
        #expect(world.maximumLevel == 2)
        let across = naiveNeeded(NaiveView(x: 605, y: 100, width: 20, height: 20, scale: 1), in: world)
        #expect(across.map(\.column) == [2, 0])
        let inside = naiveNeeded(NaiveView(x: 620, y: 100, width: 20, height: 20, scale: 1), in: world)
        #expect(inside.map(\.column) == [0])
    }

    @Test(arguments: [
        (1, 9), (2, 9), (0.5, 8), (0.5000001, 8), (0.50001, 9), (0.49, 8), (0x1p-20, 0), (0x1p-9, 0), (0.0039, 1),
    ])
    func idealLevels(scale: Double, level: Int) {
        let world = NaiveWorld(width: 131_072, height: 131_072, wraps: true, tileSize: 256)
        #expect(world.idealLevel(scale: scale) == level)
    }
}
