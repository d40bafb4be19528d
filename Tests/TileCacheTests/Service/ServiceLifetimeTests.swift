import Dispatch
import Testing

@testable import TileCache

/// Creation and end of caches: nothing hangs, nothing leaks.
@Suite(.timeLimit(.minutes(45))) struct ServiceLifetimeTests {
    @Test func aHeldTileKeepsItsBytesAfterShutdown() throws {
        var cache: TileCache? = try TileCache(byteLimit: .mebibytes(4))
        let layer = try cache!.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid())
        let view = ServiceSetup.quiet(cache!, [layer])
        view.update(ServiceSetup.viewport(1000, 1000))
        #expect(eventually { view.frame().missingTileCount == 0 })
        let frame = view.frame()
        #expect(cache!.shutdown())
        cache = nil
        for placement in frame {
            #expect(holds(placement.tile, expectedPixel(layer: 0, placement.tile.identity.tile)))
        }
        #expect(view.frame().isEmpty)
    }

    /// A layer, as a view, does not keep its cache at work. Its copies are the same layer.
    @Test func aLayerOutlivesItsCacheWithoutWork() throws {
        var cache: TileCache? = try TileCache(byteLimit: .mebibytes(4))
        let source = PlainSource()
        let layer = try cache!.addLayer(source, pyramid: try ServiceSetup.pyramid())
        let view = ServiceSetup.quiet(cache!, [layer])
        #expect(view.layers == [layer] && Set(view.layers + [layer]).count == 1)
        cache = nil
        let tile = TileCoordinate(level: 6, column: 0, row: 0)
        layer.prefetch([tile])
        try? layer.pin([tile])
        guard case .removed? = layer.fetch(tile, { _ in }).outcome else {
            Issue.record("the cache still works")
            return
        }
        #expect(layer.placement(of: tile) == nil && !layer.isResident(tile))
        layer.invalidate()
        layer.remove()
        #expect(source.loads.isEmpty)
    }

    /// Counts of a view stay after its end.
    @Test func countsOutliveTheirViews() throws {
        let cache = try TileCache(byteLimit: .mebibytes(4))
        let layer = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid())
        func counts() -> [AnyHashable] {
            let figures = cache.statistics
            return [figures.pan, figures.zoom, figures.refusedViewports]
        }
        var view: TileView? = ServiceSetup.quiet(cache, [layer])
        for scale in [1, 0.5, 0, 1] { view?.update(ServiceSetup.viewport(1000, 1000, scale: scale)) }
        view?.update(ServiceSetup.viewport(1200, 1000))
        let before = counts()
        #expect(cache.statistics.pan.total > 0 && cache.statistics.zoom.total > 0)
        #expect(cache.statistics.refusedViewports == 1)
        view = nil
        #expect(counts() == before)
    }

    @Test func shutdownReturnsInTimeThoughASourceBlocks() throws {
        let cache = try TileCache(byteLimit: .mebibytes(4), workers: 2)
        let source = PlainSource(isGated: true)
        let layer = try cache.addLayer(source, pyramid: try ServiceSetup.pyramid())
        let view = ServiceSetup.quiet(cache, [layer])
        view.update(ServiceSetup.viewport(1000, 1000))
        #expect(eventually { source.inside == 2 })
        #expect(!cache.shutdown(timeout: .milliseconds(20)))
        source.open(2)
        #expect(eventually { source.inside == 0 })
        #expect(cache.shutdown())
    }

    /// A source that blocks in its cancel handler delays neither plans nor the end.
    @Test func aBlockingCancelHandlerHoldsNothingUp() throws {
        let cache = try TileCache(byteLimit: .mebibytes(4), workers: 4)
        let source = QueuedSource()
        let layer = try cache.addLayer(source, pyramid: try ServiceSetup.pyramid())
        let view = ServiceSetup.quiet(cache, [layer])
        view.update(ServiceSetup.viewport(600, 600))
        let requests = source.taken(atLeast: 4)
        #expect(requests.count == 4)
        let gate = DispatchSemaphore(value: 0)
        let entered = Lock(0)
        for request in requests {
            request.onCancel {
                entered.withLock { $0 += 1 }
                gate.wait()
            }
        }
        view.update(ServiceSetup.viewport(3000, 3000))
        #expect(eventually { entered.withLock { $0 } == 1 })
        for request in requests { request.cancel() }
        #expect(
            eventually {
                for request in source.take() { source.answer(request) }
                return view.frame().missingTileCount == 0
            }
        )
        #expect(!cache.shutdown(timeout: .milliseconds(20)))
        for _ in 0..<4 { gate.signal() }
        #expect(cache.shutdown(timeout: .seconds(600)))
    }

    @Test func aHundredCachesStartAndStopUnderLoad() throws {
        for round in 0..<100 {
            let cache = try TileCache(byteLimit: .mebibytes(2), workers: 3)
            let layer = try cache.addLayer(PlainSource(pauseMicroseconds: 200), pyramid: try ServiceSetup.pyramid())
            let view = cache.makeView(layers: [layer])
            for step in 0..<6 {
                view.update(ServiceSetup.viewport(500 + Double(step * 40), 500 + Double(round)))
                _ = view.frame()
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
            // Only the cache holds the source, which holds the requests, which hold the cache.
            let layer = try cache.addLayer(QueuedSource(layer: 0), pyramid: try ServiceSetup.pyramid())
            let view = ServiceSetup.quiet(cache, [layer])
            view.update(ServiceSetup.viewport(700, 700))
            #expect(eventually { cache.statistics.loadsInFlight > 0 })
        }
        #expect(eventually { core == nil })
    }

    @Test func nothingOfACacheOutlivesItsLastUser() throws {
        weak var core: CacheCore?
        do {
            let cache = try TileCache(byteLimit: .mebibytes(2))
            core = cache.core
            let layer = try cache.addLayer(PlainSource(pauseMicroseconds: 100), pyramid: try ServiceSetup.pyramid())
            let view = cache.makeView(layers: [layer])
            view.update(ServiceSetup.viewport(700, 700))
            #expect(eventually { !view.frame().isEmpty })
        }
        #expect(eventually { core == nil })
    }
}
