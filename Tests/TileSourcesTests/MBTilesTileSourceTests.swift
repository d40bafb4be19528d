import Dispatch
import Testing

@testable import TileCache
@testable import TileSources

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// MBTiles files, valid and invalid.
@Suite struct MBTilesSourceTests {
    private let folder = ScratchFolder()
    private var path: String { "\(folder.path)/map.mbtiles" }

    private func image(_ zoom: Int, _ column: Int, _ row: Int) -> TestImage {
        TestImage(width: 32, height: 32, seed: zoom * 1000 + column * 30 + row)
    }

    /// A map of zooms 2 to 4, with a hole at 3/5/5. Lossless formats alternate.
    private func makeMap() -> MadeMBTiles {
        let map = MadeMBTiles(path)
        map.run("BEGIN")
        for zoom in 2...4 {
            let side = 1 << zoom
            for column in 0..<side {
                for row in 0..<side where (zoom, column, row) != (3, 5, 5) {
                    let image = image(zoom, column, row)
                    map.add(
                        zoom,
                        column,
                        rowFromBottom: side - 1 - row,
                        (column + row) % 2 == 0 ? image.png : image.webP
                    )
                }
            }
        }
        map.run("COMMIT")
        return map
    }

    @Test func everyTileInItsPlace() throws {
        let map = makeMap()
        map.set("minzoom", "2")
        map.set("maxzoom", "4")
        map.set("bounds", "-90, 0,90.0,66.51326044311186")
        map.close()
        let source = try MBTilesTileSource(path: path)
        #expect(source.zooms == 2...4 && source.pyramid.worldWidth == 512 && source.pyramid.levels[0].columns == 4)
        // A quarter of the square on either side, and from the equator a quarter up.
        let part = source.contents
        #expect(part.minX == 128 && part.maxX == 384)
        #expect(abs(part.minY - 128) < 1e-6 && abs(part.maxY - 256) < 1e-6)
        for zoom in 2...4 {
            for column in 0..<1 << zoom {
                for row in 0..<1 << zoom {
                    let loaded = try source.loaded(zoom - 2, column, row)
                    if (zoom, column, row) == (3, 5, 5) {
                        #expect(loaded.outcome == .absent)
                    } else {
                        #expect(loaded.outcome == .pixels && loaded.image == image(zoom, column, row))
                    }
                }
            }
        }
        #expect(source.statistics.absent == 1 && source.statistics.failureCount == 0)
        #expect(try MBTilesTileSource(path: path, rows: .fromTop).loaded(0, 1, 0).image == image(2, 1, 3))
    }

    /// Metadata that is missing, of other types, or wrong for the tiles.
    @Test(arguments: [
        [:], ["minzoom": "0", "maxzoom": "22"], ["minzoom": "x"], ["bounds": "1,2,3"], ["bounds": "9,9,1,1"],
    ])
    func zoomsAreThoseOfTheTiles(metadata: [String: String]) throws {
        let map = makeMap()
        for (name, value) in metadata { map.set(name, value) }
        map.run("INSERT INTO metadata VALUES (1, 2), (NULL, NULL), ('x', x'00ff')")
        map.close()
        let source = try MBTilesTileSource(path: path)
        #expect(source.zooms == 2...4)
        #expect(source.contents == PixelRect(minX: 0, minY: 0, maxX: 512, maxY: 512))
    }

    /// Nothing beside the bounds is needed. Bounds without any tile, as of degrees in another order, are ignored.
    @Test func boundsLimitThePyramid() throws {
        let map = MadeMBTiles(path)
        for zoom in 3...4 {
            for column in 1 << (zoom - 1)..<3 << (zoom - 2) {
                map.add(zoom, column, rowFromBottom: 1 << (zoom - 1), image(zoom, column, 0).png)
            }
        }
        map.set("bounds", "0,0,90,40.9798980696201")
        map.close()
        let source = try MBTilesTileSource(path: path)
        #expect(source.warning == nil && source.pyramid.contents == source.contents)
        // An eighth of the square's 512 pixels above the equator.
        let part = PixelRect(minX: 256, minY: 192, maxX: 384, maxY: 256)
        #expect(source.contents.minX == part.minX && source.contents.maxX == part.maxX)
        #expect(abs(source.contents.minY - part.minY) < 1e-6 && abs(source.contents.maxY - part.maxY) < 1e-6)
        #expect(source.pyramid.hasTile(TileCoordinate(level: 1, column: 8, row: 7)))
        #expect(!source.pyramid.hasTile(TileCoordinate(level: 1, column: 7, row: 7)))
        for (bounds, isUsed) in [("-90,0,0,40.9", false), ("0,-40.9,90,-1", false), ("80,1,90,2", true)] {
            let other = MadeMBTiles("\(folder.path)/other\(bounds).mbtiles")
            for column in 8..<12 { other.add(4, column, rowFromBottom: 8, image(4, column, 0).png) }
            other.set("bounds", bounds)
            other.close()
            let source = try MBTilesTileSource(path: "\(folder.path)/other\(bounds).mbtiles")
            #expect((source.warning == nil) == isUsed, "\(bounds)")
            // Otherwise those of the tiles, a row above the equator.
            #expect(isUsed || source.contents == PixelRect(minX: 256, minY: 224, maxX: 384, maxY: 256))
            #expect(source.warning?.contains("its tiles lie outside of the bounds that its metadata states") ?? isUsed)
        }
    }

    @Test func manyThreadsReadAtTheSameTime() throws {
        makeMap().close()
        let source = try MBTilesTileSource(path: path)
        let wrong = Lock(0)
        let expected = (0..<256).map { image(4, $0 % 16, $0 / 16) }
        DispatchQueue.concurrentPerform(iterations: 400) { number in
            let (column, row) = (number % 16, number / 16 % 16)
            let isRight = (try? source.loaded(2, column, row).image) == expected[number % 256]
            if !isRight { wrong.withLock { $0 += 1 } }
        }
        #expect(wrong.withLock { $0 } == 0)
    }

    /// Connections keep few pages, and count: SQLite's default is 2 MiB each.
    @Test func connectionsKeepLittleAndCount() throws {
        let map = MadeMBTiles(path)
        map.run("BEGIN")
        // Values that no page of the cache could hold all of.
        for column in 0..<64 { map.add(6, column, rowFromBottom: 0, [UInt8](repeating: UInt8(column), count: 60_000)) }
        map.run("COMMIT")
        map.close()
        let database = try Database(path: path)
        database.boundCache()
        let query = try #require(database.query("SELECT tile_data FROM tiles WHERE tile_column = ?"))
        for column in 0..<64 {
            query.bind(column)
            guard case .row = query.step() else {
                Issue.record("tile \(column) was expected")
                continue
            }
            #expect(query.blob(0).first == UInt8(column))
            query.reset()
        }
        #expect(database.cachedBytes > 100 << 10 && database.cachedBytes < Database.connectionBytes)
        // A setting that is not the connection's own is still refused.
        #expect(database.query("PRAGMA cache_size = -2000") == nil)
        let source = try MBTilesTileSource(path: path, options: TileSourceOptions(tileSize: 32))
        #expect(source.heldMemory.bytes == Database.connectionBytes)
    }

    @Test func valuesOfOtherTypesAreFailures() throws {
        let map = MadeMBTiles(path)
        map.add(0, 0, rowFromBottom: 0, image(0, 0, 0).png)
        map.run("INSERT INTO tiles VALUES (1, 0, 0, 'text'), (1, 0, 1, NULL), (1, 1, 0, 7), (1, 1, 1, x'')")
        map.run("INSERT INTO tiles VALUES (1, 'a', 'b', x'00')")
        map.close()
        let source = try MBTilesTileSource(path: path, options: TileSourceOptions(tileSize: 32))
        #expect(source.zooms == 0...1)
        #expect(try source.loaded(0, 0, 0).outcome == .pixels)
        // Rows are counted from the bottom in the file. What has no bytes is absent.
        for (column, row) in [(0, 1), (1, 1)] {
            #expect(throws: TileFailure.permanent) { try source.loaded(1, column, row) }
        }
        for column in 0...1 { #expect(try source.loaded(1, column, 0).outcome == .absent) }
        #expect(source.statistics.failures == [.undecodable: 2] && source.statistics.absent == 2)
        let last = try #require(source.statistics.lastFailure)
        #expect(last == "\(path): tile 1/1/1: a blob was expected, not text" || last.contains("tile 1/1/"))
    }

    /// A blob that is larger than any tile fails, and so does a view that recurs.
    @Test(.timeLimit(.minutes(45))) func nothingRunsAway() throws {
        let map = MadeMBTiles(path)
        map.add(0, 0, rowFromBottom: 0, image(0, 0, 0).png)
        map.run("INSERT INTO tiles VALUES (1, 0, 0, zeroblob(70000000))")
        map.close()
        let source = try MBTilesTileSource(path: path, options: TileSourceOptions(tileSize: 32))
        #expect(throws: TileFailure.permanent) { try source.loaded(1, 0, 1) }
        #expect(source.statistics.failures == [.tooLarge: 1])
        let recursive = MadeMBTiles(
            "\(folder.path)/recursive.mbtiles",
            table: """
                CREATE VIEW tiles AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 10)
                SELECT x AS zoom_level, 0 AS tile_column, 0 AS tile_row, x'00' AS tile_data FROM c
                """
        )
        recursive.close()
        #expect(message { _ = try MBTilesTileSource(path: recursive.path) }.contains("common table expressions"))
    }

    /// SQLite opens the log of a database with its next tile. That may fail for now, here since it is a folder.
    @Test func aFileThatCannotBeOpenedNowIsTriedAgain() throws {
        makeMap().close()
        let source = try MBTilesTileSource(path: path)
        #expect(mkdir("\(path)-wal", 0o755) == 0)
        #expect(throws: TileFailure.transient(retryAfter: .zero)) { try source.loaded(0, 0, 0) }
        #expect(source.statistics.failures == [.unreadable: 1])
        #expect(rmdir("\(path)-wal") == 0)
        #expect(try source.loaded(0, 0, 0).image == image(2, 0, 0))
    }

    /// Only a connection that may write can undo what a writer that has crashed began.
    @Test func aJournalThatIsLeftIsAFailureForNow() throws {
        makeMap().close()
        let source = try MBTilesTileSource(path: path)
        let journal = folder.write([1], to: "map.mbtiles-journal")
        #expect(throws: TileFailure.transient(retryAfter: .zero)) { try source.loaded(0, 0, 0) }
        #expect(source.statistics.failures == [.unreadable: 1])
        let reason = "a program that may write has to open it once"
        #expect(source.statistics.lastFailure?.hasSuffix(reason) == true)
        let said = message { _ = try MBTilesTileSource(path: path) }
        #expect(said.hasPrefix("\(path): ") && said.hasSuffix(reason))
        unlink(journal)
        #expect(try source.loaded(0, 0, 0).image == image(2, 0, 0))
    }

    /// A further connection would read the new file, under the old one's data set.
    @Test func aFileThatWasReplacedIsNotRead() throws {
        makeMap().close()
        let within = Lock<(@Sendable () -> Void)?>(nil)
        var limits = DatabaseLimits()
        limits.now = {
            within.withLock { body in
                defer { body = nil }
                return body
            }?()
            return MonotonicTime.now.nanoseconds
        }
        let options = TileSourceOptions()
        let source = try MBTilesTileSource(path: path, rows: .fromBottom, options: options, limits: limits)
        unlink(path)
        let other = MadeMBTiles(path)
        other.add(2, 0, rowFromBottom: 3, TestImage(width: 32, height: 32, seed: 9).png)
        other.close()
        within.withLock {
            $0 = { #expect(throws: TileFailure.permanent) { _ = try source.loaded(0, 0, 0) } }
        }
        #expect(try source.loaded(0, 0, 0).image == image(2, 0, 0))
        #expect(source.statistics.failures == [.changed: 1])
    }

    @Test func whatIsNoMBTilesIsSaid() throws {
        #expect(message { _ = try MBTilesTileSource(path: "/nowhere.mbtiles") }.contains("there is no such file"))
        let text = folder.write(Array("no database, but long enough to look at".utf8), to: "text")
        #expect(message { _ = try MBTilesTileSource(path: text) }.contains("not a database"))
        let long = folder.write([1], to: "\(String(repeating: "long/", count: 120))map")
        #expect(message { _ = try MBTilesTileSource(path: long) }.contains("may be too long for SQLite"))
        let other = MadeMBTiles("\(folder.path)/other", table: "CREATE TABLE things (x)")
        #expect(message { _ = try MBTilesTileSource(path: other.path) }.contains("a table 'tiles'"))
        let empty = MadeMBTiles("\(folder.path)/empty")
        #expect(message { _ = try MBTilesTileSource(path: empty.path) }.hasSuffix("it has no tiles"))
        empty.add(31, 0, rowFromBottom: 0, [1])
        #expect(message { _ = try MBTilesTileSource(path: empty.path) }.contains("not 31 to 31"))
        empty.run("UPDATE tiles SET zoom_level = 'deep'")
        #expect(message { _ = try MBTilesTileSource(path: empty.path) }.contains("not text"))
        empty.run("UPDATE tiles SET zoom_level = 3")
        #expect(message { _ = try MBTilesTileSource(path: empty.path) }.contains("neither PNG nor JPEG nor WebP"))
        empty.set("format", "pbf")
        #expect(message { _ = try MBTilesTileSource(path: empty.path) }.contains("of the format pbf"))
    }

    /// Random changes to pages give a failure or another tile's pixels, never a trap.
    @Test func damagedDatabasesDoNoHarm() throws {
        makeMap().close()
        guard case .bytes(let whole) = Files.read(path) else {
            Issue.record("the map cannot be read")
            return
        }
        var random = SplitMix64(seed: 11)
        var (loaded, failed) = (0, 0)
        for round in 0..<60 {
            var bytes = whole.array
            // From one change, which most tiles survive, to hundreds.
            for _ in 0..<1 << (round % 9) {
                bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            if round % 3 == 0 { bytes.removeLast(Int(random.next() % UInt64(bytes.count))) }
            let damaged = folder.write(bytes, to: "damaged")
            let source = try? MBTilesTileSource(path: damaged)
            for column in 0..<4 {
                for row in 0..<4 {
                    let tile = try? source?.loaded(0, column, row)
                    if tile?.outcome == .pixels { loaded += 1 } else { failed += 1 }
                }
            }
        }
        #expect(loaded > 100 && failed > 100, "\(loaded) tiles were loaded, \(failed) were not")
    }
}
