public import TileCache

/// Tiles in an MBTiles file. It is an SQLite database with PNG, JPEG or WebP images, rows counted from the bottom.
///
/// The `.sqlitedb` files of OsmAnd, RMaps and BigPlanet are read too. Their zooms may be counted from 17 downwards, and rows
/// from either end, as their table `info` says.
///
/// A file without an index of its tiles is read once when it is opened, for an index of up to a million tiles in memory.
/// That takes 16 bytes a tile, which count against the cache's limit; tiles that are added later are not found.
///
/// A tile without a row is absent. The file is untrusted: values of other types, images of another size, damaged pages
/// and endless views are failures that ``statistics`` counts. Each worker that reads at the same time has its own
/// connection, which counts with 384 KiB.
public final class MBTilesTileSource: BlockingTileSource, TileDecoder, MemoryReportingSource, PyramidTileSource {
    /// The file.
    public let name: String
    /// One level for each of ``zooms``, of the whole square of the Web Mercator projection, or of a geodetic world.
    public let pyramid: TilePyramid
    /// Pixel format and other options of the layer.
    public let layerOptions: LayerOptions
    /// The zooms of the tiles, or the metadata's `minzoom` and `maxzoom` if those take too long to find.
    /// `zooms.lowerBound` is level 0.
    public let zooms: ClosedRange<Int>
    /// The metadata's `bounds`, in world pixels. If it has none, or no tile of the finest zoom is within, the extent of
    /// the tiles; the whole world if that takes too long to find. Tiles beside them do not show.
    public let contents: PixelRect
    /// Order of the rows in the file, as it was given or found.
    public let rows: TileRowOrder
    /// A warning if rows are counted from the top or that cannot be told, if the file has no index, or if its metadata
    /// states other zooms, bounds or tiles than it has, or if no tile comes (``TileSourceStatistics/silence``); otherwise
    /// `nil`.
    public var warning: String? { delivery.counter.warning(stated, of: name) }
    /// Shape of the world: geodetic if the metadata's `crs` says so, or if tiles of the coarsest zoom lie beside the square;
    /// unless it was set.
    public let world: MapWorld
    /// The file's table of names and values.
    public let metadata: [String: String]

    /// Path, size and modification time of the file, and the order of rows. With those of its write-ahead log, if it
    /// has any.
    public let dataSet: [String]

    private let stated: String?
    private let tileSize: Int
    private let delivery: TileDelivery
    private let database: TileDatabase

    /// Opens a file: reads its metadata, the extent of its tiles, and the headers of up to 12 tiles for their size.
    ///
    /// - Parameters:
    ///   - path: Path of the file.
    ///   - rows: Order of rows; some programs write row 0 at the top. Default: `nil`, from the bottom as in the format,
    ///     unless the metadata's `bounds` fit the other order alone.
    ///   - options: Options of the pixels.
    /// - Throws: ``TileSourceError`` if the file is not an MBTiles file, or has vector tiles.
    public convenience init(
        path: String,
        rows: TileRowOrder? = nil,
        options: TileSourceOptions = TileSourceOptions()
    ) throws(TileSourceError) {
        try self.init(path: path, rows: rows, options: options, limits: DatabaseLimits())
    }

    init(path: String, rows: TileRowOrder?, options: TileSourceOptions, limits: DatabaseLimits) throws(TileSourceError)
    {
        try options.check(path)
        let log = path + "-wal"
        let fileID = Files.id(path)
        let own = DataSetName.file(path) + (Files.size(log) > 0 ? DataSetName.file(log) : [])
        let osmAnd = try OsmAndTiles(path, limits)
        let connection = try MBTilesConnection(path, limits, osmAnd?.tables ?? TileTables())
        let metadata = try MBTilesMetadata(connection.database, path)
        zooms = try connection.zooms(metadata, path)
        let isWide = metadata.isGeodetic || connection.hasTilesBesideTheSquare(zooms.lowerBound)
        let world = options.world ?? (isWide ? .geodetic : .square)
        let bounds = metadata.bounds(of: world)
        let label = metadata.values["format"].flatMap { ["pbf", "mvt"].contains($0) ? "of the format \($0)" : nil }
        let survey = MBTilesSurvey(
            connection,
            zooms,
            of: world,
            samplesSize: options.tileSize == nil || label != nil,
            isExact: bounds == nil
        )
        let mislabelled = try survey.samples.mislabelled(label, path)
        if let size = options.tileSize { tileSize = size } else { tileSize = try survey.samples.size(of: path) }
        let whole = try MapPyramid.make(zooms, of: path, tileSize: tileSize, wrapsX: options.wrapsX, world: world)
        var finding = MBTilesRows.find(
            survey.extents[zooms.upperBound]?.rows,
            zoom: zooms.upperBound,
            within: bounds
        )
        // Their table says it.
        if osmAnd != nil { finding = .asInFormat }
        let order = rows ?? osmAnd?.rows ?? (finding == .fromTop ? .fromTop : .fromBottom)
        var part = bounds ?? survey.part(of: zooms, order)
        let bounded = whole.limited(to: MapPyramid.contents(part, of: whole))
        // Degrees in another order: such bounds would hide all tiles.
        if bounds != nil, !connection.hasTiles(in: bounded, zooms, order) { finding = .elsewhere }
        if finding == .elsewhere {
            part = MBTilesSurvey(connection, zooms, of: world, samplesSize: false, isExact: true).part(of: zooms, order)
        }
        pyramid = whole.limited(to: MapPyramid.contents(part, of: whole))
        contents = pyramid.contents
        let warnings = [
            rows == nil || finding == .elsewhere ? finding.warning(path) : nil, survey.warning, metadata.warning(zooms),
            mislabelled, osmAnd?.warning,
        ].compactMap(\.self)
        stated = warnings.isEmpty ? nil : "\(path): \(warnings.joined(separator: "; "))"
        name = path
        self.metadata = metadata.values
        self.rows = order
        self.world = world
        layerOptions = options.layerOptions
        dataSet =
            DataSetName.pixels("mbtiles", layerOptions, tileSize: tileSize) + own + ["rows \(order)", "\(zooms)"]
            + (world == .square ? [] : ["\(world)"])
        delivery = TileDelivery(options)
        database = TileDatabase(path, connection, fileID: fileID, limits, index: survey.index)
    }

    /// Counts of loads and failures so far.
    public var statistics: TileSourceStatistics { delivery.statistics }

    /// Memory of SQLite's connections, one for each load at a time, of tiles' bytes while they are decoded, and of an index
    /// that was made of the file. It counts against the limit of each cache with a layer of this source.
    public var heldMemory: ByteCount {
        .bytes(database.byteCount + delivery.scratch.byteCount)
    }

    /// Reads and decodes a tile.
    public func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
        let zoom = zooms.lowerBound + tile.level
        let found = database.contents(zoom, tile.column, rows.number(of: tile.row, zoom: zoom), delivery.scratch)
        return try delivery.deliver(found, placement, of: subject(of: tile), into: &pixels)
    }

    /// Decodes a tile from the database's bytes.
    public func decode(
        _ encoded: UnsafeRawBufferPointer,
        of tile: TileCoordinate,
        into pixels: inout TilePixels
    ) throws(TileFailure) {
        try delivery.decode(encoded, placement, of: subject(of: tile), into: &pixels)
    }

    private var placement: ImagePlacement { ImagePlacement(tileSize: tileSize) }

    private func subject(of tile: TileCoordinate) -> String {
        "\(name): tile \(zooms.lowerBound + tile.level)/\(tile.column)/\(tile.row)"
    }
}
