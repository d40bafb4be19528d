import TileCache

/// A generated world: coasts, forests, rivers, roads, towns with streets and houses, and their names.
///
/// Gives a renderer or a benchmark a map without installation or download. A tile is a pure function of its coordinate
/// and the seed, the same on every machine; tiles match at their borders, and places are the same at all levels. The
/// contents compress about as real maps do: the style ``Style/streets`` as line maps, ``Style/relief`` as shaded
/// terrain.
public struct DemoWorld: Sendable {
    /// Style of the map.
    public enum Style: Hashable, Sendable, CaseIterable {
        /// Areas of one colour, lines and names.
        case streets
        /// Shaded terrain with grain, and no lines.
        case relief
    }

    /// Width of the world in world pixels; it wraps there.
    public let worldWidth: Int
    /// Height of the world in world pixels.
    public let worldHeight: Int
    /// Width and height of a tile in its own pixels.
    public let tileSize: Int
    /// Seed of the world.
    public let seed: UInt64
    /// Style of the map.
    public let style: Style

    let terrain: Terrain
    let settlements: Settlements

    /// Creates a world without drawing it.
    ///
    /// - Parameters:
    ///   - worldWidth: In world pixels, 1 or more. Default: 131,072.
    ///   - worldHeight: In world pixels, 1 or more. Default: 131,072.
    ///   - tileSize: Width and height of a tile in its own pixels, 1 or more. Default: 256.
    ///   - seed: Equal seeds give equal worlds.
    ///   - style: Style of the map.
    public init(
        worldWidth: Int = 131_072,
        worldHeight: Int = 131_072,
        tileSize: Int = 256,
        seed: UInt64 = 1,
        style: Style = .streets
    ) {
        precondition(worldWidth > 0 && worldHeight > 0 && tileSize > 0, "sizes must be 1 or more")
        self.worldWidth = worldWidth
        self.worldHeight = worldHeight
        self.tileSize = tileSize
        self.seed = seed
        self.style = style
        terrain = Terrain(worldWidth: Double(worldWidth), seed: UInt32(truncatingIfNeeded: SplitMix64.mixed(seed)))
        settlements = Settlements(terrain: terrain, worldWidth: Double(worldWidth), seed: SplitMix64.mixed(seed ^ 1))
    }

    /// Level whose pixels are world pixels. The pyramid is of powers of two, and level 0 is one tile.
    public var maximumLevel: Int {
        // The last pixel is halved, since the tile's size doubled again and again would overflow for the widest worlds.
        let last = max(worldWidth, worldHeight) - 1
        var level = 0
        while last >> level >= tileSize { level += 1 }
        return level
    }

    /// Draws a tile in RGBA, eight bits each, alpha 255.
    ///
    /// - Parameters:
    ///   - level: The tile's level, 0 ... `maximumLevel`.
    ///   - column: The tile's column.
    ///   - row: The tile's row.
    ///   - maximumLevel: Level whose pixels are world pixels; each coarser one has half the resolution.
    ///   - buffer: Receives the rows: every byte of the tile's pixels, and none of a row's padding.
    ///   - bytesPerRow: Bytes from the start of a row to the start of the next, at least 4 a pixel.
    public func draw(
        level: Int,
        column: Int,
        row: Int,
        maximumLevel: Int,
        into buffer: UnsafeMutableRawBufferPointer,
        bytesPerRow: Int
    ) {
        precondition(bytesPerRow >= 4 * tileSize, "a row does not fit")
        precondition(buffer.count >= bytesPerRow * (tileSize - 1) + 4 * tileSize, "the tile does not fit")
        let frame = frame(level: level, column: column, row: row, maximumLevel: maximumLevel)
        let canvas = Canvas(frame: frame, pixels: buffer.baseAddress!, bytesPerRow: bytesPerRow)
        switch style {
        case .streets: drawStreets(on: canvas)
        case .relief: ReliefPainter(frame: frame, terrain: terrain).paint(on: canvas)
        }
    }

    func frame(level: Int, column: Int, row: Int, maximumLevel: Int) -> TileFrame {
        precondition(0...maximumLevel ~= level && maximumLevel < 60, "no such level")
        return TileFrame(
            worldPerPixel: Double(1 << (maximumLevel - level)),
            left: column * tileSize,
            top: row * tileSize,
            size: tileSize
        )
    }

    private func drawStreets(on canvas: Canvas) {
        let frame = canvas.frame
        // Towns smaller than two pixels are shown by their names only.
        let near = (0..<Settlements.cellsAcross.count).flatMap { rank -> [Settlement] in
            let cell = settlements.cell(rank: rank)
            guard cell * 0.1 > 2 * frame.worldPerPixel else { return [] }
            return settlements.window(rank: rank, frame: frame, margin: 0.4 * cell).all
        }
        let towns = TownGrid(frame: frame, settlements: near)
        AreaPainter(frame: frame, terrain: terrain, towns: towns).paint(on: canvas)
        RoadNetwork(settlements: settlements).paint(on: canvas)
        LabelPainter(settlements: settlements).paint(on: canvas)
    }
}
