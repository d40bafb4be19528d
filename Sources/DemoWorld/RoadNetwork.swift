import TileCache

/// Roads from settlement to settlement: motorways between cities, main roads between towns, lanes between villages.
struct RoadNetwork {
    let settlements: Settlements

    private struct Look {
        let fill: Color
        let casing: Color
        /// Half the width in world pixels.
        let halfWidth: Double
        /// Half the minimum and maximum width on screen, in pixels.
        let onScreen: ClosedRange<Double>
        let pieces: Int
    }

    private static let looks = [
        Look(
            fill: Color(0xEE9AA6),
            casing: Color(0xC8506E),
            halfWidth: 6,
            onScreen: 0.75...5.5,
            pieces: 48
        ),
        Look(
            fill: Color(0xFBD9A3),
            casing: Color(0xC79543),
            halfWidth: 4.5,
            onScreen: 0.6...4.5,
            pieces: 28
        ),
        Look(
            fill: Color(0xFBFBD0),
            casing: Color(0xB5B58A),
            halfWidth: 3.5,
            onScreen: 0.45...3.5,
            pieces: 16
        ),
    ]

    /// Draws the roads that are visible at the frame's level, the important ones on top.
    func paint(on canvas: Canvas) {
        let frame = canvas.frame
        for rank in (0..<Self.looks.count).reversed() {
            let cell = settlements.cell(rank: rank)
            guard cell / frame.worldPerPixel >= [20, 30, 40][rank] else { continue }
            let look = Self.looks[rank]
            let halfWidth = min(
                max(look.halfWidth / frame.worldPerPixel, look.onScreen.lowerBound),
                look.onScreen.upperBound
            )
            var stroke = StrokeBuffer(frame: frame, reach: halfWidth + 2)
            // A road leaves its cell by at most one and a half: both ends must be in the window.
            let window = settlements.window(rank: rank, frame: frame, margin: 1.5 * cell)
            for row in window.rows {
                for column in window.columns {
                    guard let start = window[column, row] else { continue }
                    add(start, window[column + 1, row], look, &stroke, frame)
                    add(start, window[column, row + 1], look, &stroke, frame)
                    if start.bits & 3 == 0 { add(start, window[column + 1, row + 1], look, &stroke, frame) }
                }
            }
            if halfWidth > 1.1 { stroke.paint(look.casing, halfWidth: Float(halfWidth + 0.8), on: canvas) }
            let thin = halfWidth > 1.1 ? look.fill : look.casing
            stroke.paint(thin, halfWidth: Float(halfWidth), on: canvas)
        }
    }

    private func add(
        _ start: Settlement,
        _ end: Settlement?,
        _ look: Look,
        _ stroke: inout StrokeBuffer,
        _ frame: TileFrame
    ) {
        guard let end else { return }
        let (dx, dy) = (end.x - start.x, end.y - start.y)
        // Two control points off the straight line, each on its own side.
        var random = SplitMix64(seed: start.bits ^ end.bits)
        let (bend, otherBend) = (random.next(from: -0.25, to: 0.25), random.next(from: -0.25, to: 0.25))
        let first = (x: start.x + dx * 0.33 - dy * bend, y: start.y + dy * 0.33 + dx * bend)
        let second = (x: start.x + dx * 0.67 - dy * otherBend, y: start.y + dy * 0.67 + dx * otherBend)
        guard isNear(frame, start, end, first, second), isOnLand(first, second) else { return }

        let scale = 1 / frame.worldPerPixel
        var last = (x: start.x * scale, y: start.y * scale)
        for piece in 1...look.pieces {
            let t = Double(piece) / Double(look.pieces)
            let u = 1 - t
            let (a, b, c, d) = (u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t)
            let next = (
                x: (a * start.x + b * first.x + c * second.x + d * end.x) * scale,
                y: (a * start.y + b * first.y + c * second.y + d * end.y) * scale
            )
            stroke.add(from: last, to: next)
            last = next
        }
    }

    /// Whether the curve can touch the frame: it stays within its four points.
    private func isNear(
        _ frame: TileFrame,
        _ start: Settlement,
        _ end: Settlement,
        _ first: (x: Double, y: Double),
        _ second: (x: Double, y: Double)
    ) -> Bool {
        let margin = 10 * frame.worldPerPixel
        let left = Double(frame.left) * frame.worldPerPixel - margin
        let top = Double(frame.top) * frame.worldPerPixel - margin
        let size = Double(frame.size) * frame.worldPerPixel + 2 * margin
        return max(start.x, end.x, first.x, second.x) > left && min(start.x, end.x, first.x, second.x) < left + size
            && max(start.y, end.y, first.y, second.y) > top && min(start.y, end.y, first.y, second.y) < top + size
    }

    /// Roads cross bays but not oceans.
    private func isOnLand(_ first: (x: Double, y: Double), _ second: (x: Double, y: Double)) -> Bool {
        let width = settlements.worldWidth
        func home(_ x: Double) -> Double { x - (x / width).rounded(.down) * width }
        return settlements.terrain.elevation(x: home(first.x), y: first.y) > -0.01
            && settlements.terrain.elevation(x: home(second.x), y: second.y) > -0.01
    }
}
