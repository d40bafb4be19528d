import Testing

@testable import TileCache
@testable import TileSources

/// Layers of WMTS servers, with templates and with keys and values.
@Suite(.timeLimit(.minutes(45))) struct WMTSTests {
    /// Capabilities with two matrix sets and some layers.
    struct Capabilities {
        var layers = [Layer()]
        /// Address of `GetTile`; `nil` for none.
        var keyValues: String?
        /// Columns and rows of the matrices, the finest last.
        var matrices = [(1, 1), (2, 2), (4, 3)]
        var tile = (64, 64)
        var corners = [
            "-20037508.3427892 20037508.3427892", "-20037508.342789 20037508.342789",
            "-20037508.3427892 20037508.3427892",
        ]
        var more = ""

        struct Layer {
            var id = "roads"
            var formats = ["image/png"]
            var template: String?
            var sets = ["grid"]
            var limits = ""
            var more = ""
        }

        var text: String {
            let layers = layers.map { layer in
                let links = layer.sets.map {
                    "<TileMatrixSetLink><TileMatrixSet>\($0)</TileMatrixSet>\(layer.limits)</TileMatrixSetLink>"
                }
                let template = layer.template.map {
                    #"<ResourceURL format="\#(layer.formats[0])" resourceType="tile" template="\#($0)"/>"#
                }
                return """
                    <Layer><ows:Title>A title</ows:Title><ows:Identifier>\(layer.id)</ows:Identifier>
                    <Style><ows:Identifier>grey</ows:Identifier></Style>
                    <Style isDefault="true"><ows:Identifier>in colour</ows:Identifier></Style>
                    \(layer.formats.map { "<Format>\($0)</Format>" }.joined())\(layer.more)
                    \(links.joined())\(template ?? "")</Layer>
                    """
            }
            let matrices = matrices.enumerated().map { index, size in
                """
                <TileMatrix><ows:Identifier>EPSG:3857:\(index)</ows:Identifier>
                <ScaleDenominator>\(559082264.0287178 / Double(1 << index))</ScaleDenominator>
                <TopLeftCorner>\(corners[index])</TopLeftCorner>
                <TileWidth>\(tile.0)</TileWidth><TileHeight>\(tile.1)</TileHeight>
                <MatrixWidth>\(size.0)</MatrixWidth><MatrixHeight>\(size.1)</MatrixHeight></TileMatrix>
                """
            }
            let operation = keyValues.map {
                """
                <ows:OperationsMetadata><ows:Operation name="GetCapabilities"/><ows:Operation name="GetTile"><ows:DCP><ows:HTTP>
                <ows:Get xlink:href="http://rest/"><ows:Constraint name="GetEncoding"><ows:AllowedValues>
                <ows:Value>RESTful</ows:Value></ows:AllowedValues></ows:Constraint></ows:Get>
                <ows:Get xlink:href="\($0)"><ows:Constraint name="GetEncoding"><ows:AllowedValues>
                <ows:Value>KVP</ows:Value></ows:AllowedValues></ows:Constraint></ows:Get>
                </ows:HTTP></ows:DCP></ows:Operation></ows:OperationsMetadata>
                """
            }
            return """
                <?xml version="1.0" encoding="UTF-8"?>
                <Capabilities xmlns="http://www.opengis.net/wmts/1.0" xmlns:ows="http://www.opengis.net/ows/1.1"
                 xmlns:xlink="http://www.w3.org/1999/xlink" version="1.0.0">\(operation ?? "")
                <Contents>\(layers.joined())
                <TileMatrixSet><ows:Identifier>other</ows:Identifier></TileMatrixSet>
                <TileMatrixSet><ows:Identifier>grid</ows:Identifier><ows:SupportedCRS>EPSG:3857</ows:SupportedCRS>
                \(matrices.joined())</TileMatrixSet>\(more)</Contents></Capabilities>
                """
        }

        func layer(_ fragment: String = "") throws -> WMTSLayer {
            try WMTSLayer(Array(text.utf8), try WMTSChoice("http://h/c.xml\(fragment)"))
        }
    }

    /// Tiles put together are the image, by templates and by keys and values.
    @Test(arguments: [false, true]) func tilesAreTheImage(hasTemplate: Bool) throws {
        let server = try #require(DescribedServer())
        var made = Capabilities()
        made.layers[0].more = """
            <Dimension><ows:Identifier>Time</ows:Identifier><Default>2026-01-01</Default></Dimension>
            """
        if hasTemplate {
            made.layers[0].template =
                "\(server.root)/{Layer}/{style}/{TileMatrixSet}/{Time}/{TileMatrix}/{TileRow}/{TileCol}.png"
        } else {
            made.keyValues = "\(server.root)/kvp?map=a&amp;"
        }
        server.add(made.text, at: "/c.xml")
        let image = TestImage(width: 256, height: 192)
        for (index, size) in made.matrices.enumerated() {
            let factor = 4 >> index
            let level = image.thinned(by: factor)
            for column in 0..<size.0 {
                for row in 0..<size.1 {
                    let part = level.part(x: column * 64, y: row * 64, width: 64, height: 64)
                    let path =
                        hasTemplate
                        ? "/roads/in%20colour/grid/2026-01-01/EPSG:3857:\(index)/\(row)/\(column).png"
                        : "/kvp?map=a&SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0&LAYER=roads&STYLE=in%20colour"
                            + "&FORMAT=image%2Fpng&TILEMATRIXSET=grid&Time=2026-01-01&TILEMATRIX=EPSG:3857:\(index)"
                            + "&TILEROW=\(row)&TILECOL=\(column)"
                    server.add(part.png, at: path)
                }
            }
        }
        let source = try HTTPTileSource(wmts: "\(server.root)/c.xml")
        #expect(source.pyramid.levels.map(\.worldPixelsPerPixel) == [4, 2, 1] && source.warning == nil)
        #expect(source.pyramid.worldWidth == 256 && source.pyramid.worldHeight == 192)
        for level in 0..<3 { _ = try compare(source, level: level, with: image.thinned(by: 4 >> level)) }
        #expect(server.refused.isEmpty && source.statistics.failureCount == 0, "\(server.refused)")
    }

    /// Tiles outside a layer's limits are absent without a request. Matrices without limits are not the layer's.
    @Test func limitsAreKept() throws {
        let server = try #require(DescribedServer())
        var made = Capabilities()
        made.layers[0].template = "\(server.root)/{TileMatrix}/{TileRow}/{TileCol}"
        made.layers[0].limits = """
            <TileMatrixSetLimits>
            <TileMatrixLimits><TileMatrix>EPSG:3857:2</TileMatrix><MinTileRow>1</MinTileRow><MaxTileRow>2</MaxTileRow>
            <MinTileCol>1</MinTileCol><MaxTileCol>9</MaxTileCol></TileMatrixLimits>
            <TileMatrixLimits><TileMatrix>EPSG:3857:1</TileMatrix><MinTileRow>0</MinTileRow><MaxTileRow>1</MaxTileRow>
            <MinTileCol>0</MinTileCol><MaxTileCol>1</MaxTileCol></TileMatrixLimits>
            </TileMatrixSetLimits>
            """
        server.add(made.text, at: "/c.xml")
        let image = TestImage(width: 256, height: 192)
        for column in 1..<4 {
            for row in 1..<3 {
                let part = image.part(x: column * 64, y: row * 64, width: 64, height: 64)
                server.add(part.png, at: "/EPSG:3857:2/\(row)/\(column)")
            }
        }
        for (column, row) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            let part = image.thinned(by: 2).part(x: column * 64, y: row * 64, width: 64, height: 64)
            server.add(part.png, at: "/EPSG:3857:1/\(row)/\(column)")
        }
        let source = try HTTPTileSource(wmts: "\(server.root)/c.xml")
        #expect(source.pyramid.levels.map(\.worldPixelsPerPixel) == [2, 1])
        #expect(source.contents == PixelRect(minX: 64, minY: 64, maxX: 256, maxY: 192))
        // The coarser matrix has more.
        #expect(source.pyramid.contents == PixelRect(minX: 0, minY: 0, maxX: 256, maxY: 192))
        #expect(source.pyramid.hasTile(TileCoordinate(level: 1, column: 1, row: 1)))
        #expect(!source.pyramid.hasTile(TileCoordinate(level: 1, column: 0, row: 1)))
        let drawn = try compare(source, level: 1, with: image) { $0.column == 0 || $0.row == 0 }
        #expect(drawn.count == 6 && server.refused.isEmpty)
        // Nothing outside of the limits is asked of the source.
        #expect(source.statistics.absent == 0)
    }

    /// A server may extend its limits: what lies outside of them is not asked for, and nothing of it is stored.
    @Test func limitsMayBeExtended() throws {
        let server = try #require(DescribedServer())
        for column in 0..<4 {
            for row in 0..<3 {
                server.add(TestImage(width: 64, height: 64).png, at: "/EPSG:3857:2/\(row)/\(column)")
            }
        }
        let folder = ScratchFolder()
        func writes(from first: Int, later: Int64, expecting count: Int) throws -> Int {
            var made = Capabilities()
            made.layers[0].template = "\(server.root)/{TileMatrix}/{TileRow}/{TileCol}"
            made.layers[0].limits = """
                <TileMatrixSetLimits><TileMatrixLimits><TileMatrix>EPSG:3857:2</TileMatrix>
                <MinTileRow>\(first)</MinTileRow><MaxTileRow>2</MaxTileRow>
                <MinTileCol>\(first)</MinTileCol><MaxTileCol>3</MaxTileCol></TileMatrixLimits></TileMatrixSetLimits>
                """
            server.add(made.text, at: "/c\(first).xml")
            let source = try HTTPTileSource(wmts: "\(server.root)/c\(first).xml")
            return try TileSourcesTests.writes(of: source, expecting: count, in: folder, later: later)
        }
        #expect(try writes(from: 1, later: 0, expecting: 6) == 6)
        #expect(try writes(from: 0, later: 60, expecting: 6) == 6)
        #expect(try writes(from: 0, later: 120, expecting: 0) == 0)
        #expect(server.refused.isEmpty)
    }

    @Test func fragmentsChoose() throws {
        var made = Capabilities()
        made.keyValues = "http://h/t"
        made.layers = [
            .init(id: "vector", formats: ["application/vnd.mapbox-vector-tile"]),
            .init(id: "broken", sets: ["nowhere"]),
            .init(id: "a b", formats: ["text/html", "image/jpeg", "image/png"]),
            .init(id: "last", formats: ["image/webp"], template: "https://h/{TileMatrix}/{TileCol}/{TileRow}.webp"),
        ]
        let first = try made.layer()
        #expect(first.layer == "a b" && first.matrixSet == "grid" && first.style == "in colour")
        #expect(first.warning == "http://h/c.xml: the layer \"a b\" of 4 was chosen; #layer= chooses another")
        #expect(first.address(of: .init(level: 0, column: 0, row: 0))?.contains("FORMAT=image%2Fjpeg") == true)
        let other = try made.layer("#layer=a%20b&matrixSet=grid&style=grey&format=image/png")
        #expect(other.warning == nil && other.style == "grey")
        let address =
            "http://h/t?SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0&LAYER=a%20b&STYLE=grey&FORMAT=image%2Fpng"
            + "&TILEMATRIXSET=grid&TILEMATRIX=EPSG:3857:2&TILEROW=1&TILECOL=3"
        #expect(other.address(of: .init(level: 2, column: 3, row: 1)) == address)
        #expect(
            try made.layer("#layer=last").address(of: .init(level: 1, column: 1, row: 0))
                == "https://h/EPSG:3857:1/1/0.webp"
        )
        func said(_ fragment: String) -> String { message { _ = try made.layer(fragment) } }
        #expect(said("#layer=x").hasSuffix("a layer \"x\" was expected; there are vector, broken, a b, last"))
        #expect(
            said("#layer=vector").contains(
                "Layer \"vector\": a Format image/png, image/jpeg or image/webp was expected"
            )
        )
        #expect(said("#layer=broken").contains("a link to a TileMatrixSet of Contents was expected; there is none"))
        #expect(said("#layer=last&matrixSet=x").contains("TileMatrixSet \"x\" was expected; there are grid"))
        #expect(said("#layer=last&format=image/gif").contains("a Format image/gif was expected, not image/webp"))
        #expect(said("#layer=last&style=x").hasSuffix("a Style \"x\" was expected; there are grey, in colour"))
        #expect(said("#zoom=3").contains("layer=, matrixSet=, style=, format= or query= was expected after #"))
    }

    /// Reads matrices whose ratios are no powers of two. Leaves out those with another corner.
    @Test func matricesOfAnyRatio() throws {
        var made = Capabilities()
        made.keyValues = "http://h/t"
        made.corners[1] = "0 0"
        made.matrices = [(1, 1), (2, 2), (5, 3)]
        made.tile = (256, 128)
        let layer = try made.layer()
        #expect(layer.matrices.map(\.id) == ["EPSG:3857:0", "EPSG:3857:2"])
        #expect(layer.warning?.contains("1 matrices of \"grid\" begin at another corner") == true)
        let served = try layer.served(as: "a", home: "a", wrapsX: true)
        let levels = served.pyramid.levels
        #expect(levels[0].width == 320 && levels[0].height == 96 && levels[0].columns == 2)
        // The coarse matrix is too small for the world: what it lacks is absent.
        #expect(layer.address(of: .init(level: 0, column: 1, row: 0)) == nil)
        #expect(levels[1].width == 1280 && levels[1].tileHeight == 128 && served.contents == nil)
    }

    /// A coordinate that should be 0 has the rounding of the sum that it was computed from.
    @Test func cornersMayBeRounded() throws {
        var made = Capabilities()
        made.keyValues = "http://h/t"
        made.corners = ["4.656612873077393E-10 6000000", "0 6000000.0000000009", "-9.313225746154785E-10 6000000"]
        let layer = try made.layer()
        #expect(layer.matrices.count == 3 && layer.warning == nil)
        // What is more than rounding is a place of its own, here less than a pixel away.
        made.corners[1] = "0.001 6000000"
        #expect(try made.layer().matrices.map(\.origin) == [.init(x: 0, y: 0), .init(x: 0, y: 0), .init(x: 0, y: 0)])
    }

    @Test func whatIsInvalidIsNamed() throws {
        func said(_ change: (inout Capabilities) -> Void) -> String {
            var made = Capabilities()
            made.keyValues = "http://h/t"
            change(&made)
            let text = message {
                let layer = try made.layer()
                _ = try layer.served(as: "http://h/c.xml", home: "http://h/c.xml", wrapsX: false)
            }
            #expect(text.hasPrefix("http://h/c.xml: "), "\(text)")
            return text
        }
        func replaced(_ old: String, _ new: String) -> String {
            var made = Capabilities()
            made.keyValues = "http://h/t"
            let text = made.text.replacing(old, with: new)
            return message { _ = try WMTSLayer(Array(text.utf8), try WMTSChoice("http://h/c.xml")) }
        }
        #expect(
            said { $0.keyValues = nil }.contains(
                "a ResourceURL for tiles of image/png was expected, or an Operation GetTile"
            )
        )
        let kind = "an address of http or https was expected, of ASCII characters without spaces, not"
        #expect(said { $0.keyValues = "ftp://h/" }.contains("\(kind) \"ftp://h/\""))
        // A password is left out before a long address is cut off.
        let password = String(repeating: "secret", count: 50)
        #expect(said { $0.keyValues = "ftp://me:\(password)@h/" }.contains("\(kind) \"ftp://***@h/\""))
        #expect(said { $0.layers = [] }.contains("Contents: a Layer was expected"))
        #expect(said { $0.layers[0].formats = [] }.contains("and there is none"))
        #expect(said { $0.matrices = [] }.contains("TileMatrixSet \"grid\": a TileMatrix was expected"))
        #expect(
            said { $0.tile.0 = 8 }.contains(
                "TileMatrix \"EPSG:3857:0\": TileWidth of 16 to 4096 was expected, not \"8\""
            )
        )
        #expect(said { $0.tile.1 = 5000 }.contains("TileHeight of 16 to 4096"))
        #expect(said { $0.matrices[2].0 = 0 }.contains("TileMatrix \"EPSG:3857:2\": MatrixWidth of 1 to"))
        #expect(said { $0.matrices[2].1 = 1 << 31 }.contains("MatrixHeight of 1 to"))
        #expect(said { $0.corners[0] = "5" }.contains("TopLeftCorner with 2 numbers was expected, not \"5\""))
        let zeros = String(repeating: "0", count: 199)
        #expect(said { $0.corners[0] = "\(zeros) 2" }.contains("TopLeftCorner of at most 200 bytes was expected"))
        #expect(said { $0.corners[0] = "inf 2" }.contains("TopLeftCorner with 2 numbers"))
        #expect(replaced("<ScaleDenominator>5", "<ScaleDenominator>-5").contains("ScaleDenominator above 0"))
        #expect(
            replaced("ScaleDenominator>", "Scale>").contains(
                "TileMatrix \"EPSG:3857:0\": ScaleDenominator was expected"
            )
        )
        #expect(replaced("ows:Identifier>EPSG", "ows:Name>EPSG").contains("expected"))
        func template(_ text: String) -> String { said { $0.layers[0].template = text } }
        #expect(template("http://h/{TileMatrix}/{TileRow}").contains("{TileRow} and {TileCol} were expected in"))
        #expect(template("http://h/{TileMatrix}/{TileRow}/{TileCol").contains("a } was expected for each {"))
        #expect(template("http://h/{Time}/{TileMatrix}").contains("{Time} has no Dimension of that name"))
        let long = String(repeating: "x", count: 9000)
        #expect(template("http://h/\(long)/{TileMatrix}/{TileRow}/{TileCol}").contains("at most 8192 bytes"))
        #expect(said { $0.layers[0].id = long }.contains("an address of at most 8192 bytes was expected"))
        #expect(said { $0.more = String(repeating: "<Note/>", count: 1 << 20) }.contains("fewer elements"))
        #expect(
            said {
                ($0.matrices, $0.corners) = (
                    .init(repeating: (1, 1), count: 300), .init(repeating: "0 0", count: 300)
                )
            }.contains("at most 200 matrices were expected")
        )
        #expect(template("/{TileMatrix}/{TileRow}/{TileCol}").contains("an address of http or https"))
        func limits(_ text: String) -> String {
            said {
                $0.layers[0].limits =
                    "<TileMatrixSetLimits><TileMatrixLimits>\(text)</TileMatrixLimits></TileMatrixSetLimits>"
            }
        }
        #expect(limits("").contains("TileMatrixLimits: TileMatrix was expected"))
        #expect(
            limits("<TileMatrix>x</TileMatrix>").contains(
                "a TileMatrix \"x\" was expected, which TileMatrixLimits names"
            )
        )
        #expect(
            limits("<TileMatrix>EPSG:3857:0</TileMatrix><MinTileCol>-1</MinTileCol>").contains("MinTileCol of 0 to")
        )
        #expect(
            limits("<TileMatrix>EPSG:3857:0</TileMatrix><MinTileCol>2</MinTileCol><MaxTileCol>1</MaxTileCol>")
                .contains("MaxTileCol of 2 to")
        )
        func text(_ bytes: String) -> String {
            message { _ = try WMTSLayer(Array(bytes.utf8), try WMTSChoice("http://h/c.xml")) }
        }
        #expect(
            text("<html/>").contains("WMTS capabilities were expected, an element Capabilities with Contents, not html")
        )
        #expect(text("").contains("XML was expected"))
        let entity = "<!DOCTYPE x [<!ENTITY a \"ha\">]><Capabilities>&a;</Capabilities>"
        #expect(text(entity).contains("no declaration of an entity"))
        let declared = "<!DOCTYPE x [<!ATTLIST a b CDATA \"value\">]><Capabilities><a/><a/></Capabilities>"
        #expect(text(declared).contains("no declaration of an attribute"))
        let deep = String(repeating: "<a>", count: 100) + String(repeating: "</a>", count: 100)
        #expect(text(deep).contains("at most 64 levels of nesting"))
        #expect(throws: TileSourceError.self) {
            try XMLElement(Array("<a><b c='1'/><b/><b/></a>".utf8), path: "p", limit: 4)
        }
        #expect(message { _ = try HTTPTileSource(wmts: "c.xml") }.hasPrefix("c.xml: an address that begins"))
        for address in ["http://h/a b#layer=c", "http://h:99999/"] {
            let said = message { _ = try HTTPTileSource(wmts: address) }
            #expect(said.hasPrefix("\(address): a valid address was expected"))
        }
    }

    /// Damaged capabilities give an error that begins with the address, or a layer. The layer's addresses can be told.
    @Test func damagedCapabilities() throws {
        var made = Capabilities()
        made.keyValues = "http://h/t"
        made.layers[0].template = "http://h/{TileMatrix}/{TileRow}/{TileCol}"
        made.more = String(repeating: "<Note>filler that is passed over</Note>\n", count: 60)
        let bytes = Array(made.text.utf8)
        #expect(bytes.count > 4096)
        var (opened, random) = (0, SplitMix64(seed: 1))
        for position in 0..<4096 {
            var damaged = bytes
            damaged[position] ^= UInt8(random.next() % 255 + 1)
            if Self.look(damaged) { opened += 1 }
        }
        #expect(opened > 100 && opened < 4096)
        for number in 0..<200 { #expect(!Self.look(Array(bytes[..<(bytes.count * number / 200)]))) }
    }

    static func look(_ bytes: [UInt8]) -> Bool {
        do {
            let layer = try WMTSLayer(bytes, try WMTSChoice("http://h/c.xml"))
            let served = try layer.served(as: "http://h/c.xml", home: "http://h/c.xml", wrapsX: false)
            for (index, level) in served.pyramid.levels.enumerated() {
                for place in [(0, 0), (level.columns - 1, level.rows - 1)] {
                    let tile = TileCoordinate(level: index, column: place.0, row: place.1)
                    if let address = layer.address(of: tile) { #expect(address.hasPrefix("http")) }
                    #expect(layer.placement(of: tile).width == level.tileWidth)
                }
            }
            return true
        } catch {
            #expect("\(error)".hasPrefix("http://h/c.xml"))
            return false
        }
    }
}
