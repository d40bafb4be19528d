import Foundation

/// Random numbers and traces. A separate generator, so that nothing is shared with the tested code.
package struct NaiveDice {
    private var state: UInt64

    package init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 0x1234_5678_9ABC_DEF1 }

    package mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }

    package mutating func unit() -> Double { Double(next() >> 11) / Double(UInt64(1) << 53) }

    package mutating func whole(_ range: ClosedRange<Int>) -> Int {
        range.lowerBound + Int(next() % UInt64(range.count))
    }

    /// Pans, zooms, jumps and pauses over a small world. The world may wrap, and may be no multiple of the tile size.
    package mutating func trace() -> String {
        let (width, height) = (whole(600...5000), whole(600...5000))
        var lines = [
            "# pan-trace: 1", "# viewport: \(whole(100...800))x\(whole(100...600))", "# world: \(width)x\(height)",
            "# wraps_x: \(whole(0...1) == 1)", "# tile_size: \([64, 128, 256][whole(0...2)])",
            "time_s,center_x,center_y,scale",
        ]
        var (time, scale) = (0.0, 1.0)
        var (x, y) = (Double(width) / 2, Double(height) / 2)
        for _ in 0..<whole(5...60) {
            lines.append(String(format: "%.4f,%.3f,%.3f,%.7f", time, x, y, scale))
            time += [0.0125, 0.05, 0.1, 0.4][whole(0...3)]
            switch whole(0...9) {
            case 0: (x, y) = (unit() * Double(width), unit() * Double(height))
            case 1...2: scale = min(max(scale * exp((unit() - 0.5) * 1.2), 0.05), 3)
            case 3: scale = [0.125, 0.25, 0.5, 1, 2][whole(0...4)]
            case 4: break
            default:
                x += (unit() - 0.5) * 400 / scale
                y = min(max(y + (unit() - 0.5) * 300 / scale, 0), Double(height))
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
