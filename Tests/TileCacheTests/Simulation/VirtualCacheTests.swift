import TestSupport
import Testing

@testable import TileCache

/// The cache under a virtual clock. The strip of tiles is small enough to follow by hand.
@Suite struct VirtualCacheTests {
    private static let tileBytes = 256 * 256 * 4
    private static let millisecond: Int64 = 1_000_000

    /// Always wishes for the same tiles.
    private struct FixedWishes: PrefetchPolicy {
        var columns: [Int]

        mutating func observe(_ frame: FrameObservation) {}

        mutating func appendWishes(to wishes: inout Wishes, target: PlanTarget, context: PlanContext) {
            for (index, column) in columns.enumerated() {
                let tile = TileCoordinate(level: target.level, column: column, row: 0)
                wishes.entries.append(
                    PlanEntry(
                        key: TileKey(layer: target.layer, tile),
                        value: Float(columns.count - index),
                        reason: .prefetch
                    )
                )
            }
        }
    }

    /// Started loads: tile, time, and whether it was needed.
    private final class Log {
        var starts: [(column: Int, time: Int64, isDemand: Bool)] = []
        var columns: [Int] { starts.map(\.column) }
        var times: [Int64] { starts.map { $0.time / VirtualCacheTests.millisecond } }
    }

    private struct Strip {
        var cache: VirtualCache
        var log: Log

        /// Shows whole tiles, from one column to another, at a time in milliseconds.
        func look(at columns: ClosedRange<Int>, after milliseconds: Double, view: Int = 0) {
            let width = Double(columns.count) * 256
            let viewport = TileViewport(
                center: WorldPoint(x: Double(columns.lowerBound) * 256 + width / 2, y: 128),
                width: width - 2,
                height: 200
            )
            cache.frame(view: view, viewport, at: Int64(milliseconds * 1e6))
        }
    }

    /// A world of 16 tiles in a row at its finest level. Loads take 40 ms.
    private func strip(
        tiles: Int = 16,
        workers: Int = 4,
        wraps: Bool = false,
        wishes: [Int] = [],
        views: Int = 1
    ) throws -> Strip {
        var options = VirtualCache.Options()
        options.byteLimit = tiles * Self.tileBytes
        options.grantsBookkeeping = true
        options.compressedTier = false
        options.workers = workers
        let log = Log()
        let latency = 40 * Self.millisecond
        let cache = VirtualCache(options: options, expectedLatency: latency) { load, start in
            log.starts.append((load.tile.column, start, load.isDemand))
            return latency
        }
        let layer = try cache.addLayer(tileBytes: Self.tileBytes)
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 4096, worldHeight: 256, wrapsX: wraps)
        for _ in 0..<views { _ = cache.addView(layers: [(layer, pyramid, FixedWishes(columns: wishes))]) }
        return Strip(cache: cache, log: log)
    }

    @Test func demandsAreHitsLateOrMissed() throws {
        let strip = try strip()
        strip.look(at: 0...0, after: 0)
        #expect(strip.cache.panDemands.total == 0, "the first frame is a cold start")
        strip.look(at: 1...1, after: 10)
        #expect(strip.cache.panDemands.missed == 1)
        strip.look(at: 0...0, after: 20)
        #expect(strip.cache.panDemands.late == 1)
        strip.look(at: 0...1, after: 60)
        #expect(strip.cache.panDemands.decodedHits == 1)
        // The same tiles again are no demands.
        strip.look(at: 0...1, after: 70)
        let pan = strip.cache.panDemands
        #expect(pan.total == 3 && pan.missed == 1 && pan.late == 1 && pan.decodedHits == 1 && pan.compressedHits == 0)
        #expect(strip.cache.zoomDemands == TileCacheStatistics.DemandCounts())
        #expect(strip.log.columns == [0, 1])
    }

    @Test func demandsAtAnotherLevelAreZoomDemands() throws {
        let strip = try strip()
        strip.look(at: 0...3, after: 0)
        let coarser = TileViewport(center: WorldPoint(x: 512, y: 128), width: 500, height: 100, scale: 0.5)
        strip.cache.frame(view: 0, coarser, at: 100 * Self.millisecond)
        #expect(strip.cache.panDemands.total == 0)
        #expect(strip.cache.zoomDemands.total == 2 && strip.cache.zoomDemands.missed == 2)
        strip.look(at: 0...3, after: 200)
        #expect(strip.cache.zoomDemands.total == 6 && strip.cache.zoomDemands.decodedHits == 4)
    }

    /// A fallback is visible, but it is neither sharp nor a hit.
    @Test func standInsAreNoHitsAndCoverTheirShare() throws {
        let strip = try strip()
        func shares() -> [Int] {
            let coverage = strip.cache.coverage
            return [coverage.sharp, coverage.fallback, coverage.blank].map { Int($0.rounded()) }
        }
        func lookCoarsely(from x: Double, width: Double, at time: Int64) {
            let center = WorldPoint(x: x + width, y: 128)
            let viewport = TileViewport(center: center, width: width, height: 100, scale: 0.5)
            strip.cache.frame(view: 0, viewport, at: time * Self.millisecond)
        }
        // Two tiles of 512 world pixels land and are fallbacks for the four of 256 below them.
        lookCoarsely(from: 12, width: 500, at: 0)
        #expect(shares() == [0, 0, 50_000])
        strip.look(at: 0...3, after: 100)
        #expect(shares() == [0, 204_400, 0])
        #expect(strip.cache.zoomDemands.total == 4 && strip.cache.zoomDemands.missed == 4)
        // Two of them have landed; the other two have no fallback.
        strip.look(at: 2...5, after: 200)
        #expect(shares() == [102_200, 0, 102_200])
        #expect(strip.cache.panDemands.total == 2 && strip.cache.panDemands.missed == 2)
        // One coarse tile is resident, finer ones are fallbacks for the second, and the third is blank.
        lookCoarsely(from: 770, width: 510, at: 300)
        #expect(shares() == [12_700, 25_600, 12_700])
        #expect(strip.cache.zoomDemands.total == 7 && strip.cache.zoomDemands.hits == 1)
    }

    @Test(arguments: [(40.0, 1), (39.999_999, 0)])
    func aLoadThatEndsAtAFramesTimeIsThere(time: Double, hits: Int) throws {
        let strip = try strip()
        strip.look(at: 0...0, after: 0)
        strip.look(at: 1...1, after: 10)
        strip.look(at: 0...0, after: time)
        #expect(strip.cache.panDemands.decodedHits == hits)
        #expect(strip.cache.panDemands.late == 1 - hits)
        #expect(strip.cache.coverage.missingTiles == 1 - hits)
    }

    @Test func workersTakeTheNextLoadWhenOneEnds() throws {
        let strip = try strip(workers: 2)
        strip.look(at: 0...4, after: 0)
        #expect(strip.cache.loadsInFlight == 2)
        strip.look(at: 0...4, after: 85)
        #expect(strip.log.columns == [0, 1, 2, 3, 4])
        #expect(strip.log.times == [0, 0, 40, 40, 80])
        // A worker that becomes free exactly at a frame waits for that frame's plan.
        strip.look(at: 6...8, after: 120)
        #expect(strip.log.columns.dropFirst(5) == [6, 7])
        #expect(strip.log.times.dropFirst(5) == [120, 120])
    }

    @Test func timeToSharpIsFromTheDemandToTheFrameThatDraws() throws {
        let strip = try strip()
        strip.look(at: 0...0, after: 0)
        strip.look(at: 1...1, after: 10)
        #expect(strip.cache.timesToSharp.isEmpty)
        strip.look(at: 1...1, after: 50)
        #expect(strip.cache.timesToSharp == [40 * Self.millisecond])
        strip.look(at: 1...1, after: 60)
        #expect(strip.cache.timesToSharp.isEmpty)
    }

    @Test func whatIsNeededTakesTheNextFreeWorker() throws {
        let strip = try strip(workers: 2, wishes: [8, 9, 10, 11])
        strip.look(at: 0...0, after: 0)
        #expect(strip.log.columns == [0, 8])
        strip.look(at: 0...0, after: 44)
        #expect(strip.log.columns == [0, 8, 9, 10] && strip.cache.prefetchLoadsInFlight == 2)
        // Both load for those who may need them, until 80 ms.
        strip.look(at: 1...1, after: 50)
        #expect(strip.log.starts.count == 4)
        strip.look(at: 1...1, after: 90)
        #expect(strip.log.columns == [0, 8, 9, 10, 1, 11])
        #expect(strip.log.starts.map(\.isDemand) == [true, false, false, false, true, false])
    }

    @Test func aFullCacheGivesUpTheLeastRecentlyDrawn() throws {
        let strip = try strip(tiles: 3)
        for (step, column) in [0, 1, 2, 0, 3].enumerated() {
            strip.look(at: column...column, after: Double(step) * 100)
        }
        strip.look(at: 2...2, after: 500)
        #expect(strip.cache.panDemands.decodedHits == 2, "tile 0, drawn again, and tile 2")
        strip.look(at: 1...1, after: 600)
        #expect(strip.cache.panDemands.missed == 4, "tiles 1, 2, 3, and 1 once more")
        #expect(strip.cache.pool.committedBytes <= 3 * Self.tileBytes)
    }

    @Test func wishesNeverTakeTheRoomOfNeededTiles() throws {
        let strip = try strip(tiles: 4, wishes: [8, 9, 10])
        for frame in 0..<30 { strip.look(at: 0...2, after: Double(frame) * 20) }
        #expect(strip.cache.coverage.missingTiles == 0)
        #expect(strip.log.columns.prefix(4) == [0, 1, 2, 8])
        #expect(!strip.log.columns.dropFirst(4).contains { $0 < 8 })
    }

    @Test func twoViewsShareOneLoad() throws {
        let strip = try strip(views: 2)
        strip.look(at: 0...1, after: 0, view: 0)
        strip.look(at: 1...2, after: 0, view: 1)
        #expect(strip.log.columns == [0, 1, 2])
    }

    @Test func aWrappingWorldIsTheSameTilesEverywhere() throws {
        let strip = try strip(wraps: true)
        strip.look(at: 15...16, after: 0)
        #expect(strip.log.columns == [15, 0])
        strip.look(at: 15...16, after: 50)
        // One world further on, and one back: nothing new is needed.
        strip.look(at: 31...32, after: 100)
        strip.look(at: -1...0, after: 150)
        #expect(strip.cache.panDemands.total == 0)
        #expect(strip.cache.coverage.missingTiles == 0)
        #expect(strip.log.starts.count == 2)
    }

    private struct Figures: Hashable {
        var pan: TileCacheStatistics.DemandCounts
        var zoom: TileCacheStatistics.DemandCounts
        var counters: PoolCounters
        var coverages: [Coverage]
        var waits: [Int64]
    }

    /// A walk over a wrapping world with zooms and jumps, with all features enabled.
    private func walk(seed: UInt64, usesValues: Bool) throws -> Figures {
        var options = VirtualCache.Options()
        options.byteLimit = 30 * Self.tileBytes
        options.usesValues = usesValues
        options.workers = 3
        options.hysteresis = 0.2
        var latencies = SplitMix64(seed: seed)
        let cache = VirtualCache(options: options, expectedLatency: 40 * Self.millisecond) { _, _ in
            Int64(latencies.below(90)) * Self.millisecond
        }
        let layer = try cache.addLayer(tileBytes: Self.tileBytes)
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 16_384, worldHeight: 16_384, wrapsX: true)
        let view = cache.addView(layers: [(layer, pyramid, AdaptivePolicy())])
        var random = SplitMix64(seed: seed &+ 1)
        var viewport = TileViewport(center: WorldPoint(x: 100, y: 8000), width: 640, height: 480)
        var coverages: [Coverage] = []
        var waits: [Int64] = []
        var speed = (x: 0.0, y: 0.0)
        for frame in 0..<400 {
            if random.oneIn(20) { speed = (random.next(from: -40, to: 40), random.next(from: -40, to: 40)) }
            if random.oneIn(30) { viewport.scale = random.next(from: 0.1, to: 1.2) }
            viewport.center.x += speed.x / viewport.scale
            viewport.center.y = min(max(viewport.center.y + speed.y, 0), 16_384)
            cache.frame(view: view, viewport, at: Int64(frame) * 16_666_667)
            coverages.append(cache.coverage)
            waits += cache.timesToSharp
            #expect(cache.pool.committedBytes <= options.byteLimit)
            #expect(cache.loadsInFlight <= 3)
        }
        return Figures(
            pan: cache.panDemands,
            zoom: cache.zoomDemands,
            counters: cache.counters,
            coverages: coverages,
            waits: waits
        )
    }

    @Test(arguments: [true, false])
    func theSameTraceGivesTheSameFigures(usesValues: Bool) throws {
        let first = try walk(seed: 3, usesValues: usesValues)
        #expect(try walk(seed: 3, usesValues: usesValues) == first)
        #expect(try walk(seed: 4, usesValues: usesValues) != first)
        // The walk contained every kind of event.
        let counters = first.counters
        #expect(first.pan.hits > 50)
        #expect(first.pan.missed + first.pan.late > 5)
        #expect(first.zoom.total > 10)
        #expect(counters.tiers.demotions > 10)
        #expect(counters.peakBytes <= 30 * Self.tileBytes)
        #expect(
            counters.loads.finished <= counters.loads.started
                && counters.prefetches.useful + counters.prefetches.late > 0
        )
    }

    /// Wishes for a tile that is never drawn, another one for each needed tile.
    private struct VainWishes: PrefetchPolicy {
        mutating func observe(_ frame: FrameObservation) {}

        mutating func appendWishes(to wishes: inout Wishes, target: PlanTarget, context: PlanContext) {
            guard let column = target.needed.first?.coordinate.column else { return }
            let tile = TileCoordinate(level: target.level, column: column + 8000, row: 0)
            wishes.wish(for: tile, layer: target.layer, value: 1)
        }
    }

    /// Tiles that wait to be drawn before tiers get them are as many as in the service, however many are prefetched.
    @Test func tilesEvictedUndrawnAreForgotten() throws {
        var options = VirtualCache.Options()
        options.byteLimit = 8 * Self.tileBytes
        options.grantsBookkeeping = true
        options.compressedTier = false
        let tiers = VirtualTiers([.init(name: "disk", latency: Self.millisecond)])
        let cache = VirtualCache(options: options, expectedLatency: Self.millisecond, tiers: tiers) { _, _ in
            Self.millisecond
        }
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 1 << 22, worldHeight: 256)
        let layer = try cache.addLayer(tileBytes: Self.tileBytes)
        let view = cache.addView(layers: [(layer: layer, pyramid: pyramid, policy: VainWishes())])
        for column in 0..<1500 {
            let center = WorldPoint(x: Double(column) * 256 + 128, y: 128)
            let viewport = TileViewport(center: center, width: 200, height: 200)
            cache.frame(view: view, viewport, at: Int64(column) * 16 * Self.millisecond)
        }
        let started = cache.prefetchCounts(ofLayer: layer).started
        #expect(started > 1400 && cache.unsaved.count <= SaveQueue.mostUndrawn)
    }
}
