public import TileCache

/// A Deep Zoom image: `NAME.dzi` and the files `NAME_files/level/column_row.jpg` beside it.
///
/// Overlaps of neighbouring tiles are cut away, so that the layer's tiles have no border. Levels below the finest one
/// that fits in a tile are left out, and that one is level 0. A tile without a file is absent. Tiles of the last column
/// and row may be a pixel smaller or larger than the descriptor says.
public final class DeepZoomTileSource: BlockingTileSource, TileDecoder, MemoryReportingSource, PyramidTileSource {
    /// The descriptor's path.
    public let name: String
    /// The levels; the image at full resolution is the world.
    public let pyramid: TilePyramid
    /// Pixel format and other options of the layer.
    public let layerOptions: LayerOptions
    /// Pixels that neighbouring tiles share on each side; they are never drawn.
    public var overlap: Int { descriptor.overlap }

    /// Identity of the descriptor and of the folder of tiles. The first has path, size and modification time, the
    /// second path and modification time.
    ///
    /// Tiles that change inside the folder are not noticed: invalidate the layer (`TileLayer.invalidate`).
    public let dataSet: [String]

    private let folder: String
    private let descriptor: DeepZoomDescriptor
    /// Folder name of level 0.
    private let firstLevel: Int
    private let delivery: TileDelivery

    /// Opens a descriptor.
    ///
    /// - Parameters:
    ///   - path: Path of the `.dzi` file.
    ///   - options: Options of the pixels; the tile size is the descriptor's.
    /// - Throws: ``TileSourceError`` if the file is not a descriptor, or there is no folder of tiles beside it.
    public init(path: String, options: TileSourceOptions = TileSourceOptions()) throws(TileSourceError) {
        try options.check(path)
        let own = DataSetName.file(path)
        let file = Files.read(path, limit: DeepZoomDescriptor.largestFile)
        var descriptor = try DeepZoomDescriptor(file.required(path, "a Deep Zoom descriptor (.dzi)"), path: path)
        let stem = [".dzi", ".xml"].contains(path.suffix(4).lowercased()) ? String(path.dropLast(4)) : path
        folder = Files.fromRoot(stem + "_files")
        guard let names = Files.names(in: folder) else {
            throw TileSourceError(path, "a folder \(folder) with its tiles was expected")
        }
        // In the format, the full resolution is level ceil(log2(longer side)). Sets whose coarsest level is a whole
        // tile count from there.
        let usual = max(descriptor.width, descriptor.height).ceilingLog2
        let found = names.compactMap { Int($0) }.filter { $0 >= 0 && $0 <= usual }.max()
        guard let last = names.contains("\(usual)") ? usual : found else {
            throw TileSourceError(
                path,
                "a folder \(folder)/\(usual) with the tiles of the full resolution was expected"
            )
        }
        let size = descriptor.tileSize
        var count = 1
        while count <= last, size << (count - 1) < max(descriptor.width, descriptor.height) { count += 1 }
        firstLevel = last - count + 1
        // Some writers state another format than that of the files, or another spelling.
        let first = "\(folder)/\(firstLevel)/0_0."
        let formats = TileFolderLayout.extensions
        let endings = [descriptor.fileExtension] + formats + formats.map { $0.uppercased() }
        descriptor.fileExtension = endings.first { Files.size(first + $0) > 0 } ?? endings[0]
        self.descriptor = descriptor
        let (width, height) = (descriptor.width, descriptor.height)
        let levels = (0..<count).map { level in
            let span = 1 << (count - 1 - level)
            return PyramidLevel(
                width: (width - 1) / span + 1,
                height: (height - 1) / span + 1,
                tileWidth: size,
                tileHeight: size,
                worldPixelsPerPixel: Double(span)
            )
        }
        pyramid = try TilePyramid(of: path, width: width, height: height, wrapsX: options.wrapsX, levels: levels)
        name = path
        layerOptions = options.layerOptions
        dataSet =
            DataSetName.pixels("deep zoom", layerOptions, tileSize: size) + own + DataSetName.folder(folder)
            + ["level \(firstLevel)"]
        delivery = TileDelivery(options)
    }

    /// A warning if no tile comes (``TileSourceStatistics/silence``); otherwise `nil`.
    public var warning: String? { delivery.counter.warning(nil, of: name) }

    /// Counts of loads and failures so far.
    public var statistics: TileSourceStatistics { delivery.statistics }

    /// Memory of files' bytes while they are decoded. It counts against the limit of each cache with a layer of this
    /// source.
    public var heldMemory: ByteCount { .bytes(delivery.scratch.byteCount) }

    /// Reads and decodes a tile.
    public func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
        let path = path(of: tile)
        return try delivery.deliver(Files.read(path, delivery.scratch), placement(of: tile), of: path, into: &pixels)
    }

    /// Decodes a tile from the file's bytes.
    public func decode(
        _ encoded: UnsafeRawBufferPointer,
        of tile: TileCoordinate,
        into pixels: inout TilePixels
    ) throws(TileFailure) {
        try delivery.decode(encoded, placement(of: tile), of: path(of: tile), into: &pixels)
    }

    private func path(of tile: TileCoordinate) -> String {
        "\(folder)/\(firstLevel + tile.level)/\(tile.column)_\(tile.row).\(descriptor.fileExtension)"
    }

    /// Places the image in the tile, without the overlap at sides that have a neighbour.
    private func placement(of tile: TileCoordinate) -> ImagePlacement {
        let level = pyramid.levels[tile.level]
        let (size, overlap) = (descriptor.tileSize, descriptor.overlap)
        func along(_ index: Int, _ length: Int) -> (image: Int, start: Int, count: Int) {
            let first = index * size
            let end = min(first + size, length)
            let (from, to) = (max(first - overlap, 0), min(first + size + overlap, length))
            return (to - from, first - from, end - first)
        }
        let (x, y) = (along(tile.column, level.width), along(tile.row, level.height))
        let isLast = tile.column == level.columns - 1 || tile.row == level.rows - 1
        return ImagePlacement(
            imageWidth: x.image,
            imageHeight: y.image,
            x: x.start,
            y: y.start,
            width: x.count,
            height: y.count,
            tolerance: isLast ? ImagePlacement.edgeTolerance : 0
        )
    }
}

extension Int {
    /// Exponent of the smallest power of two that is not smaller, for 1 or more.
    var ceilingLog2: Int { self <= 1 ? 0 : Int.bitWidth - (self - 1).leadingZeroBitCount }
}
