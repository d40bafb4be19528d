import Dispatch
import TestSupport
import Testing

@testable import TileCache

/// Ends of requests: with little room, within handlers, and while handlers are kept from running.
@Suite(.timeLimit(.minutes(45))) struct FetchEndTests {
    private typealias Ends = FetchTests.Ends

    private let queue = DispatchQueue(label: "FetchEndTests")

    /// Released leases are room for margins too, at rest and without views.
    @Test(arguments: [TileFetch.Rank.visible, .margin]) func aRequestIsLoadedOnceThereIsRoom(rank: TileFetch.Rank)
        throws
    {
        let scene = try StillScene(tiles: 2)
        let layer = try scene.plainLayer()
        let held = Lock([TileFetch.Outcome]())
        let first = (0..<2).map { column in
            layer.fetch(scene.tile(column), on: queue) { outcome in
                held.withLock { $0.append(outcome) }
            }
        }
        scene.run()
        #expect(held.withLock { $0.count } == 2)
        let ends = Ends()
        let late = layer.fetch(scene.tile(2), rank: rank, on: queue) { ends.note($0) }
        scene.run()
        #expect(ends.all.isEmpty)
        held.withLock { $0 = [] }
        scene.run()
        #expect(ends.all == ["pixels 2"])
        withExtendedLifetime((first, late)) {}
    }

    /// Requests whose handlers have not run take memory, and count.
    @Test func endedRequestsCountUntilTheirHandlersHaveRun() throws {
        let scene = try StillScene(tiles: 64)
        let source = FetchTests.FateSource { _ in .absent }
        let layer = try scene.cache.addLayer(source, pyramid: scene.pyramid)
        let ends = Ends()
        var fetches: [TileFetch] = []
        func charged() -> Int { scene.cache.core.read { $0.pool.ledger[.demand] } }
        for index in 0..<100 {
            fetches.append(
                layer.fetch(scene.tile(index % 64, row: index / 64), on: queue) { ends.note($0) }
            )
        }
        // Until the first has ended; its handler is the next step or a later one.
        while scene.cache.core.read({ $0.interests.pending.count }) == 100 { try #require(scene.scheduler.runOne()) }
        #expect(ends.all.isEmpty && charged() == 100 * Interests.bytesEach)
        #expect(scene.cache.core.read { $0.interests.requestCount } == 100)
        // Cancelled after its end: its handler's turn still comes.
        let ended = try #require(
            fetches.first { fetch in !fetch.isLoading && scene.cache.core.read { $0.interests.pending[fetch.id] == nil }
            }
        )
        #expect(ended.cancel() && !ended.cancel() && charged() == 100 * Interests.bytesEach)
        #expect(scene.scheduler.runAll(atMost: 20_000))
        #expect(ends.all.count == 99 && charged() == 0 && scene.cache.core.read { $0.interests.requestCount } == 0)
        withExtendedLifetime((fetches, ended)) {}
    }

    /// Many requests of one tile end together, in their order.
    @Test func requestsOfOneTileEndInOrder() throws {
        let scene = try StillScene(tiles: 64)
        let layer = try scene.plainLayer()
        let order = Lock([Int]())
        let fetches = (0..<Interests.maximumCount).map { index in
            layer.fetch(scene.tile(3), on: queue) { _ in order.withLock { $0.append(index) } }
        }
        #expect(scene.scheduler.runAll(atMost: 20_000))
        #expect(order.withLock { $0 } == Array(0..<Interests.maximumCount))
        withExtendedLifetime(fetches) {}
    }

    /// Handlers may request, cancel, remove the layer, shut down, and release the last reference.
    @Test func handlersMayCallTheCache() throws {
        let scene = try StillScene(tiles: 64)
        let (layer, other) = (try scene.plainLayer(), try scene.plainLayer())
        let (ends, cache, queue) = (Ends(), scene.cache, queue)
        let kept = Lock([TileFetch]())
        func keep(_ fetch: TileFetch) { kept.withLock { $0.append(fetch) } }
        let cancelled = Lock([Bool]())
        keep(
            layer.fetch(scene.tile(0), on: queue) { outcome in
                ends.note(outcome)
                cancelled.withLock { [first = kept.withLock { $0[0] }] in $0.append(first.cancel()) }
                let next = layer.fetch(scene.tile(1), on: queue) { outcome in
                    ends.note(outcome)
                    kept.withLock { $0 = [] }
                    let pending = other.fetch(scene.tile(9), on: queue) { outcome in
                        ends.note(outcome)
                        cache.shutdown()
                    }
                    kept.withLock { $0.append(pending) }
                    other.remove()
                }
                kept.withLock { $0.append(next) }
            }
        )
        #expect(scene.scheduler.runAll(atMost: 20_000))
        #expect(ends.all == ["pixels 0", "pixels 1", "removed"] && cancelled.withLock { $0 } == [false])
        #expect(cache.core.read { $0.interests.requestCount == 0 && $0.pool.ledger[.demand] == 0 && $0.isShutDown })
    }

    /// During an invalidation an absence from before it is not known.
    @Test func anInvalidatedAbsenceIsLookedUpAgain() throws {
        let scene = try StillScene(tiles: 64)
        let isThere = Lock(false)
        let source = FetchTests.FateSource { _ in isThere.withLock { $0 } ? .pixels : .absent }
        let layer = try scene.cache.addLayer(source, pyramid: scene.pyramid)
        let ends = Ends()
        let first = layer.fetch(scene.tile(0), on: queue) { ends.note($0) }
        scene.run()
        isThere.withLock { $0 = true }
        var second: TileFetch?
        scene.meanwhile = { [queue] in
            guard scene.cache.core.read({ $0.pool.layers[layer.id.index].invalidations > 0 }) else { return false }
            second = layer.fetch(scene.tile(0), on: queue) { ends.note($0) }
            return true
        }
        layer.invalidate()
        #expect(scene.meanwhile == nil && second?.outcome == nil)
        scene.run()
        #expect(ends.all == ["absent", "pixels 0"])
        withExtendedLifetime((first, second)) {}
    }
}
