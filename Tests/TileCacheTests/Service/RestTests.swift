import Dispatch
import Testing

@testable import TileCache

/// A view at rest makes no plans.
@Suite(.timeLimit(.minutes(45))) struct RestTests {
    /// A renderer that draws the same view again keeps the service asleep. Its next change takes effect at once.
    ///
    /// Also if the cache is full: ending the last frame makes no room, as the next one holds the same tiles.
    @Test(arguments: [ByteCount.kibibytes(640), .mebibytes(4)])
    func aViewAtRestMakesNoPlans(byteLimit: ByteCount) throws {
        // With a clock that stands still, no view has rested for long.
        var configuration = TileCache.Configuration(byteLimit: byteLimit, workers: 2)
        configuration.clock = { 1_000_000_000 }
        let cache = try TileCache(configuration)
        let layer = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid())
        let view = cache.makeView(layers: [layer])
        let place = ServiceSetup.viewport(900, 900)
        var time: Int64 = 1_000_000_000
        func draw(_ viewport: TileViewport, destination: ViewportDestination? = nil) -> UInt32 {
            let before = planCount(cache)
            time += 16_666_667
            view.update(viewport, at: MonotonicTime(nanoseconds: time), destination: destination)
            _ = view.frame()
            cache.core.coordinator.sync {}
            return planCount(cache) &- before
        }
        /// Whether this many consecutive frames of an unmoved view stop needing a plan.
        func falls(asleepAt viewport: TileViewport, for frames: Int) -> Bool {
            var quiet = 0
            return eventually {
                quiet = draw(viewport) == 0 ? quiet + 1 : 0
                return quiet == frames
            }
        }
        #expect(falls(asleepAt: place, for: 100))
        #expect(cache.core.lock.withLock { $0.pool.queue.prefetchHasEnded } == (byteLimit < .mebibytes(4)))
        // Every change causes a plan.
        let next = ServiceSetup.viewport(901, 900)
        #expect(draw(next) > 0)
        #expect(falls(asleepAt: next, for: 20))
        let later = MonotonicTime(nanoseconds: cache.core.clock() + 60_000_000_000)
        let far = ViewportDestination(viewport: ServiceSetup.viewport(3000, 3000), time: later)
        #expect(draw(next, destination: far) > 0)
        #expect(falls(asleepAt: next, for: 20))
        layer.invalidate()
        #expect(eventually { view.frame().allSatisfy { !$0.tile.isStale } })
        #expect(falls(asleepAt: next, for: 20))
    }

    /// A view has rested a second after its last move, unless it has a destination. All views have if each has.
    @Test func viewsHaveRestedTogether() throws {
        let scene = try StillScene(tiles: 64)
        let layer = try scene.plainLayer()
        let start = scene.scheduler.now
        let second: Int64 = 1_000_000_000
        func haveRested(after time: Int64) -> Bool { scene.cache.core.read { $0.haveRested(at: start + time) } }
        #expect(haveRested(after: 0))
        let views = (0..<2).map { _ in ServiceSetup.quiet(scene.cache, [layer]) }
        defer { withExtendedLifetime(views) {} }
        for view in views { view.update(ServiceSetup.viewport(900, 900)) }
        // Also if they are drawn no more.
        #expect(!haveRested(after: second - 1) && haveRested(after: second))
        let later = MonotonicTime(nanoseconds: start + 5 * second)
        let far = ViewportDestination(viewport: ServiceSetup.viewport(3000, 3000), time: later)
        views[1].update(ServiceSetup.viewport(900, 900), destination: far)
        #expect(!haveRested(after: 5 * second - 1) && haveRested(after: 5 * second))
        // Where the view is, and what cannot be drawn, is no place to go.
        for place in [ServiceSetup.viewport(900, 900), ServiceSetup.viewport(.nan, 900)] {
            let end = ViewportDestination(viewport: place, time: later)
            views[1].update(ServiceSetup.viewport(900, 900), destination: end)
            #expect(haveRested(after: second))
        }
        scene.run()
    }

    /// What the pool gives back causes a plan for needed tiles. For prefetches only until the views have rested.
    @Test func supplyIsWorthAPlanToWhatWasRefused() throws {
        let scene = try StillScene(tiles: 64)
        let layer = try scene.plainLayer()
        let view = ServiceSetup.quiet(scene.cache, [layer])
        defer { withExtendedLifetime(view) {} }
        for _ in 0..<2 { view.update(ServiceSetup.viewport(900, 900)) }
        scene.run()
        let now = scene.scheduler.now
        let key = TileKey(layer: layer.id.index, TileCoordinate(level: 0, column: 0, row: 0))
        let prefetch = PlanEntry(key: key, value: 1, reason: .prefetch)
        for number in 0..<32 {
            let (isLacking, isPassed) = (number & 1 > 0, number & 2 > 0)
            let (isShort, rests, isSupplied) = (number & 4 > 0, number & 8 > 0, number & 16 > 0)
            let plans = scene.cache.core.lock.withLock { state in
                _ = state.pool.takeSupply()
                state.pool.queue.install(Plan(), hasRoom: !isLacking)
                if isPassed { state.pool.queue.noteUnmet() }
                if isShort { _ = state.pool.queue.passForRoom(prefetch, hasShares: false, isFull: false) }
                if isSupplied { state.pool.noteEnd() }
                _ = state.drainEffects { now + (rests ? 1_000_000_000 : 0) }
                defer { state.planning = PlanningState() }
                return state.planning.isQueued
            }
            #expect(plans == (isSupplied && (isLacking || isPassed || (isShort && !rests))), "\(number)")
        }
    }

    /// Tiles that a plan skips because the view moves are planned once. That is when the view has rested long enough.
    @Test func whatIsLeftOutComesInItsTime() throws {
        let scene = try StillScene(tiles: 64)
        let layer = try scene.plainLayer()
        let start = scene.scheduler.now
        let stale = Int64(MotionEstimate.staleAfter * 1e9)
        let view = scene.cache.makeView(
            layers: [layer],
            selection: TileLevelSelection(),
            policy: { HesitantPolicy(until: start + stale) }
        )
        defer { withExtendedLifetime(view) {} }
        view.update(ServiceSetup.viewport(900, 900))
        scene.run()
        #expect(scene.cache.statistics.loads.started == 0 && scene.scheduler.pendingTimers == 1)
        let plans = planCount(scene.cache)
        #expect(scene.scheduler.passTime() && scene.run())
        #expect(scene.scheduler.now >= start + stale && scene.scheduler.now < start + stale + DueTimes.step)
        #expect(scene.cache.statistics.loads.started == 20 && planCount(scene.cache) == plans &+ 1)
    }

    private func planCount(_ cache: TileCache) -> UInt32 { cache.core.lock.withLock { $0.pool.queue.epoch } }
}

/// Skips all needed tiles in plans until a time.
private struct HesitantPolicy: PrefetchPolicy {
    let until: Int64
    var validity: WishValidity { [.onceRested, .whileStill] }

    init(until time: Int64) { until = time }

    mutating func observe(_ frame: FrameObservation) {}

    mutating func appendWishes(to wishes: inout Wishes, target: PlanTarget, context: PlanContext) {
        if context.now < until { wishes.hopeless += target.needed }
    }
}
