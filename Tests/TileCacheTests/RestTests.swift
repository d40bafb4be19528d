import CacheBenchKit
import Dispatch
import Synchronization
import Testing

@testable import TileCache

/// Plans that are left out at rest: nothing may differ from a cache that makes them all.
@Suite(.timeLimit(.minutes(15))) struct RestTests {
    enum Foresight: String, CaseIterable, Sendable {
        case none, ring, velocity, skewport, gaussian, zoom4, tilecache

        var policy: any PrefetchPolicy {
            switch self {
            case .none: NoPrefetch()
            case .ring: RingPolicy()
            case .velocity: VelocityPolicy()
            case .skewport: SkewportPolicy()
            case .gaussian: GaussianPolicy()
            case .zoom4: Zoom4Policy()
            case .tilecache: TileCachePolicy()
            }
        }
    }

    private final class Starts {
        var all: [(tile: TileCoordinate, time: Int64)] = []
    }

    /// Strokes, zooms, jumps and small steps, with rests from a frame to some seconds between them.
    private func walk(seed: UInt64, rate: Double) -> [(viewport: Viewport, time: Int64)] {
        var dice = SplitMix64(seed: seed)
        var view = Viewport(center: WorldPoint(x: 4096, y: 4096), width: 500, height: 300, scale: 0.5)
        var frames: [(viewport: Viewport, time: Int64)] = []
        func show(_ count: Int, _ change: (inout Viewport) -> Void) {
            for _ in 0..<count {
                change(&view)
                frames.append((view, Int64((Double(frames.count) * 1e9 / rate).rounded())))
            }
        }
        for _ in 0..<25 {
            let kind = dice.nextUnit()
            let x = dice.next(from: -1500, to: 1500) / rate
            let y = dice.next(from: -1500, to: 1500) / rate
            let count = Int(dice.next(from: 1, to: 0.4 * rate + 2))
            if kind < 0.2 {
                let factor = dice.next(from: 0.9, to: 1.1)
                show(count) { $0.scale = min(max($0.scale * factor, 0.05), 2) }
            } else if kind < 0.3 {
                let place = WorldPoint(x: dice.next(from: 0, to: 8192), y: dice.next(from: 0, to: 8192))
                show(1) { $0.center = place }
            } else {
                let share = kind < 0.5 ? 0.02 : 1
                show(count) {
                    $0.center.x += x * share
                    $0.center.y += y * share
                }
            }
            show(Int(rate * (dice.nextUnit() < 0.2 ? 5 : dice.next(from: 0, to: 1)))) { _ in }
        }
        return frames
    }

    @Test(arguments: Foresight.allCases, [60.0, 7, 240])
    func framesLeftOutChangeNothing(_ foresight: Foresight, rate: Double) throws {
        for seed in 1...UInt64(rate < 100 ? 4 : 1) {
            let pyramid = try TilePyramid.powerOfTwo(worldWidth: 8192, worldHeight: 8192, wrapsX: seed % 2 == 0)
            let logs = [Starts(), Starts()]
            let caches = logs.enumerated().map { index, log in
                var options = VirtualCache.Options()
                options.byteLimit = 60 * 256 * 256 * 4
                options.usesValues = seed < 3
                options.workers = 3
                if seed == 4 {
                    options.codecCost = CodecCost(compressBytesPerSecond: 1e9, decompressBytesPerSecond: 3e9)
                }
                let cache = VirtualCache(options: options, expectedLatency: 40_000_000) { load, start in
                    log.all.append((load.tile, start))
                    return 20_000_000 + Int64(load.tile.column % 5) * 30_000_000
                }
                cache.skipsSettledFrames = index == 0
                let layer = cache.addLayer(tileBytes: 256 * 256 * 4)
                _ = cache.addView(layers: [(layer, pyramid, foresight.policy)])
                return cache
            }
            var plans = [0, 0]
            for (number, frame) in walk(seed: seed, rate: rate).enumerated() {
                for (index, cache) in caches.enumerated() {
                    let before = cache.planCount
                    cache.frame(view: 0, frame.viewport, at: frame.time)
                    plans[index] += cache.planCount - before
                }
                let isSame =
                    caches[0].coverage == caches[1].coverage && caches[0].hasMoved == caches[1].hasMoved
                    && caches[0].timesToSharp == caches[1].timesToSharp
                    && caches[0].loadsInFlight == caches[1].loadsInFlight
                    && caches[0].counters.isUnchanged(since: caches[1].counters)
                    && caches[0].tierBytes == caches[1].tierBytes
                #expect(isSame, "seed \(seed), frame \(number)")
                guard isSame else { return }
            }
            #expect(logs[0].all.elementsEqual(logs[1].all) { $0 == $1 })
            #expect(caches[0].panDemands == caches[1].panDemands && caches[0].zoomDemands == caches[1].zoomDemands)
            #expect(plans[0] <= plans[1])
            // With LRU wishes may push each other out for ever, and the velocities of some policies hardly die away.
            if seed < 3, foresight == .none || foresight == .tilecache {
                #expect(plans[0] < plans[1], "seed \(seed): \(plans)")
            }
        }
    }

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
        func draw(_ viewport: Viewport, destination: Destination? = nil) -> UInt32 {
            let before = planCount(cache)
            time += 16_666_667
            view.update(viewport, at: MonotonicTime(nanoseconds: time), destination: destination)
            _ = view.frame()
            cache.core.coordinator.sync {}
            return planCount(cache) &- before
        }
        /// Whether so many frames in a row, of a view where it is, come to need no plan.
        func falls(asleepAt viewport: Viewport, for frames: Int) -> Bool {
            var quiet = 0
            return eventually {
                quiet = draw(viewport) == 0 ? quiet + 1 : 0
                return quiet == frames
            }
        }
        #expect(falls(asleepAt: place, for: 100))
        #expect(cache.core.lock.withLock { $0.pool.prefetchHasEnded } == (byteLimit < .mebibytes(4)))
        // What has changed is planned for, whatever it is.
        let next = ServiceSetup.viewport(901, 900)
        #expect(draw(next) > 0)
        #expect(falls(asleepAt: next, for: 20))
        let later = MonotonicTime(nanoseconds: cache.core.clock() + 60_000_000_000)
        let far = Destination(viewport: ServiceSetup.viewport(3000, 3000), time: later)
        #expect(draw(next, destination: far) > 0)
        #expect(falls(asleepAt: next, for: 20))
        cache.invalidate(layer)
        #expect(eventually { view.frame().allSatisfy { !$0.tile.isStale } })
        #expect(falls(asleepAt: next, for: 20))
    }

    private func planCount(_ cache: TileCache) -> UInt32 { cache.core.lock.withLock { $0.pool.planEpoch } }
}
