import Foundation
import Testing

@testable import CacheBenchKit
@testable import TileCache

/// An application sees of its own view what `cachebench replay` reports of a trace.
@Suite(.timeLimit(.minutes(45))) struct ViewSharesTests {
    private struct Slow: BlockingTileSource {
        func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
            usleep(500)
            pixels.withMutableBytes { bytes in
                for index in bytes.indices { bytes[index] = 1 }
            }
            return .pixels
        }
    }

    @Test(arguments: 1...3) func aViewsSharesAreTheReplays(seed: UInt64) throws {
        let cache = try TileCache(byteLimit: .mebibytes(4))
        let layer = try cache.addLayer(
            Slow(),
            pyramid: .powerOfTwo(worldWidth: 65_536, worldHeight: 65_536, tileSize: 64)
        )
        let view = cache.makeView(layers: [layer])
        var dice = SplitMix64(seed: seed)
        var tally = ReplayTally()
        var (x, scale) = (30_000.0, 1.0)
        for _ in 0..<120 {
            switch Int(dice.next() % 4) {
            case 0: x += dice.next(from: -200, to: 200)
            case 1: scale = min(max(scale * dice.next(from: 0.6, to: 1.6), 0.1), 2)
            case 2: usleep(2000)
            default: break
            }
            view.update(TileViewport(center: WorldPoint(x: x, y: 30_000), width: 320, height: 200, scale: scale))
            let frame = view.frame()
            // As `ReplayCourse` counts.
            if tally.frames > 0 || frame.coverage.missingTiles > 0 {
                tally.add(frame.coverage, hasMoved: view.hasMoved, viewportPixels: 64_000, frameMilliseconds: 16)
            }
            tally.frames += 1
        }
        let figures = view.statistics
        #expect(figures.frames == 120 && figures.busyFrames == tally.countedFrames, "seed \(seed)")
        #expect(figures.incompleteFrames == tally.gapFrames && tally.gapFrames > 0, "seed \(seed)")
        #expect(figures.area.sharp == tally.sharpPixels && figures.area.fallback == tally.fallbackPixels)
        #expect(figures.area.blank == tally.blankPixels && figures.area.deficit == tally.deficitPixels)
        cache.shutdown()
    }
}
