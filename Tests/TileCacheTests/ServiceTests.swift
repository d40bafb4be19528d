import Dispatch
import Synchronization
import Testing

@testable import TileCache

@Suite(.timeLimit(.minutes(5))) struct ServiceTests {
    private let world = 4096

    private func pyramid(wraps: Bool = false) throws -> TilePyramid {
        try .powerOfTwo(worldWidth: world, worldHeight: world, tileSize: 64, wrapsX: wraps)
    }

    private func viewport(_ x: Double, _ y: Double, scale: Double = 1, rotation: Double = 0) -> Viewport {
        Viewport(center: WorldPoint(x: x, y: y), width: 256, height: 192, scale: scale, rotation: rotation)
    }

    /// A cache without prefetch, so that a test knows what is loaded.
    private func quiet(_ cache: TileCache, _ layers: [LayerID]) -> TileView {
        cache.makeView(layers: layers, selection: LevelSelection(), policy: { NoPrefetch() })
    }

    @Test func aViewBecomesSharpAndItsPixelsAreTheSources() throws {
        let cache = try TileCache(byteLimit: .mebibytes(4))
        let source = PlainSource()
        let layer = try cache.addLayer(source, pyramid: try pyramid())
        let view = quiet(cache, [layer])
        view.update(viewport(1000, 1000))
        #expect(eventually { view.frame().missingTileCount == 0 })
        let frame = view.frame()
        // 256 x 192 pixels at (872, 904): columns 13 ... 17, rows 14 ... 17.
        #expect(frame.count == 20)
        for placement in frame {
            #expect(placement.isExact)
            #expect(holds(placement.tile, expectedPixel(layer: 0, placement.tile.identity.tile)))
            #expect(placement.tileRectangle == Rectangle(minX: 0, minY: 0, maxX: 64, maxY: 64))
        }
        #expect(source.loads.values.allSatisfy { $0 == 1 })
        #expect(cache.shutdown())
    }

    @Test func framesSayWhatCameAndWhatWent() throws {
        let cache = try TileCache(byteLimit: .mebibytes(4))
        let layer = try cache.addLayer(PlainSource(), pyramid: try pyramid())
        let view = quiet(cache, [layer])
        view.update(viewport(128, 96))
        #expect(eventually { view.frame().missingTileCount == 0 })
        #expect(view.frame().appeared.isEmpty)
        view.update(viewport(192, 96))
        _ = view.frame()
        #expect(
            eventually {
                view.update(viewport(192, 96))
                return view.frame().missingTileCount == 0
            }
        )
        view.update(viewport(128, 96))
        let back = view.frame()
        #expect(back.missingTileCount == 0)
        #expect(back.appeared.map(\.tile.column) == [0, 0, 0])
        #expect(back.disappeared.map(\.tile.column) == [4, 4, 4])
    }

    @Test func twoViewsOfTwoLayersShareOneLimit() throws {
        // 4 KiB... a slot is 16 KiB: 64 x 64 pixels of 4 bytes. The two views need about 24 + 40 tiles.
        let cache = try TileCache(byteLimit: .mebibytes(6))
        let blocking = PlainSource(layer: 0, absent: { ($0.column + $0.row) % 3 == 0 && $0.level == 6 })
        let queued = QueuedSource(layer: 1)
        let first = try cache.addLayer(blocking, pyramid: try pyramid())
        let second = try cache.addLayer(queued, pyramid: try pyramid(wraps: true))
        let a = cache.makeView(layers: [first])
        let b = cache.makeView(layers: [second, first])
        var random = SplitMix64(seed: 7)
        // Answers what has been asked, in random order, some of it late.
        func answerSome() {
            var requests = queued.take()
            while !requests.isEmpty {
                queued.answer(requests.remove(at: Int(random.next() % UInt64(requests.count))))
            }
        }
        for step in 0..<20 {
            let x = 600 + Double(step) * 45
            let first = viewport(x, 900)
            let second = viewport(4090 + x / 4, 2000, rotation: 0.6)
            let isSharp = eventually {
                a.update(first)
                b.update(second)
                answerSome()
                return a.frame().missingTileCount == 0 && b.frame().missingTileCount == 0
            }
            #expect(isSharp, "step \(step): \(cache.statistics)")
            check(a.frame(), first, layers: 1)
            check(b.frame(), second, layers: 2)
            #expect(cache.statistics.peakBytes <= 6 << 20)
        }
        #expect(cache.statistics.loadsAbsent > 0)
        #expect(queued.take().count <= 4)
        cache.shutdown()
    }

    /// Every placement shows the right pixels at the right place, and lies where its tile does.
    private func check(_ frame: TileFrame, _ viewport: Viewport, layers: Int) {
        for placement in frame {
            let identity = placement.tile.identity
            #expect(holds(placement.tile, expectedPixel(layer: identity.layer.index, identity.tile)))
            let span = Double(world) / Double(1 << identity.tile.level)
            let part = placement.tileRectangle
            let left = Double(identity.tile.column) * span + part.minX * span / 64
            let copies = (placement.worldRectangle.minX - left) / Double(world)
            #expect(abs(copies - copies.rounded()) < 1e-9)
            #expect(
                abs(placement.worldRectangle.minY - Double(identity.tile.row) * span - part.minY * span / 64) < 1e-6
            )
            #expect(abs(placement.worldRectangle.width - part.width * span / 64) < 1e-6)
        }
    }

    @Test func absentTilesAreNoGapAndTheirAncestorIsDrawn() throws {
        let cache = try TileCache(byteLimit: .mebibytes(4))
        let source = PlainSource(absent: { $0.level == 6 })
        let layer = try cache.addLayer(source, pyramid: try pyramid())
        try cache.addFloor(layer, levels: 0...2)
        let view = quiet(cache, [layer])
        view.update(viewport(1000, 1000))
        #expect(eventually { view.frame().missingTileCount == 0 && cache.statistics.loadsFinished == 21 })
        let frame = view.frame()
        #expect(frame.count == 20)
        #expect(frame.allSatisfy { !$0.isExact && $0.tile.identity.tile.level == 2 })
        for _ in 0..<10 { view.update(viewport(1000, 1000)) }
        #expect(source.loads.filter { $0.key.level == 6 }.values.allSatisfy { $0 == 1 })
        #expect(frame.coverage.blank == 0)
    }

    @Test func aLoadThatBeganBeforeAnInvalidationNeverLands() throws {
        let cache = try TileCache(byteLimit: .mebibytes(4), workers: 2)
        let source = PlainSource(isGated: true)
        let layer = try cache.addLayer(source, pyramid: try pyramid())
        let view = quiet(cache, [layer])
        // One tile.
        let small = Viewport(center: WorldPoint(x: 32, y: 32), width: 32, height: 32)
        view.update(small)
        #expect(eventually { source.inside == 1 })
        source.version = 1
        cache.invalidate(layer)
        source.open()
        #expect(eventually { source.inside == 1 && source.loads.values.first == 2 })
        #expect(view.frame().isEmpty)
        source.open()
        #expect(eventually { view.frame().count == 1 })
        let tile = view.frame()[0].tile
        #expect(holds(tile, expectedPixel(layer: 0, tile.identity.tile, version: 1)))
        #expect(cache.statistics.loadsOutdated == 1)
    }

    @Test func oldPixelsAreDrawnAsStaleUntilNewOnesLand() throws {
        let cache = try TileCache(byteLimit: .mebibytes(4), workers: 1)
        let source = PlainSource(isGated: true)
        let layer = try cache.addLayer(source, pyramid: try pyramid())
        let view = quiet(cache, [layer])
        let small = Viewport(center: WorldPoint(x: 32, y: 32), width: 32, height: 32)
        view.update(small)
        source.open()
        #expect(eventually { view.frame().count == 1 })
        let held = view.frame()[0].tile.retained()
        source.version = 1
        cache.invalidate(layer)
        #expect(eventually { source.inside == 1 })
        let stale = view.frame()[0].tile
        #expect(stale.isStale)
        #expect(stale.identity == held.identity)
        source.open()
        #expect(eventually { view.frame().first?.tile.isStale == false })
        let fresh = view.frame()[0].tile
        #expect(fresh.identity != held.identity)
        #expect(holds(fresh, expectedPixel(layer: 0, fresh.identity.tile, version: 1)))
        // Who held the old pixels still has them.
        #expect(holds(held, expectedPixel(layer: 0, held.identity.tile)))
        #expect(cache.statistics.decodedBytes == 2 * 64 * 64 * 4)
    }

    @Test func aHeldTileKeepsItsBytesAfterShutdown() throws {
        var cache: TileCache? = try TileCache(byteLimit: .mebibytes(4))
        let layer = try cache!.addLayer(PlainSource(), pyramid: try pyramid())
        let view = quiet(cache!, [layer])
        view.update(viewport(1000, 1000))
        #expect(eventually { view.frame().missingTileCount == 0 })
        let frame = view.frame()
        #expect(cache!.shutdown())
        cache = nil
        for placement in frame {
            #expect(holds(placement.tile, expectedPixel(layer: 0, placement.tile.identity.tile)))
        }
        #expect(view.frame().isEmpty)
    }

    @Test func coldTilesAreCompressedAndComeBackUnchanged() throws {
        // 30 tiles of 16 KiB and tables: most of what has been seen has to be compressed or given up.
        var configuration = TileCache.Configuration(byteLimit: .kibibytes(480))
        configuration.grantsBookkeeping = true
        let cache = try TileCache(configuration)
        let layer = try cache.addLayer(PlainSource(), pyramid: try pyramid())
        let view = quiet(cache, [layer])
        for step in 0..<60 {
            let x = 200 + Double(step % 30) * 60
            #expect(
                eventually {
                    view.update(viewport(x, 500))
                    return view.frame().missingTileCount == 0
                }
            )
            check(view.frame(), viewport(x, 500), layers: 1)
        }
        let figures = cache.statistics
        #expect(figures.demotions > 0)
        #expect(figures.promotions > 0)
        #expect(figures.demands.compressedHits > 0)
        #expect(figures.damagedBlocks == 0)
        #expect(figures.peakBytes <= 480 << 10)
    }

    @Test func aBudgetTooSmallDrawsCoarserTilesAndSaysWhatItWouldNeed() throws {
        // Bookkeeping included, 20 tiles of 16 KiB do not fit 256 KiB.
        let cache = try TileCache(byteLimit: .kibibytes(256))
        let layer = try cache.addLayer(
            PlainSource(),
            pyramid: try pyramid(),
            options: LayerOptions(isCompressible: false)
        )
        let view = quiet(cache, [layer])
        view.update(viewport(1000, 1000))
        #expect(view.shortfallBytes >= 20 * 16384)
        #expect(eventually { view.frame().missingTileCount == 0 && !view.frame().isEmpty })
        #expect(view.frame().allSatisfy { $0.tile.identity.tile.level < 6 && $0.isExact })
        #expect(cache.statistics.peakBytes <= 256 << 10)
    }

    @Test func aTileLargerThanTheLimitIsRefusedByName() throws {
        let cache = try TileCache(byteLimit: .kibibytes(8))
        #expect(throws: TileCacheError.invalidLayer("a tile takes 16384 bytes, more than the limit of 8192")) {
            try cache.addLayer(PlainSource(), pyramid: try pyramid())
        }
    }

    @Test func configurationsOutOfRangeAreRefused() {
        #expect(throws: TileCacheError.self) { try TileCache(byteLimit: .bytes(0)) }
        #expect(throws: TileCacheError.self) { try TileCache(byteLimit: .mebibytes(1), workers: 0) }
        #expect(throws: TileCacheError.self) { try TileCache(byteLimit: .mebibytes(1), workers: 256) }
        #expect(throws: TileCacheError.self) {
            var configuration = TileCache.Configuration(byteLimit: .mebibytes(1))
            configuration.effort = .nan
            _ = try TileCache(configuration)
        }
    }

    @Test func oneCallbackTellsOfManyTilesAndNoneComesAfterShutdown() throws {
        let cache = try TileCache(byteLimit: .mebibytes(4))
        let source = PlainSource(isGated: true)
        let layer = try cache.addLayer(source, pyramid: try pyramid())
        let view = quiet(cache, [layer])
        let queue = DispatchQueue(label: "test.callbacks")
        let calls = Lock(0)
        view.callbackQueue = queue
        view.onTilesReady = { calls.withLock { $0 += 1 } }
        // While the queue is busy, all landings are one call.
        queue.suspend()
        view.update(viewport(1000, 1000))
        source.open(20)
        #expect(eventually { view.frame().missingTileCount == 0 })
        queue.resume()
        #expect(eventually { calls.withLock { $0 } == 1 })
        view.update(viewport(2000, 2000))
        source.open(20)
        queue.suspend()
        #expect(eventually { view.frame().missingTileCount == 0 })
        #expect(cache.shutdown())
        let before = calls.withLock { $0 }
        queue.resume()
        queue.sync {}
        #expect(calls.withLock { $0 } == before)
    }

    @Test func shutdownReturnsInTimeThoughASourceBlocks() throws {
        let cache = try TileCache(byteLimit: .mebibytes(4), workers: 2)
        let source = PlainSource(isGated: true)
        let layer = try cache.addLayer(source, pyramid: try pyramid())
        let view = quiet(cache, [layer])
        view.update(viewport(1000, 1000))
        #expect(eventually { source.inside == 2 })
        #expect(!cache.shutdown(timeout: 20_000_000))
        source.open(2)
        #expect(eventually { source.inside == 0 })
        #expect(cache.shutdown())
    }

    @Test func unwantedRequestsAreToldAndTheirWorkersGoOn() throws {
        let cache = try TileCache(byteLimit: .mebibytes(4), workers: 4)
        let source = QueuedSource()
        let layer = try cache.addLayer(source, pyramid: try pyramid())
        let view = quiet(cache, [layer])
        view.update(viewport(500, 500))
        var requests: [TileRequest] = []
        #expect(
            eventually {
                requests += source.take()
                return requests.count == 4
            }
        )
        let told = Lock(0)
        for request in requests {
            #expect(request.isWanted && request.isDemand)
            request.onCancel { told.withLock { $0 += 1 } }
        }
        view.update(viewport(3000, 3000))
        #expect(eventually { told.withLock { $0 } == 4 })
        #expect(requests.allSatisfy { !$0.isWanted })
        for request in requests { request.cancel() }
        var wanted: [TileRequest] = []
        #expect(
            eventually {
                let more = source.take()
                for request in more { source.answer(request) }
                wanted += more
                return view.frame().missingTileCount == 0
            }
        )
        // Nothing of the old place was asked for again: what left the plan never starts.
        #expect(wanted.allSatisfy { $0.tile.column > 40 })
        #expect(cache.statistics.loadsCancelled == 4)
    }

    @Test func aSecondAnswerIsCountedAndAnAbandonedRequestIsAskedAgain() throws {
        var configuration = TileCache.Configuration(byteLimit: .mebibytes(4), workers: 1)
        configuration.retryDelay = 1_000_000
        let cache = try TileCache(configuration)
        let source = QueuedSource()
        let layer = try cache.addLayer(source, pyramid: try pyramid())
        let view = quiet(cache, [layer])
        view.update(Viewport(center: WorldPoint(x: 32, y: 32), width: 32, height: 32))
        var requests: [TileRequest] = []
        func next() -> Bool {
            eventually {
                requests = source.take()
                return !requests.isEmpty
            }
        }
        #expect(next())
        requests = []
        #expect(next())
        source.answer(requests[0])
        source.answer(requests[0])
        requests[0].fail(.permanent)
        #expect(eventually { view.frame().count == 1 })
        #expect(cache.statistics.secondAnswers == 2)
        #expect(cache.statistics.loadsFailed == 1)
    }

    @Test func renderersMayNameTheirOwnTiles() throws {
        let cache = try TileCache(byteLimit: .mebibytes(4), workers: 1)
        let source = QueuedSource()
        let layer = try cache.addLayer(source, pyramid: try pyramid())
        let view = quiet(cache, [layer])
        let tiles = [(3, Float(1)), (5, 9), (4, 5)].map {
            NeededTile(layer: layer, tile: TileCoordinate(level: $0.0, column: 1, row: 1), importance: $0.1)
        }
        view.update(viewport(1000, 1000))
        view.update(needing: tiles + [NeededTile(layer: layer, tile: TileCoordinate(level: 3, column: 99, row: 0))])
        var asked: [Int] = []
        #expect(
            eventually {
                for request in source.take() {
                    // What was under way for the viewport may come first.
                    if request.tile.level < 6 { asked.append(request.tile.level) }
                    source.answer(request)
                }
                return asked.count == 3
            }
        )
        #expect(asked == [5, 4, 3])
    }

    @Test func aDeclaredDestinationIsThereBeforeTheViewIs() throws {
        let cache = try TileCache(byteLimit: .mebibytes(4))
        let layer = try cache.addLayer(PlainSource(), pyramid: try pyramid())
        let view = quiet(cache, [layer])
        let there = viewport(3000, 3000)
        view.update(
            viewport(500, 500),
            at: MonotonicTime.now,
            destination: Destination(
                viewport: there,
                time: MonotonicTime(nanoseconds: MonotonicTime.now.nanoseconds + 60_000_000_000)
            )
        )
        #expect(
            eventually {
                try! pyramid().neededTiles(under: there, at: 6).allSatisfy { cache.isResident($0, of: layer) }
            }
        )
        view.update(there)
        #expect(view.frame().missingTileCount == 0)
        #expect(cache.statistics.demands.decodedHits == 20)
    }

    @Test func aRecordedViewReplaysToTheSameDemands() throws {
        let cache = try TileCache(byteLimit: .mebibytes(4))
        let layer = try cache.addLayer(PlainSource(), pyramid: try pyramid())
        let view = quiet(cache, [layer])
        let recorder = PanTraceRecorder()
        view.recorder = recorder
        var random = SplitMix64(seed: 3)
        var x = 2000.0
        var y = 2000.0
        for frame in 0..<300 {
            x += Double(random.next() % 41) - 20
            y += Double(random.next() % 41) - 20
            view.update(
                viewport(x, y, scale: frame < 150 ? 1 : 0.5),
                at: MonotonicTime(nanoseconds: Int64(frame) * 16_666_667)
            )
        }
        #expect(recorder.samples.count == 300)
        let replay = VirtualCache(options: VirtualCache.Options(), expectedLatency: 0, latency: { _, _ in 0 })
        let again = replay.addView(
            layers: [(replay.addLayer(tileBytes: 16384), try pyramid(), NoPrefetch())])
        for sample in recorder.samples {
            replay.frame(view: again, sample.viewport(width: 256, height: 192), at: sample.time)
        }
        #expect(replay.panDemands.total == cache.statistics.pan.total)
        #expect(replay.zoomDemands.total == cache.statistics.zoom.total)
        #expect(cache.statistics.zoom.total > 0)
    }

    @Test func aViewOfNamedTilesAloneDrawsThem() throws {
        let cache = try TileCache(byteLimit: .mebibytes(4))
        let layer = try cache.addLayer(PlainSource(), pyramid: try pyramid())
        let view = quiet(cache, [layer])
        let tiles = (0..<3).map { NeededTile(layer: layer, tile: TileCoordinate(level: 3, column: $0, row: 1)) }
        view.update(needing: tiles)
        #expect(eventually { view.frame().missingTileCount == 0 && view.frame().count == 3 })
        #expect(view.frame().allSatisfy { $0.isExact })
    }

    @Test func callbacksThatOwnFramesAndViewsGoOutsideOfTheLock() throws {
        let cache = try TileCache(byteLimit: .mebibytes(4))
        let layer = try cache.addLayer(PlainSource(), pyramid: try pyramid())
        let view = quiet(cache, [layer])
        view.update(viewport(1000, 1000))
        #expect(eventually { view.frame().missingTileCount == 0 })
        for _ in 0..<2 {
            var owned: (frame: TileFrame, view: TileView)? = (view.frame(), quiet(cache, [layer]))
            view.onTilesReady = { [owned] in _ = owned }
            owned = nil
        }
        view.onTilesReady = nil
        var other: TileView? = quiet(cache, [layer])
        other?.onTilesReady = { [frame = view.frame()] in _ = frame }
        other = nil
        #expect(cache.statistics.decodedTiles >= 20)
    }

    @Test func timesMayBeAnything() throws {
        let cache = try TileCache(byteLimit: .mebibytes(4))
        let layer = try cache.addLayer(PlainSource(), pyramid: try pyramid())
        let view = cache.makeView(layers: [layer])
        for (index, time) in [Int64.min, 0, .max, -1, .max - 1, .min, 5].enumerated() {
            view.update(viewport(800 + Double(index) * 90, 800), at: MonotonicTime(nanoseconds: time))
            _ = view.frame()
        }
        view.update(viewport(900, 900))
        #expect(eventually { view.frame().missingTileCount == 0 })
    }

    @Test func aHundredCachesStartAndStopUnderLoad() throws {
        for round in 0..<100 {
            let cache = try TileCache(byteLimit: .mebibytes(2), workers: 3)
            let layer = try cache.addLayer(PlainSource(pauseMicroseconds: 200), pyramid: try pyramid())
            let view = cache.makeView(layers: [layer])
            for step in 0..<6 {
                view.update(viewport(500 + Double(step * 40), 500 + Double(round)))
                _ = view.frame()
                pause(microseconds: 300)
            }
            #expect(cache.shutdown(), "round \(round)")
            #expect(cache.statistics.loadsInFlight == 0)
        }
    }

    @Test func aSourceThatNeverAnswersDoesNotKeepACacheAlive() throws {
        weak var core: CacheCore?
        do {
            let cache = try TileCache(byteLimit: .mebibytes(2))
            core = cache.core
            // Nobody but the cache holds the source, which holds the requests, which hold the cache.
            let layer = try cache.addLayer(QueuedSource(layer: 0), pyramid: try pyramid())
            let view = quiet(cache, [layer])
            view.update(viewport(700, 700))
            #expect(eventually { cache.statistics.loadsInFlight > 0 })
            pause(microseconds: 2000)
        }
        #expect(eventually { core == nil })
    }

    @Test func nothingOfACacheOutlivesItsLastUser() throws {
        weak var core: CacheCore?
        do {
            let cache = try TileCache(byteLimit: .mebibytes(2))
            core = cache.core
            let layer = try cache.addLayer(PlainSource(pauseMicroseconds: 100), pyramid: try pyramid())
            let view = cache.makeView(layers: [layer])
            view.update(viewport(700, 700))
            pause(microseconds: 2000)
            _ = view.frame()
        }
        #expect(eventually { core == nil })
    }
}
