/// One resolution of a layer: a grid of equal tiles over the world.
public struct PyramidLevel: Hashable, Sendable {
    /// Width of this level in its own pixels.
    public let width: Int
    /// Height of this level in its own pixels.
    public let height: Int
    /// Drawn width of a tile in pixels, without the border.
    public let tileWidth: Int
    /// Drawn height of a tile in pixels, without the border.
    public let tileHeight: Int
    /// World pixels a side of one pixel of this level; 1 at full resolution.
    public let worldPixelsPerPixel: Double
    /// World coordinates of the top left corner of tile (0, 0).
    public let origin: WorldPoint
    /// Pixels around each tile that the source delivers and that are not drawn (overlap). Default: 0.
    public let border: Int

    /// Columns of tiles; the last one may be cut.
    public let columns: Int
    /// Rows of tiles; the last one may be cut.
    public let rows: Int

    /// World pixels that a tile covers, horizontally and vertically.
    package let tileSpanX: Double
    package let tileSpanY: Double

    /// World coordinates where the last column and row end if they are drawn up to the world's edge; otherwise `nil`.
    private(set) var endX: Double?
    private(set) var endY: Double?

    /// Creates a level; ``TilePyramid/init(worldWidth:worldHeight:wrapsX:levels:)`` checks it.
    ///
    /// - Parameters:
    ///   - width: Width of the level in its own pixels, 1 or more.
    ///   - height: Height of the level in its own pixels, 1 or more.
    ///   - tileWidth: Drawn pixels, 1 or more.
    ///   - tileHeight: Drawn pixels, 1 or more.
    ///   - worldPixelsPerPixel: Larger than 0.
    ///   - origin: World coordinates of tile (0, 0). Default: the world's corner.
    ///   - border: Undrawn pixels around each tile, 0 or more. Default: 0.
    public init(
        width: Int,
        height: Int,
        tileWidth: Int,
        tileHeight: Int,
        worldPixelsPerPixel: Double,
        origin: WorldPoint = WorldPoint(x: 0, y: 0),
        border: Int = 0
    ) {
        self.width = width
        self.height = height
        self.tileWidth = tileWidth
        self.tileHeight = tileHeight
        self.worldPixelsPerPixel = worldPixelsPerPixel
        self.origin = origin
        self.border = border
        columns = tileWidth > 0 && width > 0 ? (width - 1) / tileWidth + 1 : 0
        rows = tileHeight > 0 && height > 0 ? (height - 1) / tileHeight + 1 : 0
        tileSpanX = Double(tileWidth) * worldPixelsPerPixel
        tileSpanY = Double(tileHeight) * worldPixelsPerPixel
    }

    /// Pixels a row that a source delivers for one tile, border included.
    public var pixelWidth: Int { tileWidth + 2 * border }
    /// Rows that a source delivers for one tile, border included.
    public var pixelHeight: Int { tileHeight + 2 * border }

    /// World rectangle of all of a tile's drawn pixels, not cut at the world's edges.
    ///
    /// Neighbours have the same number for the edge that they share, so that renderers round it to the same pixel.
    func rectangle(of tile: TileCoordinate) -> PixelRect {
        PixelRect(
            minX: origin.x + Double(tile.column) * tileSpanX,
            minY: origin.y + Double(tile.row) * tileSpanY,
            maxX: end(ofColumn: tile.column) ?? origin.x + (Double(tile.column) + 1) * tileSpanX,
            maxY: end(ofRow: tile.row) ?? origin.y + (Double(tile.row) + 1) * tileSpanY
        )
    }

    private func end(ofColumn column: Int) -> Double? { column == columns - 1 ? endX : nil }
    func end(ofRow row: Int) -> Double? { row == rows - 1 ? endY : nil }

    /// The level in a world. Its last column and row end where the world does if they end less than a pixel before.
    ///
    /// Sizes of levels are rounded down, and a last tile may be full: what it lacks is less than one of its pixels.
    func reaching(_ worldWidth: Double, _ worldHeight: Double) -> PyramidLevel {
        func end(_ start: Double, _ length: Double, _ world: Double) -> Double? {
            let missing = world - (start + length)
            return missing > 0 && missing < worldPixelsPerPixel ? world : nil
        }
        var level = self
        level.endX = end(origin.x, Double(columns) * tileSpanX, worldWidth)
        level.endY = end(origin.y, Double(rows) * tileSpanY, worldHeight)
        return level
    }

    /// Columns that an interval of the world overlaps with some length.
    @inline(__always)
    func columns(from lower: Double, to upper: Double) -> Range<Int> {
        gridRange(
            from: lower - origin.x,
            to: upper - origin.x,
            span: tileSpanX,
            count: columns,
            end: endX.map { $0 - origin.x }
        )
    }

    /// Rows that an interval of the world overlaps with some length.
    @inline(__always)
    func rows(from lower: Double, to upper: Double) -> Range<Int> {
        gridRange(
            from: lower - origin.y,
            to: upper - origin.y,
            span: tileSpanY,
            count: rows,
            end: endY.map { $0 - origin.y }
        )
    }

    /// Pixels of a tile that show a rectangle of the world, border included. They lie within its drawn pixels.
    ///
    /// - Parameter offset: Horizontal offset, in world pixels, of the copy of the world with the rectangle. Default: 0.
    package func tileRectangle(of tile: TileCoordinate, showing world: PixelRect, offset: Double = 0) -> PixelRect {
        let drawn = rectangle(of: tile).offsetBy(x: offset, y: 0)
        let first = Double(border)
        func place(_ edge: Double, from near: Double, to far: Double, _ side: Int, _ end: Double?) -> Double {
            // The quotient may be a little less, and a renderer that copies whole pixels would leave out the last one.
            if edge >= far { return first + Double(side) }
            // A tile that is drawn up to the world's edge has a little larger pixels.
            let pixel = end == nil ? worldPixelsPerPixel : (far - near) / Double(side)
            // Clamped: far from the origin, and in far copies of a world, positions are rounded to more than a pixel.
            return first + min(max((edge - near) / pixel, 0), Double(side))
        }
        let (endX, endY) = (end(ofColumn: tile.column), end(ofRow: tile.row))
        return PixelRect(
            minX: place(world.minX, from: drawn.minX, to: drawn.maxX, tileWidth, endX),
            minY: place(world.minY, from: drawn.minY, to: drawn.maxY, tileHeight, endY),
            maxX: place(world.maxX, from: drawn.minX, to: drawn.maxX, tileWidth, endX),
            maxY: place(world.maxY, from: drawn.minY, to: drawn.maxY, tileHeight, endY)
        )
    }
}

/// The levels of a layer, coarsest first, and the world that they cover.
///
/// Any table of levels is valid: powers of two (``powerOfTwo(worldWidth:worldHeight:tileSize:wrapsX:border:)``), slides
/// with steps of four, odd tile matrices, single-level images.
public struct TilePyramid: Hashable, Sendable {
    /// Maximum number of levels of a pyramid.
    package static let maximumLevelCount = 64
    /// Maximum number of columns or rows of a level, 2^40.
    package static let maximumGridSide = 1 << 40

    /// Width of the world in world pixels.
    public let worldWidth: Double
    /// Height of the world in world pixels.
    public let worldHeight: Double
    /// Whether the world repeats horizontally, with its width as the period.
    public let wrapsX: Bool
    /// The levels, coarsest first.
    public let levels: [PyramidLevel]
    /// Part of the world that has tiles, in world pixels. Default: all of it. Nothing beside it is needed or loaded. See
    /// ``limited(to:)-(PixelRect)`` and ``limited(to:)-([TileRange])``.
    public let contents: PixelRect
    /// Tiles of each level that exist; empty if each level has its whole grid.
    package let tileRanges: [TileRange]

    /// Index of the finest level.
    public var maximumLevel: Int { levels.count - 1 }

    /// Creates a pyramid from a table of levels.
    ///
    /// - Throws: ``TileCacheError/invalidPyramid(_:)`` if the world is empty or not finite, a level is empty, the
    ///   levels are not ordered from coarse to fine, there are too many of them, columns or rows, or the world wraps
    ///   and a column lies outside of it.
    public init(worldWidth: Double, worldHeight: Double, wrapsX: Bool = false, levels: [PyramidLevel])
        throws(TileCacheError)
    {
        guard worldWidth.isFinite, worldHeight.isFinite, worldWidth > 0, worldHeight > 0 else {
            throw .invalidPyramid("the world must have a finite size larger than 0, not \(worldWidth) x \(worldHeight)")
        }
        guard !levels.isEmpty, levels.count <= Self.maximumLevelCount else {
            throw .invalidPyramid("1 to \(Self.maximumLevelCount) levels are expected, not \(levels.count)")
        }
        for (index, level) in levels.enumerated() {
            guard level.columns > 0, level.rows > 0, level.border >= 0, level.border <= 1 << 20,
                level.tileWidth <= 1 << 30, level.tileHeight <= 1 << 30
            else {
                throw .invalidPyramid("level \(index) is empty, or its tiles are too large")
            }
            guard level.columns <= Self.maximumGridSide, level.rows <= Self.maximumGridSide else {
                throw .invalidPyramid("level \(index) has more than 2^40 columns or rows")
            }
            // The far edges too: a quotient of infinite spans is no number.
            let farX = level.origin.x + Double(level.columns) * level.tileSpanX
            let farY = level.origin.y + Double(level.rows) * level.tileSpanY
            guard level.worldPixelsPerPixel.isFinite, level.worldPixelsPerPixel > 0,
                level.origin.x.isFinite, level.origin.y.isFinite, farX.isFinite, farY.isFinite
            else {
                throw .invalidPyramid("level \(index) needs finite numbers and a resolution larger than 0")
            }
            // Walks around the world rely on columns that lie in the world: after as many as the level has, the first
            // one comes again. Walks divide by a column's width, and a column may be thinner than the rounding error of
            // that.
            let lastColumn = level.origin.x + Double(level.columns - 1) * level.tileSpanX
            let (near, far) = (-level.origin.x, worldWidth - level.origin.x)
            let walk = gridRange(from: near, to: far, span: level.tileSpanX, count: level.columns)
            guard
                !wrapsX
                    || (level.origin.x + level.tileSpanX > 0 && lastColumn < worldWidth && walk == 0..<level.columns)
            else {
                throw .invalidPyramid("level \(index) of a world that wraps has columns outside of the world")
            }
            if index > 0, level.worldPixelsPerPixel >= levels[index - 1].worldPixelsPerPixel {
                throw .invalidPyramid("level \(index) is not finer than level \(index - 1)")
            }
        }
        self.worldWidth = worldWidth
        self.worldHeight = worldHeight
        self.wrapsX = wrapsX
        self.levels = levels.map { $0.reaching(worldWidth, worldHeight) }
        contents = PixelRect(minX: 0, minY: 0, maxX: worldWidth, maxY: worldHeight)
        tileRanges = []
    }

    /// Replaces the levels of a pyramid that has been checked, and what is known of its tiles.
    init(_ other: TilePyramid, levels: [PyramidLevel], contents: PixelRect, tileRanges: [TileRange]) {
        worldWidth = other.worldWidth
        worldHeight = other.worldHeight
        wrapsX = other.wrapsX
        self.levels = levels
        self.contents = contents
        self.tileRanges = tileRanges
    }

    /// Creates a pyramid of powers of two. Each level has twice the resolution of the one before.
    ///
    /// One tile of level 0 covers the world. The pyramid is anchored at (0, 0); the last column and row of a level may
    /// be cut.
    ///
    /// - Parameters:
    ///   - worldWidth: In world pixels, 1 to 2^40.
    ///   - worldHeight: In world pixels, 1 to 2^40.
    ///   - tileSize: Pixels a side of a tile, 1 or more. Default: 256.
    ///   - wrapsX: Whether the world repeats horizontally. Default: `false`.
    ///   - border: Undrawn pixels around each tile. Default: 0.
    /// - Throws: ``TileCacheError/invalidPyramid(_:)`` if a number is out of its range.
    public static func powerOfTwo(
        worldWidth: Int,
        worldHeight: Int,
        tileSize: Int = 256,
        wrapsX: Bool = false,
        border: Int = 0
    ) throws(TileCacheError) -> TilePyramid {
        guard worldWidth > 0, worldHeight > 0, worldWidth <= maximumGridSide, worldHeight <= maximumGridSide else {
            throw .invalidPyramid("a world of 1 to 2^40 pixels a side is expected, not \(worldWidth) x \(worldHeight)")
        }
        guard tileSize > 0, tileSize <= 1 << 30 else {
            throw .invalidPyramid("a tile size of 1 to 2^30 pixels is expected, not \(tileSize)")
        }
        guard (0...1 << 20).contains(border) else {
            throw .invalidPyramid("a border of 0 to 2^20 pixels is expected, not \(border)")
        }
        var maximumLevel = 0
        while tileSize << maximumLevel < max(worldWidth, worldHeight) { maximumLevel += 1 }
        let levels = (0...maximumLevel).map { level in
            let span = 1 << (maximumLevel - level)
            return PyramidLevel(
                width: (worldWidth - 1) / span + 1,
                height: (worldHeight - 1) / span + 1,
                tileWidth: tileSize,
                tileHeight: tileSize,
                worldPixelsPerPixel: Double(span),
                border: border
            )
        }
        return try TilePyramid(
            worldWidth: Double(worldWidth),
            worldHeight: Double(worldHeight),
            wrapsX: wrapsX,
            levels: levels
        )
    }

    /// Whether the grid of its level has a tile with this coordinate. See ``hasTile(_:)``.
    public func contains(_ tile: TileCoordinate) -> Bool {
        guard levels.indices.contains(tile.level) else { return false }
        let level = levels[tile.level]
        return (0..<level.columns).contains(tile.column) && (0..<level.rows).contains(tile.row)
    }

    /// World rectangle of a tile, cut at the world's edges. In the copy of the world that begins at 0.
    public func worldRectangle(of tile: TileCoordinate) -> PixelRect {
        uncutRectangle(of: tile).intersection(worldRectangle)
    }

    /// World rectangle of all that can be drawn. In the copy of the world that begins at 0.
    var worldRectangle: PixelRect { PixelRect(minX: 0, minY: 0, maxX: worldWidth, maxY: worldHeight) }

    /// World rectangle of all of a tile's drawn pixels, not cut at the world's edges.
    func uncutRectangle(of tile: TileCoordinate) -> PixelRect { levels[tile.level].rectangle(of: tile) }

    /// The copy of a rectangle in a wrapping world that is nearest to a place. The rectangle itself in other worlds.
    func nearestCopy(of rectangle: PixelRect, to x: Double) -> PixelRect {
        guard wrapsX else { return rectangle }
        let copies = ((x - (rectangle.minX + rectangle.maxX) / 2) / worldWidth).rounded()
        return rectangle.offsetBy(x: copies * worldWidth, y: 0)
    }

    /// The tile of a coarser level over the middle of a tile. `nil` at level 0.
    ///
    /// In a power-of-two pyramid the ancestor covers all of the tile. In other pyramids it may cover only a part, which
    /// is why fallbacks are cut to the area that they cover.
    public func ancestor(of tile: TileCoordinate, at levelIndex: Int) -> TileCoordinate? {
        guard levelIndex >= 0, levelIndex < tile.level else { return nil }
        return TileCoordinate(
            level: levelIndex,
            column: ancestorColumn(of: tile, at: levelIndex),
            row: ancestorRow(of: tile, at: levelIndex)
        )
    }

    /// Column of a tile's ancestor, which depends only on the tile's level and column.
    @inline(__always)
    func ancestorColumn(of tile: TileCoordinate, at levelIndex: Int) -> Int {
        let (rectangle, level) = (worldRectangle(of: tile), levels[levelIndex])
        let column = ((rectangle.minX + rectangle.maxX) / 2 - level.origin.x) / level.tileSpanX
        return clampedInteger(column, below: level.columns)
    }

    /// Row of a tile's ancestor, which depends only on the tile's level and row.
    @inline(__always)
    func ancestorRow(of tile: TileCoordinate, at levelIndex: Int) -> Int {
        let (rectangle, level) = (worldRectangle(of: tile), levels[levelIndex])
        let row = ((rectangle.minY + rectangle.maxY) / 2 - level.origin.y) / level.tileSpanY
        return clampedInteger(row, below: level.rows)
    }

    /// The next coarser tile over a tile's middle; `nil` at level 0.
    public func parent(of tile: TileCoordinate) -> TileCoordinate? { ancestor(of: tile, at: tile.level - 1) }

    /// Children: tiles of the next finer level that overlap a tile. Row by row; none at the finest level.
    public func children(of tile: TileCoordinate) -> TileRange? {
        guard tile.level < maximumLevel else { return nil }
        return range(overlapping: worldRectangle(of: tile), at: tile.level + 1)
    }

    /// Tiles of one level whose overlap with a world rectangle has an area. The world is not repeated. Tiles that the
    /// pyramid is known not to have are left out.
    package func range(overlapping rectangle: PixelRect, at levelIndex: Int) -> TileRange {
        let cells = cells(overlapping: rectangle, at: levelIndex)
        guard !tileRanges.isEmpty else { return cells }
        return TileRange(
            level: levelIndex,
            columns: cells.columns.clamped(to: tileRanges[levelIndex].columns),
            rows: cells.rows.clamped(to: tileRanges[levelIndex].rows)
        )
    }

    /// Cells of the level's whole grid whose overlap with a world rectangle has an area.
    func cells(overlapping rectangle: PixelRect, at levelIndex: Int) -> TileRange {
        let level = levels[levelIndex]
        let columns = level.columns(from: max(rectangle.minX, 0), to: min(rectangle.maxX, worldWidth))
        let rows = level.rows(from: max(rectangle.minY, 0), to: min(rectangle.maxY, worldHeight))
        return TileRange(level: levelIndex, columns: columns, rows: rows)
    }
}

/// Integer part of a number, clamped to `0 ..< limit`; any number is accepted.
func clampedInteger(_ value: Double, below limit: Int) -> Int {
    // In this order of `max` and `min` NaN counts as 0: no comparison with it holds.
    Int(max(0, min(value, Double(limit - 1))))
}

/// Cells of a grid that an open interval overlaps with some length. Clipped to `0 ..< count`.
///
/// - Parameter end: Where the last cell ends, if that is beyond its span. Default: `nil`.
@inline(__always)
func gridRange(from lower: Double, to upper: Double, span: Double, count: Int, end: Double? = nil) -> Range<Int> {
    guard upper > lower, upper > 0, count > 0 else { return 0..<0 }
    let first = max(lower, 0) / span
    guard first < Double(count) else {
        guard let end, lower < end else { return 0..<0 }
        return count - 1..<count
    }
    let start = Int(first)
    return start..<Int(min((upper / span).rounded(.up), Double(count)))
}
