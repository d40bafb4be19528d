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

    /// A view of 640x480 shows the whole world, 200x200 screen pixels, however it is turned.
    @Test(arguments: [0, 0.001, -0.5, 1.6, 1e9])
    func aRotatedViewShowsAsMuchOfTheWorld(rotation: Double) throws {
        let flat = try TilePyramid.powerOfTwo(worldWidth: 1000, worldHeight: 1000)
        var view = TileViewport(center: WorldPoint(x: 500, y: 500), width: 640, height: 480, scale: 0.2)
        view.rotation = rotation
        #expect(abs(ReplayCourse.worldPixels(of: view, flat) - 40_000) < 1e-6)
        // Within the world the view itself, beside it nothing.
        view.scale = 64
        #expect(abs(ReplayCourse.worldPixels(of: view, flat) - 640 * 480) < 1e-6)
        view.center.x = -100
        #expect(ReplayCourse.worldPixels(of: view, flat) == 0)
        // A world that wraps has no edge to the left.
        let round = try TilePyramid.powerOfTwo(worldWidth: 1000, worldHeight: 1000, wrapsX: true)
        #expect(abs(ReplayCourse.worldPixels(of: view, round) - 640 * 480) < 1e-6)
    }

    /// A strip as wide as the screen. Its area in world pixels is out of range.
    @Test(arguments: [0, 1e-9])
    func theAreaIsInRangeAtTheSmallestScale(rotation: Double) throws {
        let round = try TilePyramid.powerOfTwo(worldWidth: 131_072, worldHeight: 131_072, wrapsX: true)
        let center = WorldPoint(x: 500, y: 500)
        let view = TileViewport(center: center, width: 640, height: 480, scale: 1e-302, rotation: rotation)
        let area = ReplayCourse.worldPixels(of: view, round)
        #expect(area >= 0 && area < 1e-6)
    }

    @Test func aSlowClockSleepsWithinTheRangeOfIntegers() {
        let clock = ReplayClockTime(speed: 0.1)
        #expect(clock.realNanoseconds(of: 1_000_000_000) == 10_000_000_000)
        #expect(clock.realNanoseconds(of: .max) == 1_000_000_000_000_000_000)
    }

    /// Less than a tile is too little, not too much.
    @Test func limitsOutOfRangeSayOnWhichSide() throws {
        func error(_ limit: MemoryLimit) -> String? {
            var options = ReplayOptions()
            options.memoryLimit = limit
            let asked = options
            let error = #expect(throws: ReplayError.self) { try Replay(asked).run(ReplayInput(builtIn: asked)) }
            return error?.description
        }
        #expect(error(.screens(0.01)) == "--memory-limit 0.01screens holds no tile: one takes 262144 bytes")
        #expect(error(.screens(1e9)) == "--memory-limit 1000000000screens is more than 64 TiB")
    }

    /// A report's flags make it again: a description has no exponent.
    @Test func limitsAreDescribedAsTheyAreRead() {
        for text in ["0.001screens", "1000000000screens", "1tiles", "1KiB"] {
            #expect(MemoryLimit(text)?.description == text)
        }
        #expect(MemoryLimit("0.00005screens") == nil)
    }

    /// The sums of several traces have the scene's flags that were given, and no others.
    @Test func theFlagsOfSeveralTracesHaveTheScene() throws {
        func total(_ change: (inout ReplayOptions) -> Void = { _ in }) throws -> [String: ConfigurationValue] {
            var options = ReplayOptions()
            options.duration = 200_000_000
            change(&options)
            let asked = options
            let input = { @Sendable in try ReplayInput(builtIn: asked) }
            return try Replay(asked).run([input, input]).total.configuration
        }
        let scene = try total {
            $0.overrides.tileSize = 128
            $0.overrides.world = .init(world: "65536x65536")
            $0.overrides.wrapsX = false
        }
        let words = ReplayFlags.words(scene)
        #expect(words.contains("--tile-size 128") && words.contains("--world 65536x65536"))
        #expect(words.contains("--no-wrap-x"))
        #expect(try Set(total().keys).isDisjoint(with: ["tileSize", "viewport", "world", "wrapsX"]))
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
        // On a machine with other work a session may end before its first load does.
        let hooks = ReplayHooks(noteFrame: { cache, _ in
            #expect(eventually { cache.statistics.loads.finished > 0 })
        })
        let report = try Replay(options).run(ReplayInput(builtIn: options), hooks: hooks).total
        #expect(report.loads.failed == 0 && report.loads.finished > 0)
    }

    /// Prefetches that are still in flight at the end were of no use.
    @Test func everyPrefetchOfTheRealClockHasAnEnd() throws {
        var options = ReplayOptions()
        options.clock = .real
        options.speed = 20
        options.workers = 16
        options.loadLatency = 1_500_000_000
        options.duration = 4_000_000_000
        // Tiles around the view, whatever its motion: once the needed ones are there.
        options.prefetch = .ring
        let size = PanTraceHeader.Size(width: 65_536, height: 65_536)
        let header = PanTraceHeader(viewport: .init(width: 640, height: 400), world: size)
        let samples = (0...40).map { step in
            PanTraceSample(
                time: Int64(step) * 100_000_000,
                center: WorldPoint(x: 20_000 + 100 * Double(step), y: 20_000),
                scale: 1
            )
        }
        let input = ReplayInput(
            name: "panned",
            source: "tests",
            scene: try PanTraceScene(header, name: "panned"),
            samples: PanSampleList(samples)
        )
        let frames = Lock(0)
        let hooks = ReplayHooks(noteFrame: { cache, layer in
            let isFirst = frames.withLock { frames in
                frames += 1
                return frames == 1
            }
            guard isFirst else { return }
            #expect(eventually { layer.prefetchCounts.map { $0.started > 0 } ?? true })
        })
        let counts = try Replay(options).run(input, hooks: hooks).total.prefetch
        #expect(counts.started > 0)
        #expect(counts.started == counts.useful + counts.late + counts.wasted + counts.cancelled)
    }
}
