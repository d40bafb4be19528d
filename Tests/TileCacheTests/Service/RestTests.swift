import Dispatch
import Synchronization
import Testing

@testable import TileCache

/// A view at rest makes no plans.
@Suite(.timeLimit(.minutes(15))) struct RestTests {
    /// A renderer that goes on drawing the same keeps the service asleep, and what it does next is seen at once.
    ///
    /// Also where the cache is full: letting the last frame go makes no room, as the next one holds the same.
    @Test(arguments: [ByteCount.kibibytes(640), .mebibytes(4)])
    func aViewAtRestMakesNoPlans(byteLimit: ByteCount) throws {
        // By a clock that stands still nobody has rested for long.
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
        /// Whether so many frames in a row, of a view where it is, come to need no plan.
        func falls(asleepAt viewport: TileViewport, for frames: Int) -> Bool {
            var quiet = 0
            return eventually {
                quiet = draw(viewport) == 0 ? quiet + 1 : 0
                return quiet == frames
            }
        }
        #expect(falls(asleepAt: place, for: 100))
        #expect(cache.core.lock.withLock { $0.pool.queue.prefetchHasEnded } == (byteLimit < .mebibytes(4)))
        // What has changed is planned for, whatever it is.
        let next = ServiceSetup.viewport(901, 900)
        #expect(draw(next) > 0)
        #expect(falls(asleepAt: next, for: 20))
        let later = MonotonicTime(nanoseconds: cache.core.clock() + 60_000_000_000)
        let far = ViewportDestination(viewport: ServiceSetup.viewport(3000, 3000), time: later)
        #expect(draw(next, destination: far) > 0)
        #expect(falls(asleepAt: next, for: 20))
        cache.invalidate(layer)
        #expect(eventually { view.frame().allSatisfy { !$0.tile.isStale } })
        #expect(falls(asleepAt: next, for: 20))
    }

    private func planCount(_ cache: TileCache) -> UInt32 { cache.core.lock.withLock { $0.pool.queue.epoch } }
}
