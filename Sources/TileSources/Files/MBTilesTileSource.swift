public import TileCache

/// Tiles in an MBTiles file. It is an SQLite database with PNG, JPEG or WebP images, rows counted from the bottom.
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
    /// One level for each of ``zooms``, of the whole square of the Web Mercator projection.
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
    /// The file's table of names and values.
    public let metadata: [String: String]

    /// Path, size and modification time of the file, and the order of rows. With those of its write-ahead log, if it
    /// has any.
    public let dataSet: [String]

    private let stated: String?
    private let file: String
    /// Another file at the path is another set.
    private let fileID: FileID?
    private let tileSize: Int
    private let delivery: TileDelivery
    private let limits: DatabaseLimits
    private let connections: Lock<[MBTilesConnection]>
    /// Connections that were opened. One is open for each load at a time, and stays.
    private let opened: Lock<Int>
    private let index: MBTilesIndex?

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
        fileID = Files.id(path)
        let own = DataSetName.file(path) + (Files.size(log) > 0 ? DataSetName.file(log) : [])
        let connection = try MBTilesConnection(path, limits)
        let metadata = try MBTilesMetadata(connection.database, path)
        zooms = try connection.zooms(metadata, path)
        let label = metadata.values["format"].flatMap { ["pbf", "mvt"].contains($0) ? "of the format \($0)" : nil }
        let survey = MBTilesSurvey(
            connection,
            zooms,
            samplesSize: options.tileSize == nil || label != nil,
            isExact: metadata.bounds == nil
        )
        let mislabelled = try survey.samples.mislabelled(label, path)
        if let size = options.tileSize { tileSize = size } else { tileSize = try survey.samples.size(of: path) }
        let whole = try MapPyramid.make(zooms, of: path, tileSize: tileSize, wrapsX: options.wrapsX)
        var finding = MBTilesRows.find(
            survey.extents[zooms.upperBound]?.rows,
            zoom: zooms.upperBound,
            within: metadata.bounds
        )
        let order = rows ?? (finding == .fromTop ? .fromTop : .fromBottom)
        var part = metadata.bounds ?? survey.part(of: zooms, order)
        let bounded = whole.limited(to: MapPyramid.contents(part, of: whole))
        // Degrees in another order: such bounds would hide all tiles.
        if metadata.bounds != nil, !connection.hasTiles(in: bounded, zooms, order) { finding = .elsewhere }
        if finding == .elsewhere {
            part = MBTilesSurvey(connection, zooms, samplesSize: false, isExact: true).part(of: zooms, order)
        }
        pyramid = whole.limited(to: MapPyramid.contents(part, of: whole))
        contents = pyramid.contents
        let warnings = [
            rows == nil || finding == .elsewhere ? finding.warning(path) : nil, survey.warning, metadata.warning(zooms),
            mislabelled,
        ].compactMap(\.self)
        stated = warnings.isEmpty ? nil : "\(path): \(warnings.joined(separator: "; "))"
        name = path
        file = Files.fromRoot(path)
        self.metadata = metadata.values
        self.rows = order
        index = survey.index
        layerOptions = options.layerOptions
        dataSet =
            DataSetName.pixels("mbtiles", layerOptions, tileSize: tileSize) + own + ["rows \(order)", "\(zooms)"]
        delivery = TileDelivery(options)
        self.limits = limits
        // The first connection has no query for places.
        let kept = survey.index == nil ? [connection] : []
        connections = Lock(kept)
        opened = Lock(kept.count)
    }

    /// Counts of loads and failures so far.
    public var statistics: TileSourceStatistics { delivery.statistics }

    /// Memory of SQLite's connections, one for each load at a time, of tiles' bytes while they are decoded, and of an index
    /// that was made of the file. It counts against the limit of each cache with a layer of this source.
    public var heldMemory: ByteCount {
        let connections = opened.withLock { $0 } * Database.connectionBytes
        return .bytes(connections + delivery.scratch.byteCount + (index?.byteCount ?? 0))
    }

    /// Reads and decodes a tile.
    public func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
        try delivery.deliver(contents(of: tile), placement, of: subject(of: tile), into: &pixels)
    }

    private func contents(of tile: TileCoordinate) -> FileContents {
        do {
            let connection = try takeConnection()
            defer { connections.withLock { $0.append(connection) } }
            let zoom = zooms.lowerBound + tile.level
            let row = rows.number(of: tile.row, zoom: zoom)
            guard let index else { return connection.contents(zoom, tile.column, row, delivery.scratch) }
            guard let place = index.place(zoom, tile.column, row) else { return .missing }
            return connection.contents(zoom, tile.column, row, at: place, delivery.scratch)
        } catch let failure as TileLoadFailure {
            return .failed(failure)
        } catch {
            return .failed(TileLoadFailure(.unreadable, "\(error)"))
        }
    }

    private func takeConnection() throws -> MBTilesConnection {
        while let connection = connections.withLock({ $0.popLast() }) {
            if !connection.database.isStale { return connection }
            opened.withLock { $0 -= 1 }
        }
        return try openConnection()
    }

    private func openConnection() throws -> MBTilesConnection {
        let connection = try MBTilesConnection(file, limits, isIndexed: index != nil)
        guard Files.id(file) == fileID else { throw TileLoadFailure(.changed, RangeRule.changed) }
        opened.withLock { $0 += 1 }
        return connection
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
