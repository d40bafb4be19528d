import CTileSQLite
import Foundation

@testable import TileCache
@testable import TileSources

/// A database: the input itself, or one whose tables hold values of any type.
func fuzzMBTiles(_ input: UnsafeRawBufferPointer) {
    var bytes = Bytes(input)
    let draw = bytes.byte()
    let path = draw & 8 == 0 ? made(&bytes) : scratchFile(Array(bytes.all))
    var options = sourceOptions(draw)
    if draw & 16 != 0 { options.tileSize = 16 }
    let rows: TileRowOrder = draw & 32 == 0 ? .fromBottom : .fromTop
    let heap = sqlite3_memory_used()
    sqlite3_memory_highwater(1)
    defer {
        let grown = sqlite3_memory_highwater(0) - heap
        expect(grown <= 100 << 20, "SQLite's heap grows by \(grown) bytes")
    }
    guard let source = try? MBTilesTileSource(path: path, rows: rows, options: options) else { return }
    source.expectPyramid()
    expect(source.pyramid.levels.count == source.zooms.count, "levels of zooms \(source.zooms)")
    for tile in source.corners.prefix(8) { loadTwice(source, tile) { try source.load(tile, into: &$0) } }
    let statistics = source.statistics
    expect(statistics.loads >= statistics.absent, "\(statistics)")
}

/// Tables as programs write them, and malformed ones.
private let schemas = [
    "CREATE TABLE tiles (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data BLOB)",
    "CREATE TABLE tiles (zoom_level, tile_column, tile_row, tile_data)",
    "CREATE TABLE tiles (zoom_level TEXT, tile_column TEXT, tile_row TEXT, tile_data TEXT)",
    """
    CREATE TABLE map (a, b, c, d);
    CREATE VIEW tiles AS SELECT a AS zoom_level, b AS tile_column, c AS tile_row, d AS tile_data FROM map
    """,
    "CREATE TABLE tiles (zoom_level, tile_column, tile_row, tile_date)",
    """
    CREATE TABLE tiles (zoom_level, tile_column, tile_row, tile_data,
    PRIMARY KEY (zoom_level, tile_column, tile_row)) WITHOUT ROWID
    """,
    """
    CREATE TABLE map (a, b, c, d);
    CREATE VIEW tiles AS SELECT a AS zoom_level, b AS tile_column, c / 0 AS tile_row, zeroblob(c) AS tile_data FROM map
    """,
    """
    CREATE TABLE map (a, b, c, d);
    CREATE VIEW part AS SELECT x.a, y.b, y.c, x.d || y.d AS d FROM map x, map y;
    CREATE VIEW tiles AS SELECT DISTINCT p.a AS zoom_level, q.b AS tile_column, p.c AS tile_row, q.d || p.d AS tile_data
    FROM part p, part q
    """,
]
private let names = ["minzoom", "maxzoom", "bounds", "format", "name", ""]

private func made(_ bytes: inout Bytes) -> String {
    let path = "\(scratchRoot)/made-\(ProcessInfo.processInfo.processIdentifier).mbtiles"
    unlink(path)
    var database: OpaquePointer?
    guard sqlite3_open(path, &database) == SQLITE_OK else { fatalError("\(path) cannot be written") }
    defer { sqlite3_close(database) }
    let schema = Int(bytes.byte()) % schemas.count
    let setup = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA page_size = 512; BEGIN; "
    sqlite3_exec(database, setup + schemas[schema] + "; CREATE TABLE metadata (name, value)", nil, nil, nil)
    let table = schemas[schema].hasPrefix("CREATE TABLE map") ? "map" : "tiles"
    for _ in 0..<bytes.byte() % 5 {
        insert(database, "INSERT INTO metadata VALUES (?, ?)") { statement in
            let name = names[Int(bytes.byte()) % names.count]
            sqlite3_bind_text(statement, 1, name, -1, transient)
            bind(statement, 2, &bytes)
        }
    }
    for _ in 0..<bytes.byte() % 6 {
        insert(database, "INSERT INTO \(table) VALUES (?, ?, ?, ?)") { statement in
            for column in 1...3 as ClosedRange<Int32> {
                // Mostly numbers that are valid for a tile.
                let draw = bytes.byte()
                if draw < 200 {
                    sqlite3_bind_int64(statement, column, Int64(draw % 4))
                } else {
                    bind(statement, column, &bytes)
                }
            }
            bind(statement, 4, &bytes)
        }
    }
    sqlite3_exec(database, "COMMIT", nil, nil, nil)
    return path
}

private let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

private func insert(_ database: OpaquePointer?, _ text: String, _ bind: (OpaquePointer?) -> Void) {
    var statement: OpaquePointer?
    sqlite3_prepare_v2(database, text, -1, &statement, nil)
    bind(statement)
    sqlite3_step(statement)
    sqlite3_finalize(statement)
}

private func bind(_ statement: OpaquePointer?, _ column: Int32, _ bytes: inout Bytes) {
    switch bytes.byte() % 8 {
    case 0: sqlite3_bind_null(statement, column)
    case 1: sqlite3_bind_int64(statement, column, bytes.integer())
    case 2: sqlite3_bind_double(statement, column, bytes.number())
    case 3, 4:
        let text = bytes.take(Int(bytes.byte()))
        sqlite3_bind_text(statement, column, text.map { CChar(bitPattern: $0) }, Int32(text.count), transient)
    case 5:
        let blob = bytes.take(Int(bytes.byte()))
        sqlite3_bind_blob(statement, column, blob, Int32(blob.count), transient)
    default: sqlite3_bind_blob(statement, column, smallestTile, Int32(smallestTile.count), transient)
    }
}

/// A PNG of 16 x 16 pixels in a pattern of black and white.
private let smallestTile: [UInt8] = [
    0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x48,
    0x44, 0x52, 0x00, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0x10, 0x01, 0x00, 0x00, 0x00,
    0x00, 0x37, 0x88, 0xC2, 0xCC, 0x00, 0x00, 0x00, 0x0E, 0x49, 0x44, 0x41, 0x54, 0x78,
    0xDA, 0x63, 0x58, 0x15, 0xCA, 0x40, 0x0A, 0x02, 0x00, 0x81, 0x67, 0x0F, 0xF1, 0x21,
    0x04, 0x75, 0x07, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60,
    0x82,
]
