public import TileCache

/// Tiles in an MBTiles file. It is an SQLite database with PNG, JPEG or WebP images, rows counted from the bottom.
///
/// A tile without a row is absent. The file is untrusted: values of other types, images of another size, damaged pages
/// and endless views are failures that ``statistics`` counts. Each worker that reads at the same time has its own
/// connection, with SQLite's page cache of up to 2 MB, which does not count against the cache's limit.
public final class MBTilesTileSource: BlockingTileSource, TileDecoder, PyramidTileSource {
    /// The file.
    public let name: String
    /// One level for each of ``zooms``, of the whole square of the Web Mercator projection.
    public let pyramid: TilePyramid
    /// Pixel format and other options of the layer.
    public let layerOptions: LayerOptions
    /// The metadata's `minzoom` and `maxzoom` if there are tiles of both. Otherwise the zooms of the tiles.
    /// `zooms.lowerBound` is level 0.
    public let zooms: ClosedRange<Int>
    /// The metadata's `bounds`, in world pixels; the whole world if it has none.
    public let contents: PixelRect
    /// The file's table of names and values.
    public let metadata: [String: String]

    /// Path, size and modification time of the file, and the order of rows. With those of its write-ahead log, if it
    /// has any.
    public let dataSet: [String]

    private let file: String
    /// Another file at the path is another set.
    private let fileID: FileID?
    private let rows: TileRowOrder
    private let tileSize: Int
    private let delivery: TileDelivery
    private let limits: DatabaseLimits
    private let connections: Lock<[Connection]>

    /// Opens a file: reads its metadata and the header of one tile.
    ///
    /// - Parameters:
    ///   - path: Path of the file.
    ///   - rows: Order of rows. Default: row 0 at the bottom, as in the format; some programs write it otherwise.
    ///   - options: Options of the pixels.
    /// - Throws: ``TileSourceError`` if the file is not an MBTiles file, or has vector tiles.
    public convenience init(
        path: String,
        rows: TileRowOrder = .fromBottom,
        options: TileSourceOptions = TileSourceOptions()
    ) throws(TileSourceError) {
        try self.init(path: path, rows: rows, options: options, limits: DatabaseLimits())
    }

    init(path: String, rows: TileRowOrder, options: TileSourceOptions, limits: DatabaseLimits) throws(TileSourceError) {
        try options.check(path)
        let log = path + "-wal"
        fileID = Files.id(path)
        let own = DataSetName.file(path) + (Files.size(log) > 0 ? DataSetName.file(log) : [])
        let connection = try Connection(path, limits)
        let metadata = try MBTilesMetadata(connection.database, path)
        if let format = metadata.values["format"], ["pbf", "mvt"].contains(format) {
            throw TileSourceError(
                path,
                "tiles of PNG, JPEG or WebP were expected, and these are of the format \(format)"
            )
        }
        zooms = try connection.zooms(metadata, path)
        if let size = options.tileSize {
            tileSize = size
        } else {
            tileSize = try TileSize.of(try connection.sample(zoom: zooms.upperBound, path), "\(path): its first tile")
        }
        pyramid = try MapPyramid.make(zooms, of: path, tileSize: tileSize, wrapsX: options.wrapsX)
        contents = MapPyramid.contents(metadata.bounds, of: pyramid)
        name = path
        file = Files.fromRoot(path)
        self.metadata = metadata.values
        self.rows = rows
        layerOptions = options.layerOptions
        dataSet =
            DataSetName.pixels("mbtiles", layerOptions, tileSize: tileSize) + own + ["rows \(rows)", "\(zooms)"]
        delivery = TileDelivery(options)
        self.limits = limits
        connections = Lock([connection])
    }

    /// Counts of loads and failures so far.
    public var statistics: TileSourceStatistics { delivery.statistics }

    /// Reads and decodes a tile.
    public func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
        try delivery.deliver(contents(of: tile), placement, of: subject(of: tile), into: &pixels)
    }

    private func contents(of tile: TileCoordinate) -> FileContents {
        do {
            let connection = try connections.withLock { $0.popLast() } ?? opened()
            defer { connections.withLock { $0.append(connection) } }
            let zoom = zooms.lowerBound + tile.level
            return connection.contents(zoom, tile.column, rows.number(of: tile.row, zoom: zoom))
        } catch let failure as TileLoadFailure {
            return .failed(failure)
        } catch {
            return .failed(TileLoadFailure(.unreadable, "\(error)"))
        }
    }

    private func opened() throws -> Connection {
        let connection = try Connection(file, limits)
        guard Files.id(file) == fileID else { throw TileLoadFailure(.changed, RangeRule.changed) }
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

/// A connection with its query for a tile.
///
/// Unchecked: it is used by one thread, or in the source's list of unused ones.
private final class Connection: @unchecked Sendable {
    let database: Database
    let tile: Query

    init(_ path: String, _ limits: DatabaseLimits) throws(TileSourceError) {
        database = try Database(path: path, limits: limits)
        if let refusal = Self.refusal(database) {
            throw TileSourceError(path, "tables of tiles were expected: \(refusal)")
        }
        let text = "SELECT tile_data FROM tiles WHERE zoom_level = ? AND tile_column = ? AND tile_row = ?"
        guard let query = database.query(text) else {
            throw TileSourceError(
                path,
                "a table 'tiles' with zoom_level, tile_column, tile_row and tile_data was expected: \(database.message)"
            )
        }
        tile = query
    }

    /// Explains why the schema is not that of a tile set.
    private static func refusal(_ database: Database) -> String? {
        var schema = DatabaseSchema()
        var isKnown = true
        let isAll = database.readPairs("SELECT name, sql FROM sqlite_master WHERE sql NOT NULL") { name, sql in
            guard case (.text(let name), .text(let sql)) = (name, sql), schema.add(name, sql) else {
                isKnown = false
                return
            }
        }
        guard isAll == true else { return isAll == nil ? database.message : "its schema is too large" }
        guard isKnown else { return "its schema is damaged" }
        return schema.refusal(of: "tiles") ?? schema.refusal(of: "metadata")
    }

    /// A copy of a tile's bytes, so that the connection is free while they are decoded.
    func contents(_ zoom: Int, _ column: Int, _ row: Int) -> FileContents {
        database.beginTile()
        tile.bind(zoom, column, row)
        defer { tile.reset() }
        switch tile.step() {
        case .done: return .missing
        case .failed(let failure): return .failed(failure)
        case .row:
            guard case .blob = tile[0] else {
                return .failed(TileLoadFailure(.undecodable, "a blob was expected, not \(tile[0].typeName)"))
            }
            return .bytes(Array(tile.blob(0)))
        }
    }

    func zooms(_ metadata: MBTilesMetadata, _ path: String) throws(TileSourceError) -> ClosedRange<Int> {
        if let first = metadata.zoom("minzoom"), let last = metadata.zoom("maxzoom"), first <= last,
            hasTiles(first), hasTiles(last)
        {
            return first...last
        }
        let first = try number("SELECT min(zoom_level) FROM tiles", path)
        let last = try number("SELECT max(zoom_level) FROM tiles", path)
        guard let first, let last else { throw TileSourceError(path, "it has no tiles") }
        guard first <= last, MapPyramid.zooms.contains(first), MapPyramid.zooms.contains(last) else {
            throw TileSourceError(
                path,
                "zooms of 0 to \(MapPyramid.zooms.upperBound) were expected, not \(first) to \(last)"
            )
        }
        return first...last
    }

    /// Reads any tile's bytes.
    func sample(zoom: Int, _ path: String) throws(TileSourceError) -> [UInt8] {
        guard let query = database.query("SELECT tile_data FROM tiles WHERE zoom_level = ? LIMIT 1") else {
            throw TileSourceError(path, database.message)
        }
        query.bind(zoom)
        guard case .row = query.step() else { throw TileSourceError(path, "there is no tile of zoom \(zoom) in it") }
        guard case .blob = query[0] else {
            throw TileSourceError(path, "a blob was expected for tile_data, not \(query[0].typeName)")
        }
        return Array(query.blob(0))
    }

    private func hasTiles(_ zoom: Int) -> Bool {
        guard let query = database.query("SELECT 1 FROM tiles WHERE zoom_level = ? LIMIT 1") else { return false }
        query.bind(zoom)
        if case .row = query.step() { return true }
        return false
    }

    /// Reads an integer; `nil` if the table is empty.
    private func number(_ text: String, _ path: String) throws(TileSourceError) -> Int? {
        guard let query = database.query(text) else { throw TileSourceError(path, database.message) }
        query.bind()
        switch query.step() {
        case .done: return nil
        case .failed(let failure): throw TileSourceError(path, failure.message)
        case .row:
            switch query[0] {
            case .null: return nil
            case .integer(let value): return value
            default: throw TileSourceError(path, "whole numbers were expected for zoom_level, not \(query[0].typeName)")
            }
        }
    }
}
