import Foundation

/// Needed tiles of a viewport, found by examining every tile of the level. Shares no code with the library's geometry.
package struct NaiveTile: Hashable {
    package var level: Int
    package var column: Int
    package var row: Int

    package init(level: Int, column: Int, row: Int) { (self.level, self.column, self.row) = (level, column, row) }
}

/// A world and its tiles, as in the reference replay. Anchored at (0, 0), halved from level to level.
package struct NaiveWorld {
    package var width: Double
    package var height: Double
    package var wraps: Bool
    package var tileSize: Double

    package init(width: Double, height: Double, wraps: Bool, tileSize: Double) {
        (self.width, self.height, self.wraps, self.tileSize) = (width, height, wraps, tileSize)
    }

    /// The smallest number for which one tile of level 0 covers the world.
    package var maximumLevel: Int {
        var level = 0
        while tileSize * pow(2, Double(level)) < max(width, height) { level += 1 }
        return level
    }

    /// World pixels along a side of a tile.
    package func span(_ level: Int) -> Double { tileSize * pow(2, Double(maximumLevel - level)) }

    /// The coarsest level at which no pixel is magnified; a millionth more is tolerated.
    package func idealLevel(scale: Double) -> Int {
        let maximumLevel = maximumLevel
        for level in 0..<maximumLevel where scale * pow(2, Double(maximumLevel - level)) <= 1 + 1e-6 { return level }
        return maximumLevel
    }
}

/// A viewport as a shape in the world.
package struct NaiveView: Equatable {
    package var x: Double
    package var y: Double
    package var width: Double
    package var height: Double
    package var scale: Double
    /// In radians, clockwise with y downwards.
    package var rotation = 0.0

    package init(x: Double, y: Double, width: Double, height: Double, scale: Double, rotation: Double = 0) {
        (self.x, self.y, self.width, self.height) = (x, y, width, height)
        (self.scale, self.rotation) = (scale, rotation)
    }

    /// The same with each edge moved outwards by some world pixels.
    package func grown(by margin: Double) -> NaiveView {
        var view = self
        view.width = max(view.width + 2 * margin * scale, 0)
        view.height = max(view.height + 2 * margin * scale, 0)
        return view
    }

    fileprivate var corners: [NaivePoint] {
        let (halfWidth, halfHeight) = (width / scale / 2, height / scale / 2)
        let offsets = [
            (-halfWidth, -halfHeight), (halfWidth, -halfHeight), (halfWidth, halfHeight), (-halfWidth, halfHeight),
        ]
        if rotation == 0 { return offsets.map { NaivePoint(x: x + $0, y: y + $1) } }
        return offsets.map {
            NaivePoint(
                x: x + $0 * cos(rotation) - $1 * sin(rotation),
                y: y + $0 * sin(rotation) + $1 * cos(rotation)
            )
        }
    }
}

private struct NaivePoint {
    var x: Double
    var y: Double
}

/// Needed tiles of a level, each once. In order of occurrence, row by row from the screen's top left.
///
/// - Parameter level: Default: the ideal level.
package func naiveNeeded(_ view: NaiveView, in world: NaiveWorld, level: Int? = nil) -> [NaiveTile] {
    let level = level ?? world.idealLevel(scale: view.scale)
    let span = world.span(level)
    let corners = view.corners
    let (left, right) = (corners.map(\.x).min()!, corners.map(\.x).max()!)
    let (top, bottom) = (corners.map(\.y).min()!, corners.map(\.y).max()!)
    let firstCopy = world.wraps ? (left / world.width).rounded(.down) : 0
    var lastCopy = world.wraps ? (right / world.width).rounded(.down) : 0
    // The screen's edge may cut the first copy, and the second then shows the rest: a fourth shows nothing new.
    if view.rotation == 0 { lastCopy = min(lastCopy, firstCopy + 2) }

    var needed: [NaiveTile] = []
    var seen: Set<NaiveTile> = []
    for row in 0..<Int((world.height / span).rounded(.up)) {
        let from = Double(row) * span
        let to = min(from + span, world.height)
        guard from < bottom, to > top else { continue }
        for copy in stride(from: firstCopy, through: lastCopy, by: 1) {
            let start = copy * world.width
            for column in 0..<Int((world.width / span).rounded(.up)) {
                let west = start + Double(column) * span
                let east = min(west + span, start + world.width)
                guard west < right, east > left else { continue }
                // Upright rectangles overlap if their sides do; other outlines are clipped to the tile.
                guard view.rotation == 0 || area(of: corners, left: west, top: from, right: east, bottom: to) > 0
                else { continue }
                let tile = NaiveTile(level: level, column: column, row: row)
                if seen.insert(tile).inserted { needed.append(tile) }
            }
        }
    }
    return needed
}

/// Area of a convex shape within an upright rectangle. Clipped at each of the four edges, then by the shoelace formula.
private func area(of shape: [NaivePoint], left: Double, top: Double, right: Double, bottom: Double) -> Double {
    func cut(_ shape: [NaivePoint], _ inside: (NaivePoint) -> Double) -> [NaivePoint] {
        var result: [NaivePoint] = []
        for (index, point) in shape.enumerated() {
            let next = shape[(index + 1) % shape.count]
            let (here, there) = (inside(point), inside(next))
            if here >= 0 { result.append(point) }
            if (here < 0) != (there < 0) {
                let part = here / (here - there)
                result.append(
                    NaivePoint(x: point.x + (next.x - point.x) * part, y: point.y + (next.y - point.y) * part)
                )
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
        // Relative to the rectangle's corner: far from the origin the area would be lost in rounding.
        twice += (point.x - left) * (next.y - top) - (next.x - left) * (point.y - top)
    }
    return abs(twice) / 2
}
