import Foundation
import Testing

@testable import CacheBenchKit
@testable import TileCache

/// Recorded traces are not part of this package: they lie beside it, or where `TILECACHE_SHARED` says.
private let recordedTraces: [String] = {
    let shared =
        ProcessInfo.processInfo.environment["TILECACHE_SHARED"]
        ?? URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../../shared").standardized.path
    let folders = (try? FileManager.default.contentsOfDirectory(atPath: shared + "/traces")) ?? []
    return folders.sorted().flatMap { folder in
        let names = (try? FileManager.default.contentsOfDirectory(atPath: shared + "/traces/" + folder)) ?? []
        return names.filter { $0.hasSuffix(".csv") }.sorted().map { shared + "/traces/\(folder)/\($0)" }
    }
}()

/// The perfect future against brute force where that is feasible, and against every other policy everywhere.
@Suite struct OracleTests {
    private static let frameTime: Int64 = 16_666_667

    /// A strip of tiles seen through a window of one or two, frame by frame: needed tiles as bits.
    private static func walk(_ dice: inout NaiveDice, tiles: Int, frames: Int) -> [ClosedRange<Int>] {
        var views: [ClosedRange<Int>] = []
        while views.count < frames {
            let first = dice.whole(0...tiles - 1)
            let view = first...min(first + dice.whole(0...1), tiles - 1)
            for _ in 0..<dice.whole(1...3) where views.count < frames { views.append(view) }
        }
        return views
    }

    private static func bits(_ view: ClosedRange<Int>) -> Int { view.reduce(0) { $0 | 1 << $1 } }

    private static func viewport(_ view: ClosedRange<Int>) -> Viewport {
        let width = Double(view.count) * 256
        return Viewport(
            center: WorldPoint(x: Double(view.lowerBound) * 256 + width / 2, y: 128),
            width: width - 2,
            height: 200
        )
    }

    /// The oracle's hits on a walk; loads take a hair less than so many frames, so that they land at a frame.
    private static func oracleHits(
        _ views: [ClosedRange<Int>],
        capacity: Int,
        workers: Int,
        latency: Int
    ) throws -> Int {
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 2048, worldHeight: 256)
        let time = Int64(latency) * frameTime - 1000
        var options = VirtualCache.Options()
        options.byteLimit = capacity * 262_144
        options.grantsBookkeeping = true
        options.compressedTier = false
        options.usesValues = true
        options.workers = workers
        let cache = VirtualCache(options: options, expectedLatency: time, latency: { _, _ in time })
        let layer = cache.addLayer(tileBytes: 262_144)
        var frame = 0
        let future = FutureNeeds(pyramid: pyramid, selection: LevelSelection()) { () -> (Int64, Viewport)? in
            defer { frame += 1 }
            return frame < views.count ? (Int64(frame) * frameTime, viewport(views[frame])) : nil
        }
        let oracle = OraclePolicy(future: future, knowledge: .init(workers: workers, capacityTiles: capacity))
        let view = cache.addView(layers: [(layer, pyramid, oracle)])
        for (frame, columns) in views.enumerated() {
            cache.frame(view: view, viewport(columns), at: Int64(frame) * frameTime)
        }
        return cache.panDemands.hits + cache.zoomDemands.hits
    }

    @Test(arguments: 0..<150) func whereThroughputNeverBindsTheOracleIsOptimal(seed: Int) throws {
        var dice = NaiveDice(seed: UInt64(seed))
        let tiles = dice.whole(3...6)
        let views = Self.walk(&dice, tiles: tiles, frames: dice.whole(5...12))
        let capacity = dice.whole(2...5)
        let latency = dice.whole(1...2)
        let brute = OracleBruteForce(
            frames: views.map(Self.bits),
            tiles: tiles,
            capacity: capacity,
            workers: tiles,
            latency: latency
        )
        let hits = try Self.oracleHits(views, capacity: capacity, workers: tiles, latency: latency)
        #expect(hits == brute.mostHits(), "\(views), room for \(capacity), \(latency) frames")
    }

    @Test func whereThroughputBindsTheOracleFallsLittleShort() throws {
        var (oracle, best, worse, most) = (0, 0, 0, 0)
        for seed in 0..<300 {
            var dice = NaiveDice(seed: UInt64(1000 + seed))
            let tiles = dice.whole(3...6)
            let views = Self.walk(&dice, tiles: tiles, frames: dice.whole(6...14))
            let (capacity, workers, latency) = (dice.whole(2...5), dice.whole(1...2), dice.whole(1...3))
            let hits = try Self.oracleHits(views, capacity: capacity, workers: workers, latency: latency)
            let optimum = OracleBruteForce(
                frames: views.map(Self.bits),
                tiles: tiles,
                capacity: capacity,
                workers: workers,
                latency: latency
            ).mostHits()
            #expect(hits <= optimum)
            oracle += hits
            best += optimum
            if hits < optimum { worse += 1 }
            most = max(most, optimum - hits)
            if hits < optimum {
                print("short by \(optimum - hits): \(views) room \(capacity), \(workers) workers, \(latency) frames")
            }
        }
        print("oracle \(oracle) of \(best) hits; short on \(worse) of 300 walks, by \(most) at most")
        #expect(Double(oracle) >= 0.97 * Double(best))
    }

    private func hits(
        _ kind: PrefetchKind,
        _ options: ReplayOptions,
        _ open: () throws -> ReplayInput
    ) throws -> (hits: Int, total: Int) {
        var options = options
        options.prefetch = kind
        options.eviction = kind == .oracle ? .belady : kind == .tilecache ? .tilecache : .lru
        let tally = try Replay(options).outcome(of: open()).tally
        return (tally.pan.hits + tally.zoom.hits, tally.pan.total + tally.zoom.total)
    }

    private func expectNothingBetter(
        _ options: ReplayOptions,
        _ comment: String,
        _ open: () throws -> ReplayInput
    ) throws {
        let oracle = try hits(.oracle, options, open)
        for kind in PrefetchKind.allCases where kind != .oracle {
            let other = try hits(kind, options, open)
            #expect(other.total == oracle.total)
            #expect(other.hits <= oracle.hits, "\(kind): \(comment)")
        }
    }

    @Test(
        .enabled(if: !recordedTraces.isEmpty, "there are no recorded traces beside the package"),
        arguments: recordedTraces
    )
    func noPolicyBeatsItOnARecordedTrace(path: String) throws {
        var options = ReplayOptions()
        options.memoryLimit = .screens(2)
        options.compressedTier = false
        options.duration = 4_000_000_000
        try expectNothingBetter(options, path) { try ReplayInput(path: path, options: options) }
    }

    @Test(arguments: 0..<40) func noPolicyBeatsItOnARandomTrace(seed: Int) throws {
        var dice = NaiveDice(seed: UInt64(7000 + seed))
        let text = dice.trace()
        var options = ReplayOptions()
        options.compressedTier = dice.whole(0...2) == 0
        options.memoryLimit = .screens([1, 2, 4, 12][dice.whole(0...3)])
        options.workers = dice.whole(1...6)
        options.loadLatency = [1, 16_666_667, 40_000_000, 150_000_000][dice.whole(0...3)]
        let comment =
            "seed \(seed), \(options.memoryLimit), \(options.workers) x \(options.loadLatency ?? 0) ns, "
            + "compressed \(options.compressedTier)"
        try expectNothingBetter(options, comment) {
            let reader = try PanTraceReader(text: text)
            return ReplayInput(
                name: "trace",
                source: "tests",
                scene: try PanTraceScene(reader.header, name: "trace"),
                samples: reader
            )
        }
    }
}
