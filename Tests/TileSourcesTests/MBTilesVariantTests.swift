import CTileSQLite
import TestSupport
import Testing

@testable import TileCache
@testable import TileSources

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// MBTiles files as several writers leave them: rows from the top, no bounds, no index, other zooms than stated.
@Suite(.timeLimit(.minutes(45))) struct MBTilesVariantTests {
    private let folder = ScratchFolder()
    private var path: String { "\(folder.path)/map.mbtiles" }

    private func image(_ zoom: Int, _ column: Int, _ row: Int) -> TestImage {
        TestImage(width: 16, height: 16, seed: zoom * 1000 + column * 30 + row)
    }

    private static let index = "CREATE UNIQUE INDEX tile_index ON tiles (zoom_level, tile_column, tile_row)"

    /// Tiles of some columns and rows from the top of a zoom; finer zooms have the tiles below them.
    private func makeMap(
        _ zooms: ClosedRange<Int>,
        columns: ClosedRange<Int>,
        rows: ClosedRange<Int>,
        _ order: TileRowOrder = .fromBottom,
        isIndexed: Bool = true
    ) -> MadeMBTiles {
        let map = MadeMBTiles(path)
        if isIndexed { map.run(Self.index) }
        map.run("BEGIN")
        for zoom in zooms {
            let span = 1 << (zoom - zooms.lowerBound)
            for column in columns.lowerBound * span..<(columns.upperBound + 1) * span {
                for row in rows.lowerBound * span..<(rows.upperBound + 1) * span {
                    map.add(
                        zoom,
                        column,
                        rowFromBottom: order.number(of: row, zoom: zoom),
                        image(zoom, column, row).png
                    )
                }
            }
        }
        map.run("COMMIT")
        return map
    }

    /// Bounds of zoom 3, rows 1 and 2, columns 4 and 5: from 66.5 to 79.2 degrees north is row 1, from 40.98 row 2.
    private static let bounds = "0,40.97989806962013,90,79.17133464081945"

    @Test(arguments: TileRowOrder.allCases) func boundsTellTheOrderOfRows(order: TileRowOrder) throws {
        let map = makeMap(3...5, columns: 4...5, rows: 1...2, order)
        map.set("bounds", Self.bounds)
        map.close()
        let source = try MBTilesTileSource(path: path)
        #expect(source.rows == order)
        #expect(try source.loaded(0, 4, 1).image == image(3, 4, 1))
        #expect(try source.loaded(2, 23, 11).image == image(5, 23, 11))
        let part = source.contents
        #expect(part.minX == 256 && part.maxX == 384 && abs(part.minY - 64) < 1e-6 && abs(part.maxY - 192) < 1e-6)
        switch order {
        case .fromBottom: #expect(source.warning == nil)
        case .fromTop:
            let warning = try #require(source.warning)
            #expect(warning.hasPrefix("\(path): its bounds tell that row 0 is at the top, and it is read so"))
            #expect(warning.contains("mbtiles:\(path)#rows=bottom"))
        }
        // What is stated counts, without a word unless the bounds are not believed for it.
        for stated in TileRowOrder.allCases {
            let told = try MBTilesTileSource(path: path, rows: stated)
            #expect(told.rows == stated && (told.warning == nil) == (stated == order))
            #expect(told.warning?.hasSuffix("its tiles lie outside of the bounds that its metadata states") != false)
            #expect(try told.loaded(0, 4, 1).outcome == (stated == order ? .pixels : .absent))
        }
    }

    @Test func withoutBoundsTheOrderIsAQuestion() throws {
        makeMap(3...5, columns: 4...5, rows: 1...2, .fromTop).close()
        let source = try MBTilesTileSource(path: path)
        #expect(source.rows == .fromBottom)
        let warning = try #require(source.warning)
        #expect(warning.contains("states no bounds") && warning.contains("mbtiles:\(path)#rows=top"))
        // The extent of the tiles as they are read.
        #expect(source.contents == PixelRect(minX: 256, minY: 320, maxX: 384, maxY: 448))
        let address = try #require(TileSourceAddress("mbtiles:\(path)#rows=top"))
        let told = try #require(try address.open() as? MBTilesTileSource)
        #expect(told.rows == .fromTop && told.warning == nil)
        #expect(told.contents == PixelRect(minX: 256, minY: 64, maxX: 384, maxY: 192))
        #expect(try told.loaded(0, 4, 1).image == image(3, 4, 1))
        #expect(told.dataSet != source.dataSet)
    }

    /// Without the need for all columns, a sixteenth of those that have tiles is between two that are looked at.
    @Test func someColumnsAreLookedAt() throws {
        let map = MadeMBTiles(path)
        map.run(Self.index)
        map.run("BEGIN")
        for column in 800...960 { map.add(10, column, rowFromBottom: 500, []) }
        for (column, row) in [(810, 400), (811, 300), (950, 600), (949, 700)] {
            map.add(10, column, rowFromBottom: row, [])
        }
        map.run("COMMIT")
        map.close()
        let connection = try MBTilesConnection(path, DatabaseLimits())
        for (isExact, rows) in [(false, 400...600), (true, 300...700)] {
            let survey = MBTilesSurvey(connection, 10...10, samplesSize: false, isExact: isExact)
            #expect(survey.extents == [10: TileExtent(columns: 800...960, rows: rows)])
        }
    }

    /// At the edges there may be tiles of another size.
    @Test(arguments: [3...3, 3...4, 3...9]) func tilesInTheMiddleTellTheSize(columns: ClosedRange<Int>) throws {
        let map = MadeMBTiles(path)
        map.run(Self.index)
        map.run("BEGIN")
        let edge = TestImage(width: 32, height: 32).png
        for column in columns {
            for row in 20...40 {
                map.add(6, column, rowFromBottom: row, row == 20 ? edge : image(6, column, row).png)
            }
        }
        map.run("COMMIT")
        map.close()
        #expect(try MBTilesTileSource(path: path).pyramid.levels[0].tileWidth == 16)
    }

    /// Both sides of each boundary, at zoom 4: bounds from row 2 to row 5, with a margin of a row.
    @Test func rowsAndBounds() {
        let bounds = PixelRect(minX: 0, minY: 2.0 / 16, maxX: 1, maxY: 6.0 / 16)
        func find(_ rows: ClosedRange<Int>?, _ bounds: PixelRect?) -> MBTilesRows.Finding {
            MBTilesRows.find(rows, zoom: 4, within: bounds)
        }
        #expect(find(10...13, bounds) == .asInFormat && find(9...14, bounds) == .asInFormat)
        #expect(find(2...5, bounds) == .fromTop && find(1...6, bounds) == .fromTop)
        // Beyond the margin in either order.
        #expect(find(0...6, bounds) == .elsewhere && find(1...7, bounds) == .elsewhere)
        #expect(find(6...9, bounds) == .asInFormat && find(0...15, bounds) == .asInFormat)
        #expect(find(7...8, bounds) == .elsewhere)
        #expect(find(2...5, nil) == .unknown && find(nil, bounds) == .asInFormat)
        #expect(MBTilesRows.find(0...0, zoom: 0, within: nil) == .asInFormat)
        // Equally far from the equator in both orders.
        #expect(find(4...11, PixelRect(minX: 0, minY: 0.25, maxX: 1, maxY: 0.75)) == .asInFormat)
    }

    /// Bounds in which no tile is are not believed.
    @Test func boundsOfAnotherPlace() throws {
        let map = makeMap(3...6, columns: 1...6, rows: 1...2)
        map.set("bounds", "0,-10,10,10")
        map.close()
        let source = try MBTilesTileSource(path: path)
        #expect(source.contents == PixelRect(minX: 128, minY: 128, maxX: 896, maxY: 384))
        #expect(source.warning == "\(path): its tiles lie outside of the bounds that its metadata states")
        #expect(try source.loaded(3, 8, 8).image == image(6, 8, 8))
        // That is said whatever the order of the rows.
        #expect(try MBTilesTileSource(path: path, rows: .fromTop).warning == source.warning)
    }

    /// The extent covers all tiles of all zooms, whatever was written; with an index and without.
    @Test(arguments: 0..<10 as Range<UInt64>) func contentsAreTheExtentOfTheTiles(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        func below(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }
        let map = MadeMBTiles(path)
        if seed % 2 == 0 { map.run(Self.index) }
        let first = below(3)
        var (left, top, right, bottom) = (1.0, 1.0, 0.0, 0.0)
        map.run("BEGIN")
        for zoom in first...first + 3 where zoom == first || below(4) > 0 {
            for _ in 0...below(30) {
                let (column, row, side) = (below(1 << zoom), below(1 << zoom), Double(1 << zoom))
                map.add(zoom, column, rowFromBottom: (1 << zoom) - 1 - row, image(zoom, column, row).png)
                (left, top) = (min(left, Double(column) / side), min(top, Double(row) / side))
                (right, bottom) = (max(right, Double(column + 1) / side), max(bottom, Double(row + 1) / side))
            }
        }
        map.run("COMMIT")
        map.close()
        let source = try MBTilesTileSource(path: path, rows: .fromBottom)
        let world = source.pyramid.worldWidth
        let expected = PixelRect(minX: left * world, minY: top * world, maxX: right * world, maxY: bottom * world)
        #expect(source.contents == expected, "seed \(seed)")
        #expect(source.warning == nil)
    }

    /// Zooms that were added after the metadata are shown.
    @Test func zoomsAreThoseOfTheTilesEvenIfFewerAreStated() throws {
        let map = makeMap(0...4, columns: 0...0, rows: 0...0)
        map.set("bounds", "-180,-85,180,85")
        map.set("minzoom", "1")
        map.set("maxzoom", "2")
        map.close()
        let source = try MBTilesTileSource(path: path)
        #expect(source.zooms == 0...4)
        #expect(
            source.warning
                == "\(path): its metadata states the zooms 1 to 2, and it has tiles of 0 to 4, which are shown"
        )
        map.close()
    }

    @Test func imagesThatAreLabelledAsVectorTiles() throws {
        let map = makeMap(0...1, columns: 0...0, rows: 0...0)
        map.set("bounds", "-180,-85,180,85")
        map.set("format", "pbf")
        map.close()
        let source = try MBTilesTileSource(path: path)
        #expect(source.warning == "\(path): its tiles are stated to be of the format pbf, and are images")
        #expect(try source.loaded(1, 1, 0).image == image(1, 1, 0))
        let known = try MBTilesTileSource(path: path, options: TileSourceOptions(tileSize: 32))
        #expect(known.pyramid.levels[0].tileWidth == 32 && known.warning == source.warning)
    }

    /// A file without an index is read once. Its tiles are found by their place, and only they.
    @Test func aFileWithoutAnIndexGetsOne() throws {
        let map = makeMap(0...6, columns: 0...0, rows: 0...0, isIndexed: false)
        map.set("bounds", "-180,-85,180,85")
        map.run("DELETE FROM tiles WHERE zoom_level = 5 AND tile_column = 7")
        map.close()
        let source = try MBTilesTileSource(path: path)
        let count = 5461 - 32
        // The connection that has read it has no query for places, and is closed.
        #expect(source.heldMemory == .bytes(16 * count))
        let warning = try #require(source.warning)
        #expect(
            warning.contains("no index of zoom_level, tile_column and tile_row: it was read for one of \(count) tiles")
        )
        var random = SplitMix64(seed: 3)
        for _ in 0..<60 {
            let zoom = Int(random.next() % 7)
            let (column, row) = (Int(random.next() % (1 << UInt64(zoom))), Int(random.next() % (1 << UInt64(zoom))))
            let tile = try source.loaded(zoom, column, row)
            if zoom == 5, column == 7 {
                #expect(tile.outcome == .absent)
            } else {
                #expect(tile.image == image(zoom, column, row), "\(zoom)/\(column)/\(row)")
            }
        }
        #expect(try source.loaded(5, 7, 3).outcome == .absent && source.statistics.failureCount == 0)
        // The buffer of the last tile's bytes is kept.
        #expect(source.heldMemory == .bytes(16 * count + Database.connectionBytes + 64 << 10))
        // Its place has another tile by now.
        let other = MadeMBTiles(path)
        other.run("UPDATE tiles SET tile_column = 7 WHERE zoom_level = 5 AND tile_column = 8")
        other.close()
        #expect(try source.loaded(5, 8, 0).outcome == .absent)
    }

    /// A view over tables without an index has no places.
    @Test func aViewWithoutAnIndexIsAWarning() throws {
        let map = makeMap(0...6, columns: 0...0, rows: 0...0, isIndexed: false)
        map.set("bounds", "-180,-85,180,85")
        map.run("ALTER TABLE tiles RENAME TO stored")
        map.run("CREATE VIEW tiles AS SELECT zoom_level, tile_column, tile_row, tile_data FROM stored")
        map.close()
        let source = try MBTilesTileSource(path: path)
        #expect(source.heldMemory == .bytes(Database.connectionBytes))
        #expect(source.warning?.contains("each tile is searched for in the whole table") == true)
        #expect(try source.loaded(6, 40, 20).image == image(6, 40, 20))
    }

    /// In WAL mode even a reader needs files beside the database, here one that cannot be opened.
    @Test func aDatabaseWithoutItsLogOnAMediumThatIsReadOnly() throws {
        let map = makeMap(0...2, columns: 0...0, rows: 0...0)
        map.set("bounds", "-180,-85,180,85")
        map.run("PRAGMA journal_mode = WAL")
        map.close()
        #expect(Files.size("\(path)-wal") == 0 && Files.beginning(path, 20)[18] == 2)
        #expect(symlink("nowhere", "\(path)-shm") == 0)
        let database = try Database.readable(path: path, limits: DatabaseLimits())
        #expect(database.isImmutable)
        let source = try MBTilesTileSource(path: path)
        #expect(try source.loaded(2, 3, 1).image == image(2, 3, 1))
        // With a log, what is in the file may be old. A program that can write has begun.
        folder.write([1], to: "map.mbtiles-wal")
        #expect(try Database.readable(path: path, limits: DatabaseLimits()).isImmutable == false)
        #expect(throws: TileFailure.transient(retryAfter: .zero)) { try source.loaded(2, 3, 1) }
        #expect(unlink("\(path)-wal") == 0)
        #expect(try source.loaded(2, 3, 1).image == image(2, 3, 1))
        #expect(source.heldMemory == .bytes(Database.connectionBytes + 64 << 10))
        // It has ended, and its log with it.
        #expect(unlink("\(path)-shm") == 0)
        let other = MadeMBTiles(path)
        other.run("UPDATE tiles SET tile_data = X'' WHERE zoom_level = 2 AND tile_column = 3")
        other.close()
        #expect(symlink("nowhere", "\(path)-shm") == 0)
        #expect(try source.loaded(2, 3, 1).outcome == .absent && source.loaded(2, 2, 1).image == image(2, 2, 1))
    }
}
