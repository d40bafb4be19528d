/// What the table `info` of an OsmAnd or RMaps file (`.sqlitedb`) says of its tiles.
struct OsmAndTiles {
    let tables: TileTables
    let rows: TileRowOrder
    /// A clause for a warning; `nil` if there is nothing to say.
    let warning: String?

    /// Reads the table; `nil` if the file's tables are not those of OsmAnd.
    ///
    /// - Throws: ``TileSourceError`` if the file is no database or its definitions are refused.
    init?(_ path: String, _ limits: DatabaseLimits) throws(TileSourceError) {
        let database = try Database.readable(path: path, limits: limits)
        guard MBTilesConnection.refusal(database, of: ["tiles", "info"]) == nil,
            database.query("SELECT x, y, z, image FROM tiles") != nil,
            database.query("SELECT tile_data FROM tiles") == nil
        else { return nil }
        /// A value of the first row; `nil` if there is no such column.
        func value(_ column: String) -> SQLValue? {
            guard let query = database.query("SELECT \(column) FROM info LIMIT 1") else { return nil }
            query.bind()
            guard case .row = query.step() else { return nil }
            return query[0]
        }
        func isSet(_ column: String) -> Bool {
            switch value(column) {
            case .integer(let number)?: number != 0
            case .text(let text)?: (Int(text) ?? 0) != 0
            default: false
            }
        }
        var isReversed = true
        if case .text(let numbering)? = value("tilenumbering") { isReversed = numbering.lowercased() == "bigplanet" }
        tables = .sqlitedb(isReversed: isReversed)
        rows = isSet("inverted_y") ? .fromBottom : .fromTop
        warning =
            isSet("ellipsoid") ? "its map has the projection of an ellipsoid, and is drawn as one of a sphere" : nil
    }
}
