import TileCache

/// Names of the tables of tiles in a database. Others than those of MBTiles are read through a view of their own names.
struct TileTables: Equatable {
    /// Query of the view; `nil` for MBTiles.
    var view: String?
    /// Tables and views that are read: their definitions are checked first.
    var roots = ["tiles", "metadata"]

    /// The tables of OsmAnd and of RMaps (`.sqlitedb`).
    ///
    /// - Parameter isReversed: Whether zooms are counted from 17 downwards.
    static func sqlitedb(isReversed: Bool) -> TileTables {
        let zoom = isReversed ? "17 - z" : "z"
        return TileTables(
            view: "SELECT \(zoom) AS zoom_level, x AS tile_column, y AS tile_row, image AS tile_data FROM main.tiles",
            roots: ["tiles", "info", "metadata"]
        )
    }

    /// A table of a GeoPackage.
    static func geoPackage(_ table: String) -> TileTables {
        let quoted = table.replacing("\"", with: "\"\"")
        return TileTables(
            view: "SELECT zoom_level, tile_column, tile_row, tile_data FROM main.\"\(quoted)\"",
            roots: [table] + GeoPackage.tables
        )
    }
}

/// Connections to a database of tiles, one for each load at a time.
final class TileDatabase: Sendable {
    private let file: String
    /// Another file at the path is another set.
    private let fileID: FileID?
    private let limits: DatabaseLimits
    private let tables: TileTables
    private let index: MBTilesIndex?
    private let connections: Lock<[MBTilesConnection]>
    /// Connections that were opened. One is open for each load at a time, and stays.
    private let opened: Lock<Int>

    /// - Parameters:
    ///   - first: The connection that read the set.
    ///   - fileID: Of the file before it was opened.
    ///   - index: Places of the tiles, if the file has no index.
    init(
        _ path: String,
        _ first: MBTilesConnection,
        fileID: FileID?,
        _ limits: DatabaseLimits,
        index: MBTilesIndex? = nil
    ) {
        (file, self.fileID, self.limits, self.index) = (Files.fromRoot(path), fileID, limits, index)
        tables = first.tables
        // The first connection has no query for places.
        let kept = index == nil ? [first] : []
        connections = Lock(kept)
        opened = Lock(kept.count)
    }

    /// Memory of the connections and the index.
    var byteCount: Int { opened.withLock { $0 } * Database.connectionBytes + (index?.byteCount ?? 0) }

    /// Reads a tile.
    ///
    /// - Parameter row: As the file counts it.
    func contents(_ zoom: Int, _ column: Int, _ row: Int, _ scratch: ScratchMemory) -> FileContents {
        do {
            let connection = try takeConnection()
            defer { connections.withLock { $0.append(connection) } }
            guard let index else { return connection.contents(zoom, column, row, scratch) }
            guard let place = index.place(zoom, column, row) else { return .missing }
            return connection.contents(zoom, column, row, at: place, scratch)
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
        let connection = try MBTilesConnection(file, limits, tables, isIndexed: index != nil)
        guard Files.id(file) == fileID else { throw TileLoadFailure(.changed, RangeRule.changed) }
        opened.withLock { $0 += 1 }
        return connection
    }
}
