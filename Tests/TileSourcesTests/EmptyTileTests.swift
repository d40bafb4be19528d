import Testing

@testable import TileCache
@testable import TileSources

/// Tiles that are there and show nothing: no bytes, and transparent images of any size.
@Suite(.timeLimit(.minutes(45))) struct EmptyTileTests {
    private let folder = ScratchFolder()
    private let clear = [UInt8](repeating: 0, count: 32 * 32 * 4)

    private static func clear(_ width: Int, _ height: Int, but pixel: (index: Int, alpha: UInt8)? = nil) -> TestImage {
        var pixels = [UInt8](repeating: 0, count: width * height * 4)
        // Colours of transparent pixels do not show.
        for index in 0..<width * height { pixels[4 * index] = 200 }
        if let pixel { pixels[4 * pixel.index + 3] = pixel.alpha }
        return TestImage(width: width, height: height, pixels: pixels)
    }

    @Test func aTransparentImageOfAnySizeIsATransparentTile() throws {
        folder.write(TestImage(width: 32, height: 32).png, to: "0/0/0.png")
        let source = try FolderTileSource(path: folder.path, options: TileSourceOptions(tileSize: 32))
        let origin = TileCoordinate(level: 0, column: 0, row: 0)
        for (width, height) in [(1, 1), (16, 16), (31, 33), (32, 1), (256, 256), (4096, 4096)] {
            let image = Self.clear(width, height)
            #expect(try source.decoded(image.png, of: origin).image.pixels == clear, "\(width) x \(height)")
            if width < 4096 { #expect(try source.decoded(image.webP, of: origin).image.pixels == clear) }
        }
        #expect(source.statistics.failureCount == 0)
        // One pixel that shows, the first or the last one; an opaque image; one that ends early; one that is too large.
        // None has the tile's shape: such an image would be scaled.
        let shown = [
            Self.clear(16, 17, but: (0, 1)).png, Self.clear(16, 17, but: (271, 1)).png,
            TestImage(width: 16, height: 17).png, TestImage(width: 16, height: 17).jpeg(),
            Self.clear(4096, 4097).png, Array(Self.clear(64, 63).png.dropLast(30)),
        ]
        for bytes in shown { #expect(throws: TileFailure.permanent) { try source.decoded(bytes, of: origin) } }
        #expect(source.statistics.failures == [.wrongSize: shown.count])
    }

    @Test func aFileOfNoBytesIsAbsent() throws {
        folder.write(TestImage(width: 32, height: 32).png, to: "0/0/0.png")
        for row in 0...1 {
            for column in 0...1 { folder.write(TestImage(width: 32, height: 32).png, to: "1/\(column)/\(row).png") }
        }
        let source = try FolderTileSource(path: folder.path)
        folder.write([], to: "1/1/1.png")
        #expect(try source.loaded(1, 1, 1).outcome == .absent && source.loaded(1, 0, 1).outcome == .pixels)
        #expect(source.statistics.absent == 1 && source.statistics.failureCount == 0)
    }

    @Test func rowsWithoutBytesAreAbsent() throws {
        let path = "\(folder.path)/map.mbtiles"
        let map = MadeMBTiles(path)
        let image = TestImage(width: 32, height: 32)
        map.add(0, 0, rowFromBottom: 0, image.png)
        map.add(1, 0, rowFromBottom: 0, image.png)
        map.add(1, 0, rowFromBottom: 1, [])
        map.run("INSERT INTO tiles VALUES (1, 1, 0, NULL)")
        map.add(1, 1, rowFromBottom: 1, Self.clear(1, 1).png)
        let source = try MBTilesTileSource(path: path)
        #expect(try source.loaded(1, 0, 1).outcome == .pixels)
        #expect(try source.loaded(1, 0, 0).outcome == .absent && source.loaded(1, 1, 1).outcome == .absent)
        #expect(try source.loaded(1, 1, 0).image.pixels == clear)
        #expect(source.statistics.absent == 2 && source.statistics.failureCount == 0)
    }

    @Test(arguments: [UInt8(1), 2]) func entriesWithoutBytesAreAbsent(compression: UInt8) throws {
        var made = MadePMTiles()
        made.zooms = 0...1
        made.tileCompression = compression
        let image = TestImage(width: 32, height: 32)
        made.add(0, image.png)
        made.add(1, Self.clear(1, 1).png)
        made.add(2, [])
        made.add(3, image.png)
        let source = try PMTilesTileSource(folder.write(made.bytes(), to: "map.pmtiles"))
        #expect(try source.loaded(1, 0, 1).outcome == .absent && source.loaded(0, 0, 0).outcome == .pixels)
        #expect(try source.loaded(1, 0, 0).image.pixels == clear)
        #expect(source.statistics.absent == 1 && source.statistics.failureCount == 0)
    }

    /// A world of one tile of a server, and the time of its clock.
    private final class Scene {
        let source: HTTPTileSource
        let cache: TileCache
        let view: TileView

        init(_ template: String) throws {
            let http = HTTPTileOptions(zooms: 0...0, connections: 1, timeout: .seconds(60), retries: 0)
            source = try HTTPTileSource(template: template, http: http, options: TileSourceOptions(tileSize: 32))
            cache = try TileCache(byteLimit: .mebibytes(1), workers: 1)
            let layer = try source.addLayer(to: cache)
            view = cache.makeView(layers: [layer], selection: TileLevelSelection(), policy: { NoPrefetch() })
        }

        func look(until condition: (TileFrame) -> Bool) -> Bool {
            settled {
                view.update(TileViewport(center: WorldPoint(x: 16, y: 16), width: 32, height: 32))
                return condition(view.frame())
            }
        }
    }

    @Test func anEmptyAnswerIsAbsentAndConfirmedAsSuch() throws {
        let requests = Record<ModelServer.Request>()
        let server = try #require(
            ModelServer { request in
                requests.add(request)
                let isKnown = request.headers["if-none-match"] == "\"a\""
                return .init(status: isKnown ? 304 : 200, headers: ["Cache-Control: max-age=3600", "ETag: \"a\""])
            }
        )
        let scene = try Scene(server.template)
        for round in 1...2 {
            #expect(scene.look { $0.unavailable.first?.cause == .absent })
            #expect(requests.count == round && scene.source.statistics.absent == round)
            scene.view.layers[0].invalidate(keepsStale: false)
        }
        #expect(scene.source.statistics.failureCount == 0 && scene.source.statistics.notModified == 1)
        #expect(scene.cache.shutdown())
    }

    /// What cannot be decoded keeps its lifetime. Without a stated one it is asked for again after a second.
    @Test(arguments: ["max-age=3600", "max-age=0", nil]) func anAnswerThatIsNoImageKeepsItsLifetime(
        control: String?
    ) throws {
        let requests = Record<ModelServer.Request>()
        let server = try #require(
            ModelServer { request in
                requests.add(request)
                return .init(headers: control.map { ["Cache-Control: \($0)"] } ?? [], body: Array("<html>".utf8))
            }
        )
        let scene = try Scene(server.template)
        let isAskedAgain = scene.look { _ in requests.count > (control == "max-age=3600" ? 0 : 1) }
        #expect(isAskedAgain && scene.look { _ in scene.source.statistics.failureCount == requests.count })
        // The source counts a failure before the cache.
        #expect(settled { scene.cache.statistics.loads.failed > 0 })
        let key = TileKey(layer: 0, TileCoordinate(level: 0, column: 0, row: 0))
        let retry = scene.cache.core.read { state in state.pool.table[key].map { $0.retryAt } }
        if control == "max-age=3600" {
            // Between 3,000 s and 3,600 s, however slow the machine is.
            let wait = try #require(retry) - scene.cache.core.clock()
            #expect(wait > 3_000_000_000_000 && wait <= 3_600_000_000_000)
        }
        #expect(scene.cache.shutdown())
    }
}
