package import TileCache

/// Cost of the default policy's plans for a view that pans, turns back and zooms, at each frame.
package struct PlanBenchmark: Sendable {
    package struct Figures: Codable, Sendable, Hashable {
        package var plans: Int
        /// Mean cost of a plan, learning from the frame included, in microseconds.
        package var meanMicroseconds: Double
        package var p99Microseconds: Double
        package var maximumMicroseconds: Double
        /// Maximum number of tiles that one frame needed.
        package var maximumNeededTiles: Int
    }

    package var viewport: PanTraceHeader.Size
    /// Number of frames at 120 Hz.
    package var frames: Int
    /// Pixels a side of a tile.
    package var tileSize: Int

    /// Creates a benchmark. Default: a 4K view at 256-pixel tiles over 20 s.
    package init(
        viewport: PanTraceHeader.Size = PanTraceHeader.Size(width: 3840, height: 2160),
        frames: Int = 2400,
        tileSize: Int = 256
    ) {
        self.viewport = viewport
        self.frames = frames
        self.tileSize = tileSize
    }

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
            // 3000 pixels a second to the right and down, back after 2 s, with a slow zoom in and out.
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
