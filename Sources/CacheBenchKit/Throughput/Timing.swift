import Foundation
import TileCache

func seconds<Failure: Error>(_ body: () throws(Failure) -> Void) throws(Failure) -> Double {
    let start = MonotonicTime.now.nanoseconds
    try body()
    return Double(MonotonicTime.now.nanoseconds - start) / 1e9
}

extension [(work: Double, spin: Double)] {
    /// Rounds with two cores available; all rounds if there are none.
    var withBothCores: Self {
        let whole = filter { $0.spin > 1.85 }
        return whole.isEmpty ? self : whole
    }
}

extension [Double] {
    /// The median, the mean of two middle values; 0 if there are none.
    var median: Double {
        guard !isEmpty else { return 0 }
        let sorted = sorted()
        return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2
    }
}

extension TileView {
    /// Updates and draws until no tile is missing, or the time is over.
    func fill(_ viewport: TileViewport, within seconds: Int64) {
        let end = MonotonicTime.now.nanoseconds + seconds * 1_000_000_000
        repeat {
            update(viewport)
            usleep(1000)
        } while frame().missingTileCount > 0 && MonotonicTime.now.nanoseconds < end
    }
}

/// A tile of which a load writes the first byte, by its column.
struct FirstByteSource: BlockingTileSource {
    func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
        pixels.withUnsafeMutableBytes { $0[0] = UInt8(truncatingIfNeeded: tile.column) }
        return .pixels
    }
}

/// A view that moves 3000 pixels a second at 120 Hz. It returns after two seconds, with a slow zoom in and out.
struct PacedPath {
    private(set) var center = WorldPoint(x: 300_000, y: 400_000)
    private(set) var scale: Double

    init(scale: Double) { self.scale = scale }

    mutating func move(frame: Int) {
        let isBack = frame / 240 % 2 == 1
        center.x += (isBack ? -25 : 25) / scale
        center.y += (isBack ? -7 : 7) / scale
        scale *= frame / 480 % 2 == 0 ? 1.003 : 1 / 1.003
    }
}
