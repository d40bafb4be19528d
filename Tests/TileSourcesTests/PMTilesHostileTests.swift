import Testing

@testable import TileCache
@testable import TileSources

/// Damaged PMTiles archives, and those that state what cannot be. Failures say so, in bounded memory.
@Suite(.timeLimit(.minutes(45))) struct PMTilesHostileTests {
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

    /// The number of directories on the way to a tile is bounded, so that none can lead back to itself.
    @Test func directoriesThatAreNestedTooDeep() {
        var made = made
        made.leafSize = 100
        for depth in 3...4 {
            made.depth = depth
            let (isOpen, said) = look(made.bytes(), tileSize: 16)
            #expect(isOpen && said.contains("directories are nested deeper than 4") == (depth > 3), "\(said)")
            // Its size is not known without a tile.
            #expect(look(made.bytes()).said.contains("nested deeper than 4") == (depth > 3))
        }
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

    /// A tile is as large as the options allow, and a directory as large as its entries can be.
    @Test func tilesAndDirectoriesThatAreTooLarge() {
        for size in [1 << 16, 1 << 16 + 1] {
            let tile = Entry(id: 0, offset: 0, length: UInt32(size), run: 1)
            let said = look(archive(root: [tile], tiles: [UInt8](repeating: 0, count: size)), tileSize: 16).said
            #expect(said.contains("at most 65536 bytes were expected, not 65537") == (size > 1 << 16), "\(said)")
        }
        let largest = PMTilesDirectory.largestBytes
        let root = MadePMTiles.directory([Entry(id: 0, offset: 0, length: 3, run: 1)])
        for size in [largest, largest + 1] {
            let rest = [UInt8](repeating: 0, count: size - root.count)
            let said = look(MadePMTiles.file(root: root + rest, tiles: [1, 2, 3]), tileSize: 16).said
            #expect(said.contains("root directory of \(size) bytes is too large") == (size > largest), "\(said)")
        }
    }

    /// What comes of gzip is bounded, on both sides of each bound.
    @Test func whatComesOfGzipIsBounded() {
        func gzipped(root: [UInt8], leaves: [UInt8] = [], tiles: [UInt8] = [1]) -> [UInt8] {
            MadePMTiles.file(root: root, leaves: leaves, tiles: tiles) { ($0[97], $0[98]) = (2, 2) }
        }
        for extra in [0, 1] {
            // All zeros are a directory without entries.
            let zeros = MadePMTiles.gzip([UInt8](repeating: 0, count: PMTilesDirectory.largestBytes + extra))
            let isTooLarge = look(gzipped(root: zeros), tileSize: 16).said.contains("bytes come of gzip")
            #expect(isTooLarge == (extra > 0))
            let leaf = Entry(id: 0, offset: 0, length: UInt32(zeros.count), run: 0)
            let root = MadePMTiles.gzip(MadePMTiles.directory([leaf]))
            let said = look(gzipped(root: root, leaves: zeros), tileSize: 16).said
            #expect(said.contains(extra > 0 ? "bytes come of gzip" : "it has no entries"), "\(said)")
            let pixels = MadePMTiles.gzip([UInt8](repeating: 0, count: 1 << 16 + extra))
            let tile = Entry(id: 0, offset: 0, length: UInt32(pixels.count), run: 1)
            let toTile = MadePMTiles.gzip(MadePMTiles.directory([tile]))
            let saidOfTile = look(gzipped(root: toTile, tiles: pixels), tileSize: 16).said
            #expect(saidOfTile.contains("more than 65536 bytes") == (extra > 0), "\(saidOfTile)")
        }
    }
}
