import Dispatch
import Testing

@testable import TileCache

/// A renderer's limits on memory and on time within a frame.
@Suite(.timeLimit(.minutes(45))) struct ServiceBudgetTests {
    /// A view over twenty compressed tiles, and a cache whose one worker is idle.
    private func compressedView() throws -> (TileCache, TileView, PlainSource, TileView) {
        let cache = try TileCache(byteLimit: .mebibytes(4), workers: 1)
        let layer = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid())
        let busy = PlainSource(isGated: true)
        let other = try cache.addLayer(busy, pyramid: try ServiceSetup.pyramid())
        let view = ServiceSetup.quiet(cache, [layer])
        view.update(ServiceSetup.viewport(600, 600))
        #expect(eventually { view.frame().missingTileCount == 0 })
        view.update(ServiceSetup.viewport(3000, 3000))
        #expect(eventually { view.frame().missingTileCount == 0 })
        let blocker = ServiceSetup.quiet(cache, [other])
        blocker.update(TileViewport(center: WorldPoint(x: 32, y: 32), width: 32, height: 32))
        #expect(eventually { busy.inside == 1 })
        cache.core.lock.withLock { state in
            for tile in (try? ServiceSetup.pyramid().neededTiles(under: ServiceSetup.viewport(600, 600), at: 6)) ?? [] {
                let number = state.pool.table.find(TileKey(layer: 0, tile))
                _ = state.pool.finishDemotion(state.pool.beginDemotion(number), .solid(7))
            }
        }
        #expect(cache.statistics.memory.compressedTiles == 20)
        return (cache, view, busy, blocker)
    }

    @Test(arguments: [(0, 1_000_000_000), (3, 1_000_000_000), (64, 1_000_000_000), (64, 0)] as [(Int, Int64)])
    func aFrameDecompressesNoMoreThanItMay(tiles: Int, nanoseconds: Int64) throws {
        let (cache, view, busy, blocker) = try compressedView()
        view.promotionBudget = PromotionBudget(maximumTiles: tiles, maximumTime: .nanoseconds(nanoseconds))
        view.update(ServiceSetup.viewport(600, 600))
        let expected = nanoseconds == 0 ? 0 : min(tiles, 20)
        for frame in 1...2 {
            #expect(view.frame().missingTileCount == max(20 - frame * expected, 0))
        }
        #expect(cache.statistics.tiers.promotions == min(2 * expected, 20))
        // Workers do the rest.
        busy.open(100)
        #expect(eventually { view.frame().missingTileCount == 0 })
        withExtendedLifetime(blocker) {}
    }

    /// A renderer that draws only when notified gets the tiles that workers decompress for it.
    @Test func whatWorkersDecompressCallsBack() throws {
        let (cache, view, busy, blocker) = try compressedView()
        view.promotionBudget = PromotionBudget(maximumTiles: 0, maximumTime: .seconds(1))
        let told = DispatchSemaphore(value: 0)
        view.callbackQueue = DispatchQueue(label: "test.callbacks")
        view.onTilesReady = { told.signal() }
        view.update(ServiceSetup.viewport(600, 600))
        var missing = view.frame().missingTileCount
        #expect(missing == 20)
        busy.open(100)
        while missing > 0, told.wait(timeout: .now() + 600) == .success { missing = view.frame().missingTileCount }
        #expect(missing == 0)
        withExtendedLifetime((cache, blocker)) {}
    }

    @Test func aLayerKeepsToItsShare() throws {
        let steps = StepScheduler.calm()
        let cache = try steps.cache(byteLimit: .mebibytes(2))
        let pyramid = try ServiceSetup.pyramid()
        let free = try cache.addLayer(PlainSource(layer: 0), pyramid: pyramid)
        let held = try cache.addLayer(
            PlainSource(layer: 1),
            pyramid: pyramid,
            options: LayerOptions(maximumShare: 0.1)
        )
        let view = cache.makeView(layers: [free, held])
        for step in 0..<30 {
            let place = ServiceSetup.viewport(500 + Double(step) * 40, 700)
            #expect(
                steps.reaches {
                    view.update(place)
                    return view.frame().missingTileCount == 0
                }
            )
            let used = cache.core.lock.withLock { $0.pool.usedBytes(ofLayer: 1) }
            #expect(used <= (2 << 20) / 10)
            let levels = Dictionary(grouping: view.frame(), by: \.tile.identity.layer)
                .mapValues { Set($0.map(\.tile.identity.tile.level)) }
            // Twenty tiles do not fit a tenth of 2 MiB, nine do.
            #expect(levels == [free.id: [6], held.id: [5]])
        }
        #expect(view.shortfall.bytes > 0)
    }

    /// Two views that do not fit together at their own level: all tiles of both come, also at rest. One that needs
    /// less, or is removed, leaves its room to the other.
    @Test(arguments: 0..<8) func viewsThatDoNotFitTogetherAreComplete(seed: UInt64) throws {
        let steps = StepScheduler(seed: seed)
        // Thirty tiles of 16 KiB beside the tables, without a codec's memory.
        var configuration = TileCache.Configuration(byteLimit: .bytes(30 * 16_384 + 60_000))
        configuration.usesCompressedTier = false
        steps.adopt(&configuration)
        let cache = try TileCache(configuration)
        let layer = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid())
        let first = ServiceSetup.quiet(cache, [layer])
        var second: TileView? = ServiceSetup.quiet(cache, [layer])
        func levels() -> [Int] {
            cache.core.read { state in state.views.compactMap { $0?.model.layers.first?.needs.level } }
        }
        func areComplete() -> Bool {
            [first, second].compactMap { $0?.frame().missingTileCount }.allSatisfy { $0 == 0 }
        }
        first.update(ServiceSetup.viewport(900, 900))
        second?.update(ServiceSetup.viewport(3000, 3000))
        #expect(steps.reaches { areComplete() }, "\(cache.statistics)")
        let room = cache.core.read { $0.pool.unpinnedBytes / 16_384 }
        #expect((29..<33).contains(room), "\(room)")
        #expect(levels() == [6, 5] && first.shortfall.bytes == 0)
        #expect(second?.shortfall == .bytes(20 * 16_384))
        // Requests need their tiles for a while: no view gives way to them.
        let answers = Lock(0)
        let requests = (0..<8).map { column in
            let tile = TileCoordinate(level: 6, column: column, row: 63)
            return layer.fetch(tile, on: DispatchQueue(label: "test.requests")) { _ in
                answers.withLock { $0 += 1 }
            }
        }
        var seen: Set<[Int]> = []
        let areAnswered = steps.reaches {
            seen.insert(levels())
            return answers.withLock { $0 } == requests.count
        }
        #expect(areAnswered && seen == [[6, 5]])
        // The second one is not touched.
        first.update(TileViewport(center: WorldPoint(x: 32, y: 32), width: 32, height: 32))
        #expect(steps.reaches { levels() == [6, 6] && areComplete() })
        #expect(second?.shortfall.bytes == 0)
        first.update(ServiceSetup.viewport(900, 900))
        #expect(steps.reaches { levels() == [5, 6] && areComplete() }, "\(cache.statistics)")
        second = nil
        #expect(steps.reaches { levels() == [6] && areComplete() })
        #expect(first.shortfall.bytes == 0)
    }

    @Test func sharesThatCannotBeAreRefused() throws {
        let cache = try TileCache(byteLimit: .mebibytes(2))
        let pyramid = try ServiceSetup.pyramid()
        for share in [0, -0.1, 1.01, .nan] {
            #expect(throws: TileCacheError.self, "\(share)") {
                try cache.addLayer(PlainSource(), pyramid: pyramid, options: LayerOptions(maximumShare: share))
            }
        }
    }

    @Test func pinnedTilesAreCountedSeparately() throws {
        let steps = StepScheduler.calm()
        let cache = try steps.cache(byteLimit: .mebibytes(2))
        let layer = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid())
        try layer.pin(levels: 0...1)
        #expect(steps.reaches { cache.statistics.memory.pinnedTiles == 5 })
        #expect(cache.statistics.memory.pinned.bytes == 5 * 16_384)
        layer.unpin()
        #expect(cache.statistics.memory.pinned.bytes == 0)
    }

    /// Scratch memory for compression counts too: without room for it, the layer has no compression.
    @Test func scratchMemoryStaysWithinTheLimit() throws {
        for kibibytes in [40, 100, 200, 400, 800, 1600] {
            let cache = try TileCache(byteLimit: .kibibytes(kibibytes))
            for size in [16, 64, 32, 96] {
                let pyramid = try TilePyramid.powerOfTwo(worldWidth: 4096, worldHeight: 4096, tileSize: size)
                _ = try? cache.addLayer(PlainSource(), pyramid: pyramid)
            }
            let figures = cache.statistics
            #expect(figures.memory.used.bytes <= kibibytes << 10, "\(kibibytes) KiB")
        }
    }
}
