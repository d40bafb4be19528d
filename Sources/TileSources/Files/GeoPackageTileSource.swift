public import TileCache

/// Tiles in a GeoPackage: a table of PNG, JPEG or WebP images, with matrices of any ratio.
///
/// The finest matrix with tiles is the world. A tile without a row is absent. The file is untrusted, as MBTiles are: see
/// ``MBTilesTileSource``.
public final class GeoPackageTileSource: BlockingTileSource, TileDecoder, MemoryReportingSource, PyramidTileSource {
    /// The file.
    public let name: String
    /// One level for each matrix that has tiles, in the area that `gpkg_contents` states.
    public let pyramid: TilePyramid
    /// Pixel format and other options of the layer.
    public let layerOptions: LayerOptions
    /// The area that `gpkg_contents` states, in world pixels; all of the world if it states none.
    public var contents: PixelRect { pyramid.contents }
    /// A warning if there are more tables of tiles than the chosen one, or if no tile comes
    /// (``TileSourceStatistics/silence``); otherwise `nil`.
    public var warning: String? { delivery.counter.warning(stated, of: name) }
    /// Path, size and modification time of the file, and the table. With those of its write-ahead log, if it has any.
    public let dataSet: [String]

    private let stated: String?
    private let package: GeoPackage
    private let database: TileDatabase
    private let delivery: TileDelivery

    /// Opens a file: reads its tables of matrices.
    ///
    /// - Parameters:
    ///   - path: Path of the file.
    ///   - table: Name of the table. Default: `nil`, the first one with tiles.
    ///   - options: Options of the pixels; the tile sizes are those of the matrices.
    /// - Throws: ``TileSourceError`` if the file is no GeoPackage, has no such table or more than 64 matrices of it, or does not
    ///   tell which of them have tiles.
    public init(
        path: String,
        table: String? = nil,
        options: TileSourceOptions = TileSourceOptions()
    ) throws(TileSourceError) {
        try options.check(path)
        let (limits, id, log) = (DatabaseLimits(), Files.id(path), path + "-wal")
        let own = DataSetName.file(path) + (Files.size(log) > 0 ? DataSetName.file(log) : [])
        var package = try GeoPackage(path, table: table, limits)
        let connection = try MBTilesConnection(path, limits, .geoPackage(package.table))
        do throws(TileLoadFailure) {
            try package.keep { matrix throws(TileLoadFailure) in try connection.hasTiles(matrix.zoom) }
        } catch {
            throw TileSourceError(path, error)
        }
        pyramid = try package.pyramid(path, wrapsX: options.wrapsX)
        stated = package.warning.map { "\(path): \($0)" }
        database = TileDatabase(path, connection, fileID: id, limits)
        (name, self.package, layerOptions) = (path, package, options.layerOptions)
        dataSet =
            DataSetName.pixels("geopackage", layerOptions, tileSize: pyramid.levels[pyramid.maximumLevel].tileWidth)
            + own + [package.table, "\(package.matrices)"]
        delivery = TileDelivery(options)
    }

    /// Counts of loads and failures so far.
    public var statistics: TileSourceStatistics { delivery.statistics }

    /// Memory of SQLite's connections, one for each load at a time, and of tiles' bytes while they are decoded. It counts
    /// against the limit of each cache with a layer of this source.
    public var heldMemory: ByteCount { .bytes(database.byteCount + delivery.scratch.byteCount) }

    /// Reads and decodes a tile.
    public func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
        let found = database.contents(package.matrices[tile.level].zoom, tile.column, tile.row, delivery.scratch)
        return try delivery.deliver(found, placement(of: tile), of: subject(of: tile), into: &pixels)
    }

    /// Decodes a tile from the database's bytes.
    public func decode(
        _ encoded: UnsafeRawBufferPointer,
        of tile: TileCoordinate,
        into pixels: inout TilePixels
    ) throws(TileFailure) {
        try delivery.decode(encoded, placement(of: tile), of: subject(of: tile), into: &pixels)
    }

    private func placement(of tile: TileCoordinate) -> ImagePlacement {
        let matrix = package.matrices[tile.level]
        return ImagePlacement(tileWidth: matrix.tileWidth, tileHeight: matrix.tileHeight)
    }

    private func subject(of tile: TileCoordinate) -> String {
        "\(name): tile \(package.matrices[tile.level].zoom)/\(tile.column)/\(tile.row) of \(package.table)"
    }
}
