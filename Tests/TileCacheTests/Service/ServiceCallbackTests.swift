import Dispatch
import Testing

@testable import TileCache

/// Notifications of a renderer about better pixels.
@Suite(.timeLimit(.minutes(45))) struct ServiceCallbackTests {
    @Test func oneCallbackTellsOfManyTilesAndNoneComesAfterShutdown() throws {
        let cache = try TileCache(byteLimit: .mebibytes(4))
        let source = PlainSource(isGated: true)
        let layer = try cache.addLayer(source, pyramid: try ServiceSetup.pyramid())
        let view = ServiceSetup.quiet(cache, [layer])
        let queue = DispatchQueue(label: "test.callbacks")
        let calls = Lock(0)
        view.callbackQueue = queue
        view.onTilesReady = { calls.withLock { $0 += 1 } }
        // While the queue is busy, all landings are one call.
        queue.suspend()
        view.update(ServiceSetup.viewport(1000, 1000))
        source.open(20)
        #expect(eventually { view.frame().missingTileCount == 0 })
        queue.resume()
        #expect(eventually { calls.withLock { $0 } == 1 })
        view.update(ServiceSetup.viewport(2000, 2000))
        source.open(20)
        queue.suspend()
        #expect(eventually { view.frame().missingTileCount == 0 })
        #expect(cache.shutdown())
        let before = calls.withLock { $0 }
        queue.resume()
        queue.sync {}
        #expect(calls.withLock { $0 } == before)
    }

    /// A fallback on a blank view is an improvement, and a finer one is another.
    @Test func standInsCallBackToo() throws {
        let cache = try TileCache(byteLimit: .mebibytes(4), workers: 8)
        let source = QueuedSource()
        let layer = try cache.addLayer(source, pyramid: try ServiceSetup.pyramid())
        let view = ServiceSetup.quiet(cache, [layer])
        let far = ServiceSetup.quiet(cache, [layer])
        let queue = DispatchQueue(label: "test.callbacks")
        let calls = Lock([0, 0])
        for (index, view) in [view, far].enumerated() {
            view.callbackQueue = queue
            view.onTilesReady = { calls.withLock { $0[index] += 1 } }
        }
        // Tiles of other levels land because another view needs them.
        let other = ServiceSetup.quiet(cache, [layer])
        view.update(ServiceSetup.viewport(600, 600))
        far.update(ServiceSetup.viewport(3000, 3000))
        // The whole world, then the quarter with the view in it, then a quarter that no view shows.
        let wanted = [(0, 0), (1, 0), (1, 1)].map { TileCoordinate(level: $0.0, column: $0.1, row: 0) }
        other.update(needing: wanted.map { NeededTile(layer: layer.id, tile: $0, importance: 100) })
        var kept: [TileRequest] = []
        #expect(
            eventually {
                for request in source.take() {
                    // No other tile lands, so that only these are drawn.
                    if wanted.contains(request.tile) { kept.append(request) } else { request.fail(.permanent) }
                }
                return kept.count == wanted.count
            }
        )
        var answers: [[Int]] = []
        for tile in wanted {
            let request = try #require(kept.first { $0.tile == tile })
            source.answer(request)
            // The answer lands and queues its callbacks before it returns.
            queue.sync {}
            answers.append(calls.withLock { $0 })
        }
        #expect(answers == [[1, 1], [2, 1], [2, 1]])
    }

    /// Without an absent tile a frame is complete. No further frame is needed to find that out.
    @Test func absentTilesCallBackToo() throws {
        let cache = try TileCache(byteLimit: .mebibytes(4), workers: 1)
        let source = QueuedSource()
        let layer = try cache.addLayer(source, pyramid: try ServiceSetup.pyramid())
        let view = ServiceSetup.quiet(cache, [layer])
        let queue = DispatchQueue(label: "test.callbacks")
        let calls = Lock(0)
        view.callbackQueue = queue
        view.onTilesReady = { calls.withLock { $0 += 1 } }
        view.update(TileViewport(center: WorldPoint(x: 32, y: 32), width: 32, height: 32))
        var requests: [TileRequest] = []
        #expect(
            eventually {
                requests = source.take()
                return !requests.isEmpty
            }
        )
        #expect(view.frame().missingTileCount == 1)
        for request in requests { request.completeAbsent() }
        queue.sync {}
        #expect(calls.withLock { $0 } == 1)
        #expect(view.frame().missingTileCount == 0)
    }

    @Test func aViewInThePlaceOfAnotherHearsNothingOfIt() throws {
        let cache = try TileCache(byteLimit: .mebibytes(4))
        let source = PlainSource(isGated: true)
        let layer = try cache.addLayer(source, pyramid: try ServiceSetup.pyramid())
        let queue = DispatchQueue(label: "test.callbacks")
        let calls = Lock(0)
        var view: TileView? = ServiceSetup.quiet(cache, [layer])
        let place = view?.id
        view?.callbackQueue = queue
        view?.onTilesReady = {}
        queue.suspend()
        view?.update(ServiceSetup.viewport(600, 600))
        source.open(20)
        #expect(eventually { view?.frame().missingTileCount == 0 })
        view = nil
        let next = ServiceSetup.quiet(cache, [layer])
        #expect(next.id == place)
        next.onTilesReady = { calls.withLock { $0 += 1 } }
        queue.resume()
        queue.sync {}
        #expect(calls.withLock { $0 } == 0)
        for _ in 0..<200 { _ = ServiceSetup.quiet(cache, [layer]) }
        #expect(cache.core.lock.withLock { $0.views.count } == 2)
    }

    @Test func slowCallbacksAreCounted() throws {
        var configuration = TileCache.Configuration(byteLimit: .mebibytes(4))
        configuration.slowCallbackTime = .milliseconds(1)
        let cache = try TileCache(configuration)
        let layer = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid())
        let view = ServiceSetup.quiet(cache, [layer])
        let gate = DispatchSemaphore(value: 0)
        view.callbackQueue = DispatchQueue(label: "test.callbacks")
        view.onTilesReady = { gate.wait() }
        view.update(TileViewport(center: WorldPoint(x: 32, y: 32), width: 32, height: 32))
        // While it is still running, and afterwards.
        #expect(eventually { cache.statistics.slowCallbacks == 1 })
        #expect(cache.statistics.longestCallback < .seconds(900))
        gate.signal()
        #expect(cache.shutdown(timeout: .seconds(600)))
        #expect(cache.statistics.slowCallbacks == 1)
        let longest = cache.statistics.longestCallback.nanoseconds
        #expect(longest > 1_000_000 && longest < 900_000_000_000)
    }

    @Test func callbacksThatOwnFramesAndViewsGoOutsideOfTheLock() throws {
        let steps = StepScheduler.calm()
        let cache = try steps.cache(byteLimit: .mebibytes(4))
        let layer = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid())
        let view = ServiceSetup.quiet(cache, [layer])
        view.update(ServiceSetup.viewport(1000, 1000))
        #expect(steps.reaches { view.frame().missingTileCount == 0 })
        for _ in 0..<2 {
            var owned: (frame: TileFrame, view: TileView)? = (view.frame(), ServiceSetup.quiet(cache, [layer]))
            view.onTilesReady = { [owned] in _ = owned }
            owned = nil
        }
        view.onTilesReady = nil
        var other: TileView? = ServiceSetup.quiet(cache, [layer])
        other?.onTilesReady = { [frame = view.frame()] in _ = frame }
        other = nil
        #expect(cache.statistics.memory.decodedTiles >= 20)
    }
}
