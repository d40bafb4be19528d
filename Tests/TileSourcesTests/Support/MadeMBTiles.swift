import CTileSQLite

/// An SQLite file that a test writes.
final class MadeMBTiles {
    let path: String
    private var handle: OpaquePointer?

    static let usualTable =
        "CREATE TABLE tiles (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data BLOB)"

    init(_ path: String, table: String = usualTable) {
        self.path = path
        sqlite3_open(path, &handle)
        run(table)
        run("CREATE TABLE metadata (name TEXT, value TEXT)")
    }

    deinit { close() }

    func close() {
        sqlite3_close(handle)
        handle = nil
    }

    func run(_ text: String) { sqlite3_exec(handle, text, nil, nil, nil) }

    func set(_ name: String, _ value: String) { run("INSERT INTO metadata VALUES ('\(name)', '\(value)')") }

    /// Adds a tile whose row is counted from the bottom, as in the format.
    func add(_ zoom: Int, _ column: Int, rowFromBottom row: Int, _ bytes: [UInt8]) {
        var statement: OpaquePointer?
        sqlite3_prepare_v2(handle, "INSERT INTO tiles VALUES (?, ?, ?, ?)", -1, &statement, nil)
        for (index, value) in [zoom, column, row].enumerated() {
            sqlite3_bind_int64(statement, Int32(index + 1), Int64(value))
        }
        bytes.withUnsafeBytes { buffer in
            _ = sqlite3_bind_blob64(statement, 4, buffer.baseAddress, UInt64(buffer.count), nil)
            sqlite3_step(statement)
        }
        sqlite3_finalize(statement)
    }
}

/// Message of an initialiser's error; empty if it throws none.
func message(_ body: () throws -> Void) -> String {
    do {
        try body()
        return ""
    } catch {
        return "\(error)"
    }
}
