import TileCache

/// How an image is turned to be shown: the values 1 to 8 of EXIF's `Orientation`.
///
/// Tiles are cut as the image is stored. A pixel that is shown is looked up in turned columns and rows, which are exchanged
/// last.
struct ImageOrientation: Equatable, Sendable {
    /// Whether shown columns are counted from the right.
    let flipsX: Bool
    /// Whether shown rows are counted from below.
    let flipsY: Bool
    /// Whether rows of the stored image are shown as columns.
    let transposes: Bool
    /// The value of EXIF.
    let value: Int

    init(_ value: Int) {
        self.value = value
        flipsX = [2, 3, 6, 7].contains(value)
        flipsY = [3, 4, 7, 8].contains(value)
        transposes = (5...8).contains(value)
    }

    /// The pyramid as it is shown. Tiles keep their pixels: where an axis is turned, they begin before the world.
    func pyramid(of stored: TilePyramid, _ subject: String) throws(TileSourceError) -> TilePyramid {
        guard value != 1 else { return stored }
        let (width, height) =
            transposes ? (stored.worldHeight, stored.worldWidth) : (stored.worldWidth, stored.worldHeight)
        let levels = stored.levels.map { level in
            let scale = level.worldPixelsPerPixel
            /// Length and beginning of an axis.
            func axis(_ pixels: Int, _ tiles: Int, _ side: Int, _ world: Double, isTurned: Bool) -> (Int, Double) {
                isTurned ? (tiles * side, world - Double(tiles * side) * scale) : (pixels, 0)
            }
            let (wide, high) = transposes ? (level.height, level.width) : (level.width, level.height)
            let (columns, rows) = transposes ? (level.rows, level.columns) : (level.columns, level.rows)
            let x = axis(wide, columns, level.tileWidth, width, isTurned: flipsX)
            let y = axis(high, rows, level.tileHeight, height, isTurned: flipsY)
            return PyramidLevel(
                width: x.0,
                height: y.0,
                tileWidth: level.tileWidth,
                tileHeight: level.tileHeight,
                worldPixelsPerPixel: scale,
                origin: WorldPoint(x: x.1, y: y.1)
            )
        }
        do {
            return try TilePyramid(worldWidth: width, worldHeight: height, wrapsX: stored.wrapsX, levels: levels)
        } catch {
            throw TileSourceError(subject, "\(error)")
        }
    }

    /// Column and row of the stored tile that is shown as a tile of a level.
    func stored(_ tile: TileCoordinate, in shown: PyramidLevel) -> (column: Int, row: Int) {
        let column = flipsX ? shown.columns - 1 - tile.column : tile.column
        let row = flipsY ? shown.rows - 1 - tile.row : tile.row
        return transposes ? (row, column) : (column, row)
    }

    /// Turns the pixels of a stored tile where they are. It is square.
    func turn(_ pixels: UnsafeMutableRawBufferPointer, side: Int) {
        guard value != 1, let start = pixels.baseAddress else { return }
        if pixels.count == side * side {
            turn(start.assumingMemoryBound(to: UInt8.self), side)
        } else {
            turn(start.assumingMemoryBound(to: UInt32.self), side)
        }
    }

    private func turn<Pixel>(_ pixels: UnsafeMutablePointer<Pixel>, _ side: Int) {
        func exchange(_ one: Int, _ other: Int) {
            let pixel = pixels[one]
            pixels[one] = pixels[other]
            pixels[other] = pixel
        }
        if transposes { for y in 1..<side { for x in 0..<y { exchange(y * side + x, x * side + y) } } }
        if flipsX { for y in 0..<side { for x in 0..<side / 2 { exchange(y * side + x, y * side + side - 1 - x) } } }
        if flipsY {
            for y in 0..<side / 2 { for x in 0..<side { exchange(y * side + x, (side - 1 - y) * side + x) } }
        }
    }
}
