import Testing

@testable import TileCache

/// Requests to sources, and their possible answers.
@Suite(.timeLimit(.minutes(45))) struct ServiceRequestTests {
    /// A view that waits for its tiles, and the first ones that workers have requested.
    private func asked(
        workers: Int,
        atATime: Int? = nil
    ) throws -> (cache: TileCache, source: QueuedSource, view: TileView, requests: [TileRequest]) {
        let cache = try TileCache(byteLimit: .mebibytes(4), workers: workers)
        let atATime = atATime ?? workers
        let source = QueuedSource(atATime: atATime)
        let layer = try cache.addLayer(source, pyramid: try ServiceSetup.pyramid())
        let view = ServiceSetup.quiet(cache, [layer])
        view.update(ServiceSetup.viewport(500, 500))
        let requests = source.taken(atLeast: atATime)
        #expect(requests.count == atATime)
        return (cache, source, view, requests)
    }

    @Test func unwantedRequestsAreToldAndTheirWorkersGoOn() throws {
        let (cache, source, view, requests) = try asked(workers: 4)
        let told = Lock(0)
        for request in requests {
            #expect(request.isWanted && request.isDemand)
            request.onCancel { told.withLock { $0 += 1 } }
        }
        view.update(ServiceSetup.viewport(3000, 3000))
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
        // No tile of the old place was requested again: entries that leave the plan never start.
        #expect(wanted.allSatisfy { $0.tile.column > 40 })
        #expect(cache.statistics.loads.cancelled == 4)
    }

    /// One worker hands out as many requests as the source can use: they occupy no worker.
    @Test func aWorkerGoesOnOnceItHasAsked() throws {
        let (cache, source, view, requests) = try asked(workers: 1, atATime: 7)
        #expect(requests.count == 7)
        let layer = try #require(view.layers.first)
        #expect(eventually { layer.loadsInFlight == (now: 7, most: 7) })
        #expect(cache.statistics.loadsInFlight == 7)
        let plain = try cache.addLayer(PlainSource(layer: 1), pyramid: try ServiceSetup.pyramid())
        let other = ServiceSetup.quiet(cache, [plain])
        other.update(ServiceSetup.viewport(500, 500))
        #expect(eventually { other.frame().missingTileCount == 0 })
        #expect(layer.loadsInFlight == (now: 7, most: 7) && plain.loadsInFlight == (now: 0, most: 1))
        for request in requests { source.answer(request) }
        #expect(source.taken(atLeast: 7).count == 7)
        layer.remove()
        #expect(layer.loadsInFlight == (now: 0, most: 0))
    }

    @Test(arguments: [0, 256, -1]) func numbersOfRequestsAreChecked(count: Int) throws {
        let cache = try TileCache(byteLimit: .mebibytes(4))
        let text = "1 to 255 loads in flight were expected, not \(count)"
        #expect(throws: TileCacheError.invalidLayer(text)) {
            try cache.addLayer(QueuedSource(atATime: count), pyramid: try ServiceSetup.pyramid())
        }
    }

    /// An object that a cancel handler owns may use the request in its `deinit`.
    @Test func cancelHandlersGoOutsideOfTheLock() throws {
        final class Owned: Sendable {
            let request: WeakRequest
            let ended: @Sendable () -> Void

            init(_ request: TileRequest, _ ended: @escaping @Sendable () -> Void) {
                self.request = WeakRequest(value: request)
                self.ended = ended
            }

            deinit {
                _ = request.value?.isWanted
                ended()
            }
        }
        let (cache, _, _, requests) = try asked(workers: 1)
        defer { withExtendedLifetime(cache) {} }
        let ended = Lock(0)
        for count in 0..<2 {
            let owned = Owned(requests[0]) { ended.withLock { $0 += 1 } }
            requests[0].onCancel { withExtendedLifetime(owned) {} }
            #expect(ended.withLock { $0 } == count)
        }
        requests[0].cancel()
        #expect(ended.withLock { $0 } == 2)
    }

    @Test func aSecondAnswerIsCountedAndAnAbandonedRequestIsAskedAgain() throws {
        var configuration = TileCache.Configuration(byteLimit: .mebibytes(4), workers: 1)
        configuration.retryDelay = .milliseconds(1)
        let cache = try TileCache(configuration)
        let source = QueuedSource()
        let layer = try cache.addLayer(source, pyramid: try ServiceSetup.pyramid())
        let view = ServiceSetup.quiet(cache, [layer])
        view.update(TileViewport(center: WorldPoint(x: 32, y: 32), width: 32, height: 32))
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
        #expect(cache.statistics.loads.secondAnswers == 2)
        #expect(cache.statistics.loads.failed == 1)
    }

    /// Asked again at once, a source that can load nothing would keep a processor busy.
    @Test func aWantedRequestThatItsSourceCancelsIsRetriedAfterAWait() throws {
        let scene = try StillScene(tiles: 8)
        let source = QueuedSource()
        let layer = try scene.cache.addLayer(source, pyramid: scene.pyramid)
        let view = ServiceSetup.quiet(scene.cache, [layer])
        scene.need(0..<1, of: layer, view)
        try #require(source.take().first).cancel()
        #expect(scene.run() && source.take().isEmpty)
        let loads = scene.cache.statistics.loads
        #expect(loads.failed == 1 && loads.cancelled == 0)
        let retried = try #require(source.taken(by: scene.scheduler).first)
        source.answer(retried)
        #expect(scene.run() && scene.resident(0..<1, of: layer) == 1)
        withExtendedLifetime(view) {}
    }
}
