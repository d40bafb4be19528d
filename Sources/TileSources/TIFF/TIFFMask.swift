import CTileImages
import TileCache

/// A decoded tile that marks the pixels of another one.
struct TIFFMask {
    private let tile: TIFFTile
    private let colours: TIFFColours
    /// `nil` if the tile is not in the file: no pixel has data.
    private let decoded: [ScratchBytes]

    /// Decodes a tile of a mask.
    init(_ level: TIFFLevel, _ bytes: RangeBytes, _ scratch: ScratchMemory) throws(TileLoadFailure) {
        tile = TIFFTile(level, TileSourceOptions(), scratch)
        colours = TIFFColours(level)
        decoded = try tile.decode([bytes])
    }

    /// Writes a row as the alpha of pixels of four bytes.
    func write(_ y: Int, _ width: Int, to alpha: UnsafeMutablePointer<UInt8>) {
        withExtendedLifetime(decoded) { colours.writeChannel(0, tile.rows(decoded, y), width, to: alpha) }
    }

    /// Applies the mask to pixels that are in a tile.
    ///
    /// - Returns: Whether it changes none: all have data.
    func apply(width: Int, height: Int, premultiplies: Bool, to pixels: inout TilePixels) -> Bool {
        var row = [UInt8](repeating: 0, count: 4 * width)
        let (stride, bytes) = (pixels.bytesPerRow, Int32(pixels.bytesPerRow / max(pixels.width, 1)))
        var isOpaque = true
        pixels.withUnsafeMutableBytes { target in
            guard let first = target.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
            row.withUnsafeMutableBufferPointer { row in
                guard let alpha = row.baseAddress else { return }
                for y in 0..<height {
                    write(y, width, to: alpha)
                    let isChanged = ti_apply_mask(first + y * stride, width, bytes, premultiplies ? 1 : 0, alpha) != 0
                    if isChanged { isOpaque = false }
                }
            }
        }
        return isOpaque
    }
}
