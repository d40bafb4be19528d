import Foundation
import TestSupport

/// A pan trace and its view at any time, from the written definitions alone.
///
/// Shares no code with the library, so that an error in one cannot hide in the other. Expects well-formed text with
/// four columns; the reader's tests cover malformed text.
struct NaiveTrace {
    struct Sample: Equatable {
        var time: Int64
        var x: Double
        var y: Double
        var scale: Double
    }

    var viewport = (width: 0.0, height: 0.0)
    var world = NaiveWorld(width: 0, height: 0, wraps: false, tileSize: 256)
    var samples: [Sample] = []

    init(_ text: String) {
        for line in text.split(whereSeparator: \.isNewline).map(String.init) {
            if line.hasPrefix("#") {
                let parts = line.dropFirst().split(separator: ":").map { $0.trimmingCharacters(in: .whitespaces) }
                let sides = parts[1].split(separator: "x").compactMap { Double($0) }
                switch parts[0] {
                case "viewport": viewport = (sides[0], sides[1])
                case "world": (world.width, world.height) = (sides[0], sides[1])
                case "wraps_x": world.wraps = parts[1] == "true"
                case "tile_size": world.tileSize = sides[0]
                default: break
                }
            } else if !line.hasPrefix("time_s") {
                let numbers = line.split(separator: ",").map { Double($0)! }
                let time = Int64((numbers[0] * 1e9).rounded())
                samples.append(Sample(time: time, x: numbers[1], y: numbers[2], scale: numbers[3]))
            }
        }
    }

    /// The view at a time; `earlier` is the last sample that is not after it.
    func sample(at time: Int64, earlier: Int) -> Sample {
        let a = samples[earlier]
        guard earlier + 1 < samples.count else { return a }
        let b = samples[earlier + 1]
        let larger = max(a.scale, b.scale)
        // A jump is not interpolated.
        if abs(log(b.scale / a.scale)) > log(2) / 2 { return a }
        if abs(b.x - a.x) * larger > viewport.width / 2 { return a }
        if abs(b.y - a.y) * larger > viewport.height / 2 { return a }
        let part = Double(time - a.time) / Double(b.time - a.time)
        // An equal scale is kept to the bit, which a logarithm and its inverse need not do.
        let scale = a.scale == b.scale ? a.scale : exp(log(a.scale) + (log(b.scale) - log(a.scale)) * part)
        return Sample(
            time: a.time,
            x: a.x + (b.x - a.x) * part,
            y: a.y + (b.y - a.y) * part,
            scale: scale
        )
    }

    /// The needed tiles, row by row from the top left. A margin in tiles enlarges the viewport.
    func tiles(_ view: Sample, margin: Double = 0) -> [NaiveTile] {
        let shape = NaiveView(
            x: view.x,
            y: view.y,
            width: viewport.width,
            height: viewport.height,
            scale: view.scale
        )
        let tile = world.span(world.idealLevel(scale: view.scale))
        return naiveNeeded(margin == 0 ? shape : shape.grown(by: margin * tile), in: world)
    }
}
