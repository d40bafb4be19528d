import CTileSQLite
import TestSupport
import Testing

@testable import TileCache
@testable import TileSources

/// Databases of tiles in other tables than those of MBTiles, and worlds of two tiles in MBTiles.
@Suite(.timeLimit(.minutes(45))) struct OtherDatabaseTests {
    private let folder = ScratchFolder()

    private func image(_ zoom: Int, _ column: Int, _ row: Int) -> TestImage {
        TestImage(width: 16, height: 16, seed: zoom * 1000 + column * 30 + row)
    }

    /// Files as RMaps, BigPlanet and OsmAnd write them: zooms from 17 downwards or not, rows from either end.
    @Test(
        arguments: [
            ("", true, false), ("CREATE TABLE info (minzoom, maxzoom); INSERT INTO info VALUES (13, 15)", true, false),
            ("CREATE TABLE info (tilenumbering, inverted_y); INSERT INTO info VALUES ('BigPlanet', 1)", true, true),
            (
                "CREATE TABLE info (tilenumbering TEXT, inverted_y INTEGER); INSERT INTO info VALUES ('simple', 0)",
                false, false
            ),
            (
                "CREATE TABLE info (tilenumbering, inverted_y, url); INSERT INTO info VALUES ('', '1', 'http://h')",
                false, true
            ),
        ]
    ) func filesOfOsmAnd(info: String, isReversed: Bool, fromBottom: Bool) throws {
        let path = "\(folder.path)/map.sqlitedb"
        let table = "CREATE TABLE tiles (x int, y int, z int, s int, image blob, PRIMARY KEY (x, y, z, s))"
        let made = MadeMBTiles(path, table: table)
        made.run("DROP TABLE metadata; \(info)")
        for zoom in 2...4 {
            for column in 0..<1 << zoom {
                for row in 0..<1 << zoom where column >> (zoom - 2) == 1 && row >> (zoom - 2) == 3 {
                    let number = fromBottom ? (1 << zoom) - 1 - row : row
                    let hex = image(zoom, column, row).png.map { String(format: $0) }.joined()
                    made.run(
                        "INSERT INTO tiles VALUES (\(column), \(number), \(isReversed ? 17 - zoom : zoom), 0, x'\(hex)')"
                    )
                }
            }
        }
        made.close()
        let address = try #require(TileSourceAddress("sqlitedb:\(path)"))
        let source = try #require(try address.open() as? MBTilesTileSource)
        #expect(source.zooms == 2...4 && source.rows == (fromBottom ? .fromBottom : .fromTop))
        #expect(source.contents == PixelRect(minX: 64, minY: 192, maxX: 128, maxY: 256) && source.warning == nil)
        for (zoom, column, row) in [(2, 1, 3), (3, 2, 7), (4, 7, 12), (4, 4, 15)] {
            #expect(try source.loaded(zoom - 2, column, row).image == image(zoom, column, row))
        }
        #expect(try source.loaded(1, 0, 0).outcome == .absent && source.statistics.failureCount == 0)
    }

    @Test func anEllipsoidIsNamed() throws {
        let path = "\(folder.path)/map.sqlitedb"
        let made = MadeMBTiles(path, table: "CREATE TABLE tiles (x int, y int, z int, s int, image blob)")
        let hex = image(0, 0, 0).png.map { String(format: $0) }.joined()
        made.run(
            "CREATE TABLE info (ellipsoid); INSERT INTO info VALUES (1); INSERT INTO tiles VALUES (0, 0, 17, 0, x'\(hex)')"
        )
        made.close()
        #expect(try MBTilesTileSource(path: path).warning?.contains("the projection of an ellipsoid") == true)
    }

    /// Two tiles at zoom 0, with an index and without, told by the tiles or by the metadata.
    @Test(arguments: [true, false], ["", "EPSG:4326"]) func mbTilesOfDegrees(isIndexed: Bool, system: String) throws {
        let path = "\(folder.path)/map.mbtiles"
        let made = MadeMBTiles(path)
        if isIndexed { made.run("CREATE UNIQUE INDEX place ON tiles (zoom_level, tile_column, tile_row)") }
        made.run("BEGIN")
        let first = system.isEmpty ? 0 : 1
        for zoom in first...5 {
            for column in 0..<2 << zoom {
                // With the metadata, the west alone.
                for row in 0..<1 << zoom where system.isEmpty || column < 1 << zoom {
                    made.add(zoom, column, rowFromBottom: (1 << zoom) - 1 - row, image(zoom, column, row).png)
                }
            }
        }
        if !system.isEmpty {
            made.set("crs", system)
            made.set("bounds", "-180,-90,0,90")
        }
        made.run("COMMIT")
        made.close()
        let source = try MBTilesTileSource(path: path)
        #expect(source.world == .geodetic && source.zooms == first...5)
        #expect(source.pyramid.worldWidth == 1024 && source.pyramid.worldHeight == 512)
        #expect(source.contents == PixelRect(minX: 0, minY: 0, maxX: system.isEmpty ? 1024 : 512, maxY: 512))
        for (zoom, column, row) in [(5, 0, 31), (5, 31, 7), (2, 3, 2), (1, 1, 0)] {
            #expect(try source.loaded(zoom - first, column, row).image == image(zoom, column, row))
        }
        if system.isEmpty { #expect(try source.loaded(5, 63, 0).image == image(5, 63, 0)) }
        #expect(source.statistics.failureCount == 0)
        let square = try MBTilesTileSource(path: path, options: TileSourceOptions(world: .square))
        #expect(square.world == .square && square.pyramid.worldWidth == 512 && square.dataSet != source.dataSet)
    }

    /// That there are no tiles of a zoom is known only if all rows were read.
    @Test func aQueryThatFailsIsNoAbsence() throws {
        let made = MadeMBTiles("\(folder.path)/map.mbtiles")
        made.run("BEGIN")
        for column in 0..<3000 { made.add(1, column, rowFromBottom: 0, [1]) }
        made.run("COMMIT")
        made.close()
        var limits = DatabaseLimits()
        var connection = try MBTilesConnection(made.path, limits)
        #expect(try connection.hasTiles(1) && !connection.hasTiles(2))
        limits.steps = 2000
        connection = try MBTilesConnection(made.path, limits)
        #expect(try connection.hasTiles(1))
        #expect(throws: TileLoadFailure.self) { try connection.hasTiles(2) }
    }

    /// What is no GeoPackage, or has no such table, is named.
    @Test func geoPackagesAreChecked() throws {
        let path = "\(folder.path)/map.gpkg"
        let made = MadeMBTiles(path)
        func said(_ table: String? = nil) -> String {
            message { _ = try GeoPackageTileSource(path: path, table: table) }
        }
        #expect(
            said().hasSuffix("a GeoPackage with gpkg_contents, gpkg_tile_matrix_set, gpkg_tile_matrix was expected")
        )
        made.run("CREATE TABLE gpkg_contents (table_name, data_type, min_x, min_y, max_x, max_y)")
        made.run("CREATE TABLE gpkg_tile_matrix_set (table_name, min_x, min_y, max_x, max_y)")
        made.run(
            "CREATE TABLE gpkg_tile_matrix (table_name, zoom_level, matrix_width, matrix_height, tile_width, tile_height, "
                + "pixel_x_size, pixel_y_size)"
        )
        #expect(said().hasSuffix("a table of tiles was expected; it has none"))
        made.run(
            "INSERT INTO gpkg_contents VALUES ('some map', 'tiles', 0, 0, 64, 64), ('roads', 'features', 0, 0, 1, 1)"
        )
        #expect(said("roads").hasSuffix("a table of tiles \"roads\" was expected; it has some map"))
        #expect(said().hasSuffix("gpkg_tile_matrix_set: an extent of \"some map\" was expected"))
        made.run("INSERT INTO gpkg_tile_matrix_set VALUES ('some map', 0, 0, 64, 64)")
        made.run("INSERT INTO gpkg_tile_matrix VALUES ('some map', 3, 2, 2, 32, 32, 1, 'x')")
        #expect(said().contains("whole numbers and sizes of pixels above 0"))
        made.run("UPDATE gpkg_tile_matrix SET pixel_y_size = 1.0")
        #expect(said().hasSuffix("no such table: main.some map"))
        made.run("CREATE TABLE \"some map\" (zoom_level, tile_column, tile_row, tile_data)")
        #expect(said().hasSuffix("its table \"some map\" has no tiles"))
        let hex = TestImage(width: 32, height: 32, seed: 9).png.map { String(format: $0) }.joined()
        made.run("INSERT INTO \"some map\" VALUES (3, 1, 0, x'\(hex)')")
        made.run("INSERT INTO gpkg_tile_matrix VALUES ('some map', 2, 1, 1, 32, 32, 2, 2)")
        let source = try GeoPackageTileSource(path: path)
        #expect(source.pyramid.levels.count == 1 && source.pyramid.worldWidth == 64)
        #expect(try source.loaded(0, 1, 0).image == TestImage(width: 32, height: 32, seed: 9))
        #expect(try source.loaded(0, 0, 0).outcome == .absent)
        for zoom in 4..<66 {
            made.run("INSERT INTO gpkg_tile_matrix VALUES ('some map', \(zoom), 1, 1, 32, 32, 2, 2)")
        }
        #expect(try GeoPackageTileSource(path: path).pyramid.levels.count == 1)
        made.run("INSERT INTO gpkg_tile_matrix VALUES ('some map', 66, 1, 1, 32, 32, 2, 2)")
        #expect(said().hasSuffix("at most 64 matrices of \"some map\" were expected, not 65"))
        made.run("DELETE FROM gpkg_tile_matrix WHERE zoom_level > 3")
        made.run("INSERT INTO gpkg_contents VALUES ('other', 'tiles', 0, 0, 1, 1)")
        #expect(
            try GeoPackageTileSource(path: path).warning?.contains("of 2 was chosen; #table= chooses another") == true
        )
        made.run("DROP TABLE gpkg_contents; CREATE VIEW gpkg_contents AS WITH a AS (SELECT 1) SELECT * FROM a")
        #expect(said().contains("common table expressions"))
        made.close()
    }
}

extension String {
    /// Two hexadecimal digits of a byte.
    fileprivate init(format byte: UInt8) {
        let text = String(byte, radix: 16)
        self = byte < 16 ? "0" + text : text
    }
}
