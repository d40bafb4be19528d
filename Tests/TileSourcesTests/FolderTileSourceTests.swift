import TestSupport
import Testing

@testable import TileCache
@testable import TileSources

/// Tiles in files z/x/y.
@Suite struct FolderTileSourceTests {
    private let folder = ScratchFolder()

    private func image(_ zoom: Int, _ column: Int, _ row: Int) -> TestImage {
        TestImage(width: 32, height: 32, seed: zoom * 100 + column * 10 + row)
    }

    private func writePyramid(_ zooms: ClosedRange<Int>, leavingOut isLeftOut: (Int, Int, Int) -> Bool) {
        for zoom in zooms {
            for column in 0..<1 << zoom {
                for row in 0..<1 << zoom where !isLeftOut(zoom, column, row) {
                    folder.write(image(zoom, column, row).png, to: "\(zoom)/\(column)/\(row).png")
                }
            }
        }
    }

    @Test func everyTileInItsPlaceAndTheOthersAbsent() throws {
        writePyramid(1...3) { $1 == 1 && $2 == 1 && $0 > 1 }
        let source = try FolderTileSource(path: folder.path)
        #expect(source.zooms == 1...3 && source.pyramid.levels.count == 3 && source.pyramid.worldWidth == 256)
        for zoom in 1...3 {
            for column in 0..<1 << zoom {
                for row in 0..<1 << zoom {
                    let loaded = try source.loaded(zoom - 1, column, row)
                    if column == 1, row == 1, zoom > 1 {
                        #expect(loaded.outcome == .absent)
                    } else {
                        #expect(loaded.outcome == .pixels && loaded.image == image(zoom, column, row))
                    }
                }
            }
        }
        #expect(source.statistics.loads == 84 && source.statistics.absent == 2 && source.statistics.failureCount == 0)
        let fromBottom = try FolderTileSource(path: folder.path, layout: TileFolderLayout(.tms))
        #expect(try fromBottom.loaded(2, 3, 0).image == image(3, 3, 7))
        #expect(try fromBottom.loaded(0, 0, 1).image == image(1, 0, 0))
    }

    /// A layout finds only its own files if a folder has both densities.
    @Test(arguments: TileFolderLayout.Order.allCases, [false, true])
    func everyLayoutFindsItsOwnFiles(order: TileFolderLayout.Order, isDoubled: Bool) throws {
        let layout = TileFolderLayout(order, isDoubled: isDoubled)
        for side in [16, 32] {
            for column in 0..<4 {
                for row in 1..<3 {
                    let (first, second) = order == .zyx ? (row, column) : (column, order == .tms ? 3 - row : row)
                    let image = TestImage(width: side, height: side, seed: side * 100 + column * 10 + row)
                    folder.write(image.png, to: "2/\(first)/\(second)\(side == 32 ? "@2x" : "").png")
                }
            }
        }
        let address = try #require(TileSourceAddress("\(layout):\(folder.path)"))
        let source = try #require(try address.open() as? FolderTileSource)
        let side = isDoubled ? 32 : 16
        #expect(source.pyramid.worldWidth == Double(4 * side))
        #expect(
            source.contents
                == PixelRect(minX: 0, minY: Double(side), maxX: Double(4 * side), maxY: Double(3 * side))
        )
        for column in 0..<4 {
            for row in 0..<4 {
                let loaded = try source.loaded(0, column, row)
                guard (1..<3).contains(row) else {
                    #expect(loaded.outcome == .absent)
                    continue
                }
                #expect(loaded.image == TestImage(width: side, height: side, seed: side * 100 + column * 10 + row))
            }
        }
    }

    @Test func theOtherDensityIsNamed() throws {
        folder.write(image(0, 0, 0).png, to: "0/0/0@2x.png")
        let message =
            "tiles z/x/y.png, .jpg, .jpeg or .webp were expected in it; xyz@2x:\(folder.path) has some"
        #expect(throws: TileSourceError(folder.path, message)) { try FolderTileSource(path: folder.path) }
        let doubled = TileFolderLayout(.xyz, isDoubled: true)
        #expect(try FolderTileSource(path: folder.path, layout: doubled).pyramid.worldWidth == 32)
    }

    @Test func theTilesOfAllZoomsSayWhatIsCovered() throws {
        writePyramid(2...3) { zoom, column, row in
            !((1...2).contains(column >> (zoom - 2)) && row >> (zoom - 2) == 1)
        }
        folder.write([1], to: "2/3/readme.txt")
        let source = try FolderTileSource(path: folder.path)
        #expect(source.contents == PixelRect(minX: 64, minY: 64, maxX: 192, maxY: 128))
        let fromBottom = try FolderTileSource(path: folder.path, layout: TileFolderLayout(.tms))
        #expect(fromBottom.contents == PixelRect(minX: 64, minY: 128, maxX: 192, maxY: 192))
        #expect(source.pyramid.contents == source.contents)
        // A zoom without tiles is ignored.
        folder.write([1], to: "1/0/readme.txt")
        #expect(try FolderTileSource(path: folder.path).contents == source.contents)
        // A finer tile beside the coarser ones.
        folder.write(image(3, 0, 7).png, to: "3/0/7.png")
        #expect(
            try FolderTileSource(path: folder.path).contents == PixelRect(minX: 0, minY: 64, maxX: 192, maxY: 256)
        )
    }

    /// Files are counted once, whichever folders they are in.
    @Test(arguments: [(1, 2100), (3, 700)]) func manyFilesOfAZoom(folders: Int, files: Int) throws {
        for column in 0..<folders {
            for row in 0..<files { folder.write([], to: "12/\(column)/\(row).png") }
        }
        let (width, height) = (Double(folders) / 4096, Double(files) / 4096)
        let template = try TileTemplate(files: TileFolderLayout(.xyz).template)
        #expect(
            FolderTree(template, in: folder.path).part(of: .square)
                == PixelRect(minX: 0, minY: 0, maxX: width, maxY: height)
        )
    }

    @Test(
        arguments: [
            ("metadata.json", #"{"scheme" : "tms"}"#, TileFolderLayout.Order.xyz),
            ("tiles.json", #"{"scheme":"tms"}"#, .xyz), ("tilemapresource.xml", "<TileMap/>", .xyz),
            ("tilejson.json", "{\n\"scheme\":\n\"xyz\"}", .tms),
        ]
    )
    func metadataThatNamesTheOtherOrderOfRowsIsAWarning(file: String, text: String, wrong: TileFolderLayout.Order)
        throws
    {
        writePyramid(0...0) { _, _, _ in false }
        func warning(_ order: TileFolderLayout.Order) throws -> String? {
            try FolderTileSource(path: folder.path, layout: TileFolderLayout(order)).warning
        }
        #expect(try warning(wrong) == nil)
        folder.write(Array(text.utf8), to: file)
        let (place, right) = wrong == .xyz ? ("bottom", TileFolderLayout.Order.tms) : ("top", .xyz)
        let sentence = try #require(try warning(wrong))
        #expect(sentence.contains("\(file) says that row 0 is at the \(place)"))
        #expect(sentence.contains("\(right.rawValue):\(folder.path) reads it so"))
        #expect(try warning(right) == nil)
        // Metadata without that field.
        folder.write(Array(#"{"name":"tms"}"#.utf8), to: "metadata.json")
        #expect(try warning(right) == nil)
    }

    /// Some writers choose the format of each tile. Others write extensions in capitals.
    @Test func filesOfSeveralFormats() throws {
        writePyramid(0...1) { zoom, column, _ in zoom == 1 && column == 0 }
        for row in 0...1 { folder.write(image(1, 0, row).png, to: "1/0/\(row).\(row == 0 ? "jpg" : "webp")") }
        let source = try FolderTileSource(path: folder.path)
        for row in 0...1 {
            #expect(try source.loaded(1, 0, row).image == image(1, 0, row))
            #expect(try source.loaded(1, 1, row).image == image(1, 1, row))
        }
        #expect(source.statistics.loads == 4 && source.statistics.absent == 0)
        folder.write([1, 2, 3], to: "1/0/1.webp")
        #expect(throws: TileFailure.permanent) { try source.loaded(1, 0, 1) }
        #expect(source.statistics.lastFailure?.contains("1/0/1.webp") == true)
        let other = ScratchFolder()
        other.write(image(2, 1, 1).png, to: "2/1/1.PNG")
        #expect(try FolderTileSource(path: other.path).loaded(0, 1, 1).image == image(2, 1, 1))
    }

    @Test func failuresAreCountedAndNamed() throws {
        writePyramid(0...1) { _, _, _ in false }
        folder.write([1, 2, 3], to: "1/0/0.png")
        folder.write(TestImage(width: 16, height: 24).png, to: "1/1/0.png")
        folder.write(Array(image(1, 1, 1).png.dropLast(20)), to: "1/1/1.png")
        let source = try FolderTileSource(path: folder.path, options: TileSourceOptions(tileSize: 32))
        #expect(throws: TileFailure.permanent) { try source.loaded(1, 0, 0) }
        #expect(throws: TileFailure.permanent) { try source.loaded(1, 1, 0) }
        #expect(throws: TileFailure.permanent) { try source.loaded(1, 1, 1) }
        #expect(source.statistics.failures == [.undecodable: 1, .wrongSize: 1, .truncated: 1])
        #expect(source.statistics.lastFailure == "\(folder.path)/1/1/1.png: the PNG ends too early")
    }

    @Test func whatIsNoPyramidIsSaid() throws {
        func message(_ path: String, _ options: TileSourceOptions = TileSourceOptions()) -> String {
            do {
                _ = try FolderTileSource(path: path, options: options)
                return ""
            } catch {
                return error.description
            }
        }
        #expect(message("/nowhere") == "/nowhere: a folder that can be read was expected")
        #expect(message(folder.path).contains("folders with the numbers of zooms"))
        folder.write([1], to: "3/4/notes.txt")
        #expect(message(folder.path).contains("tiles z/x/y.png, .jpg, .jpeg or .webp"))
        folder.write(TestImage(width: 32, height: 31).png, to: "3/4/5.png")
        #expect(message(folder.path).contains("not 32 x 31"))
        #expect(message(folder.path, TileSourceOptions(format: .float32)).contains("rgba8, bgra8 or gray8"))
        #expect(message(folder.path, TileSourceOptions(tileSize: 5)).contains("16 to 4096"))
    }

    /// Sets of y/x/z, whose rows and columns would be taken for zooms.
    @Test(arguments: [(3, 0...7, 0...7), (7, 80...88, 60...66), (6, 20...40, 2...9)])
    func aTreeThatEndsWithTheZoomIsRefused(zoom: Int, rows: ClosedRange<Int>, columns: ClosedRange<Int>) throws {
        for row in rows {
            for column in columns { folder.write(image(1, 1, 1).png, to: "\(row)/\(column)/\(zoom).png") }
        }
        for order in TileFolderLayout.Order.allCases {
            let said = message { _ = try FolderTileSource(path: folder.path, layout: TileFolderLayout(order)) }
            #expect(said.contains("here the zoom comes last (y/x/z), which a template of files reads"), "\(said)")
        }
    }

    /// Rows and columns that are all zooms: the names fit two orders. In the right one each tile lies under one of the
    /// coarser zoom.
    @Test(arguments: [false, true]) func tilesOverOneAnotherTellTheOrderOfATree(zoomIsLast: Bool) throws {
        for (zoom, rows, columns) in [(4, 11...14, 8...10), (5, 22...29, 16...21)] {
            for row in rows {
                for column in columns {
                    let path = zoomIsLast ? "\(row)/\(column)/\(zoom)" : "\(zoom)/\(column)/\(row)"
                    folder.write(image(1, 1, 1).png, to: "\(path).png")
                }
            }
        }
        for order in TileFolderLayout.Order.allCases {
            let layout = TileFolderLayout(order)
            guard zoomIsLast else {
                let source = try FolderTileSource(path: folder.path, layout: layout)
                #expect(source.warning == nil && source.zooms == 4...5)
                continue
            }
            let said = message { _ = try FolderTileSource(path: folder.path, layout: layout) }
            #expect(said.contains("here the zoom comes last (y/x/z), which a template of files reads"), "\(said)")
        }
    }

    /// One zoom, last: nothing lies over its tiles in either order. As z/x/y there would be ten zooms.
    @Test func aTreeThatProbablyEndsWithTheZoomIsReadWithAWarning() throws {
        for row in 20...29 {
            for column in 2...9 { folder.write(image(1, 1, 1).png, to: "\(row)/\(column)/6.png") }
        }
        for (order, form) in zip(TileFolderLayout.Order.allCases, ["z/x/y", "z/x/y", "z/y/x"]) {
            let source = try FolderTileSource(path: folder.path, layout: TileFolderLayout(order))
            let said = try #require(source.warning)
            #expect(source.zooms == 20...29 && said.contains("is read as \(form), in which"), "\(said)")
            #expect(said.contains("the zoom may come last (y/x/z) instead"), "\(said)")
        }
    }

    /// One zoom, first. With the zoom last there would be ten.
    @Test func aTreeOfOneZoomIsReadWithoutAWarning() throws {
        for column in 20...29 {
            for row in 20...29 { folder.write(image(1, 1, 1).png, to: "6/\(column)/\(row).png") }
        }
        for order in TileFolderLayout.Order.allCases {
            #expect(try FolderTileSource(path: folder.path, layout: TileFolderLayout(order)).warning == nil)
        }
    }

    /// Sets of x/z/y: a town, and a whole world.
    @Test(arguments: [(14...15, 8000...8003, 5000...5002), (0...3, 0...7, 0...7)])
    func aTreeWithTheZoomInItsMiddleIsRefused(
        zooms: ClosedRange<Int>,
        columns: ClosedRange<Int>,
        rows: ClosedRange<Int>
    ) throws {
        for zoom in zooms {
            for column in columns where column < 1 << zoom {
                for row in rows where row < 1 << zoom {
                    folder.write(image(1, 1, 1).png, to: "\(column)/\(zoom)/\(row).png")
                }
            }
        }
        for order in TileFolderLayout.Order.allCases {
            let said = message { _ = try FolderTileSource(path: folder.path, layout: TileFolderLayout(order)) }
            #expect(
                said.contains("here the zoom comes in the middle (x/z/y), which a template of files reads"),
                "\(said)"
            )
        }
    }

    /// A part of a world that is twice as wide as high. As y/x/z or x/z/y its numbers would be those of a square one.
    @Test func aTreeOfAWideWorldIsRead() throws {
        for column in 12...15 {
            for row in 4...7 { folder.write(image(1, 1, 1).png, to: "3/\(column)/\(row).png") }
        }
        let source = try FolderTileSource(path: folder.path)
        #expect(source.zooms == 3...3 && source.warning == nil && source.world == .geodetic)
    }

    /// What both layouts allow, or some tile allows in this one only, is read as it was asked for.
    @Test func aTreeThatMayBeginWithTheZoomIsRead() throws {
        folder.write(image(1, 1, 1).png, to: "3/4/5.png")
        #expect(try FolderTileSource(path: folder.path).zooms == 3...3)
        // Beyond the world, beside a tile of a row that is no zoom.
        folder.write(image(1, 1, 1).png, to: "3/9/5.png")
        folder.write(image(1, 1, 1).png, to: "6/9/40.png")
        #expect(try FolderTileSource(path: folder.path).zooms == 3...6)
    }

    /// A cache shows exact tiles, and keeps encoded bytes if they are smaller.
    @Test(.timeLimit(.minutes(45))) func aCacheShowsThem() throws {
        writePyramid(0...3) { _, _, _ in false }
        let address = try #require(TileSourceAddress("xyz:\(folder.path)"))
        let source = try address.open()
        let cache = try TileCache(byteLimit: .mebibytes(4), workers: 2)
        let layer = try source.addLayer(to: cache)
        let view = cache.makeView(layers: [layer])
        let viewport = TileViewport(center: WorldPoint(x: 128, y: 128), width: 256, height: 256)
        #expect(
            settled {
                view.update(viewport)
                return view.frame().missingTileCount == 0
            }
        )
        for placement in view.frame() {
            let tile = placement.tile.identity.tile
            let expected = image(tile.level, tile.column, tile.row)
            let isEqual = placement.tile.withUnsafeBytes { $0.equals(expected.pixels) }
            #expect(placement.isExact && isEqual)
        }
        #expect(cache.statistics.tiers.encodedPayloads > 0)
        #expect(cache.shutdown())
    }
}
