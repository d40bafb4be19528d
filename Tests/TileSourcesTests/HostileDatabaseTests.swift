import CTileSQLite
import Testing

@testable import TileCache
@testable import TileSources

/// What databases that are made to take all memory or time consist of, each part small: ten rows, three views. The
/// layouts of real ones must not be refused with them.
@Suite(.serialized) struct HostileDatabaseTests {
    private let folder = ScratchFolder()
    private let image = TestImage(width: 32, height: 32)
    private var path: String { "\(folder.path)/map.mbtiles" }
    /// The image's bytes in SQL.
    private var literal: String {
        "x'\(image.png.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined())'"
    }

    private static let columns = "1 AS zoom_level, 0 AS tile_column, 0 AS tile_row"
    /// A thousand rows without recursion.
    private static let thousand = """
        CREATE TABLE n (x); INSERT INTO n VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);
        INSERT INTO n SELECT a.x * 100 + b.x * 10 + c.x + 10 FROM n a, n b, n c;
        """
    private static let counting = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 10)"

    private func make(_ tiles: String, metadata: String? = nil) -> MadeMBTiles {
        let made = MadeMBTiles(path, table: tiles)
        if let metadata { made.run("DROP TABLE metadata; \(metadata)") }
        return made
    }

    /// Three views or expressions, each of which names the one before twice.
    private static func doubled(_ first: String, _ step: (String) -> String, _ join: String) -> String {
        (1...3).map { "\(first)\($0)\(step($0 == 1 ? "n" : "\(first.split(separator: " ").last ?? "")\($0 - 1)"))" }
            .joined(separator: join)
    }

    private static let hostile: [(tiles: String, metadata: String?, message: String)] = [
        (
            MadeMBTiles.usualTable + ";" + thousand,
            "CREATE VIEW metadata AS SELECT 'k' || x AS name, printf('%d', x) AS value FROM n",
            "it calls the function printf"
        ),
        (
            "CREATE VIEW tiles AS \(counting) SELECT \(columns), hex(zeroblob(2)) AS tile_data FROM c",
            nil, "common table expressions"
        ),
        (
            "CREATE TABLE t(a); CREATE VIEW tiles AS SELECT \(columns), hex(zeroblob(2)) AS tile_data FROM t",
            nil, "it calls the function hex"
        ),
        ("CREATE TABLE t(a); CREATE VIEW tiles AS SELECT * FROM t WHERE a LIKE '%a'", nil, "function like"),
        (
            thousand + doubled("CREATE VIEW v", { " AS SELECT a.* FROM \($0) a, \($0) b" }, ";")
                + "; CREATE VIEW tiles AS SELECT \(columns), x AS tile_data FROM v3",
            nil, "refer to each other too often"
        ),
        (
            thousand + "CREATE VIEW tiles AS WITH " + doubled("v", { " AS (SELECT a.* FROM \($0) a, \($0) b)" }, ",")
                + " SELECT \(columns), x AS tile_data FROM v3",
            nil, "common table expressions"
        ),
        (
            """
            CREATE TABLE tiles (zoom_level, tile_column, tile_row, a TEXT,
            tile_data AS/**/(a || 'b'))
            """, nil, "generated columns"
        ),
        // SQLite skips a byte order mark.
        (
            """
            CREATE TABLE tiles (zoom_level, tile_column, tile_row, a TEXT,
            tile_data AS \u{FEFF}(a || 'b'))
            """, nil, "generated columns"
        ),
        (
            "CREATE VIEW tiles AS \u{FEFF}\(counting) SELECT \(columns), hex(zeroblob(2)) AS tile_data FROM c",
            nil, "common table expressions"
        ),
        // The quote that ends a view's name begins no text, in which names would look like a comment.
        (
            """
            CREATE TABLE "a/*b" (a); CREATE TABLE "c*/" (b); CREATE VIEW "tiles" AS SELECT \(columns),
            hex(zeroblob(2)) AS tile_data FROM "a/*b", (\(counting) SELECT x FROM c), "c*/"
            """, nil, "common table expressions"
        ),
        ("CREATE VIRTUAL TABLE tiles USING fts5(zoom_level, tile_column, tile_row, tile_data)", nil, "no such module"),
        ("CREATE VIEW tiles AS SELECT \(columns), value AS tile_data FROM json_each('[1, 2]')", nil, "was expected"),
        ("CREATE VIEW tiles AS SELECT \(columns), name AS tile_data FROM pragma_database_list", nil, "was expected"),
    ]

    @Test(arguments: hostile.indices) func whatTileSetsNeverNeedIsRefused(index: Int) throws {
        let (tiles, metadata, expected) = Self.hostile[index]
        make(tiles, metadata: metadata).close()
        var limits = DatabaseLimits()
        // Of seven words each: v1 has 7, v2 21, v3 49, and the set's view 61 or more.
        if expected.contains("too often") { limits.expansion = 60 }
        let refusal = message { _ = try opened(limits) }
        #expect(refusal.contains(expected), "\(refusal)")
    }

    private func opened(_ limits: DatabaseLimits) throws -> MBTilesTileSource {
        try MBTilesTileSource(path: path, rows: .fromBottom, options: TileSourceOptions(), limits: limits)
    }

    /// Limits of steps, time and memory, each tested without the others.
    @Test(arguments: ["more steps", "too long to answer", "too much memory"])
    func eachLimitEndsAQuery(expected: String) throws {
        // A thousand distinct rows of two kilobytes.
        make(
            Self.thousand + """
                CREATE TABLE t (a); INSERT INTO t VALUES (hex(zeroblob(1000)));
                CREATE VIEW tiles AS SELECT DISTINCT \(Self.columns), t.a || n.x AS tile_data FROM n, t
                """
        ).close()
        var limits = DatabaseLimits()
        let calls = Lock<Int64>(0)
        limits.now = {
            calls.withLock {
                $0 += 1; return expected.contains("long") ? $0 : 0
            }
        }
        if expected.contains("long") { (limits.opening, limits.survey) = (5, 5) }
        if expected.contains("steps") { limits.steps = 2000 }
        if expected.contains("memory") { (limits.heap, limits.valuesInHeap) = (1 << 20, 0) }
        let refusal = message { _ = try opened(limits) }
        #expect(refusal.contains(expected), "\(refusal)")
    }

    /// A tile whose time is over fails transiently. The next one has its own time.
    @Test func aTileHasItsOwnTime() throws {
        let made = make(
            Self.thousand + """
                CREATE TABLE t (z, a); CREATE VIEW tiles AS
                SELECT z AS zoom_level, 0 AS tile_column, n.x * 5 AS tile_row, a AS tile_data FROM t, n
                """
        )
        made.run("INSERT INTO t VALUES (1, \(literal))")
        made.close()
        var limits = DatabaseLimits()
        let now = Lock<Int64>(0)
        let step = Lock<Int64>(0)
        limits.now = {
            now.withLock { now in
                step.withLock { now += $0 }; return now
            }
        }
        let options = TileSourceOptions(tileSize: 32)
        let source = try MBTilesTileSource(path: path, rows: .fromTop, options: options, limits: limits)
        #expect(try source.loaded(0, 0, 0).image == image)
        step.withLock { $0 = limits.tile + 1 }
        // All rows are searched for an absent tile.
        #expect(throws: TileFailure.transient(retryAfter: .zero)) { _ = try source.loaded(0, 0, 1) }
        #expect(source.statistics.failures == [.timeOut: 1])
        step.withLock { $0 = 0 }
        #expect(try source.loaded(0, 0, 1).outcome == .absent)
    }

    /// Of any amount of metadata, rows within the limits are kept.
    @Test func metadataIsBounded() throws {
        let made = make(MadeMBTiles.usualTable)
        made.add(3, 0, rowFromBottom: 0, image.png)
        made.set("name", "a map")
        made.run("BEGIN")
        for number in 0..<2000 { made.set("key \(number)", "value") }
        made.run("COMMIT")
        let many = try MBTilesTileSource(path: path).metadata
        #expect(many.count == 1000 && many["name"] == "a map" && many["key 998"] == "value" && many["key 999"] == nil)
        made.run("DELETE FROM metadata WHERE name != 'name'")
        for number in 0..<30 { made.run("INSERT INTO metadata VALUES ('key \(number)', hex(zeroblob(50000)))") }
        let long = try MBTilesTileSource(path: path).metadata
        #expect(long.count == 11 && long["name"] == "a map" && long["key 9"]?.utf8.count == 100_000)
        made.run("UPDATE metadata SET value = hex(zeroblob(600000)) WHERE name = 'key 0'")
        #expect(try MBTilesTileSource(path: path).metadata == ["name": "a map"])
        made.run("DELETE FROM metadata; INSERT INTO metadata SELECT 'x' || rowid, hex(zeroblob(300)) FROM tiles")
        made.close()
        #expect(try MBTilesTileSource(path: path).metadata.count == 1)
    }

    /// A schema of exactly as many rows as are read is no larger than allowed.
    @Test func aSchemaMayBeAsLargeAsTheLimit() throws {
        let made = make(MadeMBTiles.usualTable)
        made.add(0, 0, rowFromBottom: 0, image.png)
        made.close()
        // The tables of tiles and of metadata.
        func said(rows: Int) -> String {
            var limits = DatabaseLimits()
            limits.rows = rows
            return message { _ = try opened(limits) }
        }
        #expect(said(rows: 2).isEmpty && said(rows: 3).isEmpty)
        #expect(said(rows: 1).contains("its schema is too large"))
    }

    /// Table layouts of mb-util, tippecanoe, planetiler, GDAL and others, and hand-written views.
    private static let layouts = [
        MadeMBTiles.usualTable,
        """
        CREATE TABLE tiles (id INTEGER PRIMARY KEY AUTOINCREMENT, zoom_level INTEGER NOT NULL,
        tile_column INTEGER NOT NULL, tile_row INTEGER NOT NULL, tile_data BLOB NOT NULL, UNIQUE (zoom_level,
        tile_column, tile_row)); CREATE TABLE [a table](x)
        """,
        """
        CREATE TABLE map (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_id TEXT, grid_id TEXT);
        CREATE TABLE images (tile_data blob, tile_id text); CREATE UNIQUE INDEX images_id ON images (tile_id);
        CREATE VIEW tiles AS SELECT map.zoom_level AS zoom_level, map.tile_column AS tile_column,
        map.tile_row AS tile_row, images.tile_data AS tile_data FROM map JOIN images ON images.tile_id = map.tile_id
        """,
        """
        CREATE TABLE tiles_shallow (zoom_level integer, tile_column integer, tile_row integer, tile_data_id integer,
        primary key (zoom_level, tile_column, tile_row)) without rowid;
        CREATE TABLE tiles_data (tile_data_id integer primary key, tile_data blob);
        CREATE VIEW tiles AS SELECT tiles_shallow.zoom_level as zoom_level, tiles_shallow.tile_column as tile_column,
        tiles_shallow.tile_row as tile_row, tiles_data.tile_data as tile_data
        FROM tiles_shallow JOIN tiles_data ON tiles_shallow.tile_data_id = tiles_data.tile_data_id
        """,
        """
        CREATE TABLE tiles_with_hash (zoom_level integer NOT NULL, tile_column integer NOT NULL,
        tile_row integer NOT NULL, tile_data blob, tile_hash text); CREATE VIEW "half" AS SELECT * FROM tiles_with_hash;
        CREATE VIEW tiles AS SELECT zoom_level, tile_column, tile_row, tile_data FROM half
        """,
        """
        CREATE TABLE a (z, x, y, d); CREATE TABLE b (z, x, y, d); CREATE VIEW tiles AS
        SELECT CAST(17 - z AS INTEGER) AS zoom_level, x AS tile_column, (1 << (17 - z)) - 1 - y AS tile_row,
        coalesce(d, x'') AS tile_data FROM a UNION SELECT z, x, y, d FROM b ORDER BY 1
        """,
        """
        CREATE TABLE tiles (zoom_level INT, -- known as (z), with y from the bottom
        tile_column INT, tile_row INT, note TEXT DEFAULT '/*', tile_data /* kept as (jpg | png) */ BLOB)
        """,
    ]

    @Test(arguments: layouts.indices) func layoutsOfRealSetsOpen(index: Int) throws {
        let made = make(Self.layouts[index])
        made.set("minzoom", "1")
        made.set("maxzoom", "1")
        switch index {
        case 2: made.run("INSERT INTO map VALUES (1, 1, 0, 'i', NULL); INSERT INTO images VALUES (\(literal), 'i')")
        case 3: made.run("INSERT INTO tiles_shallow VALUES (1, 1, 0, 7); INSERT INTO tiles_data VALUES (7, \(literal))")
        case 4: made.run("INSERT INTO tiles_with_hash VALUES (1, 1, 0, \(literal), 'h')")
        case 5: made.run("INSERT INTO a VALUES (16, 1, 1, \(literal))")
        default:
            made.run(
                "INSERT INTO tiles (zoom_level, tile_column, tile_row, tile_data) VALUES (1, 1, 0, \(literal))"
            )
        }
        made.close()
        let source = try MBTilesTileSource(path: path)
        #expect(source.zooms == 1...1)
        #expect(try source.loaded(0, 1, 1).image == image)
        #expect(try source.loaded(0, 0, 0).outcome == .absent)
    }

    private func expectAdded(_ schema: inout DatabaseSchema, _ name: String, _ sql: String, _ isAdded: Bool = true) {
        let added = schema.add(name, sql)
        #expect(added == isAdded, "\(sql)")
    }

    /// Names match in any spelling, and a name that hides another is damage.
    @Test func schemasAreReadAsSQLiteWritesThem() {
        var schema = DatabaseSchema()
        expectAdded(&schema, "Tiles", #"CREATE VIEW "Tiles"(a) AS SELECT * FROM [Part one]"#)
        #expect(schema.refusal(of: "tiles") == nil && schema.refusal(of: "metadata") == nil)
        expectAdded(&schema, "Part one", "CREATE TABLE [Part one](a, b AS (a + 1))")
        #expect(schema.refusal(of: "tiles") == "it uses generated columns or common table expressions")
        for (name, sql) in [
            ("tiles", "CREATE VIEW/**/tiles AS SELECT 1"), ("x", "CREATE VIEW tiles AS SELECT 1"),
            ("", "CREATE TABLE x(y)"),
            ("tiles", "CREATE VIEW tiles2 AS SELECT 1"), ("!", "CREATE VIEW \"!\" AS SELECT 1"), ("t", "SELECT 1"),
        ] { expectAdded(&schema, name, sql, false) }
        // What SQLite reads as a variable's name is no comment.
        var variables = DatabaseSchema()
        expectAdded(&variables, "tiles", "CREATE VIEW tiles AS SELECT $a(/*) FROM (WITH c AS (SELECT 1) SELECT 1)")
        #expect(variables.refusal(of: "tiles") != nil)
        expectAdded(&schema, "x_index", "CREATE UNIQUE INDEX x_index ON tiles (a)")
        // A hundred words in the tenth power of two are too many, in the sixth they are not.
        var views = DatabaseSchema()
        for level in 0...10 {
            let words = String(repeating: "w ", count: 98) + (level == 0 ? "" : "v\(level - 1), v\(level - 1)")
            expectAdded(&views, "v\(level)", "CREATE VIEW v\(level) AS \(words)")
        }
        #expect(views.refusal(of: "v5") == nil && views.refusal(of: "v10") != nil)
    }
}
