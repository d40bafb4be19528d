import TestSupport
import Testing

@testable import TileCache

/// What a pyramid with known contents has, and what a view of it needs.
@Suite struct PyramidContentsTests {
    /// Odd tables of levels and powers of two, wrapping ones too, each limited to a random part of its world.
    @Test(arguments: 0..<6) func aViewNeedsTheTilesOfTheWholeThatOverlapTheContents(seed: Int) throws {
        var dice = NaiveDice(seed: UInt64(seed + 4900))
        var (less, none, wrapped) = (0, 0, 0)
        for number in 0..<150 {
            let isOdd = dice.whole(0...2) > 0
            let (odd, even) = (dice.paintedWorld(), dice.world())
            let whole = try isOdd ? odd.pyramid() : even.pyramid()
            let view = isOdd ? dice.view(of: odd) : dice.view(of: even, isTurned: false)
            let viewport = TileViewport(
                center: WorldPoint(x: view.x, y: view.y),
                width: view.width,
                height: view.height,
                scale: view.scale
            )
            let (x, y) = (dice.unit() * whole.worldWidth, dice.unit() * whole.worldHeight)
            let part = PixelRect(
                minX: x,
                minY: y,
                maxX: x + dice.unit() * whole.worldWidth,
                maxY: y + dice.unit() * whole.worldHeight
            )
            let pyramid = whole.limited(to: part)
            let place = "seed \(seed), case \(number): \(view), \(part) of \(isOdd ? "\(odd)" : "\(even)")"
            #expect(pyramid.contents == part.intersection(whole.contents), "\(place)")
            for level in whole.levels.indices {
                func overlaps(_ tile: TileCoordinate) -> Bool {
                    whole.cells(overlapping: pyramid.contents, at: level).contains(tile)
                }
                let all = whole.neededTiles(under: viewport, at: level)
                let tiles = pyramid.neededTiles(under: viewport, at: level)
                // A tile over the edge may show nothing but what lies beside the contents.
                let allowed = all.filter(overlaps)
                #expect(Set(tiles).isSubset(of: allowed) && Set(tiles).count == tiles.count, "\(place)")
                let shown = viewport.uprightRectangle
                let missing = allowed.filter { tile in
                    let inside = whole.worldRectangle(of: tile).intersection(pyramid.contents)
                    return !tiles.contains(tile)
                        && !shown.intersection(whole.nearestCopy(of: inside, to: viewport.center.x)).isEmpty
                }
                #expect(missing.isEmpty, "\(place): \(missing)")
                #expect(tiles.allSatisfy(pyramid.hasTile), "\(place)")
                let cover = ViewportCover(pyramid: pyramid, viewport: viewport, levelIndex: level)
                if !whole.wrapsX { #expect(cover.tileCount == tiles.count, "\(place)") }
                if tiles.count < all.count { less += 1 }
                if tiles.isEmpty, !all.isEmpty { none += 1 }
                if whole.wrapsX, !tiles.isEmpty { wrapped += 1 }
            }
        }
        #expect(less > 50 && none > 10 && wrapped > 50, "\(less) smaller, \(none) empty, \(wrapped) around worlds")
    }

    /// The last pixel of a tile, the edge, and the first pixel of the next one.
    @Test(arguments: [(255.0, 1), (256, 1), (257, 2)]) func edgesOfContents(edge: Double, columns: Int) throws {
        let whole = try TilePyramid.powerOfTwo(worldWidth: 1024, worldHeight: 1024)
        let pyramid = whole.limited(to: PixelRect(minX: 0, minY: 0, maxX: edge, maxY: 1024))
        let view = TileViewport(center: WorldPoint(x: 512, y: 512), width: 1024, height: 1024)
        #expect(pyramid.neededTiles(under: view, at: 2).count == 4 * columns)
        #expect(pyramid.hasTile(TileCoordinate(level: 2, column: columns - 1, row: 0)))
        #expect(!pyramid.hasTile(TileCoordinate(level: 2, column: columns, row: 0)))
        #expect(pyramid.contains(TileCoordinate(level: 2, column: columns, row: 0)))
        #expect(pyramid.children(of: TileCoordinate(level: 1, column: 0, row: 0))?.count == 2 * columns)
        // A renderer's own list may name others.
        let layer = LayerID(0)
        let wishes = (0..<4).map { NeededTile(layer: layer, tile: TileCoordinate(level: 2, column: $0, row: 0)) }
        #expect(NeededList(wishes, pyramids: [layer: pyramid])[layer].keys.count == columns)
    }

    /// Ranges of levels: the union of their areas is needed, and what a level lacks of it is known to be absent.
    @Test func rangesOfLevels() throws {
        let whole = try TilePyramid.powerOfTwo(worldWidth: 1024, worldHeight: 1024)
        let pyramid = whole.limited(to: [
            TileRange(level: 1, columns: 1..<2, rows: 0..<1), TileRange(level: 2, columns: 3..<9, rows: 1..<3),
        ])
        #expect(pyramid.contents == PixelRect(minX: 512, minY: 0, maxX: 1024, maxY: 768))
        #expect(!pyramid.hasTile(TileCoordinate(level: 0, column: 0, row: 0)))
        #expect(pyramid.hasTile(TileCoordinate(level: 2, column: 3, row: 2)))
        #expect(!pyramid.hasTile(TileCoordinate(level: 2, column: 2, row: 2)))
        let all = TileViewport(center: WorldPoint(x: 512, y: 512), width: 1024, height: 1024)
        #expect(pyramid.neededTiles(under: all, at: 2).count == 6)
        #expect(pyramid.range(overlapping: whole.contents, at: 2).count == 2)
        #expect(pyramid.keepingFinestLevels(1).tileRanges == [TileRange(level: 0, columns: 3..<4, rows: 1..<3)])
        // Two limits: both have to allow a tile.
        let both = pyramid.limited(to: PixelRect(minX: 0, minY: 0, maxX: 1024, maxY: 300))
        #expect(both.contents == PixelRect(minX: 512, minY: 0, maxX: 1024, maxY: 300))
        #expect(both.range(overlapping: whole.contents, at: 2) == TileRange(level: 2, columns: 3..<4, rows: 1..<2))
        // Limits that say nothing change nothing, and limits that leave nothing leave no tiles.
        let levels = whole.levels.indices.map { whole.cells(overlapping: whole.contents, at: $0) }
        #expect(whole.limited(to: whole.contents) == whole && whole.limited(to: levels).contents == whole.contents)
        for empty in [whole.limited(to: []), whole.limited(to: PixelRect(minX: 2000, minY: 0, maxX: 3000, maxY: 9))] {
            #expect(empty.contents.isEmpty && empty.neededTiles(under: all, at: 2).isEmpty)
        }
    }

    /// Columns come again after as many as there are: the town lies in three of sixteen, and twice in view.
    @Test func contentsOfAWorldThatWraps() throws {
        let whole = try TilePyramid.powerOfTwo(worldWidth: 4096, worldHeight: 4096, wrapsX: true)
        let pyramid = whole.limited(to: PixelRect(minX: 512, minY: 256, maxX: 1200, maxY: 512))
        let viewport = TileViewport(center: WorldPoint(x: 4096, y: 400), width: 8000, height: 100)
        let columns = pyramid.neededTiles(under: viewport, at: 4).map(\.column)
        #expect(columns == [2, 3, 4])
        var view = ViewModel(layers: [ViewLayer(id: LayerID(0), pyramid: pyramid)], selection: TileLevelSelection())
        let small = TilePool(tiles: 16)
        _ = view.update(viewport, now: 0, pool: &small.pool)
        #expect(view.layers[0].needs.tiles.count == 3)
        #expect(view.layers[0].visible.map(\.offset) == [0, 0, 0, 4096, 4096, 4096])
        #expect(view.layers[0].visible.map(\.index) == [0, 1, 2, 0, 1, 2])
    }
}

/// The coarsest level from very far away: as many tiles as there is time for, around the middle of the screen.
@Suite struct FarViewTests {
    /// Tiles of level 0 in a square, seen whole at an eighth of their size. At most 1024 are needed.
    @Test(arguments: [(31, 0), (32, 0), (33, 33 * 33 - 31 * 31), (100, 100 * 100 - 32 * 32)])
    func mostTilesOfTheCoarsestLevel(side: Int, leftOut: Int) throws {
        let pixels = side * 256
        let level = PyramidLevel(
            width: pixels,
            height: pixels,
            tileWidth: 256,
            tileHeight: 256,
            worldPixelsPerPixel: 1
        )
        let pyramid = try TilePyramid(worldWidth: Double(pixels), worldHeight: Double(pixels), levels: [level])
        let middle = Double(pixels) / 2
        let viewport = TileViewport(
            center: WorldPoint(x: middle, y: middle),
            // Exactly the world: no part of a tile beside it.
            width: Double(pixels) / 8 - 1,
            height: Double(pixels) / 8 - 1,
            scale: 1 / 8
        )
        let tiles = pyramid.neededTiles(under: viewport, at: 0)
        #expect(tiles.count + leftOut == side * side)
        let cover = ViewportCover(pyramid: pyramid, viewport: viewport, levelIndex: 0)
        #expect(cover.leftOutCount == leftOut && cover.tileCount == tiles.count)
        // Around the middle.
        let (low, high) = (tiles.map(\.column).min() ?? 0, tiles.map(\.column).max() ?? 0)
        #expect(abs(low + high + 1 - side) <= 1 && tiles.map(\.row).min() == low && tiles.map(\.row).max() == high)
    }

    /// Any distance, place, rotation and shape of the world and the screen: a bound on what is needed, and nearness.
    @Test(arguments: 0..<4) func everyFarViewIsBounded(seed: Int) throws {
        var dice = NaiveDice(seed: UInt64(seed + 490))
        var cuts = 0
        for number in 0..<200 {
            let (columns, rows) = (1 << dice.whole(0...15), 1 << dice.whole(0...15))
            let level = PyramidLevel(
                width: columns * 256,
                height: rows * 256,
                tileWidth: 256,
                tileHeight: 256,
                worldPixelsPerPixel: 1
            )
            let wraps = dice.whole(0...3) == 0
            let pyramid = try TilePyramid(
                worldWidth: Double(columns) * 256,
                worldHeight: Double(rows) * 256,
                wrapsX: wraps,
                levels: [level]
            )
            let viewport = TileViewport(
                center: WorldPoint(
                    x: (dice.unit() * 1.4 - 0.2) * pyramid.worldWidth,
                    y: (dice.unit() * 1.4 - 0.2) * pyramid.worldHeight
                ),
                width: Double(dice.whole(100...3840)),
                height: Double(dice.whole(100...2160)),
                scale: 1 / Double(1 << dice.whole(0...9)),
                rotation: dice.whole(0...1) == 0 ? 0 : dice.unit() * 6
            )
            let place = "seed \(seed), case \(number): \(viewport), \(columns) x \(rows), wraps \(wraps)"
            let cover = ViewportCover(pyramid: pyramid, viewport: viewport, levelIndex: 0)
            var visible = 0
            cover.forEach { _, _, _ in
                visible += 1
                return true
            }
            // As many as the screen takes at half of their size, turned or not.
            let (across, down) = (cover.box.width * viewport.scale / 128, cover.box.height * viewport.scale / 128)
            #expect(Double(visible) <= max(1024, (across + 1) * (down + 1)), "\(place)")
            if cover.leftOutCount > 0 {
                cuts += 1
                #expect(visible >= 100 || viewport.rotation != 0, "\(place): \(visible)")
            } else {
                #expect(cover.inner == cover.box || cover.box.intersection(pyramid.contents).isEmpty, "\(place)")
            }
        }
        #expect(cuts > 20)
    }

    /// Zooms 14 to 16 of a server, from 1/256: 57,600 tiles of zoom 14 are on screen. The frame says what is left out.
    @Test func aFrameSaysWhatIsLeftOut() throws {
        let levels = (14...16).map { zoom in
            PyramidLevel(
                width: 64 << zoom,
                height: 64 << zoom,
                tileWidth: 64,
                tileHeight: 64,
                worldPixelsPerPixel: Double(1 << (16 - zoom))
            )
        }
        let pyramid = try TilePyramid(worldWidth: 4_194_304, worldHeight: 4_194_304, levels: levels)
        let steps = StepScheduler.calm()
        let cache = try steps.cache(byteLimit: .mebibytes(64), workers: 4)
        let source = PlainSource(absent: { _ in true })
        let layer = try cache.addLayer(source, pyramid: pyramid)
        let view = cache.makeView(layers: [layer])
        let viewport = TileViewport(
            center: WorldPoint(x: 2_097_152, y: 2_097_152),
            width: 320,
            height: 180,
            scale: 1 / 256
        )
        for _ in 0..<3 {
            view.update(viewport)
            _ = steps.runAll(atMost: 200_000)
        }
        let frame = view.frame()
        #expect(frame.leftOutTileCount > 56_000 && frame.leftOutTileCount + view.neededTileCount == 320 * 180)
        #expect(view.neededTileCount <= 1024 && frame.missingTileCount == 0)
        #expect(frame.description.contains("\(frame.leftOutTileCount) left out"))
        // Each once, and nothing beside them.
        #expect(source.loads.count == view.neededTileCount && source.loads.values.allSatisfy { $0 == 1 })
        // Nearer, all are needed.
        view.update(TileViewport(center: WorldPoint(x: 2_097_152, y: 2_097_152), width: 320, height: 180, scale: 1 / 8))
        #expect(view.frame().leftOutTileCount == 0)
    }

    /// The same world with a town: four by four tiles are needed, asked for, counted and budgeted.
    @Test(arguments: [1.0 / 16, 1.0 / 256]) func knownBoundsAreTheBounds(scale: Double) throws {
        let levels = (14...16).map { zoom in
            PyramidLevel(
                width: 64 << zoom,
                height: 64 << zoom,
                tileWidth: 64,
                tileHeight: 64,
                worldPixelsPerPixel: Double(1 << (16 - zoom))
            )
        }
        let side = 256.0
        let town = PixelRect(minX: 8800 * side, minY: 5373 * side, maxX: 8804 * side, maxY: 5377 * side)
        let pyramid = try TilePyramid(worldWidth: 4_194_304, worldHeight: 4_194_304, levels: levels).limited(to: town)
        let steps = StepScheduler.calm()
        let cache = try steps.cache(byteLimit: .mebibytes(4), workers: 4)
        let source = PlainSource()
        let layer = try cache.addLayer(source, pyramid: pyramid)
        let view = cache.makeView(layers: [layer])
        let center = WorldPoint(x: 8802 * side, y: 5375 * side)
        for _ in 0..<3 {
            view.update(TileViewport(center: center, width: 320, height: 180, scale: scale))
            _ = steps.runAll(atMost: 200_000)
        }
        let frame = view.frame()
        #expect(view.neededTileCount == 16 && frame.count == 16 && frame.missingTileCount == 0)
        #expect(frame.leftOutTileCount == 0 && !frame.isCoarsened && view.shortfall.bytes == 0)
        #expect(source.loads.keys.allSatisfy(pyramid.hasTile))
        #expect(source.loads.keys.count { $0.level == 0 } == 16)
        // Beside the town nothing is missing.
        view.update(TileViewport(center: WorldPoint(x: 9000 * side, y: 9000 * side), width: 320, height: 180))
        _ = steps.runAll(atMost: 200_000)
        #expect(view.neededTileCount == 0 && view.frame().missingTileCount == 0)
        #expect(source.loads.keys.allSatisfy(pyramid.hasTile))
    }

    /// Zoom 16 has a quarter of what zoom 14 has: beside it zoom 14 is drawn, and no finer tile is asked for.
    @Test func aLevelWithFewerTilesThanACoarserOne() throws {
        let pyramid = try ServiceSetup.pyramid().limited(to: [
            TileRange(level: 4, columns: 0..<8, rows: 0..<8), TileRange(level: 5, columns: 0..<4, rows: 0..<4),
            TileRange(level: 6, columns: 0..<8, rows: 0..<8),
        ])
        let steps = StepScheduler.calm()
        let cache = try steps.cache(byteLimit: .mebibytes(4), workers: 4)
        let source = PlainSource()
        let layer = try cache.addLayer(source, pyramid: pyramid)
        let view = cache.makeView(layers: [layer])
        // Across the edge of the finest level, at 512.
        for _ in 0..<3 {
            view.update(ServiceSetup.viewport(512, 300))
            _ = steps.runAll(atMost: 200_000)
        }
        #expect(source.loads.keys.allSatisfy(pyramid.hasTile), "\(source.loads.keys.filter { !pyramid.hasTile($0) })")
        let frame = view.frame()
        #expect(frame.missingTileCount == 0 && !frame.unavailable.isEmpty)
        for placement in frame {
            let isFine = placement.worldRectangle.maxX <= 512
            #expect(placement.tile.identity.tile.level == (isFine ? 6 : 4) && placement.isExact == isFine)
        }
        let area = frame.reduce(0) { $0 + $1.worldRectangle.area }
        #expect(area >= 256 * 192)
        // An invalidation does not make them wanted.
        layer.invalidate()
        view.update(ServiceSetup.viewport(513, 300))
        _ = steps.runAll(atMost: 200_000)
        #expect(source.loads.keys.allSatisfy(pyramid.hasTile) && view.frame().missingTileCount == 0)
        // Nor do pins, prefetches and requests of a host.
        let beside = TileCoordinate(level: 6, column: 20, row: 3)
        try layer.pin([beside])
        layer.prefetch([beside])
        guard case .absent? = layer.fetch(beside, { _ in }).outcome else {
            Issue.record("a tile that there is not was requested")
            return
        }
        _ = steps.runAll(atMost: 200_000)
        #expect(source.loads[beside] == nil)
    }
}
