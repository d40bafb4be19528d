import CacheBenchKit
import Foundation
import PanTraces
import TestSupport
import Testing
import TileCache

private let recordedTraces = RecordedTraces.paths(of: "immens_map")

/// The reference replay against a model that shares no code with it.
@Suite struct NaiveReplayTests {
    private func libraryReplay(
        _ text: String,
        capacityTiles: Int,
        duration: Double = .infinity,
        workers: Int = 4,
        latency: Int64 = 40_000_000,
        policy: NaivePolicy = .none,
        naive: NaiveFigures
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
        let report = try #require(try Replay(options).run(input).traces.first)
        // The report has only percentiles of waits.
        for (percent, value) in [
            (50, report.timeToSharp.p50), (95, report.timeToSharp.p95), (99, report.timeToSharp.p99),
        ] { #expect(value == naive.percentile(percent), "p\(percent)") }
        if let share = report.framesWithGap {
            #expect(Int((share * Double(report.coverage.frames)).rounded()) == naive.gapFrames)
        }
        let slotBytes = scene.tileSize * scene.tileSize * 4
        #expect(report.memory.screenTiles == naive.mostNeeded)
        #expect(report.memory.shortfallBytes == max(naive.mostNeeded - capacityTiles, 0) * slotBytes)
        return NaiveFigures(
            demands: report.demands.total,
            hits: report.demands.decodedHits + report.demands.compressedHits,
            panDemands: report.demands.pan.total,
            panHits: report.demands.pan.hits,
            zoomDemands: report.demands.zoom.total,
            zoomHits: report.demands.zoom.hits,
            late: report.demands.late,
            waits: naive.waits,
            gapFrames: naive.gapFrames,
            mostNeeded: naive.mostNeeded,
            loads: report.loads.started,
            unseenLoads: report.loads.unseen
        )
    }

    @Test(
        .enabled(if: !recordedTraces.isEmpty, "\(RecordedTraces.isMissing)"),
        arguments: recordedTraces
    )
    func recordedTracesAgree(path: String) throws {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let naive = naiveReplay(traceText: text, capacityTiles: 90, duration: 180)
        print("naive replay of \(path.split(separator: "/").last ?? ""): \(naive)")
        #expect(naive.demands > 0 && naive.hits > 0)
        #expect(try libraryReplay(text, capacityTiles: 90, duration: 180, naive: naive) == naive)
    }

    @Test(arguments: HandMadeTrace.all, NaivePolicy.allCases)
    func handMadeTracesAgree(trace: HandMadeTrace, policy: NaivePolicy) throws {
        let naive = naiveReplay(
            traceText: trace.text,
            capacityTiles: trace.tiles,
            workers: trace.workers,
            latency: trace.latency,
            policy: policy
        )
        let library = try libraryReplay(
            trace.text,
            capacityTiles: trace.tiles,
            workers: trace.workers,
            latency: trace.latency,
            policy: policy,
            naive: naive
        )
        #expect(library == naive)
        if policy == .none, let counted = trace.counted { #expect(naive.demandsAndLoads == counted) }
    }

    @Test(arguments: 0..<30, NaivePolicy.allCases)
    func randomTracesAgree(seed: Int, policy: NaivePolicy) throws {
        var random = NaiveDice(seed: UInt64(seed))
        let text = random.trace()
        let tiles = random.whole(1...60)
        let workers = random.whole(1...6)
        let latency = [0, 1, 16_666_667, 33_333_333, 40_000_000, 250_000_000][random.whole(0...5)]
        let naive = naiveReplay(
            traceText: text,
            capacityTiles: tiles,
            workers: workers,
            latency: Int64(latency),
            policy: policy
        )
        let library = try libraryReplay(
            text,
            capacityTiles: tiles,
            workers: workers,
            latency: Int64(latency),
            policy: policy,
            naive: naive
        )
        #expect(library == naive, "\(tiles) tiles, \(workers) workers, \(latency) ns")
    }
}
