import Foundation
import PanTraces
import Testing

@testable import CacheBenchKit
@testable import TileCache

/// Report of `throughput`: its counts and labels. Speeds are not tested.
@Suite struct ThroughputTests {
    /// Duration of the session that fills the cache, in nanoseconds.
    private static let duration: Int64 = 30_000_000_000

    /// Our side of the comparison counts the same demands as the other side.
    @Test func bothSidesOfTheTraceSeeTheSameDemands() throws {
        let hits = try TraceHits.measure(byteLimit: 16 << 20, compressionRatio: 2, duration: Self.duration)
        var options = ReplayOptions()
        options.prefetch = .none
        options.loadLatency = 0
        options.duration = Self.duration
        #expect(try hits.demands == Replay(options).run(ReplayInput(builtIn: options)).total.demands.total)
        // A full `NSCache` may drop new objects and never hit again.
        #expect(hits.nsCacheHits < hits.demands)
        #expect(hits.decodedOnlyHits > 0 && hits.decodedOnlyHits <= hits.hits)
        #expect(hits.hitRate == Double(hits.hits) / Double(hits.demands))
    }

    #if os(Linux)
        /// Reason of the few hits of `NSCache` here. Of tiles of equal cost it keeps the first ones for good.
        @Test(arguments: [8, 16])
        func aFullNSCacheTakesNoOtherTile(mebibytes: Int) throws {
            let hits = try TraceHits.measure(byteLimit: mebibytes << 20, compressionRatio: 2, duration: Self.duration)
            var kept: Set<TileCoordinate> = []
            var expected = 0
            for access in try TraceHits.accesses(duration: Self.duration) {
                if kept.contains(access.tile) {
                    if access.isDemand { expected += 1 }
                } else if kept.count < mebibytes << 20 / TraceHits.tileBytes {
                    kept.insert(access.tile)
                }
            }
            #expect(hits.nsCacheHits == expected)
        }
    #endif

    /// Without a limit that binds, every side keeps everything.
    @Test func withoutALimitAllSidesAreEqual() throws {
        let hits = try TraceHits.measure(byteLimit: 2 << 30, compressionRatio: 2, duration: Self.duration)
        #expect(hits.hits == hits.nsCacheHits && hits.decodedOnlyHits == hits.nsCacheHits)
    }

    /// Half of the fewest tiles is a part of a row of them.
    @Test func fewHeldTilesCanBePinned() throws {
        let row = try HeldTilesBenchmark.run(tiles: 1000)
        #expect(row.calls.keys.contains("pin half") && row.frame > 0)
    }

    /// Scaling to a second thread takes seconds. It checks for an interruption in between.
    @Test func scalingStopsAfterTheRoundThatItIsIn() throws {
        var asked = 0
        let scaling = try CodecScaling(tiles: Array(Throughput.builtInTiles().prefix(2)), maximumTileBytes: 262_144)
            .measure(rounds: 1_000_000) {
                asked += 1
                return true
            }
        // Once for each kind of work.
        #expect(asked == 2 && scaling.compress > 0 && scaling.decompress > 0)
    }

    /// Interrupted in the middle. Measured values stay, the rest is null, and the table is readable.
    @Test func aRunThatIsStoppedReportsWhatItHas() throws {
        var parts: [String] = []
        let report = try Throughput(directory: nil, rounds: 1000).run(
            shouldStop: { !parts.isEmpty },
            progress: { part, number, count in
                #expect(number == parts.count + 1 && count == 8)
                parts.append(part)
            }
        )
        #expect(report.interrupted && parts == ["codec"])
        #expect(report.codecTotal.ratio != nil && report.codecTotal.twoThreads == nil)
        #expect(report.pool == nil && report.lookup == nil && report.downsample == nil)
        #expect(try JSONText.of(report).contains("\"lookup\" : null"))
        #expect(report.text.contains("all pictures") && !report.text.contains("look-up"))
    }

    @Test func framesHaveFortyTiles() throws {
        let report = try LookupBenchmark().frame(rounds: 1)
        #expect(report.tiles == 40)
    }

    /// Counts depend on neither machine nor run. Benchmarks has tighter thresholds for them.
    @Test func countsAreTheSameInEachRun() throws {
        let figures = try CostBenchmark().run()
        #expect(try CostBenchmark().run() == figures)
        #expect(figures.frames < 3000 && figures.framesAtRest < 500 && figures.evictions < 75_000, "\(figures)")
    }

    @Test(arguments: [Throughput.Part.codec, .pool])
    func everyFigureHasItsName(part: Throughput.Part) throws {
        let figures = try Throughput(directory: nil, rounds: 1).figures(of: part)
        #expect(figures.count == part.figureNames.count)
        #expect(figures.allSatisfy { $0 >= 0 })
    }
}
