import TileCache

/// Cost of the default policy's plans, one a frame. The view pans, turns back and zooms.
package struct PlanBenchmark: Sendable {
    package struct Figures: Encodable, Sendable, Hashable {
        package var plans: Int
        /// Mean cost of a plan, learning from the frame included, in microseconds.
        package var meanMicroseconds: Double
        package var p99Microseconds: Double
        package var maximumMicroseconds: Double
        /// Maximum number of tiles that one frame needed.
        package var maximumNeededTiles: Int
    }

    /// Number of frames at 120 Hz.
    var frames = 2400

    package func run() throws -> Figures {
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 1 << 20, worldHeight: 1 << 20)
        var options = VirtualCache.Options()
        options.byteLimit = 1 << 30
        options.usesValues = true
        options.compressedTier = false
        let cache = VirtualCache(options: options, expectedLatency: 40_000_000, latency: { _, _ in 40_000_000 })
        cache.measuresPlans = true
        let layer = try cache.addLayer(tileBytes: 256 * 256 * 4)
        // A plan in each frame.
        let effects = PolicyEffects.all.subtracting(.reuse)
        let view = cache.addView(layers: [(layer, pyramid, AdaptivePolicy(effects: effects))])
        var spans: [Double] = []
        var path = PacedPath(scale: 0.26)
        for frame in 0..<frames {
            path.move(frame: frame)
            let viewport = TileViewport(center: path.center, width: 3840, height: 2160, scale: path.scale)
            cache.frame(view: view, viewport, at: Int64(frame) * 8_333_333)
            spans.append(cache.planMicroseconds)
        }
        spans.sort()
        return Figures(
            plans: spans.count,
            meanMicroseconds: spans.reduce(0, +) / Double(max(spans.count, 1)),
            p99Microseconds: spans.isEmpty ? 0 : spans[(spans.count - 1) * 99 / 100],
            maximumMicroseconds: spans.last ?? 0,
            maximumNeededTiles: cache.maximumNeededTiles
        )
    }
}
