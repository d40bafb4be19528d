import CacheBenchKit
import PanTraces
import Testing
import TileCache

@Suite struct GeneratedReplayTests {
    @Test(arguments: GesturePreset.allCases)
    func generatedTracesCanBeReplayed(preset: GesturePreset) throws {
        var generated = TraceGenerator.Options(preset: preset)
        generated.duration = 30_000_000_000
        let generator = try TraceGenerator(generated)
        var options = ReplayOptions()
        options.memoryLimit = .screens(4)
        let input = ReplayInput(
            name: preset.rawValue,
            source: "generated",
            scene: try PanTraceScene(generator.header, name: preset.rawValue),
            samples: generator
        )
        let report = try #require(try Replay(options).run(input).traces.first)
        #expect(report.trace.seconds > 20)
        // The photo may fit in the view as a few coarse tiles; all other sessions pan over many.
        #expect(report.demands.total > (preset == .photo ? -1 : 10))
        #expect(report.memory.peakBytes <= report.memory.byteLimit)
    }
}
