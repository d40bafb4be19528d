import Testing

@testable import TileCache
@testable import TileSources

/// Sets that a TileJSON describes, and parameters that a WMTS address hands on to its tiles.
@Suite(.timeLimit(.minutes(45))) struct TileJSONTests {
    private let picture = TestImage(width: 64, height: 64, seed: 3)

    /// The set's zooms, bounds and order of rows, and its own size of tiles, which the first answer tells.
    @Test(arguments: ["xyz", "tms"]) func aSetIsOpened(scheme: String) throws {
        let server = try #require(DescribedServer(missing: 404))
        let bounds = "[-180, 0, 180, 85.0511287798066]"
        server.add(
            #"{"tilejson":"2.2.0","tiles":["\#(server.root)/a/{z}/{x}/{y}.png?key=k","\#(server.root)/b/{z}/{x}/{y}.png?key=k"],"#
                + #""minzoom":1,"maxzoom":2,"bounds":\#(bounds),"scheme":"\#(scheme)"}"#,
            at: "/tiles.json?key=k"
        )
        for zoom in 1...2 {
            let side = 32 << zoom
            for column in 0..<1 << zoom {
                for row in 0..<1 << (zoom - 1) {
                    let part = TestImage(width: side, height: side, seed: zoom)
                        .part(x: column * 32, y: row * 32, width: 32, height: 32)
                    let number = scheme == "xyz" ? row : (1 << zoom) - 1 - row
                    let place = (column + row) % 2 == 0 ? "a" : "b"
                    server.add(part.png, at: "/\(place)/\(zoom)/\(column)/\(number).png?key=k")
                }
            }
        }
        let address = try #require(TileSourceAddress("tilejson:\(server.root)/tiles.json?key=k"))
        let source = try address.open()
        #expect(source.pyramid.levels.count == 2 && source.pyramid.worldWidth == 128)
        #expect(source.contents.maxX == 128 && abs(source.contents.maxY - 64) < 0.001)
        for level in 0...1 {
            let image = TestImage(width: 64 << level, height: 64 << level, seed: level + 1)
            _ = try compare(source, level: level, with: image) { $0.row >= 1 << level }
        }
        #expect(server.refused.isEmpty, "\(server.refused)")
    }

    /// Headers, user and password go to the server of the address, and to no other: with the first tile, too, whose size
    /// is looked at.
    @Test(arguments: [false, true]) func headersGoToTheAddressOnly(isElsewhere: Bool) throws {
        let servers = [try #require(DescribedServer()), try #require(DescribedServer())]
        let tiles = servers[isElsewhere ? 1 : 0]
        servers[0].add(#"{"tiles":["\#(tiles.root)/{z}/{x}/{y}.png"],"maxzoom":0}"#, at: "/tiles.json")
        tiles.add(picture.png, at: "/0/0/0.png")
        let address = servers[0].root.replacing("://", with: "://me:secret@") + "/tiles.json"
        let source = try HTTPTileSource(
            tileJSON: address,
            http: HTTPTileOptions(headers: ["X-Key: k"])
        )
        #expect(source.pyramid.levels[0].tileWidth == 64)
        _ = try compare(source, level: 0, with: picture)
        for (index, server) in servers.enumerated() {
            for request in server.asked {
                let isHome = index == 0
                #expect(request.headers["x-key"] == (isHome ? "k" : nil), "\(request.path)")
                // Of me:secret.
                #expect(request.headers["authorization"] == (isHome ? "Basic bWU6c2VjcmV0" : nil), "\(request.path)")
            }
        }
        #expect(servers[0].asked.count == (isElsewhere ? 1 : 3) && servers[1].asked.count == (isElsewhere ? 2 : 0))
    }

    /// From a file, with a size that it states: nothing is asked for when it is opened.
    @Test func aFileIsOpened() throws {
        let folder = ScratchFolder()
        let text = #"{"tiles":["http://127.0.0.1:1/{z}/{x}/{y}.png"],"maxzoom":"3","tileSize":512}"#
        let path = folder.write(Array(text.utf8), to: "map.json")
        let source = try #require(TileSourceAddress("tilejson:\(path)")).open()
        #expect(source.pyramid.worldWidth == 4096 && source.pyramid.levels.count == 4 && source.name == path)
    }

    @Test(
        arguments: [
            ("{}", "tiles with the templates of addresses was expected"), ("[]", "tiles with the templates"),
            (#"{"tiles":["/{z}/{x}/{y}"]}"#, "begins with http://"),
            (#"{"tiles":["http://h/{z}/{x}"]}"#, "places for {z}"),
            (#"{"tiles":["http://h/{q}"],"minzoom":31}"#, "minzoom of 0 to 30 was expected, not 31"),
            (#"{"tiles":["http://h/{q}"],"minzoom":3,"maxzoom":2}"#, "a maxzoom of 3 or more was expected, not 2"),
            (#"{"tiles":["http://h/{q}"],"bounds":[1,2]}"#, "bounds with four numbers"),
            (#"{"tiles":["http://h/{q}"],"scheme":"zyx"}"#, "scheme \"xyz\" or \"tms\" was expected, not \"zyx\""),
            (#"{"tiles":["http://h/{q}"],"vector_layers":[]}"#, "these are vector tiles"), ("x", "JSON was expected"),
        ]
    ) func whatIsNoTileJSONIsNamed(text: String, part: String) {
        let folder = ScratchFolder()
        let path = folder.write(Array(text.utf8), to: "map.json")
        let said = message { _ = try HTTPTileSource(tileJSON: path) }
        #expect(said.hasPrefix(path) && said.contains(part), "\(said)")
    }

    /// A key of the capabilities' address goes to tiles of the same server; `query` goes to any.
    @Test(
        arguments: [
            ("?SERVICE=WMTS&REQUEST=GetCapabilities&key=a%20b", "", "?key=a%20b"),
            ("", "&query=key%3Dc%26v%3D2", "?key=c&v=2"),
            ("?key=a", "&query=key%3Dc", "?key=c"), ("", "", ""),
        ]
    ) func aKeyIsHandedOn(query: String, choice: String, tail: String) throws {
        let server = try #require(DescribedServer())
        var made = WMTSTests.Capabilities()
        made.matrices = [(1, 1)]
        made.layers[0].template = "\(server.root)/{TileMatrix}/{TileRow}/{TileCol}.png"
        server.add(made.text, at: "/c.xml\(query)")
        server.add(picture.png, at: "/EPSG:3857:0/0/0.png\(tail)")
        let source = try HTTPTileSource(wmts: "\(server.root)/c.xml\(query)#layer=roads\(choice)")
        _ = try compare(source, level: 0, with: picture)
        #expect(server.refused.isEmpty, "\(server.refused)")
        // By keys and values, where a parameter of the tile's own is kept.
        made.layers[0].template = nil
        made.keyValues = "\(server.root)/kv?map=m"
        let layer = try WMTSLayer(
            Array(made.text.utf8),
            WMTSChoice("\(server.root)/c.xml?map=other&key=k&service=WMTS#layer=roads")
        )
        let tile = TileCoordinate(level: 0, column: 0, row: 0)
        let address = try #require(layer.address(of: tile))
        #expect(address.hasPrefix("\(server.root)/kv?map=m&SERVICE=WMTS") && address.hasSuffix("&TILECOL=0&key=k"))
        // Not to another server.
        made.keyValues = "http://127.0.0.1:1/kv"
        let other = try WMTSLayer(Array(made.text.utf8), WMTSChoice("\(server.root)/c.xml?key=k"))
        #expect(try !#require(other.address(of: tile)).contains("key=k"))
    }
}
