import Foundation
import PanTraces
import Testing
import TileCache

@testable import CacheBenchKit

/// Bounds that a trace, a flag and the library must agree on.
@Suite struct ReplayLimitTests {
    @Test(arguments: [(1 << 40, true), ((1 << 40) + 1, false), (1 << 52, false), (1, true), (0, false)])
    func aWorldIsOneForTheTraceWhereItIsOneForThePyramid(side: Int, isWorld: Bool) {
        #expect((PanTraceHeader.Size(world: "\(side)x1") != nil) == isWorld)
        #expect((PanTraceHeader.Size(world: "1x\(side)") != nil) == isWorld)
        #expect(((try? TilePyramid.powerOfTwo(worldWidth: side, worldHeight: 1)) != nil) == isWorld)
    }

    @Test(arguments: [0, 1, UInt64(Int.max), UInt64(Int.max) + 1, .max])
    func seedsAreShownAsTheyWereGiven(seed: UInt64) throws {
        let value: ConfigurationValue = Int(exactly: seed).map { .integer($0) } ?? .unsigned(seed)
        let text = String(decoding: try JSONEncoder().encode([value]), as: UTF8.self)
        #expect(text == "[\(seed)]")
    }

    @Test func aSlowClockSleepsWithinTheRangeOfIntegers() {
        let clock = ReplayClockTime(speed: 0.1)
        #expect(clock.realNanoseconds(of: 1_000_000_000) == 10_000_000_000)
        #expect(clock.realNanoseconds(of: .max) == 1_000_000_000_000_000_000)
    }

    /// Flags take no exponent.
    @Test func shortTimesArePrintedAsFlagsTakeThem() {
        var options = ReplayOptions()
        options.loadLatency = 50
        options.tiers = [VirtualTiers.Tier(name: "disk", latency: 7)]
        options.duration = 20
        let words = ReplayFlags.words(options.resolvedConfiguration(scene: nil, byteLimit: nil))
        #expect(words.contains("--load-latency 50ns") && words.contains("--store disk=7ns"))
        #expect(words.contains("--duration 20ns"))
    }

    @Test(arguments: [TilePixelFormat.bgra8, .gray8, .gray16, .rgba16, .float32], [nil, 0] as [Int64?])
    func theRealClockTakesEachFormat(format: TilePixelFormat, latency: Int64?) throws {
        var options = ReplayOptions()
        options.clock = .real
        options.pixelFormat = format
        options.loadLatency = latency
        options.duration = 500_000_000
        let report = try Replay(options).run(ReplayInput(builtIn: options)).total
        #expect(report.loads.finished > 0 && report.loads.failed == 0)
    }

    /// Prefetches that are still in flight at the end were of no use.
    @Test func everyPrefetchOfTheRealClockHasAnEnd() throws {
        var options = ReplayOptions()
        options.clock = .real
        options.speed = 20
        options.workers = 16
        options.loadLatency = 1_500_000_000
        options.duration = 4_000_000_000
        let counts = try Replay(options).run(ReplayInput(lively: options)).total.prefetch
        #expect(counts.started > 0)
        #expect(counts.started == counts.useful + counts.late + counts.wasted + counts.cancelled)
    }
}
