import TestSupport
import Testing

@testable import TileCache
@testable import TileSources

/// Which directories of a tiled TIFF are its image and overviews.
@Suite struct TIFFOverviewTests {
    private let folder = ScratchFolder()
    private let straight = TileSourceOptions(alpha: .straight)

    private func write(_ made: MadeTIFF) -> String { folder.write(made.bytes(), to: "made.tif") }

    /// Finds overviews in a chain, as sub-directories, and in Aperio's order. Leaves out other directories.
    @Test(arguments: [0, 1, 2]) func overviewsAreFound(kind: Int) throws {
        let images = [(200, 130), (100, 65), (50, 33), (13, 9)].enumerated().map {
            TestImage(width: $1.0, height: $1.1, seed: $0)
        }
        var directories = images.map { MadeTIFF.Directory($0) }
        var expected = [3, 2, 1, 0]
        var leftOut: String?
        switch kind {
        case 0:
            for index in 1..<4 { directories[index].kind = 1 }
            // A mask of the same ratio that belongs to none.
            var mask = MadeTIFF.Directory(TestImage(width: 40, height: 26))
            mask.kind = 5
            directories.append(mask)
        case 1:
            directories[0].children = [1, 2, 3]
            for index in 1..<4 { directories[index].isInChain = false }
            // Another plane of the same size.
            directories.append(MadeTIFF.Directory(TestImage(width: 200, height: 130, seed: 9)))
            leftOut = "200 x 130"
        default:
            // A thumbnail in strips after the first, a label and another picture at the end.
            var thumbnail = MadeTIFF.Directory(TestImage(width: 20, height: 13))
            thumbnail.tile = 0
            directories = [directories[0], thumbnail, directories[1], directories[2]]
            directories.append(MadeTIFF.Directory(TestImage(width: 90, height: 90)))
            leftOut = "90 x 90"
            expected = [2, 1, 0]
        }
        let bytes = MadeTIFF(directories: directories).bytes()
        let server = try #require(RangeServer(bytes))
        for place in [folder.write(bytes, to: "made.tif"), server.address] {
            let source = try TIFFTileSource(place, options: straight)
            #expect(source.fileLevels.count == expected.count && source.pyramid.worldWidth == 200)
            for (level, index) in expected.enumerated() { try source.expect(level, images[index]) }
            #expect(source.statistics.directoryMemory > .bytes(0))
            let other = leftOut.map { "its page of \($0) pixels is left out: it is another picture or belongs to one" }
            #expect(source.warning == other.map { "\(place): \($0)" })
        }
        // The second block has what the first had not.
        var count = 0
        for index in expected { count += (images[index].width + 31) / 32 * ((images[index].height + 31) / 32) }
        #expect(server.asked.count <= count + 2 && server.asked[0] == 0..<65_536)
    }

    /// Pages are other pictures: those that are nearly as large, and those of any size with a number.
    @Test func pagesAreNoOverviews() throws {
        let images = [(200, 130), (199, 129), (100, 65), (50, 33)].enumerated().map {
            TestImage(width: $1.0, height: $1.1, seed: $0)
        }
        var directories = images.map { MadeTIFF.Directory($0) }
        for index in directories.indices {
            directories[index].kind = 2
            // The last one as ImageMagick writes a level.
            directories[index].more = [.init(tag: 297, type: 3, values: [index == 3 ? 0 : UInt64(index), 4])]
        }
        directories[1].kind = 0
        let source = try TIFFTileSource(write(MadeTIFF(directories: directories)), options: straight)
        #expect(source.fileLevels.map(\.worldPixelsPerPixel) == [4, 1])
        try source.expect(0, images[3])
    }

    /// Philips's scanners fill up the last tiles of a level, and state its size with them.
    @Test func overviewsWithFilledTilesAreFound() throws {
        let images = [(192, 160), (96, 80), (48, 40), (24, 20), (12, 10)].enumerated().map {
            TestImage(width: $1.0, height: $1.1, seed: $0)
        }
        var directories = images.map { image in
            let (width, height) = ((image.width + 31) / 32 * 32, (image.height + 31) / 32 * 32)
            return MadeTIFF.Directory(image.part(x: 0, y: 0, width: width, height: height))
        }
        let other = try TIFFTileSource(write(MadeTIFF(directories: directories)))
        #expect(other.fileLevels.count == 1)
        directories[0].more = [.init(tag: 305, type: 2, values: "Philips DP v1.0".utf8.map(UInt64.init) + [0])]
        let source = try TIFFTileSource(write(MadeTIFF(directories: directories)), options: straight)
        #expect(source.fileLevels.map(\.worldPixelsPerPixel) == [16, 8, 4, 2, 1])
        for (level, image) in images.reversed().enumerated() { try source.expect(level, image) }
    }

    /// A square level keeps the ratio of its sides when it is filled up: the ratio says nothing about the scale.
    @Test func squareOverviewsWithFilledTilesAreFound() throws {
        let images = [160, 80, 40].enumerated().map { TestImage(width: $1, height: $1, seed: $0) }
        var directories = images.map { image in
            let side = (image.width + 31) / 32 * 32
            return MadeTIFF.Directory(image.part(x: 0, y: 0, width: side, height: side))
        }
        directories[0].more = [.init(tag: 305, type: 2, values: "Philips DP v1.0".utf8.map(UInt64.init) + [0])]
        let source = try TIFFTileSource(write(MadeTIFF(directories: directories)), options: straight)
        #expect(source.fileLevels.map(\.worldPixelsPerPixel) == [4, 2, 1])
        for (level, image) in images.reversed().enumerated() { try source.expect(level, image) }
    }

    /// The largest image is the world, wherever its directory is. A larger page of another ratio is another picture.
    @Test func theImageMayComeAfterItsOverviews() throws {
        let images = [(50, 33), (100, 65), (200, 130)].enumerated().map {
            TestImage(width: $1.0, height: $1.1, seed: $0)
        }
        var directories = images.map { MadeTIFF.Directory($0) }
        directories[2].children = [1]
        directories[1].isInChain = false
        directories[0].kind = 1
        directories.append(MadeTIFF.Directory(TestImage(width: 400, height: 300)))
        let source = try TIFFTileSource(write(MadeTIFF(directories: directories)), options: straight)
        #expect(source.fileLevels.map(\.worldPixelsPerPixel) == [4, 2, 1])
        for (level, image) in images.enumerated() { try source.expect(level, image) }
    }

    /// Some scanners write a label and a thumbnail in strips first.
    @Test func thumbnailsBeforeTheImageAreLeftOut() throws {
        let images = [(30, 40), (50, 33), (200, 130), (100, 65)].enumerated().map {
            TestImage(width: $1.0, height: $1.1, seed: $0)
        }
        var directories = images.map { MadeTIFF.Directory($0) }
        for index in 0...1 { directories[index].tile = 0 }
        directories[3].kind = 1
        let place = write(MadeTIFF(directories: directories))
        let source = try TIFFTileSource(place, options: straight)
        #expect(source.fileLevels.map(\.worldPixelsPerPixel) == [2, 1])
        try source.expect(1, images[2])
        #expect(try #require(TileSourceAddress("tiff:\(place)")).open() is TIFFTileSource)
        // Overviews of an image in strips, as GDAL adds them, are not the image.
        var strips = [MadeTIFF.Directory(images[2]), MadeTIFF.Directory(images[3])]
        strips[0].tile = 0
        let other = write(MadeTIFF(directories: strips))
        #expect(message { _ = try TIFFTileSource(other) }.contains("200 x 130 pixels are in strips"))
    }

    /// An overview with tiles of another size than any layer has is left out, and the others are shown.
    @Test func overviewsWithTilesThatAreTooSmall() throws {
        let images = [(200, 130), (100, 65), (50, 33)].enumerated().map {
            TestImage(width: $1.0, height: $1.1, seed: $0)
        }
        var directories = images.map { MadeTIFF.Directory($0) }
        directories[1].tile = 8
        for index in 1...2 { directories[index].kind = 1 }
        let source = try TIFFTileSource(write(MadeTIFF(directories: directories)), options: straight)
        #expect(source.fileLevels.map(\.worldPixelsPerPixel) == [4, 1])
        try source.expect(0, images[2])
        #expect(source.warning?.contains("overview of 100 x 65 pixels is left out") == true)
        directories[0].tile = 8
        let place = write(MadeTIFF(directories: directories))
        #expect(message { _ = try TIFFTileSource(place) }.contains("TileWidth of 16 to 4096"))
    }

    /// The width of a tall image says little about the scale, and may be the same for several levels.
    @Test(arguments: [false, true]) func overviewsOfLongImagesAreFound(isTall: Bool) throws {
        let images = [(37, 1184), (19, 592), (10, 296), (5, 148), (1, 37), (1, 19)].enumerated().map {
            TestImage(width: isTall ? $1.0 : $1.1, height: isTall ? $1.1 : $1.0, seed: $0)
        }
        let source = try TIFFTileSource(
            write(MadeTIFF(directories: images.map { MadeTIFF.Directory($0) })),
            options: straight
        )
        #expect(source.fileLevels.map(\.worldPixelsPerPixel) == [64, 32, 8, 4, 2, 1])
        for (level, image) in images.reversed().enumerated() { try source.expect(level, image) }
    }

    /// A file of many planes has more directories than are read.
    @Test func planesBeyondTheLastDirectoryThatIsRead() throws {
        let image = TestImage(width: 64, height: 48)
        let half = TestImage(width: 32, height: 24, seed: 1)
        var directories = [MadeTIFF.Directory(image), MadeTIFF.Directory(half)]
        directories[0].children = [1]
        directories[1].isInChain = false
        let plane = MadeTIFF.Directory(TestImage(width: 64, height: 48, seed: 2))
        directories += [MadeTIFF.Directory](repeating: plane, count: TIFFFile.mostDirectories)
        let source = try TIFFTileSource(write(MadeTIFF(directories: directories)), options: straight)
        #expect(source.fileLevels.count == 2)
        try source.expect(0, half)
        try source.expect(1, image)
    }
}
