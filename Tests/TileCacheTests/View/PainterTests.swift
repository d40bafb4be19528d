import Foundation
import TestSupport
import Testing

@testable import TileCache

/// Placements of random pyramids against a painter with independent arithmetic.
@Suite struct PainterTests {
    /// A pyramid, a view of it, and the drawable tiles.
    struct Scene: Shrinkable {
        var world: PaintedWorld
        var view: NaiveView
        var drawable: [NaiveTile]
        var absent: [NaiveTile] = []

        var simpler: [Scene] {
            var scenes: [Scene] = []
            func add(_ change: (inout Scene) -> Void) {
                var scene = self
                change(&scene)
                if scene != self { scenes.append(scene) }
            }
            add { $0.view.rotation = 0 }
            add { $0.world.wraps = false }
            add { $0.absent = [] }
            add { scene in for index in scene.world.levels.indices { scene.world.levels[index].border = 0 } }
            add { $0.drawable.removeFirst($0.drawable.count / 2) }
            add { $0.drawable.removeLast($0.drawable.count / 2) }
            for index in drawable.indices.prefix(12) { add { $0.drawable.remove(at: index) } }
            add { $0.view.width = ($0.view.width / 2).rounded(.up) }
            add { $0.view.height = ($0.view.height / 2).rounded(.up) }
            return scenes
        }
    }

    @Test(arguments: 0..<8) func placementsPaintWhatAPainterPaints(seed: Int) throws {
        var dice = NaiveDice(seed: UInt64(seed + 700))
        var (fallbacks, wrapped) = (0, 0)
        for number in 0..<60 {
            let scene = dice.scene()
            guard check(scene, seed: UInt64(seed * 1000 + number), problem: problem) else { return }
            let drawn = try Drawing(scene)
            fallbacks += drawn.tiles.count { !$0.isExact }
            let empty = drawn.tiles.first { $0.worldRectangle.isEmpty || $0.tileRectangle.isEmpty }
            #expect(empty == nil, "seed \(seed * 1000 + number)")
            wrapped += drawn.tiles.count { $0.worldRectangle.minX < 0 || $0.worldRectangle.maxX > scene.world.width }
        }
        // The scenes must contain every tested case.
        #expect(fallbacks > 100 && wrapped > 50)
    }

    /// Intersections of rectangles side by side have reversed edges.
    @Test(arguments: [0, 0.5]) func whatIsEmptyHasNoAreaOnScreen(rotation: Double) {
        let view = TileViewport(center: WorldPoint(x: 50, y: 50), width: 100, height: 100, rotation: rotation)
        let clip = ViewportClip(view)
        #expect(abs(clip.screenArea(of: PixelRect(minX: 40, minY: 45, maxX: 60, maxY: 55)) - 200) < 1e-9)
        #expect(clip.screenArea(of: PixelRect(minX: 60, minY: 45, maxX: 40, maxY: 55)) == 0)
        #expect(clip.screenArea(of: PixelRect(minX: 60, minY: 55, maxX: 40, maxY: 45)) == 0)
    }

    /// Edges that tiles of several levels share are rounded. Nothing is placed between them: a ninth of the placements
    /// were thinner than any pixel.
    @Test func noHairIsDrawnBetweenRoundedEdges() throws {
        let levels = (0..<5).map { level in
            PyramidLevel(
                width: 64 << level,
                height: 64 << level,
                tileWidth: 64,
                tileHeight: 64,
                worldPixelsPerPixel: 0.7 / Double(1 << level)
            )
        }
        let side = levels[0].tileSpanX
        let pyramid = try TilePyramid(worldWidth: side, worldHeight: side, levels: levels)
        let small = TilePool(tiles: 300)
        // Three of the four finer tiles in each of 64 missing ones, and all coarser ones.
        for row in 0..<16 {
            for column in 0..<16 where row % 2 == 0 || column % 2 == 0 {
                small.load(TileKey(layer: 0, TileCoordinate(level: 4, column: column, row: row)))
            }
        }
        for tile in TileRange(level: 2, columns: 0..<4, rows: 0..<4) { small.load(TileKey(layer: 0, tile)) }
        var model = ViewModel(layers: [ViewLayer(id: LayerID(0), pyramid: pyramid)], selection: TileLevelSelection())
        let viewport = TileViewport(center: WorldPoint(x: side / 2, y: side / 2), width: 480, height: 480, scale: 11)
        _ = model.update(viewport, now: 0, pool: &small.pool)
        var parts: [PixelRect] = []
        var coverage = Coverage()
        let composer = FrameComposer(emitsPlacements: true, drawsCompressed: false, now: 0)
        let layer = model.layers[0]
        composer.compose(layer, viewport: viewport, pool: small.pool, isMissing: true, coverage: &coverage) {
            parts.append($0.tileRectangle)
        }
        #expect(coverage.missingTiles == 64 && parts.count == 4 * 64)
        let thin = parts.filter { min($0.width, $0.height) < 15 }
        #expect(thin.isEmpty, "\(thin)")
    }

    /// A pinned overview takes no room that a missing tile could have, so it is drawn in its place. The area was blank.
    @Test func aPinnedOverviewIsDrawnIfTilesLackRoom() throws {
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 1024, worldHeight: 1024, tileSize: 64)
        let small = TilePool(tiles: 2)
        let overview = TileKey(layer: 0, TileCoordinate(level: 0, column: 0, row: 0))
        _ = small.pool.enter(overview, for: .pin)
        small.load(overview)
        var model = ViewModel(layers: [ViewLayer(id: LayerID(0), pyramid: pyramid)], selection: TileLevelSelection())
        let viewport = TileViewport(center: WorldPoint(x: 512, y: 512), width: 128, height: 128)
        _ = model.update(viewport, now: 0, pool: &small.pool)
        small.install(model.layers[0].needs.tiles.map { small.demand($0) })
        small.runPlan()
        let lacksRoom = small.pool.onlyLeasesMakeRoom
        var coverage = Coverage()
        let composer = FrameComposer(emitsPlacements: false, drawsCompressed: false, takesRoom: false, now: 0)
        let layer = model.layers[0]
        composer.compose(layer, viewport: viewport, pool: small.pool, isMissing: true, coverage: &coverage) { _ in }
        #expect(lacksRoom && coverage.missingTiles == 3)
        #expect(coverage.fallback == 3 * 64 * 64 && coverage.blank == 0)
    }

    /// Coverage equals the painted shares, estimated by many points.
    @Test(arguments: 0..<4) func coverageIsWhatIsPainted(seed: Int) throws {
        var dice = NaiveDice(seed: UInt64(seed + 800))
        for number in 0..<30 {
            let holds = check(dice.scene(), seed: UInt64(seed * 1000 + number)) { scene in
                let drawn = try Drawing(scene)
                let (drawable, absent) = (Set(scene.drawable), Set(scene.absent))
                var counts = (sharp: 0, fallback: 0, blank: 0)
                var levels = 0
                let points = scene.view.points(40)
                let level = scene.level
                for point in points {
                    guard let needed = scene.world.needed(point.x, point.y, level: level) else { continue }
                    let painted = scene.world.painted(
                        point.x,
                        point.y,
                        level: level,
                        drawable: drawable,
                        absent: absent
                    )
                    if absent.contains(needed) || painted?.isExact == true {
                        counts.sharp += 1
                    } else if let painted {
                        counts.fallback += 1
                        levels += max(level - painted.tile.level, 0)
                    } else {
                        counts.blank += 1
                        levels += scene.world.levels.count
                    }
                }
                let part = scene.view.width * scene.view.height / Double(points.count)
                let tolerance = 0.04 * scene.view.width * scene.view.height + 4
                for (name, count, area) in [
                    ("sharp", counts.sharp, drawn.coverage.sharp),
                    ("fallback", counts.fallback, drawn.coverage.fallback),
                    ("blank", counts.blank, drawn.coverage.blank),
                ] where abs(Double(count) * part - area) > tolerance {
                    return "\(name): \(area) pixels, of points \(Double(count) * part)"
                }
                let deficit = drawn.coverage.deficit
                if abs(Double(levels) * part - deficit) > tolerance * Double(scene.world.levels.count) {
                    return "deficit: \(deficit), of points \(Double(levels) * part)"
                }
                return nil
            }
            guard holds else { return }
        }
    }

    /// Compares the placements of a scene with the painter's, point by point.
    private func problem(with scene: Scene) throws -> String? {
        let drawn = try Drawing(scene)
        let drawable = Set(scene.drawable)
        for point in scene.view.points(14) {
            // Differences within the rounding error are allowed.
            guard let expected = scene.clearlyPainted(point, drawable) else { continue }
            let over = drawn.tiles.filter { $0.worldRectangle.holds(point.x, point.y) }
            guard over.count <= 1 else { return "\(over.count) placements at \(point)" }
            guard let found = over.first.map({ $0.painted(at: point.x, point.y) }) else {
                if let painted = expected.painted { return "nothing at \(point) instead of \(painted)" }
                continue
            }
            guard let painted = expected.painted else { return "\(found) at \(point) where nothing is painted" }
            guard found.tile == painted.tile, found.isExact == painted.isExact, abs(found.x - painted.x) < 1e-6,
                abs(found.y - painted.y) < 1e-6
            else { return "\(found) at \(point) instead of \(painted)" }
        }
        return drawn.problem(with: scene)
    }

    /// Placements by the library.
    struct Drawing {
        private(set) var tiles: [ComposedTile] = []
        private(set) var coverage = Coverage()
        private var visible: [(tile: NaiveTile, offset: Double)] = []

        init(_ scene: Scene) throws {
            let pool = TilePool(tiles: scene.drawable.count + scene.absent.count + 8)
            for tile in scene.drawable { pool.load(TileKey(layer: 0, TileCoordinate(tile))) }
            for tile in scene.absent {
                pool.install([pool.demand(TileKey(layer: 0, TileCoordinate(tile)))])
                if let ticket = pool.beginLoad() { pool.end(ticket, .absent) }
            }
            var model = ViewModel(
                layers: [ViewLayer(id: LayerID(0), pyramid: try scene.world.pyramid())],
                selection: TileLevelSelection()
            )
            _ = model.update(scene.view.viewport, now: 1, pool: &pool.pool)
            let composer = FrameComposer(emitsPlacements: true, drawsCompressed: false, now: 1)
            let isMissing = composer.touch(&model.layers[0], &pool.pool) { _ in }
            var tiles: [ComposedTile] = []
            composer.compose(
                model.layers[0],
                viewport: model.viewport,
                pool: pool.pool,
                isMissing: isMissing,
                coverage: &coverage
            ) { tiles.append($0) }
            self.tiles = tiles
            visible = model.layers[0].visible.map {
                (NaiveTile(model.layers[0].needs.tiles[Int($0.index)].coordinate), $0.offset)
            }
            if !isMissing { coverage = Coverage(sharp: scene.neededArea) }
        }

        /// Counts of missing tiles, and parts that are outside a tile's pixels.
        func problem(with scene: Scene) -> String? {
            let there = Set(scene.drawable).union(scene.absent)
            let missing = visible.count { !there.contains($0.tile) }
            if coverage.missingTiles != missing { return "\(coverage.missingTiles) tiles missing, not \(missing)" }
            for tile in tiles {
                let level = scene.world.levels[tile.key.level]
                let part = tile.tileRectangle
                let border = Double(level.border) - 1e-6
                let (right, bottom) = (Double(level.tileWidth), Double(level.tileHeight))
                guard part.minX >= border, part.minY >= border, part.maxX <= right + border + 2e-6,
                    part.maxY <= bottom + border + 2e-6
                else { return "\(part) of \(tile.key.coordinate) is not within its border" }
            }
            return nil
        }
    }
}

extension PainterTests.Scene: Equatable {
    struct Point {
        var x: Double
        var y: Double
    }

    struct Seen {
        /// `nil` if there is none.
        var painted: PaintedWorld.Painted?
    }

    var level: Int { world.idealLevel(scale: view.scale) }
    /// Of the screen, in its pixels.
    var neededArea: Double {
        let points = view.points(40)
        let inside = points.count { world.needed($0.x, $0.y, level: level) != nil }
        return view.width * view.height * Double(inside) / Double(points.count)
    }

    /// Painted tile if it is the same all around a point; `nil` if rounding decides.
    ///
    /// - Parameter set: The drawable tiles.
    func clearlyPainted(_ point: Point, _ set: Set<NaiveTile>) -> Seen? {
        let hair = 1e-7 * (1 + abs(point.x) + abs(point.y))
        func painted(_ x: Double, _ y: Double) -> PaintedWorld.Painted? {
            world.painted(x, y, level: level, drawable: set, absent: Set(absent))
        }
        let here = painted(point.x, point.y)
        for (dx, dy) in [(-hair, -hair), (hair, -hair), (-hair, hair), (hair, hair)] {
            let beside = painted(point.x + dx, point.y + dy)
            if beside?.tile != here?.tile { return nil }
        }
        return Seen(painted: here)
    }
}

extension NaiveView {
    /// Points of the screen in the world, evenly spaced: a number a side.
    func points(_ side: Int) -> [PainterTests.Scene.Point] {
        (0..<side).flatMap { row in
            (0..<side).map { column in
                let across = ((Double(column) + 0.5) / Double(side) - 0.5) * width / scale
                let down = ((Double(row) + 0.5) / Double(side) - 0.5) * height / scale
                return PainterTests.Scene.Point(
                    x: x + across * cos(rotation) - down * sin(rotation),
                    y: y + across * sin(rotation) + down * cos(rotation)
                )
            }
        }
    }
}

extension NaiveDice {
    mutating func scene() -> PainterTests.Scene {
        let world = paintedWorld()
        let view = view(of: world)
        let level = world.idealLevel(scale: view.scale)
        // Mostly tiles near the view: others are not visible.
        let near = Set(
            view.points(10).flatMap { point in
                (0..<world.levels.count).compactMap { world.needed(point.x, point.y, level: $0) }
            }
        )
        let share = [0.1, 0.5, 0.9][whole(0...2)]
        var scene = PainterTests.Scene(world: world, view: view, drawable: [])
        for tile in near.sorted(by: { ($0.level, $0.row, $0.column) < ($1.level, $1.row, $1.column) }) {
            let chance = tile.level < level ? 0.15 : share
            if unit() < chance { scene.drawable.append(tile) } else if whole(0...19) == 0 { scene.absent.append(tile) }
        }
        return scene
    }
}

extension TileCoordinate {
    init(_ tile: NaiveTile) { self.init(level: tile.level, column: tile.column, row: tile.row) }
}

extension PixelRect {
    func holds(_ x: Double, _ y: Double) -> Bool { x >= minX && x < maxX && y >= minY && y < maxY }
}

extension ComposedTile {
    /// Tile pixel at a point of the world.
    func painted(at x: Double, _ y: Double) -> PaintedWorld.Painted {
        PaintedWorld.Painted(
            tile: NaiveTile(key.coordinate),
            x: tileRectangle.minX + (x - worldRectangle.minX) / worldRectangle.width * tileRectangle.width,
            y: tileRectangle.minY + (y - worldRectangle.minY) / worldRectangle.height * tileRectangle.height,
            isExact: isExact
        )
    }
}
