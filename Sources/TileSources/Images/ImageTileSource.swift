public import TileCache

/// One large image, cut into a pyramid when it is opened. PNG, JPEG, WebP, or TIFF in strips.
///
/// PNG, JPEG and TIFF are decoded row by row, in bands as high as a tile. An interlaced PNG, a progressive JPEG and any WebP
/// can only be decoded as a whole, and count with all of their pixels. Coarser levels are made by halving. The tiles of
/// all levels are written compressed to a file without a name and read from it. The image is shown as EXIF's orientation
/// says, which JPEG, PNG and WebP may have; colour profiles are ignored.
public final class ImageTileSource: BlockingTileSource, MemoryReportingSource, PyramidTileSource {
    /// The file.
    public let name: String
    /// Power-of-two levels; the image is the world. One tile of level 0 covers it. Tiles of an image that is turned may begin
    /// before the world, with pixels that are zeros.
    public let pyramid: TilePyramid
    /// Pixel format and other options of the layer.
    public let layerOptions: LayerOptions
    /// Peak memory of cutting. It is 8 bytes for each pixel of an image row times the tile size, for a band of each
    /// level, and what the decoder needs besides rows.
    public let cuttingMemory: ByteCount
    /// Path, size and modification time of the file, and how its coarser levels are averaged.
    public let dataSet: [String]
    /// A warning if the server of a TIFF in strips states neither `ETag` nor `Last-Modified`. Otherwise `nil`.
    public let warning: String?
    /// Disk space of the tiles.
    public var diskUse: ByteCount { .bytes(file.size) }

    private let orientation: ImageOrientation
    private let format: TilePixelFormat
    private let tileSize: Int
    private let file: ScratchFile
    /// Finest first.
    private let tiles: [[CutTile]]
    private let isStorable: Bool
    private let counter = SourceCounter()
    private let readers = Lock<[TileReader]>([])

    /// Opens an image and cuts it, which takes as long as decoding all of it.
    ///
    /// - Parameters:
    ///   - path: Path of the file.
    ///   - image: Options for cutting.
    ///   - options: Options of the pixels; any even tile size. Default tile size: 256.
    ///   - progress: Called after each band with the fraction done, 0 to 1; `false` cancels.
    /// - Throws: ``TileSourceError`` if the file is not such an image, is damaged, or needs more memory or disk than
    ///   allowed.
    public convenience init(
        path: String,
        image: ImageTileOptions = ImageTileOptions(),
        options: TileSourceOptions = TileSourceOptions(),
        progress: (Double) -> Bool = { _ in true }
    ) throws(TileSourceError) {
        try options.check(path)
        let own = DataSetName.file(path)
        guard !TIFFFile.isBeginning(Files.beginning(path, 4)) else {
            var file = try TIFFFile(path, http: HTTPTileOptions(), TileDelivery(options))
            guard !TIFFLevel.isTiled(file.main) else {
                throw TileSourceError(path, "it is tiled: open it as it is, by tiff: or with TIFFTileSource")
            }
            let rows = try TIFFStrips(&file, limit: image.memoryLimit.bytes)
            try self.init(rows, name: path, own: own, image: image, options: options, progress: progress)
            return
        }
        let rows = try ImageRows(path)
        try self.init(rows, name: path, own: own, image: image, options: options, progress: progress)
    }

    /// - Parameters:
    ///   - rows: The image.
    ///   - path: File or address.
    ///   - own: What identifies the image's present content.
    init(
        _ rows: some ImageRowSource,
        name path: String,
        own: [String],
        image: ImageTileOptions,
        options: TileSourceOptions,
        progress: (Double) -> Bool
    ) throws(TileSourceError) {
        let size = options.tileSize ?? 256
        guard size.isMultiple(of: 2) else { throw TileSourceError(path, "an even tile size was expected, not \(size)") }
        let halver = ImageHalver(format: options.format, alpha: options.alpha, downsampling: image.downsampling)
        guard let halver else { throw TileSourceError(path, "pixels of \(options.format) cannot be averaged so") }
        let pyramid: TilePyramid
        do {
            pyramid = try TilePyramid.powerOfTwo(
                worldWidth: rows.width,
                worldHeight: rows.height,
                tileSize: size,
                wrapsX: options.wrapsX
            )
        } catch {
            throw TileSourceError(path, "\(error)")
        }
        let bands = ImageCutter.byteCount(pyramid, bytesPerPixel: halver.bytesPerPixel)
        let needed = (bands ?? .max).addingReportingOverflow(rows.wholeBytes)
        guard let bands, !needed.overflow, needed.partialValue <= image.memoryLimit.bytes else {
            let bytes = needed.overflow ? "more memory than there is" : "\(needed.partialValue) bytes of memory"
            throw TileSourceError(
                path,
                "\(rows.width) x \(rows.height) pixels need \(bytes) to be cut; "
                    + "the image memory limit is \(image.memoryLimit.bytes) bytes\(rows.hint)"
            )
        }
        let codec: TileCodec
        do { codec = try TileCodec(maximumTileBytes: size * size * halver.bytesPerPixel) } catch {
            throw TileSourceError(path, "there is no memory")
        }
        file = try ScratchFile(folder: image.folder, limit: image.diskLimit.bytes)
        let cutter = ImageCutter(pyramid, format: options.format, halver: halver, codec: codec, file: file)
        try rows.decode(options, limit: image.memoryLimit.bytes - bands, into: cutter) { row in
            row % size != 0 || progress(Double(row) / Double(rows.height))
        }
        _ = progress(1)
        tiles = cutter.tiles
        orientation = ImageOrientation(rows.orientation)
        self.pyramid = try orientation.pyramid(of: pyramid, path)
        name = path
        isStorable = rows.isStorable
        warning = rows.warning.map { "\(path): \($0)" }
        cuttingMemory = .bytes(bands + rows.wholeBytes)
        format = options.format
        tileSize = size
        layerOptions = options.layerOptions
        dataSet =
            DataSetName.pixels("image", layerOptions, tileSize: size) + own + ["downsampling \(image.downsampling)"]
            + (rows.orientation == 1 ? [] : ["orientation \(rows.orientation)"])
    }

    /// Counts of loads and failures so far.
    public var statistics: TileSourceStatistics { counter.statistics }

    /// Memory of the table of tiles. It counts against the limit of each cache with a layer of this source.
    public var heldMemory: ByteCount {
        .bytes(tiles.reduce(0) { $0 + $1.count * MemoryLayout<CutTile>.stride })
    }

    /// Reads a tile.
    public func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
        counter.countLoad()
        let level = pyramid.levels[tile.level]
        let place = orientation.stored(tile, in: level)
        let columns = orientation.transposes ? level.rows : level.columns
        let cut = tiles[pyramid.maximumLevel - tile.level][place.row * columns + place.column]
        guard pixels.width == tileSize, pixels.height == tileSize, pixels.format == format else {
            throw TileFailure.permanent
        }
        let isGood: Bool
        switch cut {
        case .solid(let pattern):
            isGood = true
            pixels.withUnsafeMutableBytes { SolidTile.fill($0, with: pattern) }
        case .raw(let offset):
            isGood = pixels.withUnsafeMutableBytes { file.read(at: offset, into: $0) }
        case .block(let offset, let count):
            let reader = readers.withLock { $0.popLast() } ?? TileReader(tileBytes: pixels.byteCount)
            guard let reader else { throw TileFailure.transient(retryAfter: .zero) }
            isGood = pixels.withUnsafeMutableBytes { [file, tileSize, format] in
                reader.read(file, offset, count, into: $0, side: tileSize, format: format)
            }
            readers.withLock { $0.append(reader) }
        }
        guard isGood else {
            counter.count(TileLoadFailure(.unreadable, "its tile cannot be read again"), of: "\(name): tile \(tile)")
            throw TileFailure.transient(retryAfter: .seconds(1))
        }
        pixels.withUnsafeMutableBytes { [orientation, tileSize] in orientation.turn($0, side: tileSize) }
        counter.countDecoded(scaledFrom: nil)
        if !isStorable { pixels.freshness = .notStored }
        return .pixels
    }
}

/// A codec and memory for a block. Each worker that reads at the same time has one.
///
/// Unchecked: it is used by one thread, or in the source's list of unused ones.
private final class TileReader: @unchecked Sendable {
    private let codec: TileCodec
    private let block: UnsafeMutableRawBufferPointer

    init?(tileBytes: Int) {
        guard let codec = try? TileCodec(maximumTileBytes: tileBytes) else { return nil }
        self.codec = codec
        block = .allocate(byteCount: tileBytes, alignment: 64)
    }

    deinit { block.deallocate() }

    func read(
        _ file: ScratchFile,
        _ offset: Int,
        _ count: Int,
        into pixels: UnsafeMutableRawBufferPointer,
        side: Int,
        format: TilePixelFormat
    ) -> Bool {
        guard count <= block.count else { return false }
        let bytes = UnsafeMutableRawBufferPointer(rebasing: block[..<count])
        guard file.read(at: offset, into: bytes) else { return false }
        do {
            try codec.decompress(UnsafeRawBufferPointer(bytes), into: pixels, width: side, height: side, format: format)
            return true
        } catch {
            return false
        }
    }
}
