public import TileCache

/// A picture in files, as a description beside them says: a Zoomify image, or a static set of IIIF (level 0).
///
/// A tile without a file is absent. Files of a IIIF set are looked for in the forms that its writers have: see
/// ``HTTPTileSource/init(iiif:http:options:)``.
public final class PictureFolderTileSource: BlockingTileSource, TileDecoder, MemoryReportingSource, PyramidTileSource {
    /// The folder, or the path of the description.
    public let name: String
    /// The levels; the picture at full resolution is the world.
    public let pyramid: TilePyramid
    /// Pixel format and other options of the layer.
    public let layerOptions: LayerOptions
    /// A warning if no tile comes (``TileSourceStatistics/silence``); otherwise `nil`.
    public var warning: String? { delivery.counter.warning(tiles.warning.map { "\(name): \($0)" }, of: name) }
    /// Path, size and modification time of the description, and what it says. Tiles that change are not noticed.
    public let dataSet: [String]

    private let tiles: any ServerTiles
    private let delivery: TileDelivery

    /// Opens a Zoomify image: a folder with `ImageProperties.xml` and `TileGroup0`.
    ///
    /// - Parameters:
    ///   - path: Path of the folder, or of `ImageProperties.xml` in it.
    ///   - options: Options of the pixels; the tile size is the description's.
    /// - Throws: ``TileSourceError`` if there is no such file, or with the attribute that is invalid.
    public convenience init(
        zoomify path: String,
        options: TileSourceOptions = TileSourceOptions()
    ) throws(TileSourceError) {
        let place = ZoomifyImage.description(of: path)
        try self.init(path, place.file, "ImageProperties.xml of Zoomify", options) { bytes throws(TileSourceError) in
            let base = Files.fromRoot(place.base)
            // The format is not stated.
            let first = "\(base)/TileGroup0/0-0-0."
            let endings = TileFolderLayout.extensions
            let ending = (["jpg"] + endings).first { Files.exists(first + $0) } ?? "jpg"
            let image = try ZoomifyImage(bytes, path: place.file, base: base, end: ".\(ending)")
            return try image.served(as: path, home: nil, wrapsX: options.wrapsX)
        }
    }

    /// Opens a set of files of the IIIF Image API: a folder with `info.json` and a folder for each region.
    ///
    /// - Parameters:
    ///   - path: Path of the folder, or of `info.json` in it. Its `id` is ignored: tiles lie beside it.
    ///   - options: Options of the pixels; the tile sizes are the description's.
    /// - Throws: ``TileSourceError`` if there is no such file, or with the field that is invalid.
    public convenience init(
        iiif path: String,
        options: TileSourceOptions = TileSourceOptions()
    ) throws(TileSourceError) {
        let place = try IIIFImage.description(of: path == "info.json" ? "./info.json" : path)
        try self.init(path, place, "info.json of IIIF", options) { bytes throws(TileSourceError) in
            let image = try IIIFImage(bytes, address: Files.fromRoot(place))
            return try image.served(as: path, home: place, wrapsX: options.wrapsX)
        }
    }

    /// - Parameters:
    ///   - file: Path of the description.
    ///   - expected: What it is, for messages.
    private init(
        _ path: String,
        _ file: String,
        _ expected: String,
        _ options: TileSourceOptions,
        _ describe: ([UInt8]) throws(TileSourceError) -> ServedPyramid
    ) throws(TileSourceError) {
        try options.check(path)
        let own = DataSetName.file(file)
        let served = try describe(Files.read(file, limit: IIIFImage.largestFile).required(file, expected))
        (name, pyramid, tiles, layerOptions) = (path, served.pyramid, served.tiles, options.layerOptions)
        dataSet =
            DataSetName.pixels(served.kind, layerOptions, tileSize: served.tileSize) + own + served.identity.dropFirst()
        delivery = TileDelivery(options)
    }

    /// Counts of loads and failures so far.
    public var statistics: TileSourceStatistics { delivery.statistics }

    /// Memory of files' bytes while they are decoded. It counts against the limit of each cache with a layer of this
    /// source.
    public var heldMemory: ByteCount { .bytes(delivery.scratch.byteCount) }

    /// Reads and decodes a tile.
    public func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
        let addresses = tiles.addresses(of: tile)
        for place in addresses {
            let file = Files.read(place.address, delivery.scratch)
            if case .missing = file { continue }
            tiles.isThere(place, tile)
            return try delivery.deliver(file, tiles.placement(of: tile), of: place.address, into: &pixels)
        }
        tiles.isNowhere(tile)
        return try delivery.deliver(.missing, tiles.placement(of: tile), of: addresses[0].address, into: &pixels)
    }

    /// Decodes a tile from the file's bytes.
    public func decode(
        _ encoded: UnsafeRawBufferPointer,
        of tile: TileCoordinate,
        into pixels: inout TilePixels
    ) throws(TileFailure) {
        let subject = tiles.address(of: tile) ?? "\(name): tile \(tile)"
        try delivery.decode(encoded, tiles.placement(of: tile), of: subject, into: &pixels)
    }
}
