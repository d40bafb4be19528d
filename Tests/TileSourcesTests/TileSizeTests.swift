import TestSupport
import Testing

@testable import TileCache
@testable import TileSources

/// Sets of which some tiles are empty, damaged or of another size than the others.
@Suite(.timeLimit(.minutes(45))) struct TileSizeTests {
    private let folder = ScratchFolder()

    private func image(_ zoom: Int, _ column: Int, _ row: Int, _ side: Int = 32) -> TestImage {
        TestImage(width: side, height: side, seed: zoom * 100 + column * 10 + row)
    }

    /// Tiles by zoom, column and row from the top, as a folder, an MBTiles file and a PMTiles archive.
    private func sources(_ tiles: [TileCoordinate: [UInt8]]) throws -> [any PyramidTileSource] {
        let map = MadeMBTiles("\(folder.path)/\(tiles.count).mbtiles")
        map.set("bounds", "-180,-85,180,85")
        var archive = MadePMTiles()
        archive.zooms = 0...(tiles.keys.map(\.level).max() ?? 0)
        let numbered = tiles.map { (PMTilesID.number(zoom: $0.level, column: $0.column, row: $0.row), $1) }
        for (id, bytes) in numbered.sorted(by: { $0.0 < $1.0 }) where !bytes.isEmpty { archive.add(id, bytes) }
        map.run("BEGIN")
        for (tile, bytes) in tiles.sorted(by: { $0.key.level < $1.key.level }) {
            map.add(tile.level, tile.column, rowFromBottom: (1 << tile.level) - 1 - tile.row, bytes)
            folder.write(bytes, to: "set/\(tile.level)/\(tile.column)/\(tile.row).png")
        }
        map.run("COMMIT")
        map.close()
        let place = folder.write(archive.bytes(), to: "\(tiles.count).pmtiles")
        return [
            try FolderTileSource(path: "\(folder.path)/set"), try MBTilesTileSource(path: map.path),
            try PMTilesTileSource(place),
        ]
    }

    private func loaded(_ source: any PyramidTileSource, _ tile: TileCoordinate) throws -> LoadedTile {
        switch source {
        case let source as FolderTileSource: try source.loaded(tile)
        case let source as MBTilesTileSource: try source.loaded(tile)
        case let source as PMTilesTileSource: try source.loaded(tile.level, tile.column, tile.row)
        default: throw TileFailure.permanent
        }
    }

    private func pyramid(_ last: Int, _ side: (Int) -> Int = { _ in 32 }) -> [TileCoordinate: [UInt8]] {
        var tiles: [TileCoordinate: [UInt8]] = [:]
        for zoom in 0...last {
            for column in 0..<1 << zoom {
                for row in 0..<1 << zoom {
                    let tile = TileCoordinate(level: zoom, column: column, row: row)
                    tiles[tile] = image(zoom, column, row, side(zoom)).png
                }
            }
        }
        return tiles
    }

    private static let root = TileCoordinate(level: 0, column: 0, row: 0)

    /// The tile of zoom 0 is the first of all three kinds of set.
    @Test(arguments: ["empty", "cut", "pixel", "larger", "oblong"]) func oneTileDoesNotSpeakForAll(kind: String) throws
    {
        var tiles = pyramid(3)
        let bad: [UInt8] =
            switch kind {
            case "empty": []
            case "cut": Array(image(0, 0, 0).png.prefix(20))
            case "pixel": TestImage(width: 1, height: 1, pixels: [9, 8, 7, 255]).png
            case "larger": TestImage(width: 64, height: 64, pixels: [UInt8](repeating: 200, count: 64 * 64 * 4)).png
            default: TestImage(width: 32, height: 16).png
            }
        tiles[Self.root] = bad
        for source in try sources(tiles) {
            #expect(source.pyramid.worldWidth == 256 && source.pyramid.levels[0].tileWidth == 32, "\(source.name)")
            for (tile, _) in tiles where tile != Self.root {
                #expect(try loaded(source, tile).image == image(tile.level, tile.column, tile.row), "\(tile)")
            }
            #expect(source.statistics.failureCount == 0)
            switch kind {
            case "larger":
                let expected = [UInt8](repeating: 200, count: 32 * 32 * 4)
                let pixels = try loaded(source, Self.root).image
                #expect(pixels == TestImage(width: 32, height: 32, pixels: expected).premultiplied)
            case "pixel":
                #expect(
                    try loaded(source, Self.root).image.pixels.prefix(8).elementsEqual([9, 8, 7, 255, 9, 8, 7, 255])
                )
            default: break
            }
        }
    }

    /// The finest zoom counts most; the others are scaled, by the kernel that makes levels if they are halved.
    @Test(arguments: [16, 64]) func zoomsOfAnotherSizeAreScaled(side: Int) throws {
        let tiles = pyramid(3) { $0 == 1 ? side : 32 }
        for source in try sources(tiles) {
            #expect(source.pyramid.worldWidth == 256)
            let scaled = try loaded(source, TileCoordinate(level: 1, column: 1, row: 0)).image
            let original = image(1, 1, 0, side)
            if side == 64 {
                var half = [UInt8](repeating: 0, count: 32 * 32 * 4)
                let halver = try #require(ImageHalver(format: .rgba8, alpha: .straight, downsampling: .linear))
                original.pixels.withUnsafeBytes { from in
                    half.withUnsafeMutableBytes {
                        halver.halve(from, width: 64, height: 64, into: $0, isPortable: true)
                    }
                }
                #expect(scaled.pixels == half)
            } else {
                // Halfway between the middles of two pixels: a quarter of the one, three quarters of the other.
                for channel in 0..<4 {
                    let pair = (Int(original.pixels[channel]), Int(original.pixels[4 + channel]))
                    #expect(scaled.pixels[channel] == original.pixels[channel])
                    #expect(Int(scaled.pixels[4 + channel]) == (3 * pair.0 + pair.1 + 2) / 4)
                }
            }
            #expect(source.statistics.scaled == 1 && source.statistics.decoded == 1 && source.warning == nil)
            #expect(try loaded(source, TileCoordinate(level: 3, column: 5, row: 2)).image == image(3, 5, 2))
        }
    }

    /// A set that cannot be read at all is refused, with the first reason.
    @Test func noneIsARefusal() throws {
        let bad = pyramid(2).mapValues { _ in [1, 2, 3] as [UInt8] }
        let said = message { _ = try sources(bad) }
        #expect(said.contains("neither PNG nor JPEG nor WebP") && said.contains("none of"))
        #expect(said.contains("set/2/"))
    }

    /// Random sets: the size is that of most tiles if those of one size are two thirds or more of each zoom.
    @Test(arguments: 0..<12 as Range<UInt64>) func mostTilesDecide(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var tiles = pyramid(3)
        for tile in tiles.keys.sorted(by: { ($0.level, $0.column, $0.row) < ($1.level, $1.column, $1.row) })
        where random.next() % 5 == 0 {
            let kinds: [[UInt8]] = [
                [], [0x89, 0x50], Array(image(0, 0, 0).png.prefix(60)), TestImage(width: 1, height: 1).png,
                TestImage(width: 48, height: 48).png, TestImage(width: 32, height: 33).png,
            ]
            tiles[tile] = kinds[Int(random.next() % UInt64(kinds.count))]
        }
        for source in try sources(tiles) {
            #expect(source.pyramid.levels[0].tileWidth == 32, "seed \(seed): \(source.name)")
        }
    }

    /// Scaling against a plain reference, in floating point: means over the area of a pixel, or linear between pixels.
    @Test(arguments: 0..<40 as Range<UInt64>) func scalingFollowsTheModel(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let count = Int(random.next() % 60) + 16
        let width = seed % 8 == 0 ? count << Int(seed / 8 % 3) : Int(random.next() % 150) + 1
        let source = TestImage(width: width, height: width, seed: Int(seed), hasAlpha: seed % 2 == 1)
        var row = 0
        let rows = ScaledRows(
            width: width,
            height: width,
            tileWidth: count,
            tileHeight: count,
            weighsAlpha: true,
            read: { target in
                guard row < width else { return false }
                for byte in 0..<4 * width { target[byte] = source.pixels[row * 4 * width + byte] }
                row += 1
                return true
            }
        )
        var result = [UInt8](repeating: 0, count: count * count * 4)
        let isWhole = result.withUnsafeMutableBufferPointer { bytes in
            (0..<count).allSatisfy { rows.next(into: bytes.baseAddress! + $0 * count * 4) }
        }
        #expect(isWhole && row == width, "seed \(seed)")
        var most = 0.0
        for y in 0..<count {
            for x in 0..<count {
                var sums = [0.0, 0.0, 0.0, 0.0]
                for (v, down) in Self.shares(width, count, y) {
                    for (h, across) in Self.shares(width, count, x) {
                        let from = (v * width + h) * 4
                        let alpha = Double(source.pixels[from + 3])
                        for channel in 0..<3 {
                            sums[channel] += down * across * alpha * Double(source.pixels[from + channel])
                        }
                        sums[3] += down * across * alpha
                    }
                }
                let place = (y * count + x) * 4
                most = max(most, abs(Double(result[place + 3]) - sums[3]))
                // Colours of nearly transparent pixels are lost in rounding.
                guard sums[3] > 40 else { continue }
                for channel in 0..<3 {
                    most = max(most, abs(Double(result[place + channel]) - sums[channel] / sums[3]))
                }
            }
        }
        // Each halving rounds.
        #expect(most <= 2.6, "seed \(seed): \(width) to \(count), \(most)")
    }

    private static func shares(_ length: Int, _ count: Int, _ index: Int) -> [(Int, Double)] {
        let step = Double(length) / Double(count)
        if length >= count {
            let (start, end) = (Double(index) * step, Double(index + 1) * step)
            return (0..<length).compactMap { pixel in
                let overlap = min(end, Double(pixel + 1)) - max(start, Double(pixel))
                return overlap > 1e-9 ? (pixel, overlap / step) : nil
            }
        }
        let place = min(max((Double(index) + 0.5) * step - 0.5, 0), Double(length - 1))
        let first = min(Int(place), length - 1)
        return first + 1 < length
            ? [(first, 1 - (place - Double(first))), (first + 1, place - Double(first))] : [(first, 1)]
    }

    /// A server's tiles are as large as its first one; sharpness is kept, and one request says so.
    @Test func aTemplateLearnsItsSize() throws {
        let server = try #require(DescribedServer())
        server.add(image(0, 0, 0, 64).png, at: "/1/1/1.png")
        let template = "\(server.root)/{z}/{x}/{y}.png"
        let http = HTTPTileOptions(zooms: 1...3)
        let source = try #require(TileSourceAddress(template)).open(http: http)
        #expect(source.pyramid.worldWidth == 512 && source.pyramid.levels[0].tileWidth == 64)
        #expect(server.asked.map(\.path) == ["/1/1/1.png"])
        // Nothing is asked if it is known.
        let known = try #require(TileSourceAddress(template)).open(TileSourceOptions(tileSize: 32), http: http)
        #expect(known.pyramid.worldWidth == 256 && server.asked.count == 1)
        _ = try HTTPTileSource(template: template, http: http)
        #expect(server.asked.count == 1)
    }

    @Test func aTileThatIsNotThereIsNoSize() throws {
        let server = try #require(DescribedServer())
        server.add(image(0, 0, 0, 64).png, at: "/3/4/4.png")
        server.add([], at: "/1/1/1.png")
        let http = HTTPTileOptions(zooms: 0...9)
        #expect(try HTTPTileSource.tileSize(template: "\(server.root)/{z}/{x}/{y}.png", http: http) == 64)
        #expect(server.asked.map(\.path) == ["/0/0/0.png", "/1/1/1.png", "/2/2/2.png", "/3/4/4.png"])
        let none = try HTTPTileSource.tileSize(template: "http://127.0.0.1:1/{z}/{x}/{y}.png")
        #expect(none == nil)
        // Failures are not repeated.
        let failing = try #require(DescribedServer(missing: 500))
        let often = HTTPTileOptions(zooms: 0...1, retries: 2, backOff: .milliseconds(1))
        #expect(try HTTPTileSource.tileSize(template: "\(failing.root)/{z}/{x}/{y}.png", http: often) == nil)
        #expect(failing.asked.map(\.path) == ["/0/0/0.png", "/1/1/1.png"])
        #expect(message { _ = try HTTPTileSource.tileSize(template: "http://h/{z}/{x}") }.contains("{y}"))
    }

    /// Nothing beside the bounds is requested, for the size neither.
    @Test func theTileForTheSizeIsWithinTheBounds() throws {
        let server = try #require(DescribedServer())
        server.add(image(0, 0, 0, 64).png, at: "/3/5/2.png")
        // By hand: 37 to 55 degrees east are columns 4.8 to 5.2 of 8, and 41 to 60 degrees north rows 2.3 to 3.
        let bounds = MapBounds(west: 37, south: 41, east: 55, north: 60)
        let http = HTTPTileOptions(zooms: 2...9, bounds: bounds)
        #expect(try HTTPTileSource.tileSize(template: "\(server.root)/{z}/{x}/{y}.png", http: http) == 64)
        #expect(server.asked.map(\.path) == ["/2/2/1.png", "/3/5/2.png"])
        // The last column and row, of which the bounds have the edge alone.
        let corner = MapBounds(west: 179.9, south: -85, east: 180, north: -84.9)
        _ = try HTTPTileSource.tileSize(
            template: "\(server.root)/{z}/{x}/{y}.png",
            http: HTTPTileOptions(zooms: 0...0, bounds: corner)
        )
        #expect(server.asked.last?.path == "/0/0/0.png")
    }

    /// Without a known size images are scaled to 256 pixels, and a warning says so.
    @Test func tilesOfAnotherSizeThanStatedAreScaled() throws {
        let server = try #require(DescribedServer())
        let large = image(0, 0, 0, 64)
        server.add(large.png, at: "/0/0/0.png")
        let source = try HTTPTileSource(
            template: "\(server.root)/{z}/{x}/{y}.png",
            http: HTTPTileOptions(zooms: 0...0),
            options: TileSourceOptions(tileSize: 32)
        )
        #expect(source.warning == nil)
        let cache = try TileCache(byteLimit: .mebibytes(8), workers: 2)
        let view = cache.makeView(layers: [try source.addLayer(to: cache)])
        let isThere = settled {
            view.update(TileViewport(center: WorldPoint(x: 16, y: 16), width: 32, height: 32))
            return view.frame().missingTileCount == 0
        }
        #expect(isThere && source.statistics.attempts == 1)
        #expect(source.warning?.contains("most of its images are 64 pixels wide") == true)
        #expect(cache.shutdown())
    }
}
