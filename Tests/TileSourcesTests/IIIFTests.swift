import Testing

@testable import TileCache
@testable import TileSources

/// Images of the IIIF Image API, on a server that has exactly the canonical addresses.
@Suite(.timeLimit(.minutes(45))) struct IIIFTests {
    /// An `info.json` of either version.
    struct Info {
        var version = 3
        var width = 1000
        var height = 700
        var tiles = #"[{"width": 128, "scaleFactors": [1, 2, 4, 8]}]"#
        var sizes = "null"
        var profile = "level0"
        /// Further fields of version 2's profile.
        var inProfile = ""
        var more = ""

        func text(_ id: String) -> String {
            let name = version == 3 ? "id" : "@id"
            let own = #"{"formats": ["png"]\#(inProfile)}"#
            let profile =
                version == 3
                ? "\"\(profile)\"" : #"["http://iiif.io/api/image/2/\#(profile).json", \#(own)]"#
            return """
                {"@context": "http://iiif.io/api/image/\(version)/context.json", "\(name)": "\(id)",
                 "protocol": "http://iiif.io/api/image", "type": "ImageService3", "profile": \(profile), \(more)
                 "width": \(width), "height": \(height), "tiles": \(tiles), "sizes": \(sizes)}
                """
        }

        /// Adds the description and the tiles of a factor.
        func add(_ image: TestImage, _ factor: Int, _ tile: (width: Int, height: Int), to server: DescribedServer) {
            let (spanX, spanY) = (tile.width * factor, tile.height * factor)
            for y in stride(from: 0, to: height, by: spanY) {
                for x in stride(from: 0, to: width, by: spanX) {
                    let (w, h) = (min(spanX, width - x), min(spanY, height - y))
                    let part = image.part(x: x, y: y, width: w, height: h).thinned(by: factor)
                    let isAll = w == width && h == height
                    let region = isAll ? "full" : "\(x),\(y),\(w),\(h)"
                    let size =
                        isAll && factor == 1
                        ? version == 3 ? "max" : "full"
                        : version == 3 ? "\(part.width),\(part.height)" : "\(part.width),"
                    server.add(part.png, at: "/a%2Fb/\(region)/\(size)/0/default.jpg")
                }
            }
        }
    }

    /// Servers of version 1: `native` tiles, of the factors and the size that they list, or of any.
    @Test(arguments: ["1.0", "1.1"], [true, false]) func version1(version: String, listsTiles: Bool) throws {
        let server = try #require(DescribedServer())
        let image = TestImage(width: 500, height: 350)
        let name = version == "1.0" ? #""identifier": "a""# : #""@id": "\#(server.root)/a""#
        let context = #""@context": "http://library.stanford.edu/iiif/image-api/1.1/context.json", "#
        let tiles = listsTiles ? #""scale_factors": [1, 2, 4], "tile_width": 128, "tile_height": 96,"# : ""
        server.add(
            """
            {\(version == "1.0" ? "" : context)\(name), "width": 500, "height": 350, \(tiles)
             "formats": ["\(listsTiles ? "png" : "jpg")", "tif"], "qualities": ["native"],
             "profile": "http://library.stanford.edu/iiif/image-api/\(version == "1.0" ? "" : "1.1/")compliance.html#level1"}
            """,
            at: "/a/info.json"
        )
        let (wide, high) = listsTiles ? (128, 96) : (64, 64)
        for factor in listsTiles ? [1, 2, 4] : [1, 2, 4, 8] {
            for y in stride(from: 0, to: 350, by: high * factor) {
                for x in stride(from: 0, to: 500, by: wide * factor) {
                    let (w, h) = (min(wide * factor, 500 - x), min(high * factor, 350 - y))
                    let part = image.part(x: x, y: y, width: w, height: h).thinned(by: factor)
                    let region = w == 500 && h == 350 ? "full" : "\(x),\(y),\(w),\(h)"
                    server.add(part.png, at: "/a/\(region)/\(part.width),/0/native.\(listsTiles ? "png" : "jpg")")
                }
            }
        }
        let source = try HTTPTileSource(
            iiif: "\(server.root)/a",
            options: TileSourceOptions(tileSize: listsTiles ? nil : 64)
        )
        #expect(source.pyramid.levels.map(\.worldPixelsPerPixel) == (listsTiles ? [4, 2, 1] : [8, 4, 2, 1]))
        for (level, extent) in source.pyramid.levels.enumerated() {
            _ = try compare(source, level: level, with: image.thinned(by: Int(extent.worldPixelsPerPixel)))
        }
        #expect(server.refused.isEmpty && source.warning == nil, "\(server.refused)")
    }

    /// Tiles put together are the image, at each factor. Factors and tiles are of any kind.
    @Test(arguments: [2, 3], [0, 1, 2, 3])
    func tilesAreTheImage(version: Int, kind: Int) throws {
        var info = Info(version: version)
        var (factors, tile) = ([1, 2, 4, 8], (width: 128, height: 128))
        switch kind {
        case 1:
            (factors, tile) = ([1, 3, 7], (200, 120))
            info.tiles = #"[{"width": 200, "height": 120, "scaleFactors": [7, 1, 3, 3]}]"#
        case 2:
            // One tile is all of it, at every factor.
            (info.width, info.height, factors) = (100, 90, [1, 2])
            info.tiles = #"[{"width": 128, "scaleFactors": [1, 2]}]"#
        case 3:
            // No tiles, but any region.
            (info.profile, info.tiles, factors) = ("level1", "null", [1, 2])
            tile = (512, 512)
        default: break
        }
        let image = TestImage(width: info.width, height: info.height, seed: version)
        let server = try #require(DescribedServer())
        server.add(info.text("\(server.root)/a%2Fb"), at: "/a%2Fb/info.json")
        for factor in factors { info.add(image, factor, tile, to: server) }
        let source = try HTTPTileSource(iiif: "\(server.root)/a%2Fb")
        #expect(source.pyramid.levels.map(\.worldPixelsPerPixel) == factors.reversed().map { Double($0) })
        #expect(source.pyramid.worldWidth == Double(info.width) && source.contents.maxY == Double(info.height))
        for (level, factor) in factors.reversed().enumerated() {
            _ = try compare(source, level: level, with: image.thinned(by: factor))
        }
        #expect(server.refused.isEmpty && source.statistics.failureCount == 0, "\(server.refused)")
    }

    /// At compliance level 0 without tiles, each listed size is a level. Sizes that are distorted or too large are not.
    @Test(arguments: [2, 3]) func listedSizesAreLevels(version: Int) throws {
        var info = Info(version: version, width: 6000, height: 3000, tiles: "null")
        info.sizes = """
            [{"width": 300, "height": 150}, {"width": 75, "height": 38}, {"width": 300, "height": 150},
             {"width": 100, "height": 99}, {"width": 6000, "height": 3000}]
            """
        let server = try #require(DescribedServer())
        server.add(info.text("\(server.root)/a"), at: "/a/info.json")
        let image = TestImage(width: 300, height: 150)
        let small = TestImage(width: 75, height: 38, seed: 4)
        server.add(image.png, at: "/a/full/\(version == 3 ? "300,150" : "300,")/0/default.jpg")
        server.add(small.png, at: "/a/full/\(version == 3 ? "75,38" : "75,")/0/default.jpg")
        let source = try HTTPTileSource(iiif: "\(server.root)/a/info.json")
        #expect(source.pyramid.levels.map(\.worldPixelsPerPixel) == [80, 20] && source.pyramid.worldWidth == 6000)
        _ = try compare(source, level: 0, with: small)
        _ = try compare(source, level: 1, with: image)
        #expect(server.refused.isEmpty)
    }

    /// The width of a tall image says little about the scale.
    @Test func listedSizesOfTallImages() throws {
        let sizes = #"[{"width": 9, "height": 256}, {"width": 17, "height": 512}, {"width": 12, "height": 512}]"#
        let text = Info(width: 130, height: 4096, tiles: "null", sizes: sizes).text("http://h/a")
        let image = try IIIFImage(Array(text.utf8), address: "http://h/a/info.json")
        #expect(image.levels.map(\.scale) == [16, 8] && image.levels.map(\.width) == [9, 17])
    }

    /// Listed sizes continue the levels if the coarsest tiles are several. Sizes of tiles may differ by level.
    @Test func sizesContinueTiles() throws {
        let text = Info(
            tiles: """
                [{"width": 128, "scaleFactors": [1]}, {"width": 256, "height": 200, "scaleFactors": [2, 1]}]
                """,
            sizes: """
                [{"width": 125, "height": 88}, {"width": 500, "height": 350}, {"width": 260, "height": 182}]
                """
        ).text("http://h/a")
        let image = try IIIFImage(Array(text.utf8), address: "http://h/a/info.json")
        #expect(image.levels.map(\.factor) == [0, 2, 1] && image.levels.map(\.width) == [125, 500, 1000])
        #expect(image.levels.map(\.tileWidth) == [125, 256, 128] && image.levels[1].tileHeight == 200)
        #expect(
            image.address(of: TileCoordinate(level: 1, column: 1, row: 1))
                == "http://h/a/512,400,488,300/244,150/0/default.jpg"
        )
    }

    /// Servers round the sides of cut tiles up or down. A pixel more is cut, a pixel less is repeated.
    @Test(arguments: [-1, 0, 1]) func cutTilesMayDifferByAPixel(more: Int) throws {
        var info = Info(version: 2, width: 101, height: 9)
        info.tiles = #"[{"width": 64, "scaleFactors": [1, 4]}]"#
        let server = try #require(DescribedServer())
        server.add(info.text("\(server.root)/a"), at: "/a/info.json")
        var image = TestImage(width: 26, height: 3 + more)
        server.add(image.png, at: "/a/full/26,/0/default.jpg")
        let source = try HTTPTileSource(iiif: "\(server.root)/a")
        let row = image.part(x: 0, y: image.height - 1, width: 26, height: 1)
        if more < 0 { image = TestImage(width: 26, height: 3, pixels: image.pixels + row.pixels) }
        _ = try compare(source, level: 0, with: image.part(x: 0, y: 0, width: 26, height: 3))
        // Two pixels are another image.
        server.add(TestImage(width: 26, height: 5).png, at: "/a/full/26,/0/default.jpg")
        let other = try HTTPTileSource(iiif: "\(server.root)/a")
        let cache = try TileCache(byteLimit: .mebibytes(4), workers: 1)
        let layer = try other.addLayer(to: cache)
        let view = cache.makeView(layers: [layer], selection: TileLevelSelection(), policy: { NoPrefetch() })
        let hasFailed = settled {
            view.update(TileViewport(center: WorldPoint(x: 50, y: 4), width: 26, height: 3, scale: 0.25))
            _ = view.frame()
            return other.statistics.failureCount > 0
        }
        #expect(hasFailed && cache.shutdown())
        let said = try #require(other.statistics.lastFailure)
        #expect(said.contains("/a/full/26,/0/default.jpg") && said.contains("26 x 3 pixels was expected, not 26 x 5"))
    }

    /// Servers of version 2 make heights of widths, which are rounded up: parts that are narrow come too high.
    @Test func heightsOfVersion2FollowFromWidths() throws {
        var info = Info(version: 2, width: 65, height: 1023)
        info.tiles = #"[{"width": 64, "scaleFactors": [8]}]"#
        let server = try #require(DescribedServer())
        server.add(info.text("\(server.root)/a"), at: "/a/info.json")
        // 512 and 511 rows of the image become 9 / 65 of that, in place of an eighth.
        let upper = TestImage(width: 9, height: 71)
        let lower = TestImage(width: 9, height: 70, seed: 1)
        server.add(upper.png, at: "/a/0,0,65,512/9,/0/default.jpg")
        server.add(lower.png, at: "/a/0,512,65,511/9,/0/default.jpg")
        let source = try HTTPTileSource(iiif: "\(server.root)/a")
        var rows: [UInt8] = []
        for image in [upper, lower] {
            for row in 0..<64 {
                rows += image.part(x: 0, y: (2 * row + 1) * image.height / 128, width: 9, height: 1).pixels
            }
        }
        _ = try compare(source, level: 0, with: TestImage(width: 9, height: 128, pixels: rows))
        #expect(server.refused.isEmpty && source.statistics.failureCount == 0)
    }

    /// A server may have its description as gzip only, as object stores do, or none at all. Tiles come as they are.
    @Test func descriptionsMayBeCompressed() throws {
        // As of a proxy that has changed what it hands on.
        let server = try #require(DescribedServer(status: 203))
        var info = Info(width: 100, height: 90)
        info.tiles = #"[{"width": 128, "scaleFactors": [1]}]"#
        let image = TestImage(width: 100, height: 90)
        info.add(image, 1, (128, 128), to: server)
        let text = Array(info.text("\(server.root)/a%2Fb").utf8)
        server.add(MadePMTiles.gzip(text), at: "/a%2Fb/info.json")
        let source = try HTTPTileSource(iiif: "\(server.root)/a%2Fb")
        _ = try compare(source, level: 0, with: image)
        #expect(server.asked.map { $0.headers["accept-encoding"] } == ["gzip", "identity"])
        // More than the limit comes of little.
        server.add(MadePMTiles.gzip(text + [UInt8](repeating: 32, count: 1 << 20)), at: "/large/info.json")
        server.add(Array(MadePMTiles.gzip(text).dropLast(20)), at: "/cut/info.json")
        for (path, expected) in [("large", "more than 1048576 bytes"), ("cut", "the gzip data end too early")] {
            let said = message { _ = try HTTPTileSource(iiif: "\(server.root)/\(path)") }
            #expect(said.contains(expected), "\(said)")
        }
    }

    /// Keys go to the address's own server only, even if the description names another one.
    @Test func keysStayAtHome() throws {
        let (home, other) = (try #require(DescribedServer()), try #require(DescribedServer()))
        var info = Info(width: 100, height: 90)
        info.tiles = #"[{"width": 128, "scaleFactors": [1]}]"#
        let image = TestImage(width: 100, height: 90)
        for server in [home, other] { info.add(image, 1, (128, 128), to: server) }
        home.add(info.text("\(home.root)/a%2Fb/"), at: "/own/info.json")
        home.add(info.text("\(other.root)/a%2Fb"), at: "/foreign/info.json")
        var http = HTTPTileOptions()
        http.headers = ["X-Key: secret"]
        for path in ["own", "foreign"] {
            let address = home.root.replacing("http://", with: "http://me:word@")
            let source = try HTTPTileSource(iiif: "\(address)/\(path)", http: http)
            _ = try compare(source, level: 0, with: image)
        }
        #expect(home.asked.count == 3 && other.asked.count == 1)
        for request in home.asked {
            #expect(request.headers["x-key"] == "secret" && request.headers["authorization"] != nil)
        }
        #expect(other.asked[0].headers["x-key"] == nil && other.asked[0].headers["authorization"] == nil)
        http.sendsHeadersToOtherOrigins = true
        let source = try HTTPTileSource(iiif: "\(home.root)/foreign", http: http)
        _ = try compare(source, level: 0, with: image)
        #expect(other.asked[1].headers["x-key"] == "secret")
    }

    @Test func formatsAndVersionsAreChosen() throws {
        func image(_ change: (inout Info) -> Void) throws -> IIIFImage {
            var info = Info()
            change(&info)
            return try IIIFImage(Array(info.text("http://h/a").utf8), address: "http://h/a/info.json")
        }
        #expect(try image { _ in }.format == "jpg")
        #expect(try image { $0.more = #""preferredFormats": ["avif", "webp", "png"],"# }.format == "webp")
        #expect(try image { $0.more = #""preferredFormats": ["tif"],"# }.format == "jpg")
        // Any region without a level of its own.
        let made = try image { ($0.tiles, $0.more) = ("null", #""extraFeatures": ["regionByPx"], "maxWidth": 300,"#) }
        #expect(made.levels.map(\.tileWidth) == [300, 300, 300] && made.levels.map(\.factor) == [4, 2, 1])
        let small = try image { ($0.profile, $0.tiles, $0.more) = ("level2", "null", #""maxArea": 5000,"#) }
        #expect(small.levels.last?.tileWidth == 64)
        // Version 2 has limits in its profile.
        let old = try image {
            ($0.version, $0.profile, $0.tiles, $0.inProfile) = (2, "level1", "null", #", "maxWidth": 300"#)
        }
        #expect(old.levels.map(\.tileWidth) == [300, 300, 300] && old.levels.map(\.factor) == [4, 2, 1])
        // Those beside it count, too.
        let beside = try image {
            ($0.version, $0.profile, $0.tiles, $0.more) = (2, "level1", "null", #""maxWidth": 300,"#)
            $0.inProfile = #", "maxArea": 5000"#
        }
        #expect(beside.levels.last?.tileWidth == 37)
        // The base is the description's address if it names none.
        let text = Info(version: 3).text("x").replacing(#""id": "x","#, with: "")
        #expect(try IIIFImage(Array(text.utf8), address: "http://h/b/info.json").base == "http://h/b")
    }

    @Test func whatIsInvalidIsNamed() throws {
        func said(_ change: (inout Info) -> Void) -> String {
            var info = Info()
            change(&info)
            return said(info.text("http://h/a"))
        }
        func said(_ text: String) -> String {
            let text = message { _ = try IIIFImage(Array(text.utf8), address: "http://h/a/info.json") }
            #expect(text.hasPrefix("http://h/a/info.json: "))
            return text
        }
        #expect(said { $0.width = 0 }.hasSuffix("width of 1 to 1073741824 was expected, not 0"))
        #expect(said { $0.height = 1 << 31 }.contains("height of 1 to"))
        #expect(said { $0.tiles = "7" }.hasSuffix("tiles with an array was expected, not 7"))
        #expect(said { $0.tiles = "[7]" }.hasSuffix("tiles[0].width of 16 to 4096 was expected"))
        #expect(
            said { $0.tiles = #"[{"width": 5000}]"# }.hasSuffix("tiles[0].width of 16 to 4096 was expected, not 5000")
        )
        #expect(said { $0.tiles = #"[{"width": 64, "height": "x"}]"# }.contains("tiles[0].height of 16 to 4096"))
        #expect(said { $0.tiles = #"[{"width": 64}]"# }.contains("tiles[0].scaleFactors with numbers"))
        // As libvips 8.14 describes an image that is one tile.
        let none = said { $0.tiles = #"[{"width": 64, "scaleFactors": []}]"# }
        #expect(none.hasSuffix("tiles[0].scaleFactors with numbers was expected, not an empty array"))
        #expect(said { $0.tiles = #"[{"width": 64, "scaleFactors": [1, 0.5]}]"# }.contains("tiles[0].scaleFactors[1]"))
        let many = (1...70).map { "\($0)" }.joined(separator: ",")
        #expect(said { $0.tiles = #"[{"width": 64, "scaleFactors": [\#(many)]}]"# }.contains("at most 64 scaleFactors"))
        #expect(said { $0.tiles = "null" }.contains("tiles were expected, sizes of at most 4096 pixels"))
        #expect(said { ($0.tiles, $0.sizes) = ("null", "[1]") }.contains("sizes[0].width of 1 to"))
        #expect(said { ($0.tiles, $0.profile, $0.more) = ("null", "level2", #""maxWidth": 8,"#) }.contains("maxWidth"))
        let other = Info().text("http://h/a").replacing("http://iiif.io/api/image\"", with: "other\"")
        #expect(said(other).hasSuffix(#"protocol "http://iiif.io/api/image" was expected, not "other""#))
        #expect(said { $0.version = 1 }.contains("@context of version 1.1, 2 or 3 of the Image API was expected"))
        #expect(said(Info().text("ftp://h/a")).contains("id with an address of http or https, of ASCII"))
        let password = String(repeating: "secret", count: 50)
        #expect(said(Info().text("ftp://me:\(password)@h/a")).hasSuffix(" was expected, not \"ftp://***@h/a\""))
        #expect(said(Info().text("http://h/a b")).contains("id with an address"))
        #expect(said("[1]").contains("an object was expected, not an array"))
        #expect(said("{\"a\": 1").contains("JSON was expected: a comma or } at byte 7"))
        #expect(said(String(repeating: "[", count: 100)).contains("at most 32 levels of nesting"))
        #expect(message { _ = try HTTPTileSource(iiif: "file:///a") }.hasPrefix("file:///a: an address that begins"))
        let server = try #require(DescribedServer())
        #expect(message { _ = try HTTPTileSource(iiif: "\(server.root)/a") }.hasSuffix("answered with the status 400"))
    }

    @Test func jsonIsRead() throws {
        func read(_ text: String) throws -> JSONValue { try JSONValue(Array(text.utf8), path: "p") }
        #expect(
            try read(" [1, -2.5e1, true, null, \"\"] ")
                == .array([.number(1), .number(-25), .bool(true), .null, .string("")])
        )
        #expect(try read(#""\u00e4\n\ud83d\ude00é\/""#) == .string("ä\n😀é/"))
        #expect(try read(#"{"a": 1, "a": 2, "b": {}}"#) == .object(["a": .number(1), "b": .object([:])]))
        for text in [
            "", "{", "[1,]", "{\"a\"}", "nul", "+1", "1 2", "\"\\x\"", "\"\\u12\"", "\"", "nan", "1e999", "\"\u{1}\"",
        ] {
            #expect(throws: TileSourceError.self, "\(text)") { try read(text) }
        }
    }

    /// A damaged description gives an error that begins with the address, or an image. The tiles of the image have
    /// addresses.
    @Test func damagedDescriptions() throws {
        let more = (0..<60).map { #""note \#($0)": "filler that is passed over \#($0)","# }.joined(separator: "\n")
        var info = Info(sizes: #"[{"width": 125, "height": 88}, {"width": 63, "height": 44}]"#, more: more)
        for version in 2...3 {
            info.version = version
            let bytes = Array(info.text("http://h/a").utf8)
            // The fields are after the filler.
            let starts = version == 2 ? [0] : [max(bytes.count - 4096, 0)]
            var (opened, random) = (0, SplitMix64(seed: UInt64(version)))
            for start in starts {
                for position in start..<min(start + 4096, bytes.count) {
                    var damaged = bytes
                    damaged[position] ^= UInt8(random.next() % 255 + 1)
                    if Self.look(damaged) { opened += 1 }
                }
            }
            #expect(opened > 100 && opened < 4096)
            for number in 0..<200 { #expect(!Self.look(Array(bytes[..<(bytes.count * number / 200)]))) }
        }
    }

    static func look(_ bytes: [UInt8]) -> Bool {
        do {
            let image = try IIIFImage(bytes, address: "http://h/a/info.json")
            let served = try image.served(as: "a", home: "http://h/a", wrapsX: false)
            for (index, level) in served.pyramid.levels.enumerated() {
                for tile in [(0, 0), (level.columns - 1, level.rows - 1)] {
                    let tile = TileCoordinate(level: index, column: tile.0, row: tile.1)
                    let place = image.placement(of: tile)
                    #expect(image.address(of: tile)?.hasPrefix("http") == true)
                    #expect(place.width > 0 && place.height > 0 && place.width <= level.tileWidth)
                }
            }
            return true
        } catch {
            #expect("\(error)".hasPrefix("http://h/a"))
            return false
        }
    }
}
