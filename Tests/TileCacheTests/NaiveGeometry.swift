import Foundation

/// Which tiles a viewport needs, found by looking at every column and every row of the level: slow, plain, and without a
/// line of the library's own geometry.
struct NaiveTile: Hashable {
    var level: Int
    var column: Int
    var row: Int
}

/// A world and its tiles, as the reference replay has them: anchored at (0, 0), halved from level to level.
struct NaiveWorld {
    var width: Double
    var height: Double
    var wraps: Bool
    var tileSize: Double

    /// The smallest level count for which one tile of level 0 covers the world.
    var maximumLevel: Int {
        var level = 0
        while tileSize * pow(2, Double(level)) < max(width, height) { level += 1 }
        return level
    }

    /// World pixels along a side of a tile.
    func span(_ level: Int) -> Double { tileSize * pow(2, Double(maximumLevel - level)) }

    /// The coarsest level at which no pixel is magnified; a millionth more is none.
    func idealLevel(scale: Double) -> Int {
        for level in 0..<maximumLevel where scale * pow(2, Double(maximumLevel - level)) <= 1 + 1e-6 { return level }
        return maximumLevel
    }
}

/// The tiles that a viewport needs, in the order in which they are first met row by row from the top left of the screen.
///
/// - Parameters:
///   - rotation: in radians, clockwise with y downwards.
///   - chosenLevel: the ideal one unless given.
///   - doubtful: the overlap, as a share of a tile, below which a tile is told apart: what rounding alone may decide.
/// - Returns: the needed tiles, and those of them or beside them that rounding decides.
func naiveNeededTiles(
    centerX: Double,
    centerY: Double,
    width: Double,
    height: Double,
    scale: Double,
    rotation: Double = 0,
    world: NaiveWorld,
    level chosenLevel: Int? = nil,
    doubtful: Double = 1e-9
) -> (needed: [NaiveTile], doubtful: Set<NaiveTile>) {
    let level = chosenLevel ?? world.idealLevel(scale: scale)
    let span = world.span(level)
    let halfWidth = width / scale / 2
    let halfHeight = height / scale / 2
    let corners = [
        (-halfWidth, -halfHeight), (halfWidth, -halfHeight), (halfWidth, halfHeight), (-halfWidth, halfHeight),
    ]
    .map { x, y in
        (
            x: centerX + x * cos(rotation) - y * sin(rotation), y: centerY + x * sin(rotation) + y * cos(rotation)
        )
    }
    let (left, right) = (corners.map(\.x).min()!, corners.map(\.x).max()!)
    let (top, bottom) = (corners.map(\.y).min()!, corners.map(\.y).max()!)

    // Every tile's column in every copy of the world that can be on screen, and every row.
    var columns: [(column: Int, from: Double, to: Double)] = []
    let copies =
        world.wraps ? Int((left / world.width).rounded(.down))...Int((right / world.width).rounded(.down)) : 0...0
    for copy in copies {
        let start = Double(copy) * world.width
        for column in 0..<Int((world.width / span).rounded(.up)) {
            let from = start + Double(column) * span
            columns.append((column, from, min(from + span, start + world.width)))
        }
    }
    let slack = span * 1e-6
    columns.removeAll { $0.to < left - slack || $0.from > right + slack }
    var needed: [NaiveTile] = []
    var seen: Set<NaiveTile> = []
    var unsure: Set<NaiveTile> = []
    for row in 0..<Int((world.height / span).rounded(.up)) {
        let from = Double(row) * span
        let to = min(from + span, world.height)
        if to < top - slack || from > bottom + slack { continue }
        for column in columns {
            let tile = NaiveTile(level: level, column: column.column, row: row)
            let overlap: Double
            if rotation == 0 {
                overlap =
                    max(0, min(column.to, right) - max(column.from, left)) * max(0, min(to, bottom) - max(from, top))
            } else {
                overlap = clippedArea(corners, column.from, from, column.to, to)
            }
            if overlap > 0, seen.insert(tile).inserted { needed.append(tile) }
            if overlap < doubtful * span * span { unsure.insert(tile) }
        }
    }
    // What another copy of the world shows beyond doubt is not doubtful: only tiles that nothing shows clearly are.
    return (needed, unsure.filter { tile in !isClear(tile, corners, columns, world, span, doubtful) })
}

private func isClear(
    _ tile: NaiveTile,
    _ corners: [(x: Double, y: Double)],
    _ columns: [(column: Int, from: Double, to: Double)],
    _ world: NaiveWorld,
    _ span: Double,
    _ doubtful: Double
) -> Bool {
    let from = Double(tile.row) * span
    let to = min(from + span, world.height)
    return columns.contains {
        $0.column == tile.column && clippedArea(corners, $0.from, from, $0.to, to) >= doubtful * span * span
    }
}

/// The area of a convex shape within an upright rectangle: cut at each of the four edges in turn, then by the shoelace.
private func clippedArea(
    _ shape: [(x: Double, y: Double)],
    _ left: Double,
    _ top: Double,
    _ right: Double,
    _ bottom: Double
) -> Double {
    func cut(_ shape: [(x: Double, y: Double)], _ inside: ((x: Double, y: Double)) -> Double) -> [(
        x: Double, y: Double
    )] {
        var result: [(x: Double, y: Double)] = []
        for (index, point) in shape.enumerated() {
            let next = shape[(index + 1) % shape.count]
            let (here, there) = (inside(point), inside(next))
            if here >= 0 { result.append(point) }
            if (here < 0) != (there < 0) {
                let part = here / (here - there)
                result.append((point.x + (next.x - point.x) * part, point.y + (next.y - point.y) * part))
            }
        }
        return result
    }
    var shape = cut(shape) { $0.x - left }
    shape = cut(shape) { right - $0.x }
    shape = cut(shape) { $0.y - top }
    shape = cut(shape) { bottom - $0.y }
    var twice = 0.0
    for (index, point) in shape.enumerated() {
        let next = shape[(index + 1) % shape.count]
        // About the rectangle's corner, or far from the origin the area drowns in rounding.
        twice += (point.x - left) * (next.y - top) - (next.x - left) * (point.y - top)
    }
    return abs(twice) / 2
}
