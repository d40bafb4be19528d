import CacheBenchKit
import Foundation
import Testing
import TileCache

/// Recorded traces are not part of this package: they lie beside it, or where `TILECACHE_SHARED` says.
private let recordedTraces: [String] = {
    let shared =
        ProcessInfo.processInfo.environment["TILECACHE_SHARED"]
        ?? URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../../shared").standardized.path
    let folder = shared + "/traces/immens_map"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter { $0.hasSuffix(".csv") }.sorted().map { folder + "/" + $0 }
}()

/// The reference replay against a model that shares no code with it.
@Suite struct NaiveReplayTests {
    private func libraryReplay(
        _ text: String, capacityTiles: Int, duration: Double = .infinity, workers: Int = 4,
        latency: Int64 = 40_000_000, policy: NaivePolicy = .none
    ) throws -> NaiveFigures {
        var options = ReplayOptions()
        options.memoryLimit = .tiles(capacityTiles)
        options.compressedTier = false
        options.prefetch = policy == .ring ? .ring : .none
        options.eviction = .lru
        options.workers = workers
        options.loadLatency = latency
        options.duration = duration.isFinite ? Int64(duration * 1e9) : nil
        let reader = try PanTraceReader(text: text)
        let scene = try PanTraceScene(reader.header, name: "trace")
        let input = ReplayInput(name: "trace", source: "tests", scene: scene, samples: reader)
        let report = try #require(try Replay(options).run([{ input }]).traces.first)
        return NaiveFigures(
            demands: report.demands.total, hits: report.demands.decodedHits + report.demands.compressedHits,
            panDemands: report.demands.pan.total, panHits: report.demands.pan.hits,
            zoomDemands: report.demands.zoom.total, zoomHits: report.demands.zoom.hits,
            loads: report.loads.started, unseenLoads: report.loads.unseen)
    }

    @Test(
        .enabled(if: !recordedTraces.isEmpty, "there are no recorded traces beside the package"),
        arguments: recordedTraces)
    func recordedTracesAgree(path: String) throws {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let naive = naiveReplay(traceText: text, capacityTiles: 90, duration: 180)
        print("naive replay of \(path.split(separator: "/").last ?? ""): \(naive)")
        #expect(naive.demands > 0 && naive.hits > 0)
        #expect(try libraryReplay(text, capacityTiles: 90, duration: 180) == naive)
    }

    @Test(arguments: HandMadeTrace.all, NaivePolicy.allCases)
    fileprivate func handMadeTracesAgree(trace: HandMadeTrace, policy: NaivePolicy) throws {
        let naive = naiveReplay(
            traceText: trace.text, capacityTiles: trace.tiles, workers: trace.workers, latency: trace.latency,
            policy: policy)
        let library = try libraryReplay(
            trace.text, capacityTiles: trace.tiles, workers: trace.workers, latency: trace.latency, policy: policy)
        #expect(library == naive)
        if policy == .none, let demands = trace.demands { #expect(naive.demands == demands) }
        if policy == .none, let hits = trace.hits { #expect(naive.hits == hits) }
    }

    @Test(arguments: 0..<30, NaivePolicy.allCases)
    func randomTracesAgree(seed: Int, policy: NaivePolicy) throws {
        var random = Dice(seed: UInt64(seed))
        let text = random.trace()
        let tiles = random.whole(1...60)
        let workers = random.whole(1...6)
        let latency = [0, 1, 16_666_667, 33_333_333, 40_000_000, 250_000_000][random.whole(0...5)]
        let naive = naiveReplay(
            traceText: text, capacityTiles: tiles, workers: workers, latency: Int64(latency), policy: policy)
        let library = try libraryReplay(
            text, capacityTiles: tiles, workers: workers, latency: Int64(latency), policy: policy)
        #expect(library == naive, "\(tiles) tiles, \(workers) workers, \(latency) ns")
    }
}

/// A trace that is small enough to be followed by hand.
private struct HandMadeTrace: Sendable, CustomTestStringConvertible {
    var name: String
    var rows: String
    var world = "1024x1024"
    var viewport = "256x256"
    var wraps = false
    var tiles = 20
    var workers = 4
    var latency: Int64 = 40_000_000
    /// What counting by hand gives without prefetch, where that is feasible.
    var demands: Int?
    var hits: Int?

    var testDescription: String { name }

    var text: String {
        """
        # pan-trace: 1
        # viewport: \(viewport)
        # world: \(world)
        # wraps_x: \(wraps)
        # tile_size: 128
        time_s,center_x,center_y,scale
        \(rows)

        """
    }

    static let all = [
        HandMadeTrace(name: "stands still", rows: "0,512,512,1", demands: 0, hits: 0),
        // 2 x 2 tiles at first; a third column while it is under way, which stays needed at the end.
        HandMadeTrace(name: "pans by half a tile", rows: "0,512,512,1\n1,576,512,1", demands: 2, hits: 0),
        HandMadeTrace(name: "pans there and back", rows: "0,512,512,1\n1,640,512,1\n2,512,512,1", demands: 4, hits: 2),
        HandMadeTrace(name: "jumps", rows: "0,256,256,1\n1,768,768,1\n2,256,256,1", demands: 8, hits: 4),
        HandMadeTrace(name: "zooms out and in at once", rows: "0,512,512,1\n1,512,512,0.5\n2,512,512,1"),
        HandMadeTrace(name: "zooms slowly", rows: "0,500,500,1\n1,500,500,0.75\n2,500,500,0.55\n3,500,500,0.42"),
        HandMadeTrace(name: "wraps", rows: "0,900,512,1\n1,1020,512,1\n2,1130,512,1\n3,100,512,1", wraps: true),
        HandMadeTrace(
            name: "sees the world twice", rows: "0,300,512,0.5\n1,200,512,0.3\n2,100,512,0.22", viewport: "700x300",
            wraps: true),
        HandMadeTrace(
            name: "wraps at a cut column", rows: "0,900,500,1\n1,980,500,1\n2,1070,500,1\n3,1150,500,1",
            world: "1000x900", wraps: true),
        HandMadeTrace(name: "leaves the world", rows: "0,900,512,1\n1,1020,512,1\n2,1140,512,1\n3,1250,512,1"),
        // Four tiles do not fit: two are loaded, and nothing may go for the others.
        HandMadeTrace(name: "has too small a budget", rows: "0,512,512,1\n1,640,512,1\n2,512,512,1", tiles: 2),
        HandMadeTrace(
            name: "evicts", rows: "0,256,256,1\n1,380,256,1\n2,500,256,1\n3,380,256,1\n4,256,256,1", tiles: 6),
        // One worker for four tiles, one every 50 ms: the third has landed exactly at frame 9, which demands it again.
        HandMadeTrace(
            name: "a load ends at a frame", rows: "0,512,512,1\n0.1,700,700,1\n0.15,512,512,1", workers: 1,
            latency: 50_000_000, demands: 8, hits: 3),
        HandMadeTrace(
            name: "loads end together", rows: "0,512,512,1\n0.03,640,640,1\n0.06,512,512,1\n0.2,800,512,1", tiles: 7,
            workers: 2, latency: 50_000_000),
        HandMadeTrace(name: "loads take no time", rows: "0,256,256,1\n1,500,300,1\n2,256,256,1", tiles: 8, latency: 0),
    ]
}

/// Random traces; a generator of its own, so that nothing is shared with what is tested.
private struct Dice {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 0x1234_5678_9ABC_DEF1 }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }

    mutating func unit() -> Double { Double(next() >> 11) / Double(UInt64(1) << 53) }

    mutating func whole(_ range: ClosedRange<Int>) -> Int {
        range.lowerBound + Int(next() % UInt64(range.count))
    }

    /// Pans, zooms, jumps and pauses over a small world, which may wrap and be no multiple of the tile size.
    mutating func trace() -> String {
        let (width, height) = (whole(600...5000), whole(600...5000))
        var lines = [
            "# pan-trace: 1", "# viewport: \(whole(100...800))x\(whole(100...600))", "# world: \(width)x\(height)",
            "# wraps_x: \(whole(0...1) == 1)", "# tile_size: \([64, 128, 256][whole(0...2)])",
            "time_s,center_x,center_y,scale",
        ]
        var (time, scale) = (0.0, 1.0)
        var (x, y) = (Double(width) / 2, Double(height) / 2)
        for _ in 0..<whole(5...60) {
            lines.append(String(format: "%.4f,%.3f,%.3f,%.7f", time, x, y, scale))
            time += [0.0125, 0.05, 0.1, 0.4][whole(0...3)]
            switch whole(0...9) {
            case 0: (x, y) = (unit() * Double(width), unit() * Double(height))
            case 1...2: scale = min(max(scale * exp((unit() - 0.5) * 1.2), 0.05), 3)
            case 3: scale = [0.125, 0.25, 0.5, 1, 2][whole(0...4)]
            case 4: break
            default:
                x += (unit() - 0.5) * 400 / scale
                y = min(max(y + (unit() - 0.5) * 300 / scale, 0), Double(height))
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
