import PanTraces
import TileCache

/// Cache driven by a zoom-out: the real service, or the cache's decisions under the virtual clock.
protocol ZoomoutStage: AnyObject {
    /// Draws a frame at a time of the session.
    func draw(_ viewport: TileViewport, at time: Int64) -> ZoomoutFrame
    /// Ends the session.
    func end()
    var peakBytes: Int { get }
    var hitRate: Double? { get }
}

/// Figures of a frame.
struct ZoomoutFrame {
    var coverage: Coverage
    /// Needed tiles of the drawn level, which is coarser if the ideal one exceeds the limit.
    var neededTiles: Int
    /// Bytes of the ideal level's tiles if they and the tables exceed the limit; otherwise 0.
    var unfittedBytes: Int
    /// Bytes of the tables.
    var tableBytes: Int
    var hasMoved: Bool
}

/// The cache's decisions under the virtual clock, with the same settings.
final class VirtualZoomout: ZoomoutStage {
    private let cache: VirtualCache
    private let view: Int

    init(_ options: ZoomoutOptions, tileBytes: Int, byteLimit: Int, pyramid: TilePyramid) {
        let configuration = options.cacheConfiguration(byteLimit)
        let latency = options.loadLatency ?? 0
        cache = VirtualCache(
            options: VirtualCache.Options(configuration),
            expectedLatency: configuration.expectedLoadLatency.nanoseconds,
            latency: { _, _ in latency }
        )
        let layer = cache.addLayer(
            tileBytes: tileBytes,
            pyramid: pyramid,
            synthesizedLevels: options.synthesizedLevels
        )
        view = cache.addView(layers: [(layer, pyramid, AdaptivePolicy())])
    }

    func draw(_ viewport: TileViewport, at time: Int64) -> ZoomoutFrame {
        cache.frame(view: view, viewport, at: time)
        return ZoomoutFrame(
            coverage: cache.coverage,
            neededTiles: cache.neededTileCount(view: view),
            unfittedBytes: cache.shortfallBytes(view: view),
            tableBytes: cache.bookkeepingBytes,
            hasMoved: cache.hasMoved
        )
    }

    func end() {}

    var peakBytes: Int { cache.counters.peakBytes }

    var hitRate: Double? { (cache.panDemands + cache.zoomDemands).hitRate }
}

/// The real service on its workers, in real time or faster.
final class RealZoomout: ZoomoutStage {
    private let cache: TileCache
    private let view: TileView
    private let clock: ReplayClockTime

    init(_ options: ZoomoutOptions, scene: PanTraceScene, byteLimit: Int, pyramid: TilePyramid) throws {
        let clock = ReplayClockTime(speed: options.speed)
        var configuration = options.cacheConfiguration(byteLimit)
        configuration.clock = { clock.now }
        cache = try TileCache(configuration)
        let layer = try cache.addLayer(
            try ZoomoutSource(options, scene: scene, pyramid: pyramid, clock: clock),
            pyramid: pyramid,
            options: LayerOptions(
                format: options.pixelFormat,
                synthesizedLevels: options.synthesizedLevels,
                downsampling: options.downsampling
            )
        )
        view = cache.makeView(layers: [layer])
        self.clock = clock
        clock.start()
    }

    func draw(_ viewport: TileViewport, at time: Int64) -> ZoomoutFrame {
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
    }

    func end() { cache.shutdown() }

    var peakBytes: Int { cache.statistics.memory.peak.bytes }
    var hitRate: Double? { cache.statistics.hitRate }
}
