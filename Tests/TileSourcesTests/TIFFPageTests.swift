import TestSupport
import Testing

@testable import TileCache
@testable import TileSources

/// Which pages of a TIFF are levels of its first picture, and which are other pictures.
@Suite struct TIFFPageTests {
    private let folder = ScratchFolder()

    private func page(_ width: Int, _ height: Int, kind: UInt64 = 0, _ text: String? = nil) -> MadeTIFF.Directory {
        var page = MadeTIFF.Directory(TestImage(width: width, height: height, seed: width))
        page.kind = kind
        if let text { page.more = [.init(tag: 270, type: 2, values: text.utf8.map { UInt64($0) } + [0])] }
        return page
    }

    /// Scales from coarse to fine, and the warning without the file's name.
    private func opened(_ pages: [MadeTIFF.Directory]) throws -> (scales: [Double], warning: String?) {
        let place = folder.write(MadeTIFF(directories: pages).bytes(), to: "made.tif")
        let source = try TIFFTileSource(place)
        return (
            source.fileLevels.map(\.worldPixelsPerPixel),
            source.warning.map { String($0.dropFirst(place.utf8.count + 2)) }
        )
    }

    private let unmarked = "is left out: it is not marked as a smaller version (NewSubfileType 1)"
    private let other = "is left out: it is another picture or belongs to one"

    /// A second scan has half the size by chance. Two more fractions are no chance, and scanners mark none.
    @Test func onePageWithoutAMarkIsNoLevel() throws {
        let (scales, warning) = try opened([page(200, 130), page(100, 65)])
        #expect(scales == [1] && warning == "its page of 100 x 65 pixels \(unmarked)")
        let chain = try opened([page(200, 130), page(100, 65), page(50, 32)])
        #expect(chain.scales == [4, 2, 1] && chain.warning == nil)
        let scan = try opened([page(200, 130, "Aperio Image Library v11.2.1"), page(50, 32)])
        #expect(scan.scales == [4, 1] && scan.warning == nil)
        let marked = try opened([page(200, 130), page(100, 65, kind: 1)])
        #expect(marked.scales == [2, 1] && marked.warning == nil)
    }

    /// Of a file that marks its levels, other pages are other pictures: a label beside a chain or `SubIFDs`.
    @Test(arguments: [false, true]) func pagesBesideMarkedLevelsAreOthers(hasChildren: Bool) throws {
        var pages = [page(200, 130), page(100, 65, kind: 1), page(50, 32), page(25, 16)]
        if hasChildren {
            pages[0].children = [1]
            (pages[1].isInChain, pages[1].kind) = (false, 0)
        }
        let (scales, warning) = try opened(pages)
        #expect(scales == [2, 1])
        #expect(warning == "its page of 50 x 32 pixels \(unmarked); its page of 25 x 16 pixels \(unmarked)")
    }

    /// Writers that mark all levels begin a new picture with each other page.
    @Test(arguments: ["<?xml?><OME xmlns='x'></OME>", "{\"shape\": [130, 200, 3]}", "ImageJ=1.11a"])
    func seriesAreOtherPictures(text: String) throws {
        let pages = [page(200, 130, text), page(100, 65), page(50, 32)]
        #expect(try opened(pages).scales == [1])
    }

    /// Levels have the samples, the bits and the colours of the picture.
    @Test func levelsHaveTheSamplesOfThePicture() throws {
        for (change, reason) in [
            ({ $0.samples = 1 }, "1 sample of 8 bits, not 3 samples of 8 bits"),
            ({ $0.bits = 16 }, "3 samples of 16 bits, not 3 samples of 8 bits"),
            ({ $0.samples = 4 }, "4 samples of 8 bits, not 3 samples of 8 bits"),
            ({ $0.more = [.init(tag: 262, type: 3, values: [8])] }, "other colours"),
        ] as [((inout MadeTIFF.Directory) -> Void, String)] {
            var pages = [page(200, 130), page(100, 65, kind: 1), page(50, 32, kind: 1)]
            change(&pages[1])
            let (scales, warning) = try opened(pages)
            #expect(scales == [4, 1] && warning == "its page of 100 x 65 pixels is left out: it has \(reason)")
        }
        // Colours without a meaning, and those of JPEG, are drawn alike. So are planes.
        for change in [
            { $0.more = [.init(tag: 262, type: 3, values: [1])] }, { $0.isPlanar = true },
        ] as [(inout MadeTIFF.Directory) -> Void] {
            var pages = [page(200, 130), page(100, 65, kind: 1)]
            change(&pages[1])
            #expect(try opened(pages).scales == [2, 1])
        }
    }

    /// Smaller versions that follow a second picture are its own, if the first has some. GDAL adds those of the first at
    /// the end of all pages.
    @Test func versionsBelongToThePictureBeforeThem() throws {
        let two = [
            page(200, 130), page(100, 65, kind: 1), page(120, 90), page(50, 32, kind: 1), page(25, 16, kind: 1),
        ]
        let (scales, warning) = try opened(two)
        #expect(scales == [2, 1])
        #expect(
            warning
                == [(120, 90), (50, 32), (25, 16)].map { "its page of \($0) x \($1) pixels \(other)" }
                .joined(separator: "; ")
        )
        let appended = try opened([page(200, 130), page(200, 130), page(100, 65, kind: 1), page(50, 32, kind: 1)])
        #expect(appended.scales == [4, 2, 1] && appended.warning == "its page of 200 x 130 pixels \(other)")
        // Overviews first, then their picture, then another one with its own.
        let later = try opened([page(50, 33, kind: 1), page(200, 130), page(100, 65), page(25, 17, kind: 1)])
        #expect(later.scales == [4, 1])
        // A first page that is not marked is the picture, though a later one is twice as large.
        let larger = try opened([page(100, 65), page(200, 130)])
        #expect(larger.scales == [1] && larger.warning == "its page of 200 x 130 pixels \(other)")
    }

    /// Masks and numbered pages are none; ImageMagick numbers all levels alike. Many pages are counted.
    @Test func masksAndNumberedPages() throws {
        func numbered(_ width: Int, _ height: Int, _ number: UInt64) -> MadeTIFF.Directory {
            var page = page(width, height, kind: 2)
            page.more = [.init(tag: 297, type: 3, values: [number, 3])]
            return page
        }
        let same = try opened([numbered(200, 130, 0), numbered(100, 65, 0)])
        #expect(same.scales == [2, 1] && same.warning == nil)
        let pages = (1...5).map { numbered(100, 65, $0) }
        let (scales, warning) = try opened([numbered(200, 130, 0)] + pages)
        #expect(scales == [1] && warning?.hasSuffix("; and 2 more pages") == true)
        let masked = try opened([
            page(200, 130), page(100, 65, kind: 1), page(200, 130, kind: 4), page(50, 32, kind: 5),
        ])
        #expect(masked.scales == [2, 1])
        #expect(masked.warning == "its mask of pixels without data is not read: they are drawn as they are")
    }

    /// Levels of rounded sizes have whole scales. What their last pixels lack of the world repeats them.
    @Test(arguments: [(203, 131), (197, 129), (193, 225)]) func roundedLevelsReachTheEdge(width: Int, height: Int)
        throws
    {
        var images = [TestImage(width: width, height: height)]
        while images[images.count - 1].width > 30 {
            let last = images[images.count - 1]
            images.append(TestImage(width: last.width / 2, height: last.height / 2, seed: images.count))
        }
        var pages = images.map { MadeTIFF.Directory($0) }
        for index in 1..<pages.count { pages[index].kind = 1 }
        let place = folder.write(MadeTIFF(directories: pages).bytes(), to: "made.tif")
        let source = try TIFFTileSource(place, options: TileSourceOptions(alpha: .straight))
        let count = images.count
        #expect(source.fileLevels.map(\.worldPixelsPerPixel) == (0..<count).reversed().map { Double(1 << $0) })
        for (index, image) in images.reversed().enumerated() {
            let level = source.fileLevels[index]
            #expect(level.width == image.width && level.height == image.height)
            for column in 0..<level.columns {
                for row in 0..<level.rows {
                    let tile = source.place(index, column, row)
                    let drawn = level.tileRectangle(of: tile, showing: source.pyramid.worldRectangle(of: tile))
                    let loaded = try source.loaded(index, column, row).image
                    for y in 0..<Int(drawn.maxY.rounded(.up)) {
                        for x in 0..<Int(drawn.maxX.rounded(.up)) {
                            let (fromX, fromY) = (
                                min(column * 32 + x, image.width - 1), min(row * 32 + y, image.height - 1)
                            )
                            let expected = image.part(x: fromX, y: fromY, width: 1, height: 1).pixels
                            let start = (y * 32 + x) * 4
                            guard Array(loaded.pixels[start..<start + 4]) != expected else { continue }
                            Issue.record("level \(index), tile \(tile), pixel \(x), \(y)")
                            return
                        }
                    }
                    if column == level.columns - 1 {
                        #expect(source.pyramid.worldRectangle(of: tile).maxX == Double(width))
                    }
                    if row == level.rows - 1 { #expect(source.pyramid.worldRectangle(of: tile).maxY == Double(height)) }
                }
            }
        }
    }
}
