import TileCache

/// A made-up world that draws itself: coasts, forests, rivers, roads, towns with streets and houses, and their names.
///
/// It is there so that a renderer or a benchmark has a map with nothing installed and nothing downloaded. A tile is a
/// pure function of its coordinate and the seed, the same on every machine; tiles fit together at their borders, and the
/// same places are found at all levels. The contents compress about as real maps do: the style ``Style/streets`` like
/// line maps, ``Style/relief`` like shaded terrain.
public struct DemoWorld: Sendable {
    /// What kind of map it is.
    public enum Style: Hashable, Sendable, CaseIterable {
        /// Areas of one colour, lines and names.
        case streets
        /// Shaded terrain with grain, and no lines.
        case relief
    }

    /// The width of the world in world pixels; it wraps there.
    public let worldWidth: Int
    /// The height of the world in world pixels.
    public let worldHeight: Int
    /// The width and the height of a tile in its own pixels.
    public let tileSize: Int
    /// What makes this world another one than the next.
    public let seed: UInt64
    /// What kind of map it is.
    public let style: Style

    let terrain: Terrain
    let settlements: Settlements

    /// Makes a world; nothing is drawn yet.
    ///
    /// - Parameters:
    ///   - worldWidth: in world pixels, 1 or more; 131,072 unless given.
    ///   - worldHeight: in world pixels, 1 or more; 131,072 unless given.
    ///   - tileSize: the width and the height of a tile in its own pixels, 1 or more; 256 unless given.
    ///   - seed: the same seed is the same world.
    ///   - style: what kind of map it is.
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

    /// The level at which a pixel is a world pixel, of a power-of-two pyramid whose level 0 is one tile.
    public var maximumLevel: Int {
        var level = 0
        while tileSize << level < max(worldWidth, worldHeight) { level += 1 }
        return level
    }

    /// Draws a tile in RGBA, eight bits each, alpha 255.
    ///
    /// - Parameters:
    ///   - level: the tile's level, 0 ... `maximumLevel`.
    ///   - column: the tile's column.
    ///   - row: the tile's row.
    ///   - maximumLevel: the level at which a pixel is a world pixel; each coarser one halves that.
    ///   - buffer: where the first row goes; every byte of the tile's pixels is written, and none of a row's padding.
    ///   - bytesPerRow: from the start of a row to the start of the next, at least 4 a pixel.
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
        // Towns too small for two pixels are left to their names.
        let near = (0..<Settlements.cellsAcross.count).flatMap { rank -> [Settlement] in
            let cell = settlements.cell(rank: rank)
            guard cell * 0.1 > 2 * frame.worldPerPixel else { return [] }
            return settlements.window(rank: rank, frame: frame, margin: 0.4 * cell).all
        }
        let towns = TownGrid(frame: frame, settlements: near, terrain: terrain)
        let salt = terrain.growth.salt
        AreaPainter(frame: frame, terrain: terrain, towns: towns, salt: salt).paint(on: canvas)
        RoadNetwork(settlements: settlements, terrain: terrain).paint(on: canvas)
        LabelPainter(settlements: settlements).paint(on: canvas)
    }
}
