import PanTraces
import Testing

@testable import CacheBenchKit

/// The bytes of everything, tables included, never exceed the limit.
@Suite struct ByteLimitTests {
    /// Small tiles: tables grow during the whole replay, mostly while every byte is in use.
    @Test(arguments: ["3MiB", "8MiB"], [128, 256])
    func tablesGrowInsideTheLimit(limit: String, tileSize: Int) throws {
        var options = ReplayOptions()
        options.memoryLimit = try #require(MemoryLimit(limit))
        options.overrides.tileSize = tileSize
        options.levelBias = -1
        options.duration = 4_000_000_000
        let report = try Replay(options).run(ReplayInput(lively: options)).total
        #expect(report.memory.peakBytes <= report.memory.byteLimit)
        #expect(report.memory.peakBytes > report.memory.byteLimit / 2)
        #expect(report.memory.peakCompressedBytes > 0)
    }
}
