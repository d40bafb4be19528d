import Foundation
import PanTraces
import TestSupport
import Testing

@testable import CacheBenchKit
@testable import TileCache

/// `TILECACHE_ORACLE=10` tries ten times as many walks, and every recorded trace.
private let thoroughness = max(ProcessInfo.processInfo.environment["TILECACHE_ORACLE"].flatMap { Int($0) } ?? 1, 1)

/// Every fourth recorded trace: without optimisation all of them take a minute.
private let recordedTraces = RecordedTraces.all.enumerated().filter { thoroughness > 1 || $0.offset % 4 == 0 }
    .map(\.element)

/// The oracle against brute force on tiny traces, and against every other policy on all.
@Suite struct OracleTests {
    private static let frameTime: Int64 = 16_666_667

    /// A strip of tiles seen through a window of one or two. Frame by frame: needed tiles as bits.
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

    private static func viewport(_ view: ClosedRange<Int>) -> TileViewport {
        let width = Double(view.count) * 256
        return TileViewport(
            center: WorldPoint(x: Double(view.lowerBound) * 256 + width / 2, y: 128),
            width: width - 2,
            height: 200
        )
    }

    /// Hits of the oracle on a walk. Loads take slightly less than whole frames, so that they land at a frame.
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
        let layer = try cache.addLayer(tileBytes: 262_144)
        var frame = 0
        let future = FutureNeeds(pyramid: pyramid, selection: TileLevelSelection()) { () -> (Int64, TileViewport)? in
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

    /// Whether all demands during a load have room beside the tiles needed meanwhile.
    ///
    /// A load reserves its room when it starts. With less room some demand cannot be prefetched with any number of
    /// workers.
    private static func isRoomy(_ views: [ClosedRange<Int>], capacity: Int, latency: Int) -> Bool {
        views.indices.allSatisfy { first in
            let seen = views[first...min(first + latency, views.count - 1)]
            return seen.reduce(0) { $0 | bits($1) }.nonzeroBitCount <= capacity
        }
    }

    /// Demands whose loads can start at the first frame or later.
    private static func loadable(_ views: [ClosedRange<Int>], latency: Int) -> Int {
        views.indices.dropFirst(latency).reduce(0) { $0 + (bits(views[$1]) & ~bits(views[$1 - 1])).nonzeroBitCount }
    }

    @Test func whereThroughputNeverBindsTheOracleIsOptimal() throws {
        var tight = Shortfall()
        var roomy = 0
        for seed in 0..<100 * thoroughness {
            var dice = NaiveDice(seed: UInt64(seed))
            let tiles = dice.whole(3...5)
            let views = Self.walk(&dice, tiles: tiles, frames: dice.whole(5...10))
            let (capacity, latency) = (dice.whole(2...5), dice.whole(1...2))
            let best = OracleBruteForce(
                frames: views.map(Self.bits),
                tiles: tiles,
                capacity: capacity,
                workers: tiles,
                latency: latency
            ).mostHits()
            let hits = try Self.oracleHits(views, capacity: capacity, workers: tiles, latency: latency)
            let comment = "seed \(seed): \(views), room for \(capacity), \(latency) frames"
            if Self.isRoomy(views, capacity: capacity, latency: latency) {
                roomy += 1
                #expect(best == Self.loadable(views, latency: latency), "\(comment)")
                #expect(hits == best, "\(comment)")
            } else {
                tight.note(hits: hits, best: best, comment)
            }
        }
        // Both kinds are frequent. If room is short, at most one hit is lost, and seldom.
        #expect(roomy >= 20 && tight.walks >= 10)
        print("room short: \(tight)")
        #expect(tight.most <= 1 && tight.short * 20 <= tight.walks)
    }

    /// A known limitation. Tile 1, demanded first, stays on screen long and keeps out two hits.
    @Test func whereRoomIsShortAGreedyOracleMayLoseAHit() throws {
        let views = [1...2, 1...2, 0...0, 0...0, 0...0, 1...2, 1...2, 0...1, 2...3, 0...0, 0...0, 2...3]
        let brute = OracleBruteForce(frames: views.map(Self.bits), tiles: 4, capacity: 2, workers: 4, latency: 2)
        let hits = try Self.oracleHits(views, capacity: 2, workers: 4, latency: 2)
        #expect(!Self.isRoomy(views, capacity: 2, latency: 2))
        #expect(brute.mostHits() == 6 && (5...6).contains(hits))
    }

    @Test func whereThroughputBindsTheOracleFallsLittleShort() throws {
        var all = Shortfall()
        for seed in 0..<100 * thoroughness {
            var dice = NaiveDice(seed: UInt64(1000 + seed))
            let tiles = dice.whole(3...5)
            let views = Self.walk(&dice, tiles: tiles, frames: dice.whole(6...12))
            let (capacity, workers, latency) = (dice.whole(2...5), dice.whole(1...2), dice.whole(1...3))
            let best = OracleBruteForce(
                frames: views.map(Self.bits),
                tiles: tiles,
                capacity: capacity,
                workers: workers,
                latency: latency
            ).mostHits()
            let hits = try Self.oracleHits(views, capacity: capacity, workers: workers, latency: latency)
            all.note(hits: hits, best: best, "\(views) room \(capacity), \(workers) workers, \(latency) frames")
        }
        print("workers short: \(all)")
        #expect(Double(all.hits) >= 0.97 * Double(all.best))
    }

    /// How many hits the oracle is below brute force over many walks. Exceeding brute force is an error in either.
    private struct Shortfall: CustomStringConvertible {
        var walks = 0
        var hits = 0
        var best = 0
        /// Walks on which it is below, and by how many hits at most.
        var short = 0
        var most = 0

        mutating func note(hits own: Int, best optimum: Int, _ comment: String) {
            #expect(own <= optimum, "\(comment)")
            walks += 1
            hits += own
            best += optimum
            if own < optimum { short += 1 }
            most = max(most, optimum - own)
        }

        var description: String {
            "\(hits) of \(best) hits; short on \(short) of \(walks) walks, by \(most) at most"
        }
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
        .enabled(if: !recordedTraces.isEmpty, "\(RecordedTraces.isMissing)"),
        arguments: recordedTraces
    )
    func noPolicyBeatsItOnARecordedTrace(path: String) throws {
        var options = ReplayOptions()
        options.memoryLimit = .screens(2)
        options.compressedTier = false
        options.duration = 2_000_000_000
        try expectNothingBetter(options, path) { try ReplayInput(path: path, options: options) }
    }

    @Test(arguments: 0..<8 * thoroughness) func noPolicyBeatsItOnARandomTrace(seed: Int) throws {
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

/// The schedule with the longest times that flags allow.
@Suite struct OracleScheduleLimitTests {
    private func job(_ need: Int, deadline: Int64, duration: Int64) -> OracleSchedule.Job {
        OracleSchedule.Job(need: need, deadline: deadline, duration: duration, again: .max, stay: 1)
    }

    @Test func sumsBeyondTheEndOfTimeAreLateAndNoTrap() {
        let long = Int64(3_600_000_000_000) * 1_000_000
        for isUniform in [true, false] {
            var schedule = OracleSchedule(workers: [0], duration: long, isUniform: isUniform)
            let first = schedule.add(job(0, deadline: long, duration: long))
            let second = schedule.add(job(1, deadline: .max - 1, duration: long))
            #expect(first == nil && second == nil)
            // It would end after 3 x long, which exceeds 64 bits.
            let third = schedule.add(job(2, deadline: .max - 1, duration: long))
            #expect(third != nil && schedule.count == 2)
            #expect(schedule.jobs.map(\.finish) == [long, 2 * long])
            #expect(schedule.shifts(upTo: 4) == [0, 0, 4])
        }
        var short = OracleSchedule(workers: [0], duration: long, isUniform: false)
        _ = short.add(job(0, deadline: .max - 1, duration: 10))
        #expect(short.shifts(upTo: 9) == [2, 9])
    }
}
