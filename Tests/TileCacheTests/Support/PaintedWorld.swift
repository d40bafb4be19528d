import Foundation
import TestSupport

@testable import TileCache

/// Any pyramid as plain numbers, and what a painter draws of it. Computes each point without the library's geometry.
struct PaintedWorld: Hashable {
    struct Level: Hashable {
        var width: Int
        var height: Int
        var tileWidth: Int
        var tileHeight: Int
        var perPixel: Double
        var originX = 0.0
        var originY = 0.0
        var border = 0

        var columns: Int { (width + tileWidth - 1) / tileWidth }
        var rows: Int { (height + tileHeight - 1) / tileHeight }
        var spanX: Double { Double(tileWidth) * perPixel }
        var spanY: Double { Double(tileHeight) * perPixel }
    }

    /// A point of a tile, in its pixels, border included.
    struct Painted: Hashable {
        var tile: NaiveTile
        var x: Double
        var y: Double
        var isExact: Bool
    }

    var width: Double
    var height: Double
    var wraps: Bool
    /// Coarsest first.
    var levels: [Level]

    /// Levels with more tiles than this over one tile are not examined.
    private static let mostTiles = 64

    func pyramid() throws -> TilePyramid {
        try TilePyramid(
            worldWidth: width,
            worldHeight: height,
            wrapsX: wraps,
            levels: levels.map {
                PyramidLevel(
                    width: $0.width,
                    height: $0.height,
                    tileWidth: $0.tileWidth,
                    tileHeight: $0.tileHeight,
                    worldPixelsPerPixel: $0.perPixel,
                    origin: WorldPoint(x: $0.originX, y: $0.originY),
                    border: $0.border
                )
            }
        )
    }

    /// The coarsest level at which no pixel is magnified.
    func idealLevel(scale: Double) -> Int {
        levels.firstIndex { scale * $0.perPixel <= 1 + 1e-6 } ?? levels.count - 1
    }

    /// All tiles of a level.
    func tiles(_ level: Int) -> [NaiveTile] {
        (0..<levels[level].rows).flatMap { row in
            (0..<levels[level].columns).map { NaiveTile(level: level, column: $0, row: row) }
        }
    }

    /// Needed tile at a point of a copy of the world. `nil` if there is none.
    func needed(_ x: Double, _ y: Double, level: Int) -> NaiveTile? {
        let x = wraps ? x - (x / width).rounded(.down) * width : x
        guard x >= 0, x < width, y >= 0, y < height else { return nil }
        return tile(x, y, level)
    }

    /// Painted tile at a point of the world if these tiles can be drawn.
    func painted(
        _ x: Double,
        _ y: Double,
        level: Int,
        drawable: Set<NaiveTile>,
        absent: Set<NaiveTile> = []
    ) -> Painted? {
        guard let tile = needed(x, y, level: level) else { return nil }
        let isAbsent = absent.contains(tile)
        let x = wraps ? x - (x / width).rounded(.down) * width : x
        func paint(_ tile: NaiveTile) -> Painted {
            let table = levels[tile.level]
            return Painted(
                tile: tile,
                x: (x - table.originX) / table.perPixel - Double(tile.column * table.tileWidth - table.border),
                y: (y - table.originY) / table.perPixel - Double(tile.row * table.tileHeight - table.border),
                isExact: tile.level == level
            )
        }
        if drawable.contains(tile) { return paint(tile) }
        // The nearest finer tile, else the nearest coarser one; the latter first over an absent tile.
        let finer = [level + 1, level + 2].filter { $0 < levels.count }
        let coarser = Array((0..<level).reversed())
        for other in isAbsent ? coarser + finer : finer + coarser where count(over: tile, other) <= Self.mostTiles {
            if let found = self.tile(x, y, other), drawable.contains(found) { return paint(found) }
        }
        return nil
    }

    private func tile(_ x: Double, _ y: Double, _ level: Int) -> NaiveTile? {
        let column = Int(((x - levels[level].originX) / levels[level].spanX).rounded(.down))
        let row = Int(((y - levels[level].originY) / levels[level].spanY).rounded(.down))
        guard column >= 0, column < levels[level].columns, row >= 0, row < levels[level].rows else { return nil }
        return NaiveTile(level: level, column: column, row: row)
    }

    /// World area of a tile.
    private func box(_ tile: NaiveTile) -> (left: Double, right: Double, top: Double, bottom: Double) {
        let table = levels[tile.level]
        let left = table.originX + Double(tile.column) * table.spanX
        let top = table.originY + Double(tile.row) * table.spanY
        return (max(left, 0), min(left + table.spanX, width), max(top, 0), min(top + table.spanY, height))
    }

    private func count(over tile: NaiveTile, _ level: Int) -> Int {
        let own = box(tile)
        let table = levels[level]
        let columns = (0..<table.columns).count {
            let left = table.originX + Double($0) * table.spanX
            return left < own.right && left + table.spanX > own.left
        }
        let rows = (0..<table.rows).count {
            let top = table.originY + Double($0) * table.spanY
            return top < own.bottom && top + table.spanY > own.top
        }
        return columns * rows
    }
}

extension NaiveDice {
    /// A random pyramid of up to five levels with steps of 1.5 to 4. Tile sizes vary by level; there are borders,
    /// origins off the world's corner and edges that no tile ends at.
    ///
    /// - Parameter halves: Whether each level is half of the next one, so that the cache can make it.
    mutating func paintedWorld(halves: Bool = false) -> PaintedWorld {
        var world = PaintedWorld(
            width: Double(whole(40...1200)),
            height: Double(whole(40...900)),
            wraps: whole(0...1) == 1,
            levels: []
        )
        let side = halves ? 8 * whole(1...5) : whole(8...40)
        let (hasSizes, hasBorders) = (!halves && whole(0...1) == 1, !halves && whole(0...1) == 1)
        let hasOrigins = !halves && whole(0...2) == 0
        var perPixel = halves ? 1 : [1, 1, 0.5, 3][whole(0...3)]
        for _ in 0..<whole(1...5) {
            var level = PaintedWorld.Level(
                width: 0,
                height: 0,
                tileWidth: hasSizes ? whole(8...40) : side,
                tileHeight: hasSizes ? whole(8...40) : side,
                perPixel: perPixel
            )
            if hasBorders { level.border = whole(0...3) }
            if hasOrigins {
                level.originX = min((unit() - 0.7) * level.spanX, world.width / 2)
                level.originY = min((unit() - 0.7) * level.spanY, world.height / 2)
            }
            level.width = max(Int(((world.width - level.originX) / perPixel).rounded(.up)), 1)
            level.height = max(Int(((world.height - level.originY) / perPixel).rounded(.up)), 1)
            world.levels.insert(level, at: 0)
            perPixel *= halves ? 2 : [2, 2, 2, 4, 3, 1.5][whole(0...5)]
        }
        return world
    }

    /// A view of about a level's scale. It lies from beside the world to some copies away.
    mutating func view(of world: PaintedWorld) -> NaiveView {
        let level = world.levels[whole(0...world.levels.count - 1)]
        let reach = world.wraps ? 3.0 : 1.2
        return NaiveView(
            x: (unit() - 0.5) * reach * world.width + world.width / 2,
            y: (unit() - 0.5) * 1.2 * world.height + world.height / 2,
            width: Double(whole(10...120)),
            height: Double(whole(10...120)),
            scale: (0.4 + unit() * 0.9) / level.perPixel,
            rotation: whole(0...1) == 0 ? 0 : (unit() - 0.5) * 7
        )
    }
}
