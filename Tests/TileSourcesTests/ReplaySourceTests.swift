import CacheBenchKit
import Testing

@testable import TileCache
@testable import TileSources

/// Replays whose tiles come from a source.
@Suite(.timeLimit(.minutes(45))) struct ReplaySourceTests {
    private let folder = ScratchFolder()

    private func options() -> ReplayOptions {
        var options = ReplayOptions()
        options.clock = .real
        options.loadLatency = nil
        options.memoryLimit = .bytes(8 << 20)
        options.speed = 20
        options.duration = 4_000_000_000
        return options
    }

    private func trace(world: String) -> String {
        let lines = (0...40).map { "\(Double($0) / 10),\(100 + $0 * 4),\(120 + $0 * 2),1" }
        let text = """
            # pan-trace: 1
            # viewport: 200x160
            # world: \(world)
            # wraps_x: false
            # tile_size: 64
            time_s,center_x,center_y,scale

            """
        return folder.write(Array((text + lines.joined(separator: "\n") + "\n").utf8), to: "trace.csv")
    }

    private func replaySource(_ source: any PyramidTileSource) -> ReplaySource {
        ReplaySource(
            address: "xyz:\(folder.path)",
            pyramid: source.pyramid,
            contents: source.contents,
            addLayer: { try source.addLayer(to: $0, pyramid: $1, stores: $2) },
            counts: {
                var counts = ReplaySourceCounts()
                counts.loads = source.statistics.loads
                counts.absent = source.statistics.absent
                for (cause, count) in source.statistics.failures { counts.failures[cause.rawValue] = count }
                counts.lastFailure = source.statistics.lastFailure
                return counts
            }
        )
    }

    /// A folder with zooms 0 to 4 of 32-pixel tiles, a world of 512. One tile is missing, one is damaged.
    private func makeFolder() throws -> any PyramidTileSource {
        for zoom in 0...4 {
            for column in 0..<1 << zoom {
                for row in 0..<1 << zoom where (zoom, column, row) != (4, 4, 4) {
                    var bytes = TestImage(width: 32, height: 32, seed: zoom + column * row).png
                    if (zoom, column, row) == (4, 5, 4) { bytes.removeLast(30) }
                    folder.write(bytes, to: "\(zoom)/\(column)/\(row).png")
                }
            }
        }
        return try FolderTileSource(path: folder.path)
    }

    @Test func tilesAreTheSourcesAndTheReportSaysSo() throws {
        let source = try makeFolder()
        let path = trace(world: "512x512")
        let options = options()
        let result = try Replay(options, source: replaySource(source)).run(
            ReplayInput(path: path, options: options),
            hooks: ReplayHooks(noteFrame: { cache, _ in
                // All tiles of the first frames, the missing and the damaged one among them.
                #expect(
                    settled {
                        let loads = cache.statistics.loads
                        return loads.finished > 30 && loads.absent == 1 && loads.failed == 1
                    }
                )
            })
        )
        let report = result.traces[0]
        let counts = try #require(report.tileSource)
        #expect(counts.address == "xyz:\(folder.path)" && counts.loads == source.statistics.loads)
        #expect(counts.absent == 1 && counts.failures == ["truncated": 1])
        #expect(report.loads.absent == 1 && report.loads.failed == 1 && report.loads.finished > 30)
        #expect(report.configuration["source"] == .text("xyz:\(folder.path)"))
        #expect(report.configuration["world"] == .text("512x512") && report.configuration["tileSize"] == .integer(32))
        let text = ReplayText.text(result)
        #expect(text.contains("tiles from xyz:") && text.contains("--source xyz:") && text.contains("truncated"))
        #expect(try JSONText.of(result).contains("\"tileSource\""))
    }

    @Test func anotherWorldIsAnErrorUnlessStretched() throws {
        let source = try makeFolder()
        let path = trace(world: "1024x2048")
        var options = options()
        func run() throws -> ReplayResult {
            try Replay(options, source: replaySource(source)).run(ReplayInput(path: path, options: options))
        }
        #expect(message { _ = try run() }.contains("of a world of 1024x2048, and that of xyz:"))
        options.fitsWorld = true
        #expect(try run().traces[0].loads.finished > 0)
        // The built-in session has its own world, and is always stretched.
        options.fitsWorld = false
        let builtIn = try Replay(options, source: replaySource(source)).run(ReplayInput(builtIn: options))
        #expect(builtIn.traces[0].loads.finished > 0)
        // The printed flags repeat the same session: they name the world that was stretched.
        #expect(builtIn.traces[0].configuration["world"] == .text("512x512"))
        #expect(ReplayText.text(builtIn).contains("--world 131072x131072"))
    }

    @Test func theVirtualClockLoadsNothing() throws {
        let source = replaySource(try makeFolder())
        var options = options()
        options.clock = .virtual
        #expect(message { _ = try Replay(options, source: source) }.contains("--clock real"))
        options.clock = .real
        options.loadLatency = 1_000_000
        #expect(message { _ = try Replay(options, source: source) }.contains("--load-latency"))
    }
}
