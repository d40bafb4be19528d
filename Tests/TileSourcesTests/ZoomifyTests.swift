import Testing

@testable import TileCache
@testable import TileSources

/// Descriptions of Zoomify images, and the numbers of their tiles.
@Suite struct ZoomifyTests {
    private func image(_ attributes: String) throws -> ZoomifyImage {
        try ZoomifyImage(Array("<IMAGE_PROPERTIES \(attributes) />".utf8), path: "p", base: "b", end: ".jpg")
    }

    /// 1301 x 897 in tiles of 128, by hand: 1, 2 x 1, 3 x 2, 6 x 4 and 11 x 8 tiles.
    @Test func groupsHave256Tiles() throws {
        let small = try image(#"WIDTH="1301" HEIGHT="897" NUMTILES="121" TILESIZE="128""#)
        #expect(small.levels.map(\.first) == [0, 1, 3, 9, 33])
        #expect(small.levels.map(\.width) == [82, 163, 326, 651, 1301])
        func address(_ image: ZoomifyImage, _ level: Int, _ column: Int, _ row: Int) -> String? {
            image.address(of: TileCoordinate(level: level, column: column, row: row))
        }
        #expect(address(small, 4, 10, 7) == "b/TileGroup0/4-10-7.jpg")
        // 1, 4, 16, 64, 256: the last level begins with the number 85, so that its row 10, column 11 is 256.
        let large = try image(#"WIDTH="1024" HEIGHT="1024" NUMTILES="341" TILESIZE="64""#)
        #expect(address(large, 4, 10, 10) == "b/TileGroup0/4-10-10.jpg")
        #expect(address(large, 4, 11, 10) == "b/TileGroup1/4-11-10.jpg")
    }

    /// The number of tiles tells writers that round down: 257 pixels are 2 tiles of 128, or 3, at half of 515.
    @Test func roundingIsTold() throws {
        let (up, down) = (
            try image(#"WIDTH="513" HEIGHT="100" NUMTILES="11" TILESIZE="128""#),
            try image(#"WIDTH="513" HEIGHT="100" NUMTILES="8" TILESIZE="128""#)
        )
        #expect(up.levels.map(\.width) == [65, 129, 257, 513] && up.levels.map(\.first) == [0, 1, 3, 6])
        #expect(down.levels.map(\.width) == [128, 256, 513] && down.levels.map(\.first) == [0, 1, 3])
        // A thin image keeps a pixel.
        #expect(try image(#"WIDTH="1000" HEIGHT="1" TILESIZE="256""#).levels.map(\.height) == [1, 1, 1])
    }

    @Test(
        arguments: [
            ("<Image/>", "an XML element IMAGE_PROPERTIES was expected"), ("x", "XML was expected"),
            (
                "<IMAGE_PROPERTIES WIDTH='0' HEIGHT='1' TILESIZE='256'/>",
                "WIDTH of 1 to 1073741824 was expected, not \"0\""
            ),
            ("<IMAGE_PROPERTIES WIDTH='9' TILESIZE='256'/>", "HEIGHT of 1 to 1073741824 was expected"),
            ("<IMAGE_PROPERTIES WIDTH='9' HEIGHT='9' TILESIZE='8'/>", "TILESIZE of 16 to 4096 was expected, not \"8\""),
        ]
    ) func whatIsNoDescriptionIsNamed(text: String, part: String) {
        let folder = ScratchFolder()
        folder.write(Array(text.utf8), to: "ImageProperties.xml")
        let said = message { _ = try PictureFolderTileSource(zoomify: folder.path) }
        #expect(said.hasPrefix("\(folder.path)/ImageProperties.xml") && said.contains(part), "\(said)")
        #expect(message { _ = try PictureFolderTileSource(zoomify: "/no") }.contains("there is no such file"))
        #expect(
            message { _ = try PictureFolderTileSource(iiif: "/no") }.contains("/no/info.json: there is no such file")
        )
    }

    @Test func placesOfDescriptions() {
        let place = ZoomifyImage.description(of: "http://h/a/ImageProperties.xml?k=1")
        #expect(place == ("http://h/a/ImageProperties.xml?k=1", "http://h/a", "?k=1"))
        #expect(ZoomifyImage.description(of: "a?b/") == ("a?b/ImageProperties.xml", "a?b", ""))
        #expect(ZoomifyImage.description(of: "ImageProperties.xml").base == ".")
    }
}
