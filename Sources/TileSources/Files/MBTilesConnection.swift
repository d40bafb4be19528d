import TileCache

/// A connection with its query for a tile.
///
/// Unchecked: it is used by one thread, or in the source's list of unused ones.
final class MBTilesConnection: @unchecked Sendable {
    let database: Database
    let tables: TileTables
    private let tile: Query
    /// The same tile by its place in the table, if the file has no index and one was made.
    private let tileOfRow: Query?

    /// - Parameters:
    ///   - tables: Names of the file's tables.
    ///   - isIndexed: Whether tiles are read by their place in the table.
    init(
        _ path: String,
        _ limits: DatabaseLimits,
        _ tables: TileTables = TileTables(),
        isIndexed: Bool = false
    ) throws(TileSourceError) {
        database = try Database.readable(path: path, limits: limits)
        self.tables = tables
        if let refusal = Self.refusal(database, of: tables.roots) {
            throw TileSourceError(path, "tables of tiles were expected: \(refusal)")
        }
        if let view = tables.view, !database.makeView("tiles", of: view) {
            throw TileSourceError(path, "tables of tiles were expected: \(database.message)")
        }
        database.boundCache()
        let text = "SELECT tile_data FROM tiles WHERE zoom_level = ? AND tile_column = ? AND tile_row = ?"
        guard let query = database.query(text) else {
            throw TileSourceError(
                path,
                "a table 'tiles' with zoom_level, tile_column, tile_row and tile_data was expected: \(database.message)"
            )
        }
        tile = query
        tileOfRow = isIndexed ? database.query("\(text) AND rowid = ?") : nil
    }

    /// Explains why the schema is not that of a tile set.
    ///
    /// - Parameter roots: Tables and views that are read.
    static func refusal(_ database: Database, of roots: [String]) -> String? {
        var schema = DatabaseSchema()
        schema.largestExpansion = database.limits.expansion
        var isKnown = true
        let isAll = database.readPairs("SELECT name, sql FROM sqlite_master WHERE sql NOT NULL") { name, sql in
            guard case (.text(let name), .text(let sql)) = (name, sql), schema.add(name, sql) else {
                isKnown = false
                return
            }
        }
        guard isAll == true else { return isAll == nil ? database.message : "its schema is too large" }
        guard isKnown else { return "its schema is damaged" }
        return roots.lazy.compactMap { schema.refusal(of: $0) }.first
    }

    /// A copy of a tile's bytes, so that the connection is free while they are decoded.
    ///
    /// - Parameter row: The row as the file counts it.
    func contents(_ zoom: Int, _ column: Int, _ row: Int, _ scratch: ScratchMemory) -> FileContents {
        database.beginTile()
        tile.bind(zoom, column, row)
        defer { tile.reset() }
        return Self.contents(of: tile, scratch)
    }

    /// The same of a tile whose place in the table is known; missing if another tile is there by now.
    func contents(_ zoom: Int, _ column: Int, _ row: Int, at place: Int, _ scratch: ScratchMemory) -> FileContents {
        guard let tileOfRow else { return contents(zoom, column, row, scratch) }
        database.beginTile()
        tileOfRow.bind(zoom, column, row, place)
        defer { tileOfRow.reset() }
        return Self.contents(of: tileOfRow, scratch)
    }

    private static func contents(of query: Query, _ scratch: ScratchMemory) -> FileContents {
        switch query.step() {
        case .done: return .missing
        case .failed(let failure): return .failed(failure)
        case .row:
            if case .null = query[0] { return .missing }
            guard case .blob = query[0] else {
                return .failed(TileLoadFailure(.undecodable, "a blob was expected, not \(query[0].typeName)"))
            }
            return scratch.copy(query.blob(0))
        }
    }

    /// Zooms of the tiles, or, if finding them takes too long, of the metadata.
    func zooms(_ metadata: MBTilesMetadata, _ path: String) throws(TileSourceError) -> ClosedRange<Int> {
        let stated = metadata.zooms
        let own = database.survey { try? ends(path) }
        if let own, own.first <= own.last, MapPyramid.zooms.contains(own.first), MapPyramid.zooms.contains(own.last) {
            return own.first...own.last
        }
        if let stated, (try? hasTiles(stated.lowerBound) && hasTiles(stated.upperBound)) == true { return stated }
        let (first, last) = try ends(path)
        guard first <= last, MapPyramid.zooms.contains(first), MapPyramid.zooms.contains(last) else {
            throw TileSourceError(
                path,
                "zooms of 0 to \(MapPyramid.zooms.upperBound) were expected, not \(first) to \(last)"
            )
        }
        return first...last
    }

    /// The first and the last zoom.
    private func ends(_ path: String) throws(TileSourceError) -> (first: Int, last: Int) {
        guard let first = try number("SELECT min(zoom_level) FROM tiles", path),
            let last = try number("SELECT max(zoom_level) FROM tiles", path)
        else { throw TileSourceError(path, "it has no tiles") }
        return (first, last)
    }

    /// Whether there is a tile of the finest level where a pyramid has tiles. Also if the file does not tell.
    func hasTiles(in pyramid: TilePyramid, _ zooms: ClosedRange<Int>, _ order: TileRowOrder) -> Bool {
        let (zoom, level) = (zooms.upperBound, pyramid.maximumLevel)
        let range = pyramid.range(overlapping: pyramid.contents, at: level)
        let text =
            "SELECT 1 FROM tiles WHERE zoom_level = ? AND tile_column BETWEEN ? AND ? AND tile_row BETWEEN ? AND ? LIMIT 1"
        guard pyramid.contents.area < pyramid.worldWidth * pyramid.worldHeight, !range.isEmpty,
            let query = database.query(text)
        else { return !range.isEmpty }
        let ends = [range.rows.lowerBound, range.rows.upperBound - 1].map { order.number(of: $0, zoom: zoom) }.sorted()
        query.bind(zoom, range.columns.lowerBound, range.columns.upperBound - 1, ends[0], ends[1])
        switch query.step() {
        case .row, .failed: return true
        case .done: return false
        }
    }

    /// Whether there are tiles of a zoom beside the square world: in the right half of a geodetic one.
    func hasTilesBesideTheSquare(_ zoom: Int) -> Bool {
        let text = "SELECT 1 FROM tiles WHERE zoom_level = ? AND tile_column >= ? AND tile_column < ? LIMIT 1"
        return database.survey {
            guard let query = database.query(text) else { return false }
            query.bind(zoom, 1 << zoom, 2 << zoom)
            if case .row = query.step() { return true }
            return false
        }
    }

    /// Whether there are tiles of a zoom.
    ///
    /// - Throws: If the file does not tell.
    func hasTiles(_ zoom: Int) throws(TileLoadFailure) -> Bool {
        guard let query = database.query("SELECT 1 FROM tiles WHERE zoom_level = ? LIMIT 1") else {
            throw TileLoadFailure(.unreadable, database.message)
        }
        query.bind(zoom)
        switch query.step() {
        case .row: return true
        case .done: return false
        case .failed(let failure): throw failure
        }
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
            // Columns that are declared as text order 10 before 9.
            case .text(let value) where Int(value) != nil && !text.contains("CAST"):
                return try number(text.replacing("(zoom_level)", with: "(CAST(zoom_level AS INTEGER))"), path)
            default: throw TileSourceError(path, "whole numbers were expected for zoom_level, not \(query[0].typeName)")
            }
        }
    }
}
