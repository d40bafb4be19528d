import Foundation
import TileCache

/// Measures `update` and `frame()` at 120 Hz.
///
/// The view has 1920 x 1080 pixels, pans and zooms. Four workers load; three other views move beside it.
package struct PacedFrameBenchmark: Sendable {
    /// Figures of one run, in milliseconds.
    package struct Figures: Encodable, Sendable, Hashable {
        package var frames: Int
        /// Wall time of both calls and of releasing the last frame's leases: the renderer's delay.
        package var wall: Spread
        /// CPU time of the same, which other programs hardly change.
        package var processor: Spread
    }

    package struct Spread: Encodable, Sendable, Hashable {
        package var p50: Double
        package var p99: Double
        package var p999: Double
        package var maximum: Double

        init(_ nanoseconds: [Int64]) {
            let sorted = nanoseconds.sorted()
            func place(_ part: Double) -> Double {
                sorted.isEmpty ? 0 : Double(sorted[Int(Double(sorted.count - 1) * part)]) / 1e6
            }
            (p50, p99, p999, maximum) = (place(0.5), place(0.99), place(0.999), place(1))
        }
    }

    /// A tile of 256 KiB, whose load writes to every page.
    private struct Source: BlockingTileSource {
        func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
            pixels.withUnsafeMutableBytes { bytes in
                for index in stride(from: 0, to: bytes.count, by: 4096) { bytes[index] = UInt8(tile.column & 255) }
            }
            usleep(2000)
            return .pixels
        }
    }

    private static let hertz = 120.0
    private static let frames = 1200

    /// Runs the benchmark; `nil` if it was stopped before the first frame.
    package func run(shouldStop: () -> Bool = { false }) throws -> Figures? {
        let cache = try TileCache(byteLimit: .mebibytes(192), workers: 4)
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 1 << 20, worldHeight: 1 << 20)
        let layer = try cache.addLayer(Source(), pyramid: pyramid)
        let view = cache.makeView(layers: [layer])
        let isOver = Lock(false)
        let others = DispatchGroup()
        let otherViews = (0..<3).map { _ in cache.makeView(layers: [layer]) }
        DispatchQueue.global().async(group: others) {
            var frame = 0
            while !isOver.withLock({ $0 }) {
                for (index, other) in otherViews.enumerated() {
                    let center = WorldPoint(x: Double(200_000 * (index + 1) + 8 * frame), y: 500_000)
                    other.update(TileViewport(center: center, width: 800, height: 600))
                    _ = other.frame()
                }
                frame += 1
                usleep(16_667)
            }
        }
        var wall: [Int64] = []
        var processor: [Int64] = []
        var path = PacedPath(scale: 0.5)
        var held: TileFrame?
        let start = MonotonicTime.now.nanoseconds
        for frame in 0..<Self.frames where !shouldStop() {
            path.move(frame: frame)
            let due = start + Int64(Double(frame) * 1e9 / Self.hertz)
            let early = due - MonotonicTime.now.nanoseconds
            if early > 0 { usleep(UInt32(early / 1000)) }
            let before = (MonotonicTime.now.nanoseconds, MonotonicTime.ofThread.nanoseconds)
            view.update(TileViewport(center: path.center, width: 1920, height: 1080, scale: path.scale))
            held = view.frame()
            wall.append(MonotonicTime.now.nanoseconds - before.0)
            processor.append(MonotonicTime.ofThread.nanoseconds - before.1)
        }
        withExtendedLifetime(held) {}
        isOver.withLock { $0 = true }
        others.wait()
        return wall.isEmpty ? nil : Figures(frames: wall.count, wall: Spread(wall), processor: Spread(processor))
    }
}
