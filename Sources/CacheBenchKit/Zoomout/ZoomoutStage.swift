import PanTraces
import TileCache

/// Cache driven by a zoom-out: the service, or its decisions under the virtual clock.
struct ZoomoutStage {
    /// Draws a frame at a time of the session.
    var draw: (_ viewport: TileViewport, _ time: Int64) -> ZoomoutFrame
    var peakBytes: () -> Int
    var hitRate: () -> Double?
    var end: () -> Void = {}
}

struct ZoomoutFrame {
    var coverage: Coverage
    /// Needed tiles of the drawn level. It is coarser if the ideal one exceeds the limit.
    var neededTiles: Int
    /// Bytes of the ideal level's tiles if they and the tables exceed the limit. Otherwise 0.
    var unfittedBytes: Int
    var tableBytes: Int
    var hasMoved: Bool
}

extension ZoomoutStage {
    /// The cache's decisions under the virtual clock, with the same settings.
    static func virtual(
        _ options: ZoomoutOptions,
        tileBytes: Int,
        byteLimit: Int,
        pyramid: TilePyramid
    ) throws(ReplayError) -> Self {
        let configuration = options.cacheConfiguration(byteLimit)
        let latency = options.replay.loadLatency ?? 0
        let cache = VirtualCache(
            options: VirtualCache.Options(configuration),
            expectedLatency: configuration.expectedLoadLatency.nanoseconds,
            latency: { _, _ in latency }
        )
        let layer = try options.replay.withRoom { () throws(TileCacheError) in
            try cache.addLayer(
                tileBytes: tileBytes,
                pyramid: pyramid,
                synthesizedLevels: options.synthesizedLevels
            )
        }
        let view = cache.addView(layers: [(layer, pyramid, AdaptivePolicy())])
        return ZoomoutStage(
            draw: { viewport, time in
                cache.frame(view: view, viewport, at: time)
                return ZoomoutFrame(
                    coverage: cache.coverage,
                    neededTiles: cache.neededTileCount(view: view),
                    unfittedBytes: cache.shortfallBytes(view: view),
                    tableBytes: cache.bookkeepingBytes,
                    hasMoved: cache.hasMoved
                )
            },
            peakBytes: { cache.counters.peakBytes },
            hitRate: { (cache.panDemands + cache.zoomDemands).hitRate }
        )
    }

    /// The real service on its workers, in real time or faster.
    static func real(
        _ options: ZoomoutOptions,
        scene: PanTraceScene,
        byteLimit: Int,
        pyramid: TilePyramid,
        stores: [any TileStore]
    ) throws -> Self {
        let clock = ReplayClockTime(speed: options.replay.speed)
        var configuration = options.cacheConfiguration(byteLimit)
        configuration.clock = { clock.now }
        let cache = try TileCache(configuration)
        let dataSet = ["cachebench zoomout", "\(scene.worldWidth)", "\(options.replay.seed)"]
        let layer = try cache.addLayer(
            try ReplayTileSource(
                scene,
                pyramid: pyramid,
                options: options.replay,
                loads: LoadClock(options.replay),
                clock: clock
            ),
            pyramid: pyramid,
            options: LayerOptions(
                format: options.replay.pixelFormat,
                synthesizedLevels: options.synthesizedLevels,
                downsampling: options.downsampling,
                stores: stores.isEmpty ? nil : LayerStores(stores, dataSet: dataSet)
            )
        )
        let view = cache.makeView(layers: [layer])
        clock.start()
        return ZoomoutStage(
            draw: { viewport, time in
                clock.sleep(until: time)
                view.update(viewport, at: MonotonicTime(nanoseconds: time))
                let frame = view.frame()
                return ZoomoutFrame(
                    coverage: frame.coverage,
                    neededTiles: view.neededTileCount,
                    unfittedBytes: view.shortfall.bytes,
                    tableBytes: cache.statistics.memory.bookkeeping.bytes,
                    hasMoved: view.hasMoved
                )
            },
            peakBytes: { cache.statistics.memory.peak.bytes },
            hitRate: { cache.statistics.hitRate },
            end: { cache.shutdown() }
        )
    }
}
