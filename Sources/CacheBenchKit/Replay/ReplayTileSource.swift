import DemoWorld
import PanTraces
import TileCache

/// The built-in world as a source under the real clock. Drawn, or delivered after a wait.
struct ReplayTileSource: BlockingTileSource {
    private let world: DemoTileSource
    private let format: TilePixelFormat
    /// Difference of the world's level and the cache's.
    private let levelOffset: Int
    /// Times until tiles are delivered; `nil` if they are drawn.
    private let loads: LoadClock?
    private let clock: ReplayClockTime
    /// Tiles drawn in advance, delivered if only the wait matters. They compress like a map.
    private let samples: [[UInt8]]
    private let noteLoad: (@Sendable (TileCoordinate) -> Void)?

    /// The world is drawn with four bytes a pixel, and converted to other formats. Without a latency in the options its
    /// tiles are drawn, otherwise delivered in the times of `loads`.
    init(
        _ scene: PanTraceScene,
        pyramid: TilePyramid,
        options: ReplayOptions,
        loads: LoadClock,
        clock: ReplayClockTime,
        noteLoad: (@Sendable (TileCoordinate) -> Void)? = nil
    ) throws {
        self.noteLoad = noteLoad
        world = try DemoTileSource(
            worldWidth: scene.worldWidth,
            worldHeight: scene.worldHeight,
            tileSize: scene.tileSize,
            format: options.pixelFormat == .bgra8 ? .bgra8 : .rgba8,
            seed: options.seed
        )
        format = options.pixelFormat
        self.loads = options.loadLatency == nil ? nil : loads
        self.clock = clock
        levelOffset = world.world.maximumLevel - pyramid.maximumLevel
        samples = self.loads == nil ? [] : world.samples(count: 16).map { Self.converted($0, to: options.pixelFormat) }
    }

    func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
        noteLoad?(tile)
        var worldTile = tile
        worldTile.level += levelOffset
        guard let loads else { return try draw(worldTile, into: &pixels) }
        let end = clock.now + loads.time(of: tile)
        let sample = samples[(tile.column &* 7 &+ tile.row &* 3 &+ worldTile.level) & 15]
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

    /// Converts to other formats of four bytes a pixel. Those of one channel take the green.
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
