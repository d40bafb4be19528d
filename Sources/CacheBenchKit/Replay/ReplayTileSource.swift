import DemoWorld
import PanTraces
import TileCache

/// The built-in world as a replay's source: drawn, or delivered after a wait.
struct ReplayTileSource: BlockingTileSource {
    private let world: DemoTileSource
    private let loads: LoadClock?
    private let clock: ReplayClockTime
    /// Tiles drawn in advance, delivered if only the wait matters: contents that compress like a map.
    private let samples: [[UInt8]]

    init(scene: PanTraceScene, options: ReplayOptions, loads: LoadClock, clock: ReplayClockTime) throws {
        world = try DemoTileSource(
            worldWidth: scene.worldWidth,
            worldHeight: scene.worldHeight,
            tileSize: scene.tileSize,
            format: options.pixelFormat,
            seed: options.seed
        )
        self.loads = options.loadLatency == nil ? nil : loads
        self.clock = clock
        samples = self.loads == nil ? [] : world.samples(count: 16)
    }

    func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
        guard let loads else { return try world.load(tile, into: &pixels) }
        let end = clock.now + loads.time(of: tile)
        let sample = samples[(tile.column &* 7 &+ tile.row &* 3 &+ tile.level) & 15]
        guard sample.count == pixels.byteCount else {
            throw TileFailure.wrongSize(expectedBytes: pixels.byteCount, deliveredBytes: sample.count)
        }
        pixels.withUnsafeMutableBytes { target in sample.withUnsafeBytes { target.copyMemory(from: $0) } }
        clock.sleep(until: end)
        return .pixels
    }
}
