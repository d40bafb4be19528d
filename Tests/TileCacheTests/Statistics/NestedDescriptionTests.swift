import Testing

@testable import TileCache

/// What `print` writes of values in values: words and units, no names of types.
@Suite struct NestedDescriptionTests {
    private typealias Figures = TileCacheStatistics

    @Test func countsNameWhatHasOccurred() {
        var demands = Figures.DemandCounts()
        #expect("\(demands)" == "no demands")
        (demands.total, demands.missed) = (1, 1)
        #expect("\(demands)" == "1 demand (hit rate 0.0 %): 1 missed")
        (demands.total, demands.decodedHits, demands.compressedHits) = (40, 30, 5)
        (demands.late, demands.missed) = (3, 2)
        #expect("\(demands)" == "40 demands (hit rate 87.5 %): 30 decoded, 5 compressed, 3 late, 2 missed")

        var loads = Figures.LoadCounts()
        #expect("\(loads)" == "no loads")
        (loads.started, loads.finished, loads.byteTotal, loads.drawn) = (12, 10, 10 << 18, 9)
        (loads.absent, loads.failed) = (1, 1)
        #expect("\(loads)" == "12 loads: 10 finished (2.5 MiB), 1 absent, 1 failed, 9 drawn")
        (loads.postponed, loads.cancelled, loads.outdated, loads.refused) = (2, 3, 4, 5)
        (loads.retried, loads.unseen, loads.secondAnswers) = (6, 7, 8)
        #expect(
            "\(loads)" == "12 loads: 10 finished (2.5 MiB), 1 absent, 1 failed, 2 put off, 3 cancelled, 4 outdated, "
                + "5 refused memory, 6 retried, 9 drawn, 7 never to be drawn, 8 answered twice"
        )

        var prefetches = Figures.PrefetchCounts()
        #expect("\(prefetches)" == "no prefetches")
        (prefetches.started, prefetches.useful, prefetches.wasted) = (9, 6, 3)
        #expect("\(prefetches)" == "9 prefetches: 6 useful, 3 wasted")

        var revalidations = Figures.RevalidationCounts()
        (revalidations.started, revalidations.unchanged, revalidations.changed) = (3, 2, 1)
        #expect("\(revalidations)" == "3 revalidations: 2 unchanged, 1 changed")

        var synthesis = Figures.SynthesisCounts()
        (synthesis.tiles, synthesis.loads, synthesis.holes) = (4, 12, 1)
        #expect("\(synthesis)" == "4 synthesized tiles: 12 loaded for them, 1 missing for good")

        var own = LayerPrefetchCounts()
        #expect("\(own)" == "no prefetches")
        (own.started, own.byteTotal, own.requests, own.drawn, own.drawnByteTotal) = (1, 1 << 20, 1, 1, 1 << 20)
        #expect("\(own)" == "1 prefetch (1.0 MiB): 1 requested, 1 drawn (1.0 MiB)")
    }

    @Test func tiersMemoryAndTimesHaveUnits() {
        var tiers = Figures.TierCounts()
        #expect("\(tiers)" == "no tiles compressed")
        (tiers.demotions, tiers.promotions, tiers.demotedRawBytes, tiers.demotedBlockBytes) = (20, 5, 240, 100)
        tiers.countRemoval(.capacity)
        tiers.countRemoval(.capacity)
        tiers.countRemoval(.trimmed)
        #expect(
            "\(tiers)" == "20 tiles compressed (to 41.7 %), 5 decompressed; removed: 2 to make room, 1 trimmed"
        )
        #expect("\(tiers.removals[.capacity] ?? 0) \(Figures.RemovalCause.damaged)" == "2 damaged")

        var memory = Figures.MemoryUse()
        (memory.used, memory.limit, memory.peak) = (.mebibytes(12), .mebibytes(64), .mebibytes(20))
        (memory.decoded, memory.decodedTiles) = (.mebibytes(10), 40)
        (memory.compressed, memory.compressedTiles) = (.mebibytes(1), 1)
        memory.bookkeeping = .bytes(1000)
        let usual =
            "12.0 MiB of 64.0 MiB (peak 20.0 MiB): 10.0 MiB in 40 decoded tiles, 1.0 MiB in 1 compressed tile, "
            + "1000 bytes of tables"
        #expect("\(memory)" == usual)
        (memory.inFlight, memory.stores, memory.shortfall) = (.mebibytes(2), .mebibytes(3), .mebibytes(99))
        (memory.pinned, memory.pinnedTiles) = (.mebibytes(4), 16)
        let rest = ", 2.0 MiB in flight, 3.0 MiB of stores, 4.0 MiB in 16 pinned tiles, one screen needs 99.0 MiB"
        #expect("\(memory)" == usual + rest)

        var waits = Figures.DurationSummary()
        #expect("\(waits)" == "none")
        (waits.count, waits.p50, waits.p95) = (12, .microseconds(1500), .milliseconds(20))
        (waits.p99, waits.maximum) = (.nanoseconds(999), .seconds(2))
        #expect("\(waits)" == "12: p50 1.5 ms, p95 20 ms, p99 999 ns, maximum 2 s")

        var store = Figures.StoreCounts()
        #expect("\(store)" == "no look-ups")
        (store.hits, store.staleHits, store.misses, store.writes) = (10, 1, 2, 4)
        store.waitNanoseconds = 12 * 250_000
        #expect("\(store)" == "12 look-ups: 10 hits (1 stale), 2 misses in 250 us each; 4 written")
    }

    @Test func optionsNameTheFormatAndWhatIsNotUsual() {
        var options = LayerOptions()
        #expect("\(options)" == "rgba8, premultiplied")
        options = LayerOptions(
            format: .gray16,
            alpha: .ignored,
            isCompressible: false,
            maximumShare: 0.25,
            synthesizedLevels: 1,
            downsampling: .linearSigned,
            prefetch: .never,
            profile: PrefetchProfile(),
            stores: LayerStores([MemoryStore()], dataSet: ["a"])
        )
        #expect(
            "\(options)" == "gray16, ignored, never compressed, at most 25.0 % of the limit, "
                + "1 synthesized level (linearSigned), prefetch: never, profile of no sessions, 1 store"
        )
        options.prefetch = .priced(PrefetchTerms(effort: 0.3, requestsPerMinute: 60, bytesPerMinute: .mebibytes(2)))
        #expect("\(options.prefetch)" == "priced, effort 0.3, at most 60 requests a minute, at most 2.0 MiB a minute")
        #expect("\(TilePixelFormat.opaque(bytesPerTile: 32))" == "opaque(bytesPerTile: 32)")

        var configuration = TileCache.Configuration(byteLimit: .mebibytes(64))
        #expect("\(configuration)" == "64.0 MiB, 4 workers, effort 0.5")
        (configuration.workers, configuration.usesCompressedTier, configuration.effort) = (1, false, 0)
        (configuration.maximumByteLimit, configuration.retryDelay) = (.mebibytes(128), .seconds(2))
        #expect(
            "\(configuration)" == "64.0 MiB, 1 worker, effort 0, maximum limit 128.0 MiB, no compressed tier, "
                + "retry delay 2 s"
        )
    }

    @Test func placesAreNumbersWithWords() throws {
        let viewport = TileViewport(center: WorldPoint(x: 512, y: 64.5), width: 1280, height: 720, scale: 0.5)
        #expect("\(viewport)" == "1280 x 720 around (512, 64.5), scale 0.5")
        var turned = viewport
        turned.rotation = 0.25
        #expect("\(turned)" == "1280 x 720 around (512, 64.5), scale 0.5, turned by 0.25")
        #expect("\(PixelRect(minX: -8, minY: 64, maxX: 248, maxY: 192))" == "256 x 128 at (-8, 64)")
        #expect("\(PixelRect(minX: 0, minY: 0, maxX: .infinity, maxY: .nan))" == "inf x nan at (0, 0)")
        #expect("\(TileLevelSelection(bias: 0.5))" == "bias 0.5, hysteresis 0 octaves")
        let pyramid = try TilePyramid(
            worldWidth: 1000,
            worldHeight: 750,
            levels: [
                PyramidLevel(width: 250, height: 188, tileWidth: 128, tileHeight: 100, worldPixelsPerPixel: 4),
                PyramidLevel(
                    width: 1000,
                    height: 750,
                    tileWidth: 512,
                    tileHeight: 400,
                    worldPixelsPerPixel: 1,
                    origin: WorldPoint(x: -6, y: 2),
                    border: 1
                ),
            ]
        )
        let levels = """

              level 0: 250 x 188 pixels of 4 world pixels, in 2 x 2 tiles of 128 x 100
              level 1: 1000 x 750 pixels of 1 world pixel, in 2 x 2 tiles of 512 x 400 with a border of 1 from (-6, 2)
            """
        #expect("\(pyramid)" == "world of 1000 x 750" + levels)
        let part = PixelRect(minX: 0, minY: 0, maxX: 500, maxY: 750)
        #expect("\(pyramid.limited(to: part))" == "world of 1000 x 750, tiles in 500 x 750 at (0, 0)" + levels)
    }

    @Test func framesListTheirTiles() throws {
        let steps = StepScheduler.calm()
        let cache = try steps.cache(byteLimit: .mebibytes(4))
        let layer = try cache.addLayer(PlainSource(absent: { $0.row == 9 }), pyramid: try ServiceSetup.pyramid())
        let view = ServiceSetup.quiet(cache, [layer])
        view.update(TileViewport(center: WorldPoint(x: 32, y: 544), width: 64, height: 64))
        let blank = view.frame()
        #expect("\(layer)" == "layer 0" && "\(blank)" == "tiles: 1 missing")
        #expect("\(blank.late)" == "[layer 0, 6/0/8: waiting]")
        let shares = try #require(blank.shares)
        #expect("\(shares)" == "sharp 0.0 %, fallback 0.0 %, blank 100.0 %, deficit 7 levels")
        #expect(steps.runAll())
        let sharp = view.frame()
        #expect("\(sharp[0])" == "layer 0, 6/0/8, generation 1: 64 x 64 rgba8, exact, 64 x 64 at (0, 512)")
        #expect("\(sharp.appeared)" == "[layer 0, 6/0/8, generation 1]")
        view.update(TileViewport(center: WorldPoint(x: 32, y: 608), width: 64, height: 64))
        _ = view.frame()
        #expect(steps.runAll())
        #expect("\(view.frame().unavailable)" == "[layer 0, 6/0/9: absent]")
        let text = "\(view.statistics)"
        #expect(text.hasPrefix("sharp ") && text.hasSuffix("; 1 demand (hit rate 0.0 %): 1 missed"), "\(text)")
        let own = try #require(layer.statistics)
        #expect("\(own)".hasPrefix("1 demand (hit rate 0.0 %): 1 missed; "), "\(own)")
        cache.shutdown()
    }
}
