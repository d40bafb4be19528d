import Foundation
import Synchronization
import Testing
import TileCache

/// The README's sample is the code below, letter for letter. So it compiles and runs.
@Suite struct ReadmeSampleTests {
    /// Stands for the renderer's window.
    private final class Screen: Sendable {
        private let redraws = Atomic(0)
        private let drawn = Mutex<[TileIdentity]>([])

        var redrawCount: Int { redraws.load(ordering: .sequentiallyConsistent) }

        func setNeedsRedraw() { redraws.add(1, ordering: .sequentiallyConsistent) }

        func draw(_ tile: LeasedTile, _ part: PixelRect, at place: PixelRect) {
            drawn.withLock { $0.append(tile.identity) }
        }

        func takeDrawn() -> [TileIdentity] {
            drawn.withLock { drawn in
                defer { drawn.removeAll() }
                return drawn
            }
        }
    }

    @Test(.timeLimit(.minutes(45))) func drawsWhatTheScreenNeeds() throws {
        let screen = Screen()

        struct Checkers: BlockingTileSource {
            func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
                let shade: UInt8 = (tile.column + tile.row).isMultiple(of: 2) ? 0x40 : 0xC0
                pixels.withUnsafeMutableBytes { bytes in for index in bytes.indices { bytes[index] = shade } }
                return .pixels
            }
        }
        let source = Checkers()

        // README begin
        let cache = try TileCache(byteLimit: .mebibytes(64))
        let map = try cache.addLayer(source, pyramid: .powerOfTwo(worldWidth: 131_072, worldHeight: 131_072))
        let view = cache.makeView(layers: [map])
        view.onTilesReady = { screen.setNeedsRedraw() }  // better pixels are ready

        func draw(_ viewport: TileViewport) {  // every frame
            view.update(viewport)
            for placement in view.frame() {  // exact tiles, or parts of coarser and finer ones
                screen.draw(placement.tile, placement.tileRectangle, at: placement.worldRectangle)
            }
        }
        // README end

        // The callback uses the main queue, which belongs to the test runner.
        view.callbackQueue = DispatchQueue(label: "screen")
        let viewport = TileViewport(center: WorldPoint(x: 65_536, y: 65_536), width: 512, height: 512)
        var drawn: [TileIdentity] = []
        var frames = 0
        // A first frame that lacks a tile is followed by a call. Its queue may run later than the next frames.
        while drawn.count < 4 || !drawn.allSatisfy({ $0.tile.level == 9 }) || (frames > 1 && screen.redrawCount == 0) {
            draw(viewport)
            drawn = screen.takeDrawn()
            frames += 1
            Thread.sleep(forTimeInterval: 0.005)
        }
        #expect(Set(drawn.map(\.tile.column)) == [255, 256])
        #expect(cache.shutdown())
        #expect(frames == 1 || screen.redrawCount > 0)
        #expect(cache.statistics.memory.peak.bytes <= 64 << 20)
    }

    @Test func isTheCodeAbove() throws {
        let readme = try readme()
        let test = try String(contentsOfFile: #filePath, encoding: .utf8)
        let sample = try #require(between("```swift\nimport TileCache\n\n", "```", in: readme))
        // The string is split, so that this line does not match itself.
        let code = try #require(between("// README " + "begin\n", "        // README " + "end", in: test))
        #expect(sample == unindented(code, by: 8))
    }

    private func readme() throws -> String {
        let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        return try String(contentsOf: here.appendingPathComponent("../../README.md"), encoding: .utf8)
    }

    private func between(_ start: String, _ end: String, in text: String) -> String? {
        guard let from = text.range(of: start)?.upperBound,
            let to = text.range(of: end, range: from..<text.endIndex)?.lowerBound
        else { return nil }
        return String(text[from..<to])
    }

    private func unindented(_ text: String, by count: Int) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.allSatisfy { $0 == " " } ? "" : String($0.dropFirst(count)) }
            .joined(separator: "\n")
    }
}
