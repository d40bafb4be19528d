import TileCache

/// Place of a cut tile in the file of tiles.
enum CutTile {
    /// The eight bytes whose repetition is the tile.
    case solid(UInt64)
    /// A block of ``TileCodec``.
    case block(offset: Int, count: Int)
    /// The uncompressed pixels.
    case raw(offset: Int)
}

/// Cuts rows, from the top, into the tiles of a pyramid. It holds one band of each level.
///
/// A band is as high as a tile. When it is full, its tiles are written and its half is added to the band of the next
/// coarser level, which is full after two of them.
final class ImageCutter {
    private struct Band {
        let width: Int
        let height: Int
        let columns: Int
        /// `tileSize` rows of `width` pixels.
        let memory: UnsafeMutableRawBufferPointer
        /// Rows in the band.
        var filled = 0
        /// Rows already written.
        var written = 0
    }

    private let tileSize: Int
    private let format: TilePixelFormat
    private let bytesPerPixel: Int
    private let halver: ImageHalver
    private let codec: TileCodec
    private let file: ScratchFile
    private let tile: UnsafeMutableRawBufferPointer
    /// Finest first.
    private var bands: [Band] = []
    /// Tiles of each level, finest first, row by row.
    private(set) var tiles: [[CutTile]] = []

    /// Bytes for the bands of a pyramid and the scratch memory of its tiles. `nil` if they overflow.
    static func byteCount(_ pyramid: TilePyramid, bytesPerPixel: Int) -> Int? {
        var total = 0
        for level in pyramid.levels {
            let (pixels, overflow) = level.width.multipliedReportingOverflow(by: level.tileHeight * bytesPerPixel)
            let (sum, overflow2) = total.addingReportingOverflow(pixels)
            guard !overflow, !overflow2 else { return nil }
            total = sum
        }
        // A decoded row, and a tile with the codec's scratch memory.
        let (width, side) = (pyramid.levels[pyramid.maximumLevel].width, pyramid.levels[0].tileWidth)
        let (sum, overflow) = total.addingReportingOverflow(width * 4 + side * side * bytesPerPixel * 4)
        return overflow ? nil : sum
    }

    /// Allocates the bands; their sizes have been checked.
    init(
        _ pyramid: TilePyramid,
        format: TilePixelFormat,
        halver: ImageHalver,
        codec: TileCodec,
        file: ScratchFile
    ) {
        tileSize = pyramid.levels[0].tileWidth
        self.format = format
        bytesPerPixel = halver.bytesPerPixel
        self.halver = halver
        self.codec = codec
        self.file = file
        tile = .allocate(byteCount: tileSize * tileSize * bytesPerPixel, alignment: 64)
        for level in pyramid.levels.reversed() {
            let bytes = level.width * tileSize * bytesPerPixel
            let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes, alignment: 64)
            bands.append(Band(width: level.width, height: level.height, columns: level.columns, memory: memory))
            tiles.append([])
        }
    }

    deinit {
        tile.deallocate()
        for band in bands { band.memory.deallocate() }
    }

    /// Passes the memory of the image's next row.
    func withNextRow(_ body: (UnsafeMutableRawBufferPointer) -> Void) {
        let bytes = bands[0].width * bytesPerPixel
        let start = bands[0].filled * bytes
        body(UnsafeMutableRawBufferPointer(rebasing: bands[0].memory[start..<start + bytes]))
    }

    /// Ends the row whose memory was passed.
    func rowIsThere() -> TileLoadFailure? {
        bands[0].filled += 1
        return flush(0)
    }

    /// Writes a band that is full or holds the level's last rows. Adds its half to the next level.
    private func flush(_ index: Int) -> TileLoadFailure? {
        let band = bands[index]
        guard band.filled == tileSize || band.written + band.filled == band.height else { return nil }
        for column in 0..<band.columns {
            switch write(band, column) {
            case .success(let tile): tiles[index].append(tile)
            case .failure(let failure): return failure
            }
        }
        bands[index].written += band.filled
        bands[index].filled = 0
        guard index + 1 < bands.count else { return nil }
        let next = bands[index + 1]
        let start = next.filled * next.width * bytesPerPixel
        halver.halve(
            UnsafeRawBufferPointer(band.memory),
            width: band.width,
            height: band.filled,
            into: UnsafeMutableRawBufferPointer(rebasing: next.memory[start...]),
            isPortable: false
        )
        bands[index + 1].filled += (band.filled + 1) / 2
        return flush(index + 1)
    }

    private func write(_ band: Band, _ column: Int) -> Result<CutTile, TileLoadFailure> {
        let x = column * tileSize
        let bytes = min(tileSize, band.width - x) * bytesPerPixel
        let (stride, target) = (band.width * bytesPerPixel, tileSize * bytesPerPixel)
        if bytes < target || band.filled < tileSize { tile.initializeMemory(as: UInt8.self, repeating: 0) }
        for row in 0..<band.filled {
            let from = row * stride + x * bytesPerPixel
            UnsafeMutableRawBufferPointer(rebasing: tile[row * target..<row * target + bytes])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: band.memory[from..<from + bytes]))
        }
        let pixels = UnsafeRawBufferPointer(tile)
        switch codec.compress(pixels, width: tileSize, height: tileSize, format: format) {
        case .solid(let pattern): return .success(.solid(pattern))
        case .block(let block): return file.append(block).map { .block(offset: $0, count: block.count) }
        case .raw: return file.append(pixels).map { .raw(offset: $0) }
        }
    }
}
