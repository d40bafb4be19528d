import Dispatch
import Testing

@testable import TileCache

/// The service on one thread, with schedule and clock controlled by the test.
@Suite(.timeLimit(.minutes(45))) struct ServiceScheduleTests {
    private func cache(
        on scheduler: StepScheduler,
        workers: Int = 1,
        _ change: (inout TileCache.Configuration) -> Void = { _ in }
    ) throws -> TileCache {
        var configuration = TileCache.Configuration(byteLimit: .mebibytes(4), workers: workers)
        scheduler.adopt(&configuration)
        change(&configuration)
        return try TileCache(configuration)
    }

    /// A view that may decompress nothing itself is notified of other frames' tiles.
    @Test func viewsAreToldOfWhatAnotherFrameDecompresses() throws {
        let scheduler = StepScheduler(seed: 1)
        scheduler.interrupts = false
        let cache = try cache(on: scheduler)
        let layer = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid())
        let tile = TileCoordinate(level: 6, column: 3, row: 3)
        let views = (0..<2).map { _ in ServiceSetup.quiet(cache, [layer]) }
        let calls = Lock([0, 0])
        for (index, view) in views.enumerated() {
            view.onTilesReady = { calls.withLock { $0[index] += 1 } }
        }
        views[0].update(needing: [NeededTile(layer: layer.id, tile: tile)])
        try #require(scheduler.settle(atMost: 1000))
        views[0].update(needing: [])
        #expect(layer.demote(tile))
        calls.withLock { $0 = [0, 0] }
        views[1].promotionBudget = PromotionBudget(maximumTiles: 0)
        scheduler.interrupts = false
        for view in views { view.update(needing: [NeededTile(layer: layer.id, tile: tile)]) }
        #expect(views[1].frame().missingTileCount == 1)
        // No worker has run yet.
        #expect(views[0].frame().missingTileCount == 0)
        scheduler.interrupts = true
        try #require(scheduler.settle(atMost: 1000))
        #expect(calls.withLock { $0 } == [0, 1])
        #expect(views[1].frame().missingTileCount == 0 && views[1].frame().count == 1)
    }

    /// A frame with missing tiles is composed anew each time. Any other once until something changes.
    @Test func aFrameThatLacksNothingIsComposedOnce() throws {
        let scene = try StillScene(tiles: 16)
        let layer = try scene.plainLayer()
        let view = ServiceSetup.quiet(scene.cache, [layer])
        defer { withExtendedLifetime(view) {} }
        func contents() -> ObjectIdentifier? {
            _ = view.frame()
            return scene.cache.core.read { $0.views[0]?.contents.map { ObjectIdentifier($0) } }
        }
        view.update(needing: (0..<2).map { NeededTile(layer: layer.id, tile: scene.tile($0)) })
        let held = view.frame()
        #expect(held.missingTileCount == 2)
        let first = contents()
        scene.run()
        let second = contents()
        #expect(first != second && contents() == second)
        scene.need(0..<1, of: layer, view)
        let third = contents()
        #expect(third != second && contents() == third)
        layer.invalidate()
        #expect(contents() != third)
    }

    @Test func manyReasonsForAPlanAreOne() throws {
        let scheduler = StepScheduler(seed: 1)
        scheduler.interrupts = false
        let cache = try cache(on: scheduler)
        let layer = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid())
        let view = ServiceSetup.quiet(cache, [layer])
        for step in 0..<10 { view.update(ServiceSetup.viewport(Double(200 + step * 90), 900)) }
        #expect(scheduler.pendingSteps == 1)
        try #require(scheduler.settle(atMost: 1000))
        #expect(view.frame().missingTileCount == 0)
        cache.shutdown(timeout: .zero)
    }

    /// At most one timer is pending, and none after the end. Many tiles fail, and their sources request any wait.
    @Test func oneTimerServesAllTriesAndNoneOutlivesTheCache() throws {
        let seed = UInt64.random(in: 0..<1 << 32)
        let scheduler = StepScheduler(seed: seed)
        let cache = try cache(on: scheduler, workers: 3)
        let source = AlwaysFailingSource { Int64(scheduler.random.next() % 1_000_000_000_000) }
        let layer = try cache.addLayer(source, pyramid: try ServiceSetup.pyramid())
        let view = cache.makeView(layers: [layer])
        var most = 0
        for step in 0..<200 {
            view.update(ServiceSetup.viewport(Double(200 + step * 17), 900))
            for _ in 0..<20 {
                scheduler.runOne()
                most = max(most, scheduler.pendingTimers)
            }
        }
        #expect(most == 1, "seed \(seed)")
        #expect(source.loads > 50)
        cache.shutdown(timeout: .zero)
        #expect(scheduler.pendingTimers == 0)
        #expect(scheduler.settle(atMost: 1000))
        #expect(cache.shutdown(timeout: .zero))
    }

    /// From the plan that contains a tile to the worker that takes it.
    @Test func waitsForAWorkerAreCountedToTheNanosecond() throws {
        let scene = try StillScene(tiles: 16, workers: 1)
        let source = QueuedSource(atATime: 1)
        let layer = try scene.cache.addLayer(source, pyramid: scene.pyramid)
        let view = ServiceSetup.quiet(scene.cache, [layer])
        defer { withExtendedLifetime(view) {} }
        scene.need(0..<2, of: layer, view)
        scene.scheduler.spend(nanoseconds: 3_000_000)
        layer.prefetch([scene.tile(9)])
        scene.run()
        scene.scheduler.spend(nanoseconds: 4_000_000)
        for _ in 0..<3 {
            source.answer(try #require(source.take().first))
            scene.run()
        }
        let figures = scene.cache.statistics
        #expect(figures.demandWaits.count == 2 && figures.demandWaits.maximum == .milliseconds(7))
        #expect(figures.prefetchWaits.count == 1 && figures.prefetchWaits.maximum == .milliseconds(4))
    }

    /// The check that finds one load stuck schedules the next check.
    @Test func eachLoadIsFoundStuckInItsTime() throws {
        let scene = try StillScene(tiles: 16) { $0.stuckLoadTime = .milliseconds(2) }
        let layer = try scene.cache.addLayer(QueuedSource(), pyramid: scene.pyramid)
        let view = ServiceSetup.quiet(scene.cache, [layer])
        defer { withExtendedLifetime(view) {} }
        scene.need(0..<1, of: layer, view)
        scene.scheduler.spend(nanoseconds: 1_500_000)
        scene.need(0..<2, of: layer, view)
        #expect(scene.cache.statistics.loadsInFlight == 2)
        var stuck: [Int] = []
        for _ in 0..<8 where scene.scheduler.passTime() {
            scene.run()
            stuck.append(scene.cache.core.read { $0.pool.loads.writtenOffCount })
        }
        #expect(Set(stuck).isSuperset(of: [1, 2]) && stuck.last == 2 && scene.scheduler.pendingTimers == 0)
    }

    /// Above a lowered limit no worker is replaced. The checks are as far apart as those of other loads.
    @Test func aStuckLoadWithoutRoomForAnotherWorkerIsSeldomLookedAt() throws {
        let scene = try StillScene(tiles: 256) {
            $0.grantsBookkeeping = false
            $0.stuckLoadTime = .milliseconds(20)
        }
        let layer = try scene.plainLayer()
        let source = NestingSource()
        // The closure may own the cache, which owns the source.
        defer { source.whileAsked = nil }
        let silent = try scene.cache.addLayer(source, pyramid: scene.pyramid)
        let view = ServiceSetup.quiet(scene.cache, [layer, silent])
        defer { withExtendedLifetime(view) {} }
        scene.need(0..<1, of: layer, view)
        source.whileAsked = { _ in
            source.whileAsked = nil
            scene.cache.byteLimit = .bytes(StillScene.tileBytes / 2)
            scene.run()
            // The first check is slightly too early.
            for _ in 0..<3 where scene.scheduler.passTime() { scene.run() }
            let start = scene.scheduler.now
            for _ in 0..<10 where scene.scheduler.passTime() { scene.run() }
            #expect(scene.scheduler.now - start > 40_000_000)
            #expect(scene.cache.core.read { $0.pool.isOverLimit && $0.pool.loads.writtenOffCount == 0 })
        }
        let lent: Void? = layer.withTile(scene.tile(0)) { _ in scene.need(1..<2, of: silent, view) }
        #expect(lent != nil && source.whileAsked == nil)
    }

    /// One check finds loads and a decoder stuck. There is one spare worker.
    @Test func noMoreWorkersAreReplacedThanThereAreSpareOnes() throws {
        let scene = try StillScene(tiles: 64) {
            $0.usesCompressedTier = true
            $0.stuckLoadTime = .milliseconds(2)
        }
        let decoder = PausedDecoder(payloadBytes: 4096)
        // The closure may own the cache, which owns the source.
        defer { decoder.whileDecoding = nil }
        let encoded = try scene.cache.addLayer(decoder, pyramid: scene.pyramid)
        let source = NestingSource()
        defer { source.whileAsked = nil }
        let silent = try (0..<15).map { _ in try scene.cache.addLayer(source, pyramid: scene.pyramid) }
        let view = ServiceSetup.quiet(scene.cache, [encoded] + silent)
        defer { withExtendedLifetime(view) {} }
        scene.need(0..<1, of: encoded, view)
        view.update(needing: [])
        scene.run()
        #expect(encoded.demote(scene.tile(0)))
        func figures() -> [Int] {
            scene.cache.core.read { state in
                let stuckDecodes = state.pool.layers[encoded.id.index].stuckDecodes
                return [state.workers.spare.count, state.pool.loads.writtenOffCount, stuckDecodes]
            }
        }
        func look() {
            scene.run()
            for _ in 0..<3 where scene.scheduler.passTime() { scene.run() }
        }
        let wishes = silent.prefix(14).map { NeededTile(layer: $0.id, tile: scene.tile(0)) }
        var (before, within): ([Int], [Int]) = ([], [])
        decoder.whileDecoding = { _ in
            look()
            within = figures()
        }
        var depth = 0
        // Two workers have fifteen spare ones. Fourteen calls do not return, one within the other.
        source.whileAsked = { _ in
            depth += 1
            look()
            guard depth == 14, before.isEmpty else { return }
            before = figures()
            view.update(
                needing: [NeededTile(layer: silent[14].id, tile: scene.tile(0), importance: 2)] + wishes + [
                    NeededTile(layer: encoded.id, tile: scene.tile(0), importance: 2)
                ]
            )
            scene.run()
            source.whileAsked = nil
        }
        view.update(needing: wishes)
        scene.run()
        #expect(before == [1, 14, 0])
        #expect(within[0] == 0 && within[1] + within[2] == 15, "\(within)")
        #expect(scene.decoded(0..<1, of: encoded) == 1)
    }

    /// A source that requests an infinite wait is retried after a day.
    @Test func noWaitIsLongerThanADay() throws {
        let scheduler = StepScheduler(seed: 2)
        let cache = try cache(on: scheduler)
        let source = AlwaysFailingSource { .max }
        let layer = try cache.addLayer(source, pyramid: try ServiceSetup.pyramid())
        let view = ServiceSetup.quiet(cache, [layer])
        view.update(needing: [NeededTile(layer: layer.id, tile: TileCoordinate(level: 6, column: 3, row: 3))])
        let start = scheduler.now
        while source.loads < 2 { try #require(scheduler.runOne() || scheduler.passTime()) }
        let waited = scheduler.now - start
        #expect(waited >= 86_400_000_000_000 && waited < 86_401_000_000_000)
        while source.loads < 3 { try #require(scheduler.runOne() || scheduler.passTime()) }
        // A wait for a worker is counted once, however often the tile is tried.
        #expect(cache.statistics.demandWaits.count == 1)
        cache.shutdown(timeout: .zero)
    }
}

/// A source whose tiles all fail transiently.
private final class AlwaysFailingSource: BlockingTileSource {
    private let count = Lock(0)
    private let wait: @Sendable () -> Int64

    init(wait: @escaping @Sendable () -> Int64) { self.wait = wait }

    var loads: Int { count.withLock { $0 } }

    func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
        count.withLock { $0 += 1 }
        throw TileFailure.transient(retryAfter: .nanoseconds(wait()))
    }
}
