package import TileCache

/// What the default policy's plans cost: a view that pans, turns back and zooms, planned for at each frame.
package struct PlanBenchmark: Sendable {
    /// The figures of one run.
    package struct Figures: Codable, Sendable, Hashable {
        /// Plans made.
        package var plans: Int
        /// The mean cost of a plan, what is learned from the frame included, in microseconds.
        package var meanMicroseconds: Double
        /// The cost that 99 of 100 plans stay below, in microseconds.
        package var p99Microseconds: Double
        /// The most expensive plan, in microseconds.
        package var maximumMicroseconds: Double
        /// The most tiles that one frame needed.
        package var maximumNeededTiles: Int
    }

    /// The view in screen pixels.
    package var viewport: PanTraceHeader.Size
    /// Frames at 120 Hz.
    package var frames: Int
    /// Pixels a side of a tile.
    package var tileSize: Int

    /// Makes a benchmark; a 4K view at 256-pixel tiles over 20 s unless given.
    package init(
        viewport: PanTraceHeader.Size = PanTraceHeader.Size(width: 3840, height: 2160),
        frames: Int = 2400,
        tileSize: Int = 256
    ) {
        self.viewport = viewport
        self.frames = frames
        self.tileSize = tileSize
    }

    /// Runs it.
    ///
    /// - Throws: `TileCacheError` where no pyramid has such tiles.
    package func run() throws -> Figures {
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 1 << 20, worldHeight: 1 << 20, tileSize: tileSize)
        var options = VirtualCache.Options()
        options.byteLimit = 1 << 30
        options.usesValues = true
        options.compressedTier = false
        let cache = VirtualCache(options: options, expectedLatency: 40_000_000, latency: { _, _ in 40_000_000 })
        cache.measuresPlans = true
        let layer = cache.addLayer(tileBytes: tileSize * tileSize * 4)
        let view = cache.addView(layers: [(layer, pyramid, AdaptivePolicy())])
        var spans: [Double] = []
        var center = WorldPoint(x: 300_000, y: 400_000)
        var scale = 0.26
        for frame in 0..<frames {
            // 3000 pixels a second to the right and down, back after 2 s, a slow zoom in and out meanwhile.
            let isBack = frame / 240 % 2 == 1
            center.x += (isBack ? -25 : 25) / scale
            center.y += (isBack ? -7 : 7) / scale
            scale *= frame / 480 % 2 == 0 ? 1.003 : 1 / 1.003
            cache.frame(
                view: view,
                TileViewport(center: center, width: viewport.width, height: viewport.height, scale: scale),
                at: Int64(frame) * 8_333_333
            )
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
