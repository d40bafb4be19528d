import Testing

@testable import CacheBenchKit
@testable import TileCache

/// The library's policy and its rivals: plans skipped at rest, and extreme numbers.
@Suite(.timeLimit(.minutes(45))) struct PolicyTests {
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
            case .tilecache: AdaptivePolicy()
            }
        }
    }

    private static func view(_ x: Double, _ y: Double, scale: Double, rotation: Double = 0) -> TileViewport {
        TileViewport(center: WorldPoint(x: x, y: y), width: 256, height: 192, scale: scale, rotation: rotation)
    }

    private final class Starts {
        var all: [(tile: TileCoordinate, time: Int64)] = []
    }

    /// Strokes, zooms, jumps and small steps, separated by rests from one frame to some seconds.
    private func walk(seed: UInt64, rate: Double) -> [(viewport: TileViewport, time: Int64)] {
        var dice = SplitMix64(seed: seed)
        var view = TileViewport(center: WorldPoint(x: 4096, y: 4096), width: 500, height: 300, scale: 0.5)
        var frames: [(viewport: TileViewport, time: Int64)] = []
        func show(_ count: Int, _ change: (inout TileViewport) -> Void) {
            for _ in 0..<count {
                change(&view)
                frames.append((view, Int64((Double(frames.count) * 1e9 / rate).rounded())))
            }
        }
        for _ in 0..<12 {
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
            let caches = try logs.enumerated().map { index, log in
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
                let layer = try cache.addLayer(tileBytes: 256 * 256 * 4)
                _ = cache.addView(layers: [(layer, pyramid, foresight.policy)])
                return cache
            }
            var plans = [0, 0]
            for (number, frame) in walk(seed: seed, rate: rate).enumerated() {
                for (index, cache) in caches.enumerated() {
                    let before = cache.pool.queue.epoch
                    cache.frame(view: 0, frame.viewport, at: frame.time)
                    plans[index] += Int(cache.pool.queue.epoch - before)
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
            // With LRU, plan entries may evict each other for ever, and some policies' velocities hardly decay.
            if seed < 3, foresight == .none || foresight == .tilecache {
                #expect(plans[0] < plans[1], "seed \(seed): \(plans)")
            }
        }
    }

    /// Scales over 24 powers of ten, and viewports far larger than the world. Also far outside it, with every policy.
    @Test func viewportsOfAnySizeAreFrames() throws {
        let policies = Foresight.allCases.map(\.policy)
        for (index, policy) in policies.enumerated() {
            var options = VirtualCache.Options()
            options.byteLimit = 2 << 20
            options.fitsBudget = true
            options.usesValues = true
            let cache = VirtualCache(options: options, expectedLatency: 1_000_000, latency: { _, _ in 1_000_000 })
            let pyramid = try TilePyramid.powerOfTwo(
                worldWidth: 4096,
                worldHeight: 4096,
                tileSize: 64,
                wrapsX: index.isMultiple(of: 2)
            )
            let view = cache.addView(layers: [(try cache.addLayer(tileBytes: 16_384), pyramid, policy)])
            var now: Int64 = 0
            for exponent in stride(from: -12, through: 12, by: 3) {
                for center in [0, 2048, -1e9, 1e15, 1e300] {
                    for size in [(1e-3, 1e-3), (256, 192), (1e6, 1e6)] as [(Double, Double)] {
                        for rotation in [0, 0.5, 1e9] {
                            let scale = exponent < 0 ? 1 / power(-exponent) : power(exponent)
                            cache.frame(
                                view: view,
                                TileViewport(
                                    center: WorldPoint(x: center, y: center),
                                    width: size.0,
                                    height: size.1,
                                    scale: scale,
                                    rotation: rotation
                                ),
                                at: now
                            )
                            now += 16_666_667
                        }
                    }
                }
            }
            #expect(cache.pool.committedBytes <= 2 << 20)
            // The cache still works afterwards.
            for _ in 0..<100 {
                cache.frame(view: view, Self.view(2048, 2048, scale: 1), at: now)
                now += 16_666_667
            }
            #expect(cache.coverage.missingTiles == 0)
        }
    }

    private func power(_ exponent: Int) -> Double { (0..<exponent).reduce(1) { product, _ in product * 10 } }

    /// Every policy plans in a world of 2^40 pixels. It moves over edges and levels, and comes to rest.
    @Test(arguments: [1, 256, 16_384]) func everyPolicyPlansInAWorldOf2To40Pixels(tileSize: Int) throws {
        let policies = Foresight.allCases.map(\.policy)
        for (index, policy) in policies.enumerated() {
            let pyramid = try TilePyramid.powerOfTwo(
                worldWidth: 1 << 40,
                worldHeight: 1 << 40,
                tileSize: tileSize,
                wrapsX: index.isMultiple(of: 2)
            )
            var options = VirtualCache.Options()
            options.byteLimit = 4 << 20
            options.usesValues = true
            options.fitsBudget = true
            let cache = VirtualCache(options: options, expectedLatency: 1_000_000, latency: { _, _ in 1_000_000 })
            let view = cache.addView(layers: [(try cache.addLayer(tileBytes: 16_384), pyramid, policy)])
            var now: Int64 = 0
            let far = 0x1p40
            for octave in stride(from: -40.0, through: 2, by: 3.5) {
                for step in 0..<4 {
                    let x = far - 2000 + Double(step) * 1000
                    cache.frame(
                        view: view,
                        Self.view(x, far / 2, scale: PortableMath.exp2(octave), rotation: octave),
                        at: now
                    )
                    now += 16_666_667
                }
            }
            for _ in 0..<40 {
                cache.frame(view: view, Self.view(far / 2, far / 2, scale: 1e-9), at: now)
                now += 16_666_667
            }
            #expect(cache.pool.committedBytes <= 4 << 20)
            #expect(cache.coverage.missingTiles == 0, "\(policy)")
        }
    }
}
