public import TileCache

extension DemoWorld {
    /// How high the highest mountains are above the sea, and how deep the sea is, about, in metres.
    private static var metres: Float { 4000 }

    /// Draws a tile of elevations: the terrain that the map is drawn from, in numbers.
    ///
    /// - Parameters:
    ///   - level: the tile's level, 0 ... `maximumLevel`.
    ///   - column: the tile's column.
    ///   - row: the tile's row.
    ///   - maximumLevel: the level at which a pixel is a world pixel; each coarser one halves that.
    ///   - format: `.float32` gives metres with fractions, sea below 0; `.gray16` whole metres above -10,000, unsigned;
    ///     `.gray8` a 256th of the range from -4,000 to 4,000 m. No other format is possible.
    ///   - buffer: where the first row goes; every byte of the tile's pixels is written.
    ///   - bytesPerRow: from the start of a row to the start of the next.
    public func drawElevation(
        level: Int,
        column: Int,
        row: Int,
        maximumLevel: Int,
        format: PixelFormat,
        into buffer: UnsafeMutableRawBufferPointer,
        bytesPerRow: Int
    ) {
        let bytes = format.bytesPerPixel ?? 0
        precondition([.gray8, .gray16, .float32].contains(format), "elevation is gray8, gray16 or float32")
        precondition(bytesPerRow >= bytes * tileSize, "a row does not fit")
        precondition(buffer.count >= bytesPerRow * (tileSize - 1) + bytes * tileSize, "the tile does not fit")
        let frame = frame(level: level, column: column, row: row, maximumLevel: maximumLevel)
        let field = terrain.elevationGrid(frame)
        let step = TileFrame.step
        for y in 0..<tileSize {
            let j = (frame.top + y) / step - frame.firstRow
            let v = (Float((frame.top + y) % step) + 0.5) / Float(step)
            for x in 0..<tileSize {
                let i = (frame.left + x) / step - frame.firstColumn
                let u = (Float((frame.left + x) % step) + 0.5) / Float(step)
                let index = j * frame.columns + i
                let upper = field[index] + (field[index + 1] - field[index]) * u
                let next = index + frame.columns
                let lower = field[next] + (field[next + 1] - field[next]) * u
                let height = (upper + (lower - upper) * v) * Self.metres
                let offset = y * bytesPerRow + x * bytes
                switch format {
                case .gray8:
                    let byte = UInt8(min(max((height + Self.metres) / (2 * Self.metres) * 256, 0), 255))
                    buffer.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
                case .gray16:
                    let whole = UInt16(min(max((height + 10_000).rounded(), 0), 65_535))
                    buffer.storeBytes(of: whole.littleEndian, toByteOffset: offset, as: UInt16.self)
                default:
                    buffer.storeBytes(of: height.bitPattern.littleEndian, toByteOffset: offset, as: UInt32.self)
                }
            }
        }
    }
}
