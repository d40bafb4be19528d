import Testing

@testable import TileCache
@testable import TileSources

/// Templates of servers and of files, and trees that they find.
@Suite(.timeLimit(.minutes(45))) struct TileTemplateTests {
    private let folder = ScratchFolder()

    private func image(_ zoom: Int, _ column: Int, _ row: Int) -> TestImage {
        TestImage(width: 16, height: 16, seed: zoom * 1000 + column * 30 + row)
    }

    /// The values are those of the writers' own documentation, or were computed by hand.
    @Test(
        arguments: [
            ("{z}/{x}/{y}", 4, 5, 1, "4/5/1"), ("{z}/{x}/{-y}", 4, 5, 1, "4/5/14"),
            ("{z}/{x}/{y}#rows=bottom", 4, 5, 1, "4/5/14"), ("{z}/{x}/{-y}#rows=bottom", 4, 5, 1, "4/5/1"),
            ("{q}", 3, 3, 5, "213"), ("{q}#rows=bottom", 3, 3, 2, "213"), ("{q}", 0, 0, 0, ""),
            ("L{z:02}/R{y:08x}/C{x:08x}", 9, 1_234_567, 87_654_321, "L09/R05397fb1/C0012d687"),
            ("{z}{x:8X}{y}", 9, 1_234_567, 0, "90012D6870"),
            (
                "{z:02}/{x/10000:04}/{x%10000:04}/{y/10000:04}/{y%10000:04}", 22, 12_345_678, 98_765_432,
                "22/1234/5678/9876/5432"
            ),
            ("{z}-{x/1000%1000:03}-{x}-{y}", 25, 12_345_678, 7, "25-345-12345678-7"),
            ("{s}.{z}.{x}.{y}", 3, 1, 1, "c.3.1.1"), ("{s}.{z}.{x}.{y}#s=0123", 3, 1, 1, "2.3.1.1"),
            ("{s}.{z}.{x}.{y}#s=t1,t2", 3, 1, 2, "t2.3.1.2"), ("{z}/{x}/{y}{r}", 1, 1, 1, "1/1/1"),
            ("{z}/{x}/{y}{r}?scale={ratio}#ratio=2", 1, 1, 1, "1/1/1@2x?scale=2"),
            ("{z}/{x}/{y}?s={ratio}", 1, 1, 1, "1/1/1?s=1"),
            ("{z}/{x}/{y}#a", 1, 1, 1, "1/1/1#a"),
        ]
    ) func namesAreWritten(text: String, zoom: Int, column: Int, row: Int, name: String) throws {
        let template = try TileTemplate("http://h/\(text)")
        #expect(template.address(zoom: zoom, column: column, row: row) == "http://h/\(name)")
    }

    @Test(
        arguments: [
            ("{z}/{x}", "places for {z}, {x} and {y} (or {-y}), or for {q}"), ("{w}/{q}", "not {w}"),
            ("{z}/{x}/{y:3x4}", "not {y:3x4}"), ("{z}/{x/0}/{y}", "not {x/0}"), ("{z}/{x%0}/{y}", "not {x%0}"),
            ("{z}/{x:99}/{y}", "not {x:99}"), ("{q}#rows=up", "not \"rows=up\""), ("{q}#s=", "not \"s=\""),
            ("{q}#ratio=5", "not \"ratio=5\""), ("{q}#world=flat", "not \"world=flat\""),
            ("{q}#rows=top&x=1", "not \"x=1\""),
            ("{z}/{x/99999999999999999999}/{y}", "not {x/99999999999999999999}"),
            ("{z}/{x/1000}/{y}", "parts that tell each zoom"), ("{z}/{x%1000}/{y}", "parts that tell each zoom"),
            ("{z%30}/{x}/{y}", "parts that tell each zoom"), ("{z}/{x}/{y/10}/{-y%9}", "parts that tell each zoom"),
            ("{z}/{x}/{y/1000}/{y%999}", "parts that tell each zoom"),
            ("{z}/{x}/{y/1500%1000}/{y/9}/{y%8}", "parts that tell each zoom"),
            (String(repeating: "a", count: 8173) + "/{z}/{x}/{y}#ratio=1", "at most 8192 bytes"),
        ]
    ) func whatIsNoPlaceIsNamed(text: String, part: String) {
        let said = message { _ = try TileTemplate("http://h/\(text)") }
        #expect(said.contains(part), "\(said)")
        #expect(message { _ = try TileTemplate(files: text) }.contains(part))
    }

    /// Parts that tell each number together, and the longest template.
    @Test(
        arguments: [
            "{z%31}/{x}/{y}", "{z}/{x%1000}/{x/999}/{y}", "{z}/{x%1000}/{x/1000%1000}/{x/1000000}/{-y}",
            "{z}/{x%65536}-{x/65536%32768}/{y}", String(repeating: "a", count: 8180) + "/{z}/{x}/{y}",
        ]
    ) func eachNumberIsTold(text: String) throws {
        let template = try TileTemplate(files: text)
        var names: Set<String> = []
        for column in [0, 1, 999, 1000, 1001, 65_535, 65_536, 1 << 30, (1 << 31) - 1] {
            #expect(names.insert(template.address(zoom: 30, column: column, row: 5)).inserted, "\(column)")
        }
    }

    /// Every tile of a tree in each layout of MapProxy, ArcGIS and TileCache is at its place, and the tree's extent is known.
    @Test(
        arguments: [
            "tc:DIR", "tc:DIR#rows=bottom", "mp:DIR", "arcgis:DIR/", "quadkey:DIR", "file:DIR/{y}/{x}/{z}.png",
            "file:DIR/{z}-{y}-{x}.png", "file:DIR/a b/{z}/{y:04}_{x:04}", "file:DIR/{x}/{z}/{-y}.png", "xyz:DIR",
            "tms:DIR",
            "file:DIR/{z}/{z}-{x/4}/{x}-{y}.png",
        ]
    ) func treesOfEachLayout(text: String) throws {
        let address = try #require(TileSourceAddress(text.replacing("DIR", with: folder.path)))
        #expect(TileSourceAddress(address.description) == address)
        var template = ""
        switch address {
        case .files(let text): template = text
        case .folder(let path, let layout): template = "\(path)/\(layout.template)"
        default: Issue.record("\(address) is another one")
        }
        let (root, names, _) = try TileTemplate.files(template)
        let base = String(root.dropFirst(folder.path.utf8.count + 1))
        func isLeftOut(_ zoom: Int, _ column: Int, _ row: Int) -> Bool {
            column >> (zoom - 2) == 3 || zoom == 4 && column == 5 && row == 6
        }
        for zoom in 2...4 {
            for column in 0..<1 << zoom {
                for row in 0..<1 << zoom where !isLeftOut(zoom, column, row) {
                    let name = names.address(zoom: zoom, column: column, row: row)
                    folder.write(image(zoom, column, row).png, to: "\(base.isEmpty ? "" : base + "/")\(name).png")
                }
            }
        }
        folder.write([1, 2], to: "README.txt")
        let source = try #require(try address.open() as? FolderTileSource)
        #expect(source.zooms == 2...4 && source.warning == nil && source.world == .square)
        #expect(source.contents == PixelRect(minX: 0, minY: 0, maxX: 192, maxY: 256))
        for zoom in 2...4 {
            for column in 0..<1 << zoom {
                for row in 0..<1 << zoom {
                    let loaded = try source.loaded(zoom - 2, column, row)
                    if isLeftOut(zoom, column, row) {
                        #expect(loaded.outcome == .absent)
                    } else {
                        #expect(loaded.outcome == .pixels && loaded.image == image(zoom, column, row))
                    }
                }
            }
        }
        #expect(source.statistics.failureCount == 0)
    }

    /// A number of which only a part is written is that of no tile; digits that are not padded so are none.
    @Test func onlyNamesThatTheTemplateWritesAreTiles() throws {
        for name in ["03/1/2", "3/01/2", "3/1/02", "3/1/2@2x", "31/1/2", "3/8x/2", "3/1/8", "3/16/1"] {
            folder.write(image(1, 1, 1).png, to: "\(name).png")
        }
        let said = message { _ = try FolderTileSource(template: "\(folder.path)/{z}/{x}/{y}.png") }
        #expect(said.hasSuffix("files with such paths were expected, with the numbers of tiles; there is none"))
        folder.write(image(3, 1, 2).png, to: "3/1/2.png")
        #expect(try FolderTileSource(template: "\(folder.path)/{z}/{x}/{y}.png").zooms == 3...3)
        #expect(
            message { _ = try FolderTileSource(template: "\(folder.path)/no/{q}.png") }.contains(
                "a folder that can be read"
            )
        )
        #expect(
            message { _ = try FolderTileSource(template: "\(folder.path)/{s}/{q}.png") }.contains("{s} is a place for")
        )
        #expect(message { _ = try FolderTileSource(template: "\(folder.path)/{z}/{x}") }.contains("places for {z}"))
    }

    /// A flat folder of more tiles than are listed: nothing is known of the others.
    @Test func aTreeTooLargeToListIsSaidToBe() throws {
        for number in 0...FolderTree.mostMixedNames {
            folder.write([], to: TileTemplate.quadkey(zoom: 9, column: number % 512, row: number / 512) + ".png")
        }
        let source = try FolderTileSource(
            template: "\(folder.path)/{q}",
            options: TileSourceOptions(tileSize: 256)
        )
        #expect(source.contents.area == source.pyramid.worldWidth * source.pyramid.worldHeight)
        #expect(source.warning?.contains("its files are too many to list") == true)
    }

    /// Two tiles at zoom 0, in a tree and in a template: rows and columns are those of the files.
    @Test func worldsOfTwoTiles() throws {
        for zoom in 1...2 {
            for column in 0..<2 << zoom {
                for row in 0..<1 << zoom where column > 0 {
                    folder.write(image(zoom, column, row).png, to: "\(zoom)/\(column)/\(row).png")
                }
            }
        }
        let source = try FolderTileSource(path: folder.path)
        #expect(source.world == .geodetic && source.warning == nil)
        #expect(source.pyramid.worldWidth == 128 && source.pyramid.worldHeight == 64)
        #expect(source.contents == PixelRect(minX: 16, minY: 0, maxX: 128, maxY: 64))
        for (zoom, column, row) in [(1, 1, 0), (1, 3, 1), (2, 7, 0), (2, 1, 3)] {
            #expect(try source.loaded(zoom - 1, column, row).image == image(zoom, column, row))
        }
        let square = try FolderTileSource(path: folder.path, options: TileSourceOptions(world: .square))
        #expect(square.world == .square && square.pyramid.worldWidth == 64 && square.dataSet != source.dataSet)
        // Degrees are linear: a quarter of the longitudes, a third of the latitudes.
        let options = HTTPTileOptions(zooms: 0...1, bounds: MapBounds(west: -180, south: -90, east: -90, north: -30))
        let template = "http://127.0.0.1:1/{z}/{x}/{y}#world=geodetic"
        let served = try HTTPTileSource(template: template, http: options)
        #expect(served.pyramid.worldWidth == 1024 && served.pyramid.worldHeight == 512)
        let (expected, found) = (PixelRect(minX: 0, minY: 341.333, maxX: 256, maxY: 512), served.contents)
        #expect(found.minX == 0 && abs(found.minY - expected.minY) < 0.001 && found.maxX == 256 && found.maxY == 512)
    }
}
