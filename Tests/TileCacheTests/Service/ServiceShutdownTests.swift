import Dispatch
import Testing

@testable import TileCache

/// `shutdown` returns within its timeout, whatever callbacks do.
@Suite(.timeLimit(.minutes(45))) struct ServiceShutdownTests {
    private static let short: Int64 = 20_000_000
    /// Only ends a run that hangs, as `eventually` does.
    private static let long: Int64 = 600_000_000_000

    @Test func aCallbackThatHangsIsWaitedForNoLonger() throws {
        let cache = try TileCache(byteLimit: .mebibytes(4))
        let layer = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid())
        let view = ServiceSetup.quiet(cache, [layer])
        let gate = DispatchSemaphore(value: 0)
        let inside = Lock(false)
        view.callbackQueue = DispatchQueue(label: "test.callbacks")
        view.onTilesReady = {
            inside.withLock { $0 = true }
            gate.wait()
        }
        view.update(ServiceSetup.viewport(1000, 1000))
        #expect(eventually { inside.withLock { $0 } })
        #expect(!cache.shutdown(timeout: .nanoseconds(Self.short)))
        // All other calls return too.
        view.update(ServiceSetup.viewport(2000, 2000))
        #expect(view.frame().isEmpty)
        cache.trim(to: .bytes(0))
        cache.byteLimit = .mebibytes(1)
        #expect(eventually { cache.statistics.loadsInFlight == 0 })
        gate.signal()
        #expect(cache.shutdown(timeout: .nanoseconds(Self.long)))
    }

    /// Within a callback it cannot wait for that callback.
    @Test func aCallbackMayShutItsCacheDown() throws {
        let cache = try TileCache(byteLimit: .mebibytes(4))
        let layer = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid())
        let view = ServiceSetup.quiet(cache, [layer])
        let answer = Lock<Bool?>(nil)
        view.onTilesReady = { [weak cache] in
            let hasEnded = cache?.shutdown(timeout: .nanoseconds(Self.long))
            answer.withLock { $0 = $0 ?? hasEnded }
        }
        view.update(ServiceSetup.viewport(1000, 1000))
        #expect(eventually { answer.withLock { $0 } != nil })
        #expect(answer.withLock { $0 } == true)
        #expect(cache.shutdown(timeout: .nanoseconds(Self.long)))
        #expect(view.frame().isEmpty)
    }

    /// Within a cancel handler it cannot wait for that handler.
    @Test func aCancelHandlerMayShutItsCacheDown() throws {
        let cache = try TileCache(byteLimit: .mebibytes(4))
        let source = QueuedSource()
        let layer = try cache.addLayer(source, pyramid: try ServiceSetup.pyramid())
        let view = ServiceSetup.quiet(cache, [layer])
        view.update(ServiceSetup.viewport(1000, 1000))
        let requests = source.taken()
        #expect(!requests.isEmpty)
        let answer = Lock<Bool?>(nil)
        requests[0].onCancel { [weak cache] in
            // Far longer than the test may take.
            let hasEnded = cache?.shutdown(timeout: .seconds(3600))
            answer.withLock { $0 = hasEnded }
        }
        view.update(ServiceSetup.viewport(3000, 3000))
        #expect(eventually { answer.withLock { $0 } != nil })
        #expect(answer.withLock { $0 } == true)
        // A released request has failed, and is not cancelled.
        withExtendedLifetime(requests) {}
        #expect(cache.shutdown(timeout: .nanoseconds(Self.long)))
    }

    /// Nor can it while the source writes a tile, even one that others are made from.
    @Test(arguments: [0, 1]) func aSourceMayShutItsCacheDownWhileItWrites(made: Int) throws {
        let cache = try TileCache(byteLimit: .mebibytes(4))
        let source = QueuedSource()
        let pyramid = try ServiceSetup.pyramid()
        let layer = try cache.addLayer(source, pyramid: pyramid, options: LayerOptions(synthesizedLevels: made))
        let view = ServiceSetup.quiet(cache, [layer])
        let tile = TileCoordinate(level: 0, column: 0, row: 0)
        view.update(needing: [NeededTile(layer: layer.id, tile: tile)])
        let requests = source.taken()
        #expect(requests.first?.tile.level == made)
        let answer = Lock<Bool?>(nil)
        DispatchQueue.global().async {
            requests.first?.complete { pixels in
                let hasEnded = cache.shutdown(timeout: .nanoseconds(Self.long))
                answer.withLock { $0 = hasEnded }
                fill(&pixels, with: 7)
                return .pixels
            }
        }
        #expect(eventually { answer.withLock { $0 } != nil })
        #expect(answer.withLock { $0 } == true)
        #expect(cache.shutdown(timeout: .nanoseconds(Self.long)))
    }

    @Test func aDecoderThatHangsIsWaitedForNoLonger() throws {
        let source = RunLengthSource(isGated: true)
        let cache = try TileCache(byteLimit: .mebibytes(8), workers: 1)
        let layer = try cache.addLayer(source, pyramid: try ServiceSetup.pyramid())
        let view = ServiceSetup.quiet(cache, [layer])
        func look(_ x: Double) -> TileCoordinate? {
            view.update(TileViewport(center: WorldPoint(x: x, y: 32), width: 32, height: 32))
            #expect(eventually { view.frame().missingTileCount == 0 })
            return view.frame().first?.tile.identity.tile
        }
        let tile = try #require(look(32))
        _ = look(2080)
        #expect(layer.demote(tile))
        view.update(TileViewport(center: WorldPoint(x: 32, y: 32), width: 32, height: 32))
        #expect(eventually { source.decodes.count == 1 })
        #expect(!cache.shutdown(timeout: .nanoseconds(Self.short)))
        source.open(1)
        #expect(cache.shutdown(timeout: .nanoseconds(Self.long)))
    }

    /// Unanswered requests are cancelled without a wait.
    @Test func requestsThatNobodyAnswersAreNotWaitedFor() throws {
        let cache = try TileCache(byteLimit: .mebibytes(4))
        let source = QueuedSource()
        let layer = try cache.addLayer(source, pyramid: try ServiceSetup.pyramid())
        let view = ServiceSetup.quiet(cache, [layer])
        view.update(ServiceSetup.viewport(1000, 1000))
        let requests = source.taken(atLeast: 4)
        #expect(requests.count == 4)
        #expect(cache.shutdown(timeout: .nanoseconds(Self.long)))
        #expect(requests.allSatisfy { !$0.isWanted })
        // Answers after the end are not drawn.
        for request in requests { source.answer(request) }
        #expect(view.frame().isEmpty)
    }

    @Test(arguments: [Int64.min, -1, 0, .max]) func anyTimeIsATime(timeout: Int64) throws {
        let cache = try TileCache(byteLimit: .mebibytes(4))
        let layer = try cache.addLayer(PlainSource(pauseMicroseconds: 100), pyramid: try ServiceSetup.pyramid())
        let view = cache.makeView(layers: [layer])
        view.update(ServiceSetup.viewport(1000, 1000))
        let hasEnded = cache.shutdown(timeout: .nanoseconds(timeout))
        #expect(hasEnded || timeout <= 0)
        #expect(cache.shutdown(timeout: .nanoseconds(Self.long)))
    }

    /// It would keep its source, and never load a tile.
    @Test func noLayerIsAddedAfterwards() throws {
        let cache = try TileCache(byteLimit: .mebibytes(4))
        #expect(cache.shutdown(timeout: .nanoseconds(Self.long)))
        let before = cache.statistics.memory.bookkeeping
        #expect(throws: TileCacheError.isShutDown) {
            _ = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid())
        }
        #expect(cache.statistics.memory.bookkeeping == before)
    }

    @Test func manyThreadsMayShutDownAtOnce() throws {
        for _ in 0..<20 {
            let cache = try TileCache(byteLimit: .mebibytes(4), workers: 3)
            let layer = try cache.addLayer(PlainSource(pauseMicroseconds: 100), pyramid: try ServiceSetup.pyramid())
            let view = cache.makeView(layers: [layer])
            view.update(ServiceSetup.viewport(1000, 1000))
            let ended = Lock(0)
            DispatchQueue.concurrentPerform(iterations: 4) { _ in
                if cache.shutdown(timeout: .nanoseconds(Self.long)) { ended.withLock { $0 += 1 } }
            }
            #expect(ended.withLock { $0 } == 4)
        }
    }
}
