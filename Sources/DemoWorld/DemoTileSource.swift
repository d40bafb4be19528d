public import TileCache

/// A ``DemoWorld`` as a source of tiles for a cache's layer.
public struct DemoTileSource: BlockingTileSource {
    /// The world to draw.
    public let world: DemoWorld
    /// Pixel format.
    public let format: TilePixelFormat
    private let maximumLevel: Int

    /// Error for a format that the world cannot be drawn in.
    public struct UnsupportedFormat: Error, CustomStringConvertible {
        /// The format.
        public let format: TilePixelFormat
        /// A full sentence.
        public var description: String { "the built-in world cannot be drawn as \(format)" }
    }

    /// Creates a source.
    ///
    /// - Parameters:
    ///   - worldWidth: In world pixels.
    ///   - worldHeight: In world pixels.
    ///   - tileSize: Pixels a side of a tile.
    ///   - format: `rgba8` or `bgra8`. Default: `rgba8`.
    ///   - seed: Equal seeds give equal worlds.
    /// - Throws: ``UnsupportedFormat``.
    public init(
        worldWidth: Int = 131_072,
        worldHeight: Int = 131_072,
        tileSize: Int = 256,
        format: TilePixelFormat = .rgba8,
        seed: UInt64 = 1
    ) throws {
        guard format == .rgba8 || format == .bgra8 else { throw UnsupportedFormat(format: format) }
        world = DemoWorld(worldWidth: worldWidth, worldHeight: worldHeight, tileSize: tileSize, seed: seed)
        self.format = format
        maximumLevel = world.maximumLevel
    }

    /// Draws a tile.
    public func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
        let bytesPerRow = pixels.bytesPerRow
        pixels.withUnsafeMutableBytes { draw(tile, into: $0, bytesPerRow: bytesPerRow) }
        return .pixels
    }

    private func draw(_ tile: TileCoordinate, into buffer: UnsafeMutableRawBufferPointer, bytesPerRow: Int) {
        world.draw(
            level: tile.level,
            column: tile.column,
            row: tile.row,
            maximumLevel: maximumLevel,
            into: buffer,
            bytesPerRow: bytesPerRow
        )
        guard format == .bgra8 else { return }
        for pixel in stride(from: 0, to: buffer.count - 3, by: 4) { buffer.swapAt(pixel, pixel + 2) }
    }

    /// Draws sample tiles from all levels of the world.
    package func samples(count: Int) -> [[UInt8]] {
        (0..<count).map { number in
            let level = number * maximumLevel / max(count - 1, 1)
            let side = 1 << level
            let tile = TileCoordinate(level: level, column: side * 5 / 8, row: side * 3 / 8)
            return pixels(of: tile)
        }
    }

    /// Draws a tile, rows packed.
    package func pixels(of tile: TileCoordinate) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: world.tileSize * world.tileSize * 4)
        bytes.withUnsafeMutableBytes { draw(tile, into: $0, bytesPerRow: world.tileSize * 4) }
        return bytes
    }
}
