import Testing

@testable import TileCache

/// Frames of a view, and the counts of the cache.
@Suite(.timeLimit(.minutes(45))) struct ServiceFrameTests {
    @Test func aViewBecomesSharpAndItsPixelsAreTheSources() throws {
        let steps = StepScheduler.calm()
        let cache = try steps.cache(byteLimit: .mebibytes(4))
        let source = PlainSource()
        let layer = try cache.addLayer(source, pyramid: try ServiceSetup.pyramid())
        let view = ServiceSetup.quiet(cache, [layer])
        view.update(ServiceSetup.viewport(1000, 1000))
        #expect(steps.reaches { view.frame().missingTileCount == 0 })
        let frame = view.frame()
        // 256 x 192 pixels at (872, 904): columns 13 ... 17, rows 14 ... 17.
        #expect(frame.count == 20)
        for placement in frame {
            #expect(placement.isExact)
            #expect(holds(placement.tile, expectedPixel(layer: 0, placement.tile.identity.tile)))
            #expect(placement.tileRectangle == PixelRect(minX: 0, minY: 0, maxX: 64, maxY: 64))
        }
        #expect(source.loads.values.allSatisfy { $0 == 1 })
        #expect(steps.runAll() && cache.shutdown())
    }

    @Test func framesSayWhatCameAndWhatWent() throws {
        let steps = StepScheduler.calm()
        let cache = try steps.cache(byteLimit: .mebibytes(4))
        let layer = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid())
        let view = ServiceSetup.quiet(cache, [layer])
        view.update(ServiceSetup.viewport(128, 96))
        #expect(steps.reaches { view.frame().missingTileCount == 0 })
        #expect(view.frame().appeared.isEmpty)
        view.update(ServiceSetup.viewport(192, 96))
        _ = view.frame()
        #expect(
            steps.reaches {
                view.update(ServiceSetup.viewport(192, 96))
                return view.frame().missingTileCount == 0
            }
        )
        view.update(ServiceSetup.viewport(128, 96))
        let back = view.frame()
        #expect(back.missingTileCount == 0)
        #expect(back.appeared.map(\.tile.column) == [0, 0, 0])
        #expect(back.disappeared.map(\.tile.column) == [4, 4, 4])
    }

    @Test func twoViewsOfTwoLayersShareOneLimit() throws {
        // A slot is 16 KiB: 64 x 64 pixels of 4 bytes. The two views need about 24 + 40 tiles.
        let steps = StepScheduler.calm()
        let cache = try steps.cache(byteLimit: .mebibytes(6))
        let blocking = PlainSource(layer: 0, absent: { ($0.column + $0.row) % 3 == 0 && $0.level == 6 })
        let queued = QueuedSource(layer: 1)
        let first = try cache.addLayer(blocking, pyramid: try ServiceSetup.pyramid())
        let second = try cache.addLayer(queued, pyramid: try ServiceSetup.pyramid(wraps: true))
        let a = cache.makeView(layers: [first])
        let b = cache.makeView(layers: [second, first])
        var random = SplitMix64(seed: 7)
        // Answers the requests in random order, some of them late.
        func answerSome() {
            var requests = queued.take()
            while !requests.isEmpty {
                queued.answer(requests.remove(at: Int(random.next() % UInt64(requests.count))))
            }
        }
        for step in 0..<20 {
            let x = 600 + Double(step) * 45
            let first = ServiceSetup.viewport(x, 900)
            let second = ServiceSetup.viewport(4090 + x / 4, 2000, rotation: 0.6)
            let isSharp = steps.reaches {
                a.update(first)
                b.update(second)
                answerSome()
                return a.frame().missingTileCount == 0 && b.frame().missingTileCount == 0
            }
            #expect(isSharp, "step \(step): \(cache.statistics)")
            ServiceSetup.check(a.frame(), first, layers: 1)
            ServiceSetup.check(b.frame(), second, layers: 2)
            #expect(cache.statistics.memory.peak.bytes <= 6 << 20)
        }
        #expect(cache.statistics.loads.absent > 0)
        #expect(queued.take().count <= 4)
        #expect(steps.runAll() && cache.shutdown())
    }

    @Test func absentTilesAreNoGapAndTheirAncestorIsDrawn() throws {
        let steps = StepScheduler.calm()
        let cache = try steps.cache(byteLimit: .mebibytes(4))
        let source = PlainSource(absent: { $0.level == 6 })
        let layer = try cache.addLayer(source, pyramid: try ServiceSetup.pyramid())
        try layer.pin(levels: 0...2)
        let view = ServiceSetup.quiet(cache, [layer])
        view.update(ServiceSetup.viewport(1000, 1000))
        #expect(steps.reaches { view.frame().missingTileCount == 0 && cache.statistics.loads.finished == 21 })
        let frame = view.frame()
        #expect(frame.count == 20)
        #expect(frame.allSatisfy { !$0.isExact && $0.tile.identity.tile.level == 2 })
        for _ in 0..<10 { view.update(ServiceSetup.viewport(1000, 1000)) }
        #expect(source.loads.filter { $0.key.level == 6 }.values.allSatisfy { $0 == 1 })
        #expect(frame.coverage.blank == 0)
    }

    @Test func coldTilesAreCompressedAndComeBackUnchanged() throws {
        let steps = StepScheduler.calm()
        // 30 tiles of 16 KiB and tables: most earlier tiles must be compressed or evicted.
        var configuration = TileCache.Configuration(byteLimit: .kibibytes(480))
        configuration.grantsBookkeeping = true
        steps.adopt(&configuration)
        let cache = try TileCache(configuration)
        let layer = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid())
        let view = ServiceSetup.quiet(cache, [layer])
        for step in 0..<60 {
            let x = 200 + Double(step % 30) * 60
            #expect(
                steps.reaches {
                    view.update(ServiceSetup.viewport(x, 500))
                    return view.frame().missingTileCount == 0
                }
            )
            ServiceSetup.check(view.frame(), ServiceSetup.viewport(x, 500), layers: 1)
        }
        let figures = cache.statistics
        #expect(figures.tiers.demotions > 0)
        #expect(figures.tiers.promotions > 0)
        #expect(figures.demands.compressedHits > 0)
        #expect(figures.tiers.damagedBlocks == 0)
        #expect(figures.memory.peak.bytes <= 480 << 10)
    }

    @Test func aBudgetTooSmallDrawsCoarserTilesAndSaysWhatItWouldNeed() throws {
        let steps = StepScheduler.calm()
        // With tables, 20 tiles of 16 KiB do not fit 256 KiB.
        let cache = try steps.cache(byteLimit: .kibibytes(256))
        let layer = try cache.addLayer(
            PlainSource(),
            pyramid: try ServiceSetup.pyramid(),
            options: LayerOptions(isCompressible: false)
        )
        let view = ServiceSetup.quiet(cache, [layer])
        view.update(ServiceSetup.viewport(1000, 1000))
        #expect(view.shortfall.bytes >= 20 * 16384)
        #expect(steps.reaches { view.frame().missingTileCount == 0 && !view.frame().isEmpty })
        #expect(view.frame().allSatisfy { $0.tile.identity.tile.level < 6 && $0.isExact })
        #expect(cache.statistics.memory.peak.bytes <= 256 << 10)
    }

    @Test func aRecordedViewReplaysToTheSameDemands() throws {
        let cache = try TileCache(byteLimit: .mebibytes(4))
        let layer = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid())
        let view = ServiceSetup.quiet(cache, [layer])
        final class Recorder: ViewportRecorder {
            let viewports = Lock<[(viewport: TileViewport, time: Int64)]>([])

            func record(_ viewport: TileViewport, at nanoseconds: Int64) -> Bool {
                viewports.withLock { $0.append((viewport, nanoseconds)) }
                return true
            }
        }
        let recorder = Recorder()
        view.recorder = recorder
        var random = SplitMix64(seed: 3)
        var x = 2000.0
        var y = 2000.0
        for frame in 0..<300 {
            x += Double(random.next() % 41) - 20
            y += Double(random.next() % 41) - 20
            view.update(
                ServiceSetup.viewport(x, y, scale: frame < 150 ? 1 : 0.5),
                at: MonotonicTime(nanoseconds: Int64(frame) * 16_666_667)
            )
        }
        let recorded = recorder.viewports.withLock { $0.map { $0 } }
        #expect(recorded.count == 300)
        let replay = VirtualCache(options: VirtualCache.Options(), expectedLatency: 0, latency: { _, _ in 0 })
        let again = replay.addView(
            layers: [(try replay.addLayer(tileBytes: 16384), try ServiceSetup.pyramid(), NoPrefetch())])
        for (viewport, time) in recorded {
            replay.frame(view: again, viewport, at: time)
        }
        #expect(replay.panDemands.total == cache.statistics.pan.total)
        #expect(replay.zoomDemands.total == cache.statistics.zoom.total)
        #expect(cache.statistics.zoom.total > 0)
    }

    /// Frames of a renderer that draws when it is asked to give up their fallbacks for tiles without room. If these fail
    /// for good, the fallback that is left is drawn again. The area stayed blank: no call followed.
    @Test(arguments: [5, 6]) func fallbacksAreDrawnAgainOnceNothingLacksRoom(lostLevel: Int) throws {
        // Room for two tiles. A view at level 5 or 6 needs two, each with another parent.
        let scene = try StillScene(tiles: 2, workers: 1) { $0.fitsLevelToBudget = false }
        let layer = try scene.cache.addLayer(LosingSource(level: lostLevel), pyramid: scene.pyramid)
        let view = ServiceSetup.quiet(scene.cache, [layer])
        let isAsked = Lock(false)
        view.onTilesReady = { isAsked.withLock { $0 = true } }
        var frame = view.frame()
        func show(level: Int) {
            let scale = level == 6 ? 1 : 0.5
            view.update(TileViewport(center: WorldPoint(x: 128, y: 32), width: 64, height: 32, scale: scale))
            repeat {
                isAsked.withLock { $0 = false }
                frame = view.frame()
                scene.run()
            } while isAsked.withLock({ $0 })
        }
        show(level: 11 - lostLevel)
        #expect(frame.count == 2 && frame.missingTileCount == 0)
        show(level: lostLevel)
        // The other one has made way, and comes back or has an ancestor in its place.
        #expect(frame.unavailable.count == 2 && frame.count == 2, "\(frame), \(scene.cache.statistics)")
    }

    /// Two lost tiles without a fallback: their parents are loaded, without another frame or move. If these are lost too,
    /// they are not requested again, and the next coarser tile is loaded.
    @Test(arguments: [false, true]) func lostTilesGetAFallback(losesIt: Bool) throws {
        let scene = try StillScene(tiles: 64, workers: 8)
        let source = LosingSource(level: 6, other: losesIt ? 5 : nil)
        let layer = try scene.cache.addLayer(source, pyramid: scene.pyramid)
        let view = scene.cache.makeView(
            layers: [layer],
            selection: TileLevelSelection(),
            policy: { AdaptivePolicy(effects: .fallback) }
        )
        for step in 0..<4 {
            view.update(TileViewport(center: WorldPoint(x: 128 + Double(step), y: 32), width: 64, height: 32))
            scene.run()
            let frame = view.frame()
            #expect(frame.unavailable.count == 2 && frame.count == 2)
            #expect(frame.allSatisfy { $0.tile.identity.tile.level == (losesIt ? 4 : 5) })
            #expect(scene.cache.statistics.loads.failed == (losesIt ? 4 : 2))
        }
    }

    /// A layer at its maximum share makes room among its own tiles: fallbacks of other layers stay. They left a blank
    /// area, and at rest none was loaded again.
    @Test func aLayerAtItsShareTakesNoFallbacksOfOthers() throws {
        let scene = try StillScene(tiles: 64, workers: 1)
        let options = LayerOptions(maximumShare: 2.0 / 64)
        let full = try scene.cache.addLayer(PlainSource(), pyramid: scene.pyramid, options: options)
        let lost = try scene.cache.addLayer(LosingSource(level: 6), pyramid: scene.pyramid)
        let (crowd, view) = (ServiceSetup.quiet(scene.cache, [full]), ServiceSetup.quiet(scene.cache, [lost]))
        for scale in [0.5, 1] {
            view.update(
                TileViewport(center: WorldPoint(x: 32, y: 32), width: 64 * scale, height: 64 * scale, scale: scale)
            )
            scene.run()
        }
        scene.need(0..<4, of: full, crowd)
        #expect(scene.isShort && scene.resident(0..<4, of: full) == 2)
        let frame = view.frame()
        #expect(frame.unavailable.count == 1 && frame.count == 1, "\(frame)")
    }

    /// Also if the workers have come to rest while a frame decompresses a tile.
    @Test func theEndOfAFramesOwnWorkMayReturnRoom() throws {
        let scene = try StillScene(tiles: 16, workers: 1) { $0.usesCompressedTier = true }
        let layer = try scene.cache.addLayer(LosingSource(level: 5), pyramid: scene.pyramid)
        let view = ServiceSetup.quiet(scene.cache, [layer])
        let lost = NeededTile(layer: layer.id, tile: TileCoordinate(level: 5, column: 0, row: 0))
        let cold = NeededTile(layer: layer.id, tile: scene.tile(0))
        for list in [[lost, cold], [lost]] {
            view.update(needing: list)
            scene.run()
        }
        #expect(layer.demote(cold.tile))
        let isAsked = Lock(false)
        view.onTilesReady = { isAsked.withLock { $0 = true } }
        let core = scene.cache.core
        core.perform { $0.views[0]?.spared.isOfAll = true }
        view.update(needing: [lost, cold])
        scene.meanwhile = {
            guard core.lock.withLock({ $0.pool.codecJobs.count > 0 }) else { return false }
            scene.run()
            return true
        }
        #expect(view.frame().missingTileCount == 1)
        scene.meanwhile = nil
        scene.run()
        #expect(isAsked.withLock { $0 })
    }

    /// A needed tile that was refused memory waits for room until it is tried again. If that load hangs, it waits for its
    /// source.
    @Test(arguments: [false, true]) func aLoadThatHangsAwaitsNoRoom(hangs: Bool) throws {
        let scene = try StillScene(tiles: 16)
        let layer = try scene.cache.addLayer(QueuedSource(), pyramid: scene.pyramid)
        let view = ServiceSetup.quiet(scene.cache, [layer])
        defer { withExtendedLifetime(view) {} }
        scene.need(0..<1, of: layer, view)
        let key = TileKey(layer: layer.id.index, scene.tile(0))
        let awaitsRoom = scene.cache.core.perform { state -> Bool? in
            let number = state.pool.table.find(key)
            let before = state.pool.table[number]
            state.pool.table.stage(number) {
                $0.flags.insert(.refused)
                if !hangs { $0.load = .none }
            }
            defer { state.pool.table.stage(number) { ($0.flags, $0.load) = (before.flags, before.load) } }
            return before.load == .none ? nil : state.views[0]?.awaitsRoom(in: state.pool)
        }
        #expect(awaitsRoom == !hangs)
    }
}

/// A source whose tiles of one level fail for good.
private struct LosingSource: BlockingTileSource {
    let level: Int
    /// Another such level. Default: nil, none.
    var other: Int?

    func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
        guard tile.level != level, tile.level != other else { throw TileFailure.permanent }
        fill(&pixels, with: expectedPixel(layer: 0, tile))
        return .pixels
    }
}
