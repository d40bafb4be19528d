import Foundation

/// A pan trace and its tiles worked out the slow way, from the written definitions alone.
///
/// It shares nothing with the library on purpose: an error in the one cannot hide in the other.
/// It expects well-formed text with four columns; what is wrong with bad text is for the reader's tests.
struct NaiveTrace {
    struct Sample {
        var time: Int64
        var x: Double
        var y: Double
        var scale: Double
    }

    struct Tile: Hashable {
        var level: Int
        var column: Int
        var row: Int
    }

    var viewport = (width: 0.0, height: 0.0)
    var world = (width: 0.0, height: 0.0)
    var wraps = false
    var tileSize = 256.0
    var samples: [Sample] = []

    init(_ text: String) {
        for line in text.split(whereSeparator: \.isNewline).map(String.init) {
            if line.hasPrefix("#") {
                let parts = line.dropFirst().split(separator: ":").map { $0.trimmingCharacters(in: .whitespaces) }
                let sides = parts[1].split(separator: "x").compactMap { Double($0) }
                switch parts[0] {
                case "viewport": viewport = (sides[0], sides[1])
                case "world": world = (sides[0], sides[1])
                case "wraps_x": wraps = parts[1] == "true"
                case "tile_size": tileSize = sides[0]
                default: break
                }
            } else if !line.hasPrefix("time_s") {
                let numbers = line.split(separator: ",").map { Double($0)! }
                let time = Int64((numbers[0] * 1e9).rounded())
                samples.append(Sample(time: time, x: numbers[1], y: numbers[2], scale: numbers[3]))
            }
        }
    }

    /// Where the view is at a time, `earlier` being the last sample that is not after it.
    func sample(at time: Int64, earlier: Int) -> Sample {
        let a = samples[earlier]
        guard earlier + 1 < samples.count else { return a }
        let b = samples[earlier + 1]
        let larger = max(a.scale, b.scale)
        // A jump is a jump: nothing was drawn on the way.
        if abs(log(b.scale / a.scale)) > log(2) / 2 { return a }
        if abs(b.x - a.x) * larger > viewport.width / 2 { return a }
        if abs(b.y - a.y) * larger > viewport.height / 2 { return a }
        let part = Double(time - a.time) / Double(b.time - a.time)
        return Sample(
            time: time,
            x: a.x + (b.x - a.x) * part,
            y: a.y + (b.y - a.y) * part,
            scale: exp(log(a.scale) + (log(b.scale) - log(a.scale)) * part)
        )
    }

    var maximumLevel: Int {
        var level = 0
        while tileSize * pow(2, Double(level)) < max(world.width, world.height) { level += 1 }
        return level
    }

    /// World pixels a side of a tile.
    func side(_ level: Int) -> Double { tileSize * pow(2, Double(maximumLevel - level)) }

    /// The coarsest level of which no pixel is drawn larger than a pixel of the screen.
    func idealLevel(_ scale: Double) -> Int {
        for level in 0..<maximumLevel where scale * pow(2, Double(maximumLevel - level)) <= 1 + 1e-6 {
            return level
        }
        return maximumLevel
    }

    /// The needed tiles, row by row from the top left; with a margin, those of the viewport grown by so many tiles.
    func tiles(_ view: Sample, margin: Double = 0) -> [Tile] {
        let level = idealLevel(view.scale)
        let side = side(level)
        let halfWidth = viewport.width / view.scale / 2 + margin * side
        let halfHeight = viewport.height / view.scale / 2 + margin * side
        let (left, right) = (view.x - halfWidth, view.x + halfWidth)
        let (top, bottom) = (view.y - halfHeight, view.y + halfHeight)
        let columns = Int((world.width / side).rounded(.up))
        let rows = Int((world.height / side).rounded(.up))
        let copies = wraps ? Int((left / world.width).rounded(.down))...Int((right / world.width).rounded(.down)) : 0...0

        var found: [Tile] = []
        for row in 0..<rows where Double(row) * side < bottom && min(Double(row + 1) * side, world.height) > top {
            for copy in copies {
                let shift = Double(copy) * world.width
                for column in 0..<columns {
                    let start = shift + Double(column) * side
                    let end = shift + min(Double(column + 1) * side, world.width)
                    let tile = Tile(level: level, column: column, row: row)
                    if start < right, end > left, !found.contains(tile) { found.append(tile) }
                }
            }
        }
        return found
    }
}
