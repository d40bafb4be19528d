import Dispatch
import TileCache

/// Costs of frames and evictions, in counts that are equal on every machine.
///
/// The cache's steps run on the calling thread, one after the other, under their own clock.
struct CostBenchmark {
    struct Figures: Equatable {
        /// Lock acquisitions of 100 frames of a view that pans over a full cache. Includes plans and loads.
        var frames = 0
        /// Lock acquisitions of 100 updates and frames of a view at rest.
        var framesAtRest = 0
        /// Tiles examined by 100 evictions.
        var evictions = 0
    }

    // Used by one thread only.
    private final class Steps: @unchecked Sendable {
        var now: Int64 = 1_000_000_000
        private var steps: [Executor.Step] = []

        func add(_ step: @escaping Executor.Step) { steps.append(step) }

        func run() { while !steps.isEmpty { steps.removeFirst()() } }
    }

    /// A timer that never fires. Nothing is due here, and a real one would run its steps on another thread.
    private struct NoTimer: StepTimer {
        func set(after nanoseconds: Int?, _ step: @escaping Executor.Step) {}
        func cancel() {}
    }

    func run() throws -> Figures {
        let steps = Steps()
        var configuration = TileCache.Configuration(byteLimit: .mebibytes(8))
        configuration.usesCompressedTier = false
        configuration.clock = { steps.now }
        configuration.executor.run = { steps.add($1) }
        configuration.executor.makeTimer = { _ in NoTimer() }
        let cache = try TileCache(configuration)
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 1 << 16, worldHeight: 1 << 16, tileSize: 64)
        let view = cache.makeView(layers: [try cache.addLayer(FirstByteSource(), pyramid: pyramid)])
        func draw(_ frames: Range<Int>) {
            for frame in frames {
                let center = WorldPoint(x: 400 + 20 * Double(frame), y: 3600)
                view.update(TileViewport(center: center, width: 256, height: 192))
                _ = view.frame()
                steps.run()
                steps.now += 8_333_333
            }
        }
        func counts() -> (acquisitions: Int, steps: Int, evictions: Int) {
            let costs = cache.costs
            return (costs.acquisitions, costs.evictionSteps, cache.counters.tiers.removed.reduce(0, +))
        }
        draw(0..<400)
        let before = counts()
        draw(400..<500)
        let after = counts()
        for _ in 0..<500 { draw(499..<500) }
        let rest = counts()
        for _ in 0..<100 { draw(499..<500) }
        var figures = Figures()
        figures.frames = after.acquisitions - before.acquisitions
        figures.framesAtRest = counts().acquisitions - rest.acquisitions
        figures.evictions = 100 * (after.steps - before.steps) / max(after.evictions - before.evictions, 1)
        cache.shutdown(timeout: .zero)
        return figures
    }
}
