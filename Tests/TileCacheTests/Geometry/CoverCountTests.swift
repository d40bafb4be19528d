import Foundation
import TestSupport
import Testing

@testable import TileCache

/// Counts and ranges of covers, against the lists of their tiles.
@Suite struct CoverCountTests {
    /// Odd tables of levels and powers of two, seen upright and turned, from far away and from beside the world.
    @Test(arguments: 0..<8) func countsAndRangesAreThoseOfTheLists(seed: Int) throws {
        var dice = NaiveDice(seed: UInt64(seed + 500))
        var (ranges, empty, whole) = (0, 0, 0)
        for number in 0..<200 {
            let isOdd = dice.whole(0...3) > 0
            let odd = dice.paintedWorld()
            let even = dice.world()
            let pyramid = try isOdd ? odd.pyramid() : even.pyramid()
            let drawn = isOdd ? dice.view(of: odd) : dice.view(of: even, isTurned: dice.whole(0...1) == 0)
            let level = dice.whole(0...pyramid.maximumLevel)
            let view = dice.placed(drawn, pyramid, level)
            let tiles = pyramid.neededTiles(under: view.viewport, at: level)
            let cover = ViewportCover(pyramid: pyramid, viewport: view.viewport, levelIndex: level)
            var steps = 0
            var visited: Set<TileCoordinate> = []
            cover.forEach { column, row, _ in
                steps += 1
                visited.insert(TileCoordinate(level: level, column: column, row: row))
                return true
            }
            let place = "seed \(seed), case \(number): \(view), level \(level) of \(isOdd ? "\(odd)" : "\(even)")"
            #expect(cover.tileCount == visited.count, "\(place)")
            // Beyond it, a walk of all copies ends before one of the tiles alone.
            let isCut = steps >= ViewportCover.maximumTileCount
            var walked: [TileCoordinate] = []
            CoveredTiles(cover, layer: 3).forEachKey { walked.append($0.coordinate) }
            #expect(walked.count == cover.tileCount && Set(walked) == visited, "\(place)")
            if !isCut { #expect(walked == tiles, "\(place)") }
            let range = cover.range
            #expect((range == nil) == (view.rotation != 0 || pyramid.wrapsX), "\(place)")
            guard let range else { continue }
            #expect(Array(range.prefix(ViewportCover.maximumTileCount)) == tiles, "\(place)")
            ranges += 1
            if tiles.isEmpty { empty += 1 }
            if tiles.count == pyramid.levels[level].columns * pyramid.levels[level].rows { whole += 1 }
        }
        #expect(ranges > 20 && empty > 0 && whole > 0, "\(ranges) ranges, \(empty) empty, \(whole) of a whole level")
    }

    /// Two columns, and 64 copies of them in view: a walk of 65,536 places ends after 512 rows.
    @Test(arguments: [(511, 1022), (512, 1024), (513, 1024)])
    func copiesCountTowardsTheMost(rows: Int, count: Int) throws {
        let level = PyramidLevel(width: 2, height: rows, tileWidth: 1, tileHeight: 1, worldPixelsPerPixel: 1)
        let pyramid = try TilePyramid(worldWidth: 2, worldHeight: Double(rows), wrapsX: true, levels: [level])
        let viewport = TileViewport(center: WorldPoint(x: 0, y: 256), width: 1000, height: 4000)
        let cover = ViewportCover(pyramid: pyramid, viewport: viewport, levelIndex: 0)
        #expect(cover.tileCount == count && cover.range == nil)
        // Of a list of tiles alone, copies do not count.
        #expect(pyramid.neededTiles(under: viewport, at: 0).count == 2 * rows)
        // What a view needs is a walk of all copies.
        var view = ViewModel(layers: [ViewLayer(id: LayerID(0), pyramid: pyramid)], selection: TileLevelSelection())
        let small = TilePool(tiles: 16)
        _ = view.update(viewport, now: 0, pool: &small.pool)
        #expect(view.layers[0].needs.tiles.count == count)
    }

    /// What cannot be drawn has no tiles.
    @Test(arguments: [false, true]) func whatCannotBeDrawnCountsNothing(wraps: Bool) throws {
        let pyramid = try ServiceSetup.pyramid(wraps: wraps)
        for width in [0, -1, .nan, .infinity] as [Double] {
            let viewport = TileViewport(center: WorldPoint(x: 99, y: 99), width: width, height: 100)
            let cover = ViewportCover(pyramid: pyramid, viewport: viewport, levelIndex: 3)
            #expect(cover.tileCount == 0 && cover.range?.isEmpty ?? true)
        }
    }
}

extension NaiveDice {
    /// A view as it is, zoomed out beyond the world, beside it, or with edges along those of a level's tiles.
    fileprivate mutating func placed(_ view: NaiveView, _ pyramid: TilePyramid, _ level: Int) -> NaiveView {
        var view = view
        let table = pyramid.levels[level]
        switch whole(0...5) {
        case 0: view.scale /= pow(2, Double(whole(1...12)))
        case 1:
            // Touching the world, a little inside of it, or a little beside it.
            let reach = view.width / view.scale / 2 + [0, 1e-6, -1e-6, 9][whole(0...3)]
            view.x = whole(0...1) == 0 ? -reach : pyramid.worldWidth + reach
        case 2:
            let reach = view.height / view.scale / 2 + [0, 1e-6, -1e-6, 9][whole(0...3)]
            view.y = whole(0...1) == 0 ? -reach : pyramid.worldHeight + reach
        case 3:
            (view.width, view.height) = (table.tileSpanX * 2, table.tileSpanY * 2)
            view.scale = 1
            view.x = table.origin.x + Double(whole(-1...table.columns)) * table.tileSpanX
            view.y = table.origin.y + Double(whole(-1...table.rows)) * table.tileSpanY
            view.rotation = 0
        default: break
        }
        return view
    }
}
