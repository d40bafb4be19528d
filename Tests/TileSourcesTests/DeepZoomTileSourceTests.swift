import Testing

@testable import TileCache
@testable import TileSources

/// Deep Zoom images cut by the test.
@Suite struct DeepZoomSourceTests {
    private let folder = ScratchFolder()

    private func write(_ text: String) -> String { folder.write(Array(text.utf8), to: "image.dzi") }

    private func descriptor(_ width: Int, _ height: Int, _ size: Int, _ overlap: Int, _ format: String = "png")
        -> String
    {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <Image xmlns="http://schemas.microsoft.com/deepzoom/2008" Format="\(format)" Overlap="\(overlap)" \
        TileSize="\(size)"><Size Height="\(height)" Width="\(width)"/></Image>
        """
    }

    /// Every tile is its part of the level's image, for any sizes. Beyond the edge are zeros.
    @Test(arguments: [
        (100, 70, 32, 1), (64, 64, 32, 0), (33, 65, 16, 5), (20, 10, 32, 2), (1, 1, 16, 1), (65, 33, 30, 40),
    ])
    func overlapIsCutAway(width: Int, height: Int, size: Int, overlap: Int) throws {
        let path = write(descriptor(width, height, size, overlap))
        let last = max(width, height).ceilingLog2
        var images: [TestImage] = []
        for level in 0...last {
            let span = 1 << (last - level)
            let image = TestImage(
                width: (width - 1) / span + 1,
                height: (height - 1) / span + 1,
                seed: level,
                hasAlpha: true
            )
            images.append(image)
            for column in 0...(image.width - 1) / size {
                for row in 0...(image.height - 1) / size {
                    let (x, y) = (max(column * size - overlap, 0), max(row * size - overlap, 0))
                    let right = min((column + 1) * size + overlap, image.width)
                    let bottom = min((row + 1) * size + overlap, image.height)
                    let part = image.part(x: x, y: y, width: right - x, height: bottom - y)
                    folder.write(part.png, to: "image_files/\(level)/\(column)_\(row).png")
                }
            }
        }
        let source = try DeepZoomTileSource(path: path)
        let count = source.pyramid.levels.count
        #expect(source.pyramid.levels[0].columns == 1 && source.pyramid.levels[0].rows == 1)
        #expect(count == 1 || source.pyramid.levels[1].columns > 1 || source.pyramid.levels[1].rows > 1)
        #expect(source.pyramid.worldWidth == Double(width) && source.pyramid.worldHeight == Double(height))
        for (index, level) in source.pyramid.levels.enumerated() {
            let image = images[last - count + 1 + index]
            #expect(level.width == image.width && level.height == image.height)
            for column in 0..<level.columns {
                for row in 0..<level.rows {
                    let loaded = try source.loaded(index, column, row)
                    let expected = image.part(x: column * size, y: row * size, width: size, height: size)
                    #expect(loaded.outcome == .pixels && loaded.image == expected.premultiplied)
                }
            }
        }
    }

    @Test func missingTilesAreAbsentAndWrongSizesFail() throws {
        let path = write(descriptor(64, 64, 32, 0))
        folder.write(TestImage(width: 32, height: 32).png, to: "image_files/6/0_0.png")
        folder.write(TestImage(width: 32, height: 34).png, to: "image_files/6/1_0.png")
        let source = try DeepZoomTileSource(path: path)
        #expect(try source.loaded(1, 0, 0).outcome == .pixels)
        #expect(throws: TileFailure.permanent) { try source.loaded(1, 1, 0) }
        #expect(try source.loaded(1, 1, 1).outcome == .absent)
        #expect(try source.loaded(0, 0, 0).outcome == .absent)
        #expect(source.statistics.lastFailure?.hasSuffix("32 x 32 pixels was expected, not 32 x 34") == true)
    }

    /// Tiles at the edge may be a pixel smaller or larger than the descriptor says: what is missing is repeated, what is
    /// more is cut. Inside, and by two pixels, they are of a wrong size.
    @Test(arguments: [(-1, 0), (0, -1), (-1, -1), (1, 0), (0, 1), (1, 1), (-1, 1)])
    func edgesMayDifferByAPixel(byWidth: Int, byHeight: Int) throws {
        // 3 x 2 tiles of 32; with an overlap of 1 the last one has 13 x 19 pixels.
        let image = TestImage(width: 76, height: 50)
        let source = try DeepZoomTileSource(path: written(image, byWidth: byWidth, byHeight: byHeight))
        let level = source.pyramid.maximumLevel
        for (column, row) in [(2, 0), (2, 1), (0, 1)] {
            let (right, bottom) = (min(column * 32 + 33, 76), min(row * 32 + 33, 50))
            var expected = image.part(x: column * 32, y: row * 32, width: 32, height: 32)
            // Where the file's last pixel is, in the tile.
            let last = (right + byWidth - 1 - column * 32, bottom + byHeight - 1 - row * 32)
            for y in 0..<min(50 - row * 32, 32) {
                for x in 0..<min(76 - column * 32, 32) {
                    let pixel = image.part(
                        x: column * 32 + min(x, last.0),
                        y: row * 32 + min(y, last.1),
                        width: 1,
                        height: 1
                    )
                    let start = (y * 32 + x) * 4
                    expected.pixels.replaceSubrange(start..<start + 4, with: pixel.pixels)
                }
            }
            #expect(try source.loaded(level, column, row).image == expected, "tile \(column), \(row)")
        }
        #expect(throws: TileFailure.permanent) { try source.loaded(level, 0, 0) }
        #expect(throws: TileFailure.permanent) {
            let path = try written(image, byWidth: 2 * byWidth, byHeight: 2 * byHeight)
            return try DeepZoomTileSource(path: path).loaded(level, 2, 1)
        }
    }

    /// Writes a level of tiles whose sizes all differ; pixels beyond the image are made.
    private func written(_ image: TestImage, byWidth: Int, byHeight: Int) throws -> String {
        let last = max(image.width, image.height).ceilingLog2
        for column in 0...2 {
            for row in 0...1 {
                let (x, y) = (max(column * 32 - 1, 0), max(row * 32 - 1, 0))
                let part = image.part(
                    x: x,
                    y: y,
                    width: min(column * 32 + 33, image.width) - x + byWidth,
                    height: min(row * 32 + 33, image.height) - y + byHeight
                )
                folder.write(part.png, to: "image_files/\(last)/\(column)_\(row).png")
            }
        }
        return write(descriptor(image.width, image.height, 32, 1))
    }

    /// Some writers state another format than that of their files.
    @Test(arguments: ["jpg", "PNG", "png"]) func filesMayHaveAnotherFormat(format: String) throws {
        let image = TestImage(width: 32, height: 20)
        folder.write(image.png, to: "image_files/5/0_0.png")
        let source = try DeepZoomTileSource(path: write(descriptor(32, 20, 32, 0, format)))
        #expect(try source.loaded(0, 0, 0).outcome == .pixels)
    }

    @Test func namesMayHaveCapitals() throws {
        let image = TestImage(width: 32, height: 20)
        folder.write(image.png, to: "IMAGE_files/5/0_0.PNG")
        let path = folder.write(Array(descriptor(32, 20, 32, 0).utf8), to: "IMAGE.DZI")
        #expect(try DeepZoomTileSource(path: path).loaded(0, 0, 0).outcome == .pixels)
    }

    @Test func whatIsNoDescriptorIsSaid() throws {
        func said(_ text: String) -> String {
            let path = write(text)
            return message { _ = try DeepZoomTileSource(path: path) }
        }
        let huge = "99999999999999999999"
        #expect(said("").contains("XML was expected"))
        #expect(said("<Image").contains("line 1: XML was expected"))
        #expect(said("<Collection/>").contains("an XML element Image"))
        #expect(said("<Image TileSize='1' Overlap='0' Format='png'/>").contains("an XML element Size"))
        #expect(said(descriptor(0, 5, 32, 0)).contains("Width of 1 to"))
        #expect(said(descriptor(5, 5, 32, -1)).contains("Overlap of 0 to"))
        #expect(said(descriptor(5, 5, 32, 0).replacing("\"32\"", with: "\"\(huge)\"")).contains("not \"\(huge)\""))
        #expect(said(descriptor(5, 5, 32, 0, "tiff")).contains("not \"tiff\""))
        #expect(said(descriptor(5, 5, 32, 0)).contains("image_files with its tiles was expected"))
        folder.write([], to: "image_files/x/y")
        #expect(said(descriptor(5, 5, 32, 0)).contains("image_files/3 with the tiles"))
        #expect(message { _ = try DeepZoomTileSource(path: "/nowhere.dzi") }.contains("there is no such file"))
        let entities = "<!DOCTYPE x [<!ENTITY a \"jp\"><!ENTITY b \"&a;g\">]><Image Format=\"&b;\"/>"
        #expect(said(entities).contains("line 1: XML was expected: no declaration of an entity"))
        // Each of the elements would have a copy of the value.
        let declared = "<!DOCTYPE x [<!ATTLIST a b CDATA \"value\">]><Image><a/><a/><a/></Image>"
        #expect(said(declared).contains("line 1: XML was expected: no declaration of an attribute"))
    }
}
