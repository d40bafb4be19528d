import Testing

@testable import TileCache
@testable import TileSources

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Damaged or malicious PMTiles archives. Failures say so, in bounded memory.
@Suite(.timeLimit(.minutes(15))) struct PMTilesHostileTests {
    private let folder = ScratchFolder()

    /// Opens an archive and loads some tiles. Returns whether it opened, and what failed.
    @discardableResult
    private func look(_ bytes: [UInt8], tileSize: Int? = nil) -> (isOpen: Bool, said: String) {
        let path = folder.write(bytes, to: "made.pmtiles")
        do {
            var http = HTTPTileOptions()
            http.largestTile = .kibibytes(64)
            let source = try PMTilesTileSource(path, http: http, options: TileSourceOptions(tileSize: tileSize))
            for level in source.pyramid.levels.indices.prefix(4) {
                let side = source.pyramid.levels[level].columns
                // Tiles of 4096 pixels would take all of the time.
                guard source.pyramid.levels[level].tileWidth <= 64 else { continue }
                for (column, row) in Set([[0, 0], [side - 1, side - 1], [side / 2, 0]]).map({ ($0[0], $0[1]) }) {
                    let loaded = try? source.loaded(level, column, row)
                    let isFailed = loaded == nil
                    #expect(!isFailed || source.statistics.failureCount > 0)
                }
            }
            #expect(source.statistics.directoryMemory <= .mebibytes(24))
            return (true, source.statistics.lastFailure ?? "")
        } catch {
            #expect("\(error)".hasPrefix(path))
            return (false, "\(error)")
        }
    }

    private var made: MadePMTiles {
        var made = MadePMTiles()
        (made.zooms, made.leafSize, made.internalCompression) = (0...3, 20, 1)
        for zoom in 0...3 {
            for index in 0..<1 << (2 * zoom) {
                let id = UInt64(((1 << (2 * zoom)) - 1) / 3 + index)
                made.add(id, TestImage(width: 16, height: 16, seed: Int(id)).png)
            }
        }
        return made
    }

    @Test func eachByteOfTheBeginningIsChanged() {
        for compression in [1, 2] as [UInt8] {
            var made = made
            made.internalCompression = compression
            let bytes = made.bytes()
            #expect(bytes.count > 4096)
            var random = SplitMix64(seed: UInt64(compression))
            var opened = 0
            for position in 0..<4096 {
                var damaged = bytes
                damaged[position] ^= UInt8(random.next() % 255 + 1)
                if look(damaged).isOpen { opened += 1 }
            }
            #expect(opened > 100 && opened < 4096)
        }
    }

    @Test func filesAreCutOff() {
        let bytes = made.bytes()
        for number in 0..<200 {
            let (isOpen, said) = look(Array(bytes[..<(bytes.count * number / 200)]))
            // The header tells how long the file is.
            #expect(!isOpen && !said.isEmpty)
        }
    }

    private typealias Entry = PMTilesDirectory.Entry

    private func archive(root: [Entry], leaves: [UInt8] = [], tiles: [UInt8] = [1, 2, 3]) -> [UInt8] {
        MadePMTiles.file(root: MadePMTiles.directory(root), leaves: leaves, tiles: tiles)
    }

    @Test func directoriesThatReferToThemselves() {
        let own = MadePMTiles.directory([Entry(id: 0, offset: 0, length: 5, run: 0)])
        #expect(own.count == 5)
        let root = Entry(id: 0, offset: 0, length: 5, run: 0)
        let (isOpen, said) = look(archive(root: [root], leaves: own), tileSize: 16)
        #expect(isOpen && said.contains("directories are nested deeper than 4"))
        // Its size is not known without a tile.
        #expect(look(archive(root: [root], leaves: own)).said.contains("nested deeper than 4"))
    }

    @Test func leavesWithoutEntries() {
        let root = Entry(id: 0, offset: 0, length: 1, run: 0)
        let said = look(archive(root: [root], leaves: [0]), tileSize: 16).said
        #expect(said.contains("leaf directory at byte") && said.contains("it has no entries"))
    }

    /// A damaged leaf directory is read once, for all tiles below it. One that the server does not send is no damage.
    @Test func damagedLeavesAreReadOnce() throws {
        var bytes = made.bytes()
        let first = try PMTilesHeader(bytes, size: bytes.count, path: "made").leaves.offset
        // No entries.
        bytes[first] = 0
        let server = try #require(
            RangeServer(bytes) { content in
                content.change = { _, asked, answer in
                    if asked.lowerBound > first { answer = ModelServer.Answer(status: 503) }
                }
            }
        )
        let options = TileSourceOptions(tileSize: 16)
        let source = try PMTilesTileSource(server.address, http: HTTPTileOptions(retries: 0), options: options)
        for column in 0...1 {
            for row in 0...1 { #expect(throws: TileFailure.permanent) { try source.loaded(1, column, row) } }
        }
        #expect(server.asked.count == 2 && server.asked[1].lowerBound == first)
        #expect(source.statistics.failures == [.undecodable: 4])
        #expect(throws: TileFailure.transient(retryAfter: .seconds(1))) { try source.loaded(3, 7, 7) }
        server.change { $0.change = { _, _, _ in } }
        #expect(try source.loaded(3, 7, 7).outcome == .pixels)
        #expect(throws: TileFailure.permanent) { try source.loaded(0, 0, 0) }
        #expect(server.asked.count == 5)
    }

    @Test func offsetsAndLengthsBeyondTheFile() {
        func said(_ entry: Entry) -> String { look(archive(root: [entry]), tileSize: 16).said }
        #expect(
            said(Entry(id: 0, offset: 1, length: 3, run: 1)).contains("3 bytes at 1 lie beyond the 3 of their section")
        )
        #expect(said(Entry(id: 0, offset: 0, length: .max, run: 1)).contains("4294967295 bytes at 0 lie beyond"))
        #expect(said(Entry(id: 0, offset: 1 << 62 - 1, length: 1, run: 1)).contains("lie beyond"))
        #expect(said(Entry(id: 0, offset: 1 << 63 + 9, length: 1, run: 1)).contains("the offset 9223372036854775817"))
        // A tile of no bytes is absent.
        #expect(said(Entry(id: 0, offset: 0, length: 0, run: 1)).isEmpty)
        #expect(said(Entry(id: 0, offset: 0, length: 1, run: 0)).contains("lie beyond the 0 of their section"))
        for field in stride(from: 8, through: 56, by: 16) {
            for value in [1 << 63 + 1, .max, 1 << 62] as [UInt64] {
                for position in [field, field + 8] {
                    var bytes = archive(root: [Entry(id: 0, offset: 0, length: 1, run: 1)])
                    MadePMTiles.put(value, position, &bytes)
                    let (isOpen, said) = look(bytes, tileSize: 16)
                    #expect(!isOpen && said.contains("lie beyond the file's end"), "\(said)")
                }
            }
        }
    }

    /// Nothing is allocated for a tile of nearly 4 GiB. The file's length allows one.
    @Test func aTileOfFourGibibytes() throws {
        var bytes = archive(root: [Entry(id: 0, offset: 0, length: .max, run: 1)])
        MadePMTiles.put(1 << 33, 64, &bytes)
        let path = folder.write(bytes, to: "sparse.pmtiles")
        #expect(truncate(path, off_t(1) << 34) == 0)
        let source = try PMTilesTileSource(path, options: TileSourceOptions(tileSize: 16))
        #expect(throws: TileFailure.permanent) { try source.loaded(0, 0, 0) }
        #expect(source.statistics.failures == [.tooLarge: 1])
        #expect(
            try #require(source.statistics.lastFailure).contains("at most 16777216 bytes were expected, not 4294967295")
        )
        // The same for a directory.
        MadePMTiles.put(1 << 33, 16, &bytes)
        folder.write(bytes, to: "sparse.pmtiles")
        #expect(truncate(path, off_t(1) << 34) == 0)
        #expect(message { _ = try PMTilesTileSource(path) }.contains("8589934592 bytes is too large"))
    }

    @Test func gzipBombs() {
        let bomb = MadePMTiles.gzip([UInt8](repeating: 0, count: 40 << 20))
        func gzipped(root: [UInt8], leaves: [UInt8] = [], tiles: [UInt8] = [1]) -> [UInt8] {
            MadePMTiles.file(root: root, leaves: leaves, tiles: tiles) { ($0[97], $0[98]) = (2, 2) }
        }
        #expect(look(gzipped(root: bomb), tileSize: 16).said.contains("bytes come of gzip"))
        let leaf = Entry(id: 0, offset: 0, length: UInt32(bomb.count), run: 0)
        let root = MadePMTiles.gzip(MadePMTiles.directory([leaf]))
        #expect(look(gzipped(root: root, leaves: bomb), tileSize: 16).said.contains("bytes come of gzip"))
        let tile = Entry(id: 0, offset: 0, length: UInt32(bomb.count), run: 1)
        let toTile = MadePMTiles.gzip(MadePMTiles.directory([tile]))
        #expect(look(gzipped(root: toTile, tiles: bomb), tileSize: 16).said.contains("more than 65536 bytes"))
        // All zeros are a directory without entries, if they are few.
        let zeros = MadePMTiles.gzip([UInt8](repeating: 0, count: 1 << 20))
        #expect(look(gzipped(root: zeros), tileSize: 16).isOpen)
    }
}
