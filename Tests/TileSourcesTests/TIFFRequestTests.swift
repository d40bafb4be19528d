import TestSupport
import Testing

@testable import TileCache
@testable import TileSources

/// Requests for a tiled TIFF file on a server: few, and no bytes that are of no use.
@Suite(.timeLimit(.minutes(45))) struct TIFFRequestTests {
    /// Draws tiles of a server through a cache. One request opens the file, and each plane of a tile takes at most one.
    @Test func requestsAreFew() throws {
        let image = TestImage(width: 500, height: 300)
        var directory = MadeTIFF.Directory(image)
        directory.isPlanar = true
        for isPlanar in [false, true] {
            directory.isPlanar = isPlanar
            let server = try #require(RangeServer(MadeTIFF(directories: [directory]).bytes()))
            let source = try TIFFTileSource(server.address)
            #expect(server.asked.count == 1)
            let cache = try TileCache(byteLimit: .mebibytes(16), workers: 8)
            let layer = try source.addLayer(to: cache)
            let view = cache.makeView(layers: [layer], selection: TileLevelSelection(), policy: { NoPrefetch() })
            let isDrawn = settled {
                view.update(TileViewport(center: WorldPoint(x: 250, y: 150), width: 500, height: 300))
                let frame = view.frame()
                for placement in frame {
                    let tile = placement.tile.identity.tile
                    let part = image.part(x: tile.column * 32, y: tile.row * 32, width: 32, height: 32)
                    let isSame = placement.tile.withUnsafeBytes { $0.equals(part.pixels) }
                    if !isSame { Issue.record("tile \(tile) has other pixels") }
                }
                return frame.missingTileCount == 0
            }
            #expect(isDrawn && cache.shutdown() && cache.statistics.contradictions.isEmpty)
            #expect(source.statistics.loads == 160 && source.statistics.failureCount == 0)
            #expect(server.asked.count - 1 <= (isPlanar ? 480 : 160))
        }
    }

    /// Directories of half a MiB take two requests if they follow each other. They do in a cloud-optimised file.
    ///
    /// So do those of which the first request has brought the offsets: 1952 pixels are 122 x 122 tiles, 58 KiB.
    @Test(arguments: [false, true], [4096, 1952]) func largeDirectoriesTakeTwoRequests(isBig: Bool, whole: Int) throws {
        var directories = [1, 2, 4, 8].map { scale in
            let side = whole / scale
            var directory = MadeTIFF.Directory(TestImage(width: side, height: side, pixels: []))
            directory.tile = 16
            directory.absent = Set(0..<(side + 15) / 16 * ((side + 15) / 16))
            directory.kind = scale > 1 ? 1 : 0
            return directory
        }
        directories[0].more = [.init(tag: 270, type: 2, values: Array("about\0".utf8).map { UInt64($0) })]
        let bytes = MadeTIFF(directories: directories, isBig: isBig).bytes()
        let server = try #require(RangeServer(bytes))
        let source = try TIFFTileSource(server.address)
        #expect(source.fileLevels.map(\.width) == [8, 4, 2, 1].map { whole / $0 })
        #expect(bytes.count > (whole == 4096 ? 1 << 19 : 1 << 17))
        #expect(server.asked.count == 2 && source.metadata.description == "about")
        #expect(server.asked.map(\.count).reduce(0, +) <= bytes.count + 1 << 16)
    }

    /// Tables of more tiles than are held in memory are read in parts with the tiles: from a file and a server, of planes,
    /// with a mask. Pixels, absent tiles and the end of the tables are those of held ones.
    @Test(arguments: [false, true]) func farTablesAreReadInParts(isBig: Bool) throws {
        let image = TestImage(width: 1100, height: 1040)
        var directory = MadeTIFF.Directory(image)
        (directory.tile, directory.isPlanar, directory.absent) = (16, true, [70, 4484])
        var mask = MadeTIFF.Directory(TestImage(width: 1100, height: 1040, seed: 3))
        (mask.tile, mask.samples, mask.kind) = (16, 1, 4)
        mask.more = [.shorts(262, 4)]
        let bytes = MadeTIFF(directories: [directory, mask], isLittle: !isBig, isBig: isBig).bytes()
        let folder = ScratchFolder()
        let held = try TIFFTileSource(folder.write(bytes, to: "made.tif"))
        var tiff = TIFFTileOptions()
        tiff.heldTiles = 100
        let server = try #require(RangeServer(bytes))
        for place in [held.name, server.address] {
            let source = try TIFFTileSource(place, tiff: tiff)
            #expect(source.statistics.directoryMemory.bytes < 2000 && held.statistics.directoryMemory.bytes > 200_000)
            for (column, row) in [(0, 0), (68, 64), (1, 1), (33, 59), (3, 10)] {
                let (one, other) = (try held.loaded(0, column, row), try source.loaded(0, column, row))
                #expect(one.outcome == other.outcome && one.image == other.image, "tile \(column), \(row)")
            }
            #expect(source.statistics.directoryMemory.bytes > 50_000 && source.statistics.absent == 2)
        }
        let source = try TIFFTileSource(server.address, tiff: tiff)
        let cache = try TileCache(byteLimit: .mebibytes(16), workers: 4)
        let view = cache.makeView(layers: [try source.addLayer(to: cache)])
        let isDrawn = settled {
            view.update(TileViewport(center: WorldPoint(x: 500, y: 500), width: 64, height: 64))
            let frame = view.frame()
            for placement in frame where placement.isExact {
                let tile = placement.tile.identity.tile
                let part = try? held.loaded(0, tile.column, tile.row).image
                if !placement.tile.withUnsafeBytes({ $0.equals(part?.pixels ?? []) }) {
                    Issue.record("tile \(tile) has other pixels")
                }
            }
            return frame.missingTileCount == 0 && !frame.isEmpty
        }
        #expect(isDrawn && cache.shutdown() && source.statistics.failureCount == 0)
        // Tables that are not in the file are an error, whatever their length.
        directory.more = [.init(tag: 325, type: 4, values: [1, 2, 3])]
        let short = folder.write(MadeTIFF(directories: [directory]).bytes(), to: "short.tif")
        #expect(
            message { _ = try TIFFTileSource(short, tiff: tiff) }.contains("of 13455 whole numbers in the file were")
        )
    }

    /// A colour profile or private data of a MiB makes no read longer. It is not read.
    ///
    /// Tables are in memory with 64 pixels a side; with 2048 they take 128 KiB, and are read together.
    @Test(arguments: [64, 2048], [34675, 50000] as [UInt64])
    func otherFieldsAreNotReadAhead(whole: Int, tag: UInt64) throws {
        let other = MadeTIFF.Field(tag: tag, type: 16, values: [UInt64](repeating: 7, count: 1 << 17))
        let directories = [whole, whole / 2].map { side in
            var directory = MadeTIFF.Directory(TestImage(width: side, height: side, pixels: []))
            directory.tile = 16
            directory.absent = Set(0..<side * side / 256)
            directory.kind = side < whole ? 1 : 0
            directory.more = [other]
            return directory
        }
        let server = try #require(RangeServer(MadeTIFF(directories: directories).bytes()))
        let source = try TIFFTileSource(server.address)
        #expect(source.fileLevels.map(\.width) == [whole / 2, whole])
        let tables = whole * whole / 256 * 8
        let expected = tables > 1 << 16 ? [tables + tables / 3 + 1 << 14] : []
        let next = expected.first.map { 2 * $0 } ?? 1 << 16
        #expect(server.asked.map(\.count) == [1 << 16] + expected + [next])
    }

    /// A source that is opened once serves layers of several caches, and their views. Its directories count once in each.
    @Test func oneSourceServesManyLayers() throws {
        let image = TestImage(width: 200, height: 130)
        let server = try #require(RangeServer(MadeTIFF(directories: [MadeTIFF.Directory(image)]).bytes()))
        let source = try TIFFTileSource(server.address)
        let caches = try (0..<2).map { _ in try TileCache(byteLimit: .mebibytes(4), workers: 2) }
        let layers = try caches.map { cache in try (0..<3).map { _ in try source.addLayer(to: cache) } }
        let views = zip(caches, layers).flatMap { cache, layers in
            (layers + layers).map { layer in
                cache.makeView(layers: [layer], selection: TileLevelSelection(), policy: { NoPrefetch() })
            }
        }
        for view in views {
            let isDrawn = settled {
                view.update(TileViewport(center: WorldPoint(x: 100, y: 65), width: 200, height: 130))
                let frame = view.frame()
                for placement in frame {
                    let tile = placement.tile.identity.tile
                    let part = image.part(x: tile.column * 32, y: tile.row * 32, width: 32, height: 32)
                    if !placement.tile.withUnsafeBytes({ $0.equals(part.pixels) }) {
                        Issue.record("tile \(tile) has other pixels")
                    }
                }
                return frame.missingTileCount == 0 && frame.count == 35
            }
            #expect(isDrawn)
        }
        // One request to open it, and no second one for a tile that two views of a layer need.
        #expect(source.statistics.loads == 35 * 6 && server.asked.count <= 1 + 35 * 6)
        #expect(server.asked.filter { $0.lowerBound == 0 }.count == 1)
        for cache in caches {
            // Measured about once a second: buffers of the decoder may have come or gone since.
            #expect(cache.core.read { $0.pool.ledger[.sources] } >= source.statistics.directoryMemory.bytes)
            #expect(cache.shutdown() && cache.statistics.contradictions.isEmpty)
        }
    }
}
