import Synchronization
import TestSupport
import Testing

@testable import TileCache
@testable import TileSources

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// PMTiles archives, on a disk and on servers of this process.
@Suite(.timeLimit(.minutes(45))) struct PMTilesTileSourceTests {
    private let folder = ScratchFolder()

    private static func image(_ zoom: Int, _ column: Int, _ row: Int) -> TestImage {
        // The sea of the right half is the same everywhere.
        let isSea = zoom > 1 && column >= 1 << (zoom - 1)
        return TestImage(width: 32, height: 32, seed: isSea ? 0 : 1 + zoom * 100 + column * 10 + row)
    }

    /// Makes an archive with tiles of some zooms, in order or in another. Tile 3/1/2 does not exist.
    private static func archive(
        _ zooms: ClosedRange<Int> = 0...3,
        _ change: (inout MadePMTiles) -> Void = { _ in }
    ) -> MadePMTiles {
        var made = MadePMTiles()
        made.zooms = zooms
        change(&made)
        var tiles: [(id: UInt64, image: TestImage)] = []
        for zoom in zooms {
            for column in 0..<1 << zoom {
                for row in 0..<1 << zoom where (zoom, column, row) != (3, 1, 2) {
                    let id = PMTilesID.number(zoom: zoom, column: column, row: row)
                    tiles.append((id, image(zoom, column, row)))
                }
            }
        }
        if made.isClustered { tiles.sort { $0.id < $1.id } }
        for tile in tiles { made.add(tile.id, tile.image.png) }
        return made
    }

    /// A header whose maximum zoom leaves out the last run of equal tiles, as a common writer states it.
    @Test(arguments: [0, 16]) func aLastRunBeyondTheStatedZoomsIsThere(leafSize: Int) throws {
        var made = MadePMTiles()
        (made.zooms, made.leafSize) = (0...2, leafSize)
        // Zooms 0 to 2 differ, but for the last tile, which all of zoom 3 equals.
        for id in 0..<85 as Range<UInt64> { made.add(id, Self.image(0, Int(min(id, 20)), 0).png) }
        let source = try PMTilesTileSource(write(made.bytes()))
        // Of a leaf directory, only its first tile is known.
        #expect(source.zooms == (leafSize == 0 ? 0...3 : 0...2))
        let text = source.warning?.hasSuffix("made.pmtiles: its header states the zooms 0 to 2, and it has 3")
        #expect(text == (leafSize == 0 ? true : nil))
    }

    @Test func zoomsOfTileNumbers() {
        let numbers: [UInt64] = [0, 1, 4, 5, 20, 21, 84, 85, (1 << 60 - 1) / 3, (1 << 60 - 1) / 3 - 1]
        #expect(numbers.map(PMTilesID.zoom) == [0, 1, 1, 2, 2, 3, 3, 4, 30, 29])
    }

    private func write(_ bytes: [UInt8]) -> String { folder.write(bytes, to: "made.pmtiles") }

    /// A few kilobytes of gzip become megabytes, which count against the limit before they are in memory.
    @Test func whatComesOfGzipNeedsRoom() throws {
        var made = MadePMTiles()
        made.tileCompression = 2
        made.add(0, Self.image(0, 0, 0).png + [UInt8](repeating: 0, count: 4 << 20))
        let source = try PMTilesTileSource(write(made.bytes()))
        let cache = try TileCache(byteLimit: .mebibytes(1), workers: 1)
        let view = cache.makeView(layers: [try source.addLayer(to: cache)])
        #expect(
            settled {
                view.update(TileViewport(center: WorldPoint(x: 16, y: 16), width: 32, height: 32))
                _ = view.frame()
                return source.statistics.failureCount > 0
            }
        )
        #expect(Array(source.statistics.failures.keys) == [.noRoom])
        #expect(cache.shutdown())
    }

    @Test(
        arguments: [
            (0, 1, 2, 1, true), (0, 1, 1, 0, false), (5, 1, 2, 1, true), (3, 2, 1, 2, false), (3, 3, 2, 2, true),
        ] as [(Int, Int, UInt8, UInt8, Bool)]
    )
    func everyTileIsThere(leafSize: Int, depth: Int, directories: UInt8, tiles: UInt8, isClustered: Bool) throws {
        let made = Self.archive(1...3) { made in
            (made.leafSize, made.depth, made.isClustered) = (leafSize, depth, isClustered)
            (made.internalCompression, made.tileCompression) = (directories, tiles)
        }
        // The sea is one run where the order allows one.
        #expect(!isClustered || made.entries.contains { $0.run > 2 })
        let bytes = made.bytes()
        let server = try #require(RangeServer(bytes))
        for place in [write(bytes), server.address] {
            let source = try PMTilesTileSource(place)
            #expect(source.zooms == 1...3 && source.pyramid.levels.count == 3 && source.name == place)
            #expect(source.pyramid.worldWidth == 256 && source.pyramid.levels[0].tileWidth == 32)
            for zoom in 1...3 {
                for column in 0..<1 << zoom {
                    for row in 0..<1 << zoom {
                        let tile = try source.loaded(zoom - 1, column, row)
                        let exists = (zoom, column, row) != (3, 1, 2)
                        #expect(tile.outcome == (exists ? .pixels : .absent))
                        if exists { #expect(tile.image == Self.image(zoom, column, row)) }
                    }
                }
            }
            #expect(source.statistics.failureCount == 0 && source.warning == nil)
            #expect(source.statistics.directoryMemory.bytes >= MemoryLayout<PMTilesDirectory.Entry>.stride)
            #expect(try source.readMetadata() == "{\"name\":\"made\"}")
        }
    }

    @Test func headersAreRead() throws {
        let made = Self.archive(0...2) { made in
            (made.bounds, made.center) = ([-90, 0, 180, 85.0511287], [9, -45, 0])
        }
        let source = try PMTilesTileSource(write(made.bytes()))
        // World of 128 pixels.
        #expect(source.contents.minX == 32 && source.contents.maxX == 128 && source.pyramid.contents == source.contents)
        #expect(!source.pyramid.hasTile(TileCoordinate(level: 2, column: 0, row: 1)))
        #expect(source.pyramid.hasTile(TileCoordinate(level: 2, column: 1, row: 1)))
        #expect(abs(source.contents.minY) < 0.001 && abs(source.contents.maxY - 64) < 0.001)
        #expect(abs(source.center.x - 48) < 0.001 && abs(source.center.y - 64) < 0.001 && source.centerZoom == 2)
        let empty = Self.archive(0...0) { $0.bounds = [0, 0, 0, 0] }
        let whole = try PMTilesTileSource(write(empty.bytes())).contents
        #expect(whole == PixelRect(minX: 0, minY: 0, maxX: 32, maxY: 32))
    }

    @Test func whatIsNoRasterArchiveIsSaid() throws {
        func refusal(_ change: (inout [UInt8]) -> Void) -> String {
            var bytes = Self.archive(0...1).bytes()
            change(&bytes)
            let path = write(bytes)
            let text = message { _ = try PMTilesTileSource(path) }
            #expect(text.hasPrefix("\(path): "))
            return text
        }
        #expect(refusal { $0[0] = 0 }.contains("begins with \"PMTiles\""))
        #expect(refusal { $0[7] = 2 }.contains("version 3 was expected, not 2"))
        #expect(refusal { $0.removeLast($0.count - 100) }.contains("a header of 127 bytes was expected, not 100"))
        #expect(refusal { $0[99] = 9 }.contains("not the type 9"))
        #expect(
            refusal { $0[97] = 3 }.contains("directories with gzip or without compression were expected, not Brotli")
        )
        #expect(refusal { $0[98] = 4 }.contains("tiles with gzip or without compression were expected, not Zstandard"))
        #expect(refusal { $0[101] = 31 }.contains("zooms of 0 to 30 were expected, not 0 to 31"))
        #expect(refusal { ($0[100], $0[101]) = (3, 2) }.contains("not 3 to 2"))
        #expect(refusal { MadePMTiles.put(1 << 63 + 5, 8, &$0) }.contains("root directory of"))
        #expect(refusal { MadePMTiles.put(1 << 40, 64, &$0) }.contains("lie beyond the file's end"))
        #expect(refusal { MadePMTiles.put(0, 64, &$0) }.contains("it has no tiles"))
        #expect(refusal { $0[140] ^= 255 }.contains("its root directory: "))
        #expect(message { _ = try PMTilesTileSource("/nowhere.pmtiles") }.contains("there is no such file"))
        #expect(
            message { _ = try PMTilesTileSource("/x", directoryMemory: .gibibytes(2)) }.contains(
                "0 to 1 GiB was expected"
            )
        )
    }

    /// Counts the requests and bytes of an archive of the whole earth, through a cache.
    @Test func requestsAreFew() throws {
        let made = Self.archive(0...4) { ($0.leafSize, $0.isClustered) = (64, true) }
        let bytes = made.bytes()
        let server = try #require(RangeServer(bytes))
        let source = try PMTilesTileSource(server.address)
        #expect(server.asked.count == 2 && server.asked[0] == 0..<16_384)
        // What follows the first tile is another one, of which a part has come.
        let packed = try #require(RangeServer(Self.archive(0...4) { $0.tileCompression = 2 }.bytes()))
        _ = try PMTilesTileSource(packed.address)
        #expect(packed.asked.count == 2 && packed.asked[1].count == 1 << 16)
        let cache = try TileCache(byteLimit: .mebibytes(8), workers: 8)
        let layer = try source.addLayer(to: cache)
        let view = cache.makeView(layers: [layer], selection: TileLevelSelection(), policy: { NoPrefetch() })
        let all = TileViewport(center: WorldPoint(x: 256, y: 256), width: 512, height: 512)
        let isDrawn = settled {
            view.update(all)
            let frame = view.frame()
            for placement in frame {
                let tile = placement.tile.identity.tile
                let expected = Self.image(tile.level, tile.column, tile.row).pixels
                guard placement.tile.withUnsafeBytes({ $0.equals(expected) }) else {
                    Issue.record("tile \(tile) has other pixels")
                    return true
                }
            }
            return frame.missingTileCount == 0
        }
        #expect(isDrawn && cache.shutdown() && cache.statistics.contradictions.isEmpty)
        let statistics = source.statistics
        #expect(statistics.loads >= 256 && statistics.failureCount == 0)
        #expect(server.asked.count - 2 <= statistics.loads * 11 / 10)
    }

    /// A leaf directory that many tiles need at once is read once. Cancelled loads end.
    @Test func leafDirectoriesAreReadOnce() throws {
        let made = Self.archive(2...2) { $0.leafSize = 4 }
        let held = Shared(isHeld: true)
        let server = try #require(
            RangeServer(made.bytes()) { content in
                content.change = { number, _, _ in if number > 1 { while held.isHeld { usleep(1000) } } }
            }
        )
        let delivery = TileDelivery(TileSourceOptions())
        let archive = try PMTilesArchive(server.address, http: HTTPTileOptions(), limit: 0, delivery)
        _ = try archive.reader.readNow(0..<1)
        let ends = Record<String>()
        let loads = (0..<4).map { number in
            PMTilesLoad(archive, made.entries[0].id + UInt64(number), of: "tile", for: RangeClient(isDemand: true)) {
                end in
                if case .read(.bytes) = end { ends.add("bytes") } else { ends.add("other") }
            }
        }
        for load in loads { load.begin() }
        #expect(settled { server.asked.count == 3 })
        loads[0].cancel()
        #expect(settled { ends.all == ["other"] })
        held.isHeld = false
        #expect(settled { ends.count == 4 })
        #expect(ends.all.filter { $0 == "bytes" }.count == 3)
        // The leaf directory once; tiles may share requests.
        let leaf = server.asked[2]
        #expect(server.asked.filter { $0 == leaf }.count == 1)
        // All who wait give up before it is there: it is no longer wanted either.
        held.isHeld = true
        let last = PMTilesLoad(
            archive,
            made.entries[made.entries.count - 1].id,
            of: "tile",
            for: RangeClient(isDemand: true)
        ) { end in
            if case .read(.cancelled) = end { ends.add("cancelled") }
        }
        last.begin()
        last.cancel()
        held.isHeld = false
        #expect(settled { ends.all.last == "cancelled" })
        archive.reader.stop()
    }

    /// A prefetched leaf directory is read first once a view needs it, too.
    @Test func demandHastensALeafDirectory() throws {
        let made = Self.archive(2...2) { $0.leafSize = 4 }
        let held = Shared(isHeld: true)
        let server = try #require(
            RangeServer(made.bytes()) { content in
                content.change = { number, _, _ in if number == 1 { while held.isHeld { usleep(1000) } } }
            }
        )
        var http = HTTPTileOptions()
        http.connections = 1
        let archive = try PMTilesArchive(server.address, http: http, limit: 1 << 20, TileDelivery(TileSourceOptions()))
        let ends = Record<Bool>()
        func load(_ number: Int, isDemand: Bool) {
            PMTilesLoad(archive, made.entries[number].id, of: "tile", for: RangeClient(isDemand: isDemand)) { end in
                if case .read(.bytes) = end { ends.add(true) } else { ends.add(false) }
            }.begin()
        }
        archive.reader.read(0..<1, for: RangeClient(isDemand: true)) { _ in }
        #expect(settled { server.asked.count == 2 })
        load(0, isDemand: false)
        load(5, isDemand: true)
        load(1, isDemand: true)
        held.isHeld = false
        #expect(settled { ends.count == 3 } && ends.all == [true, true, true])
        // Both leaf directories are needed now, and are neighbours.
        let leaves = archive.root.entries.prefix(2).compactMap { archive.header.leaves.range($0) }
        #expect(server.asked[2] == leaves[0].lowerBound..<leaves[1].upperBound)
        archive.reader.stop()
    }

    private final class Shared: Sendable {
        private let value: Atomic<Bool>
        init(isHeld: Bool) { value = Atomic(isHeld) }
        var isHeld: Bool {
            get { value.load(ordering: .relaxed) }
            set { value.store(newValue, ordering: .relaxed) }
        }
    }

    @Test func directoriesStayWithinTheirMemory() throws {
        let made = Self.archive(0...4) { $0.leafSize = 16 }
        let path = write(made.bytes())
        let entry = MemoryLayout<PMTilesDirectory.Entry>.stride
        let roots = (made.entries.count + 15) / 16
        // One leaf directory, two, all.
        for (memory, leaves) in [(0, 1), (2 * (128 + 16 * entry), 2), (1 << 20, roots)] {
            let source = try PMTilesTileSource(path, directoryMemory: .bytes(memory))
            for column in 0..<16 { for row in 0..<16 { _ = try source.loaded(4, column, row) } }
            for zoom in 0...3 { _ = try source.loaded(zoom, 0, 0) }
            let (root, leaf) = (128 + roots * entry, 128 + 16 * entry)
            #expect(source.statistics.directoryMemory.bytes <= root + leaves * leaf)
            #expect(source.statistics.directoryMemory.bytes > root + (leaves == roots ? 2 * leaf : 0))
        }
    }

    /// Some writers state vector tiles, whatever they pack. A set that has none but those is refused, also if the size is
    /// known.
    @Test(arguments: [(1, "vector tiles (MVT)"), (6, "vector tiles (MLT)"), (5, "AVIF images")], [1, 2] as [UInt8])
    func imagesThatAreLabelledAsOthers(_ label: (type: UInt8, name: String), compression: UInt8) throws {
        let images = Self.archive(0...2) { ($0.type, $0.tileCompression) = (label.type, compression) }
        var others = MadePMTiles()
        (others.type, others.tileCompression) = (label.type, compression)
        for number in 0..<20 { others.add(UInt64(number), [0x1A, 0x2D, 0x0A, 0x05, UInt8(number)]) }
        for size in [nil, 32] {
            let options = TileSourceOptions(tileSize: size)
            let path = write(images.bytes())
            let source = try PMTilesTileSource(path, options: options)
            #expect(source.warning == "\(path): its tiles are stated to be \(label.name), and are images")
            #expect(try source.loaded(1, 1, 0).image == Self.image(1, 1, 0))
            let other = write(others.bytes())
            #expect(message { _ = try PMTilesTileSource(other, options: options) }.hasSuffix("these are \(label.name)"))
        }
        let server = try #require(RangeServer(others.bytes()))
        #expect(message { _ = try PMTilesTileSource(server.address) }.hasSuffix("these are \(label.name)"))
        #expect(server.asked.count == 2)
    }

    /// The first leaf directory tells the size of the tiles, whether it comes with the header or has to be read.
    @Test(arguments: [10, PMTilesArchive.beginning]) func theFirstLeafDirectoryTellsTheSize(space: Int) throws {
        var made = MadePMTiles()
        (made.zooms, made.leafSize, made.internalCompression) = (0...2, 16, 1)
        made.metadata = "{\"name\":\"\(String(repeating: "a", count: space))\"}"
        // The first tile of each leaf directory has another size.
        for id in 0..<21 as Range<UInt64> {
            let side = id % 16 == 0 ? 32 : 16
            made.add(id, TestImage(width: side, height: side, seed: Int(id)).png)
        }
        let source = try PMTilesTileSource(write(made.bytes()))
        #expect(source.pyramid.levels[0].tileWidth == 16)
    }

    /// The cache's ledger counts the memory of directories, and the buffers of what is read.
    @Test func directoriesCountAgainstTheLimit() throws {
        let path = write(Self.archive(0...4) { $0.leafSize = 16 }.bytes())
        let source = try PMTilesTileSource(path)
        let cache = try TileCache(byteLimit: .mebibytes(4), workers: 1)
        _ = try source.addLayer(to: cache)
        let held = { cache.core.read { $0.pool.ledger[.sources] } }
        let first = held()
        let buffers = 64 << 10
        #expect(first == source.statistics.directoryMemory.bytes + buffers && first > buffers)
        for column in 0..<16 { _ = try source.loaded(4, column, 3) }
        cache.core.noteHeldMemory()
        // One of a leaf directory and one of the tile that it leads to.
        #expect(held() == source.statistics.directoryMemory.bytes + 2 * buffers && cache.shutdown())
    }

    @Test func aChangedArchiveIsAnError() throws {
        let server = try #require(RangeServer(Self.archive().bytes()))
        let source = try PMTilesTileSource(server.address)
        #expect(try source.loaded(0, 0, 0).outcome == .pixels && source.warning == nil)
        server.change { $0.entityTag = "\"second\"" }
        #expect(throws: TileFailure.permanent) { try source.loaded(1, 0, 0) }
        #expect(source.statistics.failures[.changed] == 1)
        #expect(try #require(source.warning).contains("changed since it was opened; open it again"))
        let again = try PMTilesTileSource(server.address)
        #expect(try again.loaded(1, 0, 0).outcome == .pixels && again.dataSet != source.dataSet)
    }

    @Test func storesKeepWhatTheServerAllows() throws {
        let bytes = Self.archive().bytes()
        let strict = try #require(
            RangeServer(bytes) { $0.change = { $2.headers.append("Cache-Control: no-store") } }
        )
        let free = try #require(RangeServer(bytes))
        // Tiles, and that there is no tile 3/1/2.
        #expect(try writes(of: PMTilesTileSource(strict.address), expecting: 0) == 0)
        #expect(try writes(of: PMTilesTileSource(free.address), expecting: 64) >= 64)
    }
}
