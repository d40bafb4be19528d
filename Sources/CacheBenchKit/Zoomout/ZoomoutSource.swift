import DemoWorld
import PanTraces
import TileCache

/// The built-in world for zoom-outs, in any format, with all of its levels or only the finest.
struct ZoomoutSource: BlockingTileSource {
    private let world: DemoTileSource
    private let format: TilePixelFormat
    /// Difference of the world's level and the cache's.
    private let levelOffset: Int
    private let latency: Int64?
    private let clock: ReplayClockTime
    private let samples: [[UInt8]]

    init(_ options: ZoomoutOptions, scene: PanTraceScene, pyramid: TilePyramid, clock: ReplayClockTime) throws {
        format = options.pixelFormat
        world = try DemoTileSource(
            worldWidth: scene.worldWidth,
            worldHeight: scene.worldHeight,
            tileSize: scene.tileSize,
            format: format == .bgra8 ? .bgra8 : .rgba8,
            seed: options.seed
        )
        levelOffset = world.world.maximumLevel - pyramid.maximumLevel
        latency = options.loadLatency
        self.clock = clock
        samples = latency == nil ? [] : world.samples(count: 16).map { [format] in Self.converted($0, to: format) }
    }

    func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
        var tile = tile
        tile.level += levelOffset
        guard let latency else { return try draw(tile, into: &pixels) }
        let end = clock.now + latency
        let sample = samples[(tile.column &* 7 &+ tile.row &* 3 &+ tile.level) & 15]
        try sample.withUnsafeBytes { try pixels.copy(from: $0) }
        clock.sleep(until: end)
        return .pixels
    }

    private func draw(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
        if format == world.format { return try world.load(tile, into: &pixels) }
        let drawn = Self.converted(world.pixels(of: tile), to: format)
        try drawn.withUnsafeBytes { try pixels.copy(from: $0) }
        return .pixels
    }

    /// Converts to other formats of four bytes a pixel; those of one channel take the green.
    private static func converted(_ pixels: [UInt8], to format: TilePixelFormat) -> [UInt8] {
        switch format {
        case .rgba8, .bgra8, .opaque: pixels
        case .gray8: stride(from: 1, to: pixels.count, by: 4).map { pixels[$0] }
        case .gray16: stride(from: 1, to: pixels.count, by: 4).flatMap { [pixels[$0], pixels[$0]] }
        case .rgba16: pixels.flatMap { [$0, $0] }
        case .float32:
            stride(from: 1, to: pixels.count, by: 4).flatMap { index -> [UInt8] in
                let bits = (Float(pixels[index]) / 255).bitPattern
                return (0..<4).map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) }
            }
        }
    }
}
