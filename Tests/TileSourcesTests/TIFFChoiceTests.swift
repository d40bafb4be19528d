import Foundation
import TestSupport
import Testing

@testable import TileCache
@testable import TileSources

/// Pages, series and bands of a TIFF that an address chooses.
@Suite struct TIFFChoiceTests {
    private let folder = ScratchFolder()

    private func page(_ width: Int, _ height: Int, kind: UInt64 = 0, _ text: String? = nil) -> MadeTIFF.Directory {
        var page = MadeTIFF.Directory(TestImage(width: width, height: height, seed: width))
        page.kind = kind
        if let text { page.more = [.text(270, text)] }
        return page
    }

    private func opened(_ path: String, _ fragment: String) throws -> any PyramidTileSource {
        try #require(TileSourceAddress("tiff:\(path)\(fragment)")).open(TileSourceOptions(alpha: .straight))
    }

    /// Directories are counted as GDAL counts them. What follows a page directly belongs to it.
    @Test func pagesAreChosen() throws {
        var pages = [page(200, 130), page(100, 65, kind: 1), page(120, 90), page(60, 45, kind: 1), page(40, 30)]
        pages[4].tile = 0
        let path = folder.write(MadeTIFF(directories: pages).bytes(), to: "made.tif")
        for (fragment, places) in [
            ("", [1, 0]), ("#page=1", [1, 0]), ("#page=2", [1]), ("#page=3", [3, 2]), ("#page=4", [3]),
            ("#series=1", [1, 0]), ("#series=2", [3, 2]),
        ] {
            let source = try #require(try opened(path, fragment) as? TIFFTileSource)
            try #require(source.fileLevels.count == places.count, "\(fragment)")
            for (level, place) in places.enumerated() { try source.expect(level, pages[place].image) }
            #expect(source.dataSet.contains(fragment) != fragment.isEmpty)
        }
        for fragment in ["#page=5", "#series=3"] {
            let strips = try #require(try opened(path, fragment) as? ImageTileSource)
            #expect(strips.pyramid.worldWidth == 40 && strips.dataSet.contains(fragment))
        }
        let said = message { _ = try opened(path, "#page=6") }
        #expect(
            said.hasPrefix("\(path): pages 1 to 5 were expected, not 6; it has 1 of 200 x 130 pixels, 2 of 100 x 65")
        )
        #expect(
            message { _ = try opened(path, "#series=4") }.contains("series 1 to 3 were expected, not 4; it has 1 of")
        )
        #expect(
            message { _ = try TIFFTileSource(path, tiff: TIFFTileOptions(page: 0)) }.contains("from 1 was expected")
        )
    }

    /// A smaller version that comes first is drawn if it is chosen, and else what it is one of.
    @Test func aSmallerVersionIsChosen() throws {
        let pages = [page(100, 65, kind: 1), page(200, 130)]
        let path = folder.write(MadeTIFF(directories: pages).bytes(), to: "made.tif")
        for (fragment, width) in [("", 200), ("#page=1", 100), ("#page=2", 200), ("#series=1", 200)] {
            let source = try #require(try opened(path, fragment) as? TIFFTileSource)
            #expect(source.pyramid.worldWidth == Double(width), "\(fragment)")
        }
        try #require(try opened(path, "#page=1") as? TIFFTileSource).expect(0, pages[0].image)
    }

    /// A chain of directories of small pictures, so many bytes apart.
    private func chain(_ count: Int, apart: Int) -> (bytes: (Int) -> [UInt8], size: Int) {
        func directory(_ number: Int) -> [UInt8] {
            let format = TIFFFormat(isLittle: true, isBig: true)
            let fields: [(UInt64, UInt64)] = [
                (256, UInt64(100 + number)), (257, 40), (258, 8), (259, 1), (262, 1), (277, 1), (322, 2048), (323, 48),
                (324, 16), (325, 0),
            ]
            let next = number + 1 < count ? UInt64(16 + (number + 1) * apart) : 0
            let entries = fields.flatMap {
                format.bytes($0.0, 2) + format.bytes(4, 2) + format.bytes(1, 8) + format.bytes($0.1, 8)
            }
            return format.bytes(UInt64(fields.count), 8) + entries + format.bytes(next, 8)
        }
        return (directory, 16 + (count - 1) * apart + directory(count - 1).count)
    }

    private let header: [UInt8] = Array("II".utf8) + [43, 0, 8, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0]

    /// Pages that are far apart: 1,500 of them, each 2 MiB after the one before, in a file with holes.
    @Test func pagesThatAreFarApart() throws {
        let (count, apart) = (1500, 2 << 20)
        let (bytes, _) = chain(count, apart: apart)
        let path = folder.write(header, to: "made.tif")
        let file = try #require(fopen(path, "r+b"))
        for number in 0..<count {
            fseek(file, 16 + number * apart, SEEK_SET)
            let own = bytes(number)
            fwrite(own, 1, own.count, file)
        }
        fclose(file)
        for number in [1, 2, 1100, 1500] {
            #expect(try opened(path, "#page=\(number)").pyramid.worldWidth == Double(99 + number))
        }
        #expect(message { _ = try opened(path, "#page=1501") }.contains("pages 1 to 1500 were expected, not 1501"))
    }

    /// The chain is followed to the page that is wanted, with a request for each that is far from the one before.
    @Test func aServerIsAskedForThePagesBeforeOne() throws {
        let (count, apart) = (60, 1 << 17)
        let (bytes, size) = chain(count, apart: apart)
        var all = [UInt8](repeating: 0, count: size)
        all.replaceSubrange(0..<16, with: header)
        for number in 0..<count {
            let own = bytes(number)
            all.replaceSubrange(16 + number * apart..<16 + number * apart + own.count, with: own)
        }
        for (page, requests) in [(1, 1), (2, 2), (40, 40)] {
            let server = try #require(RangeServer(all))
            let source = try TIFFTileSource(server.address, tiff: TIFFTileOptions(page: page))
            #expect(source.pyramid.worldWidth == Double(99 + page))
            // What follows a page is read, too, to find its smaller versions; of the first one all of the chain.
            let before = server.asked.prefix { $0.lowerBound <= (page - 1) * apart + 16 }
            #expect(before.count == requests && (page == 1 || server.asked.count <= requests + 1), "\(server.asked)")
        }
        // A server that cannot answer is no end of the chain.
        let server = try #require(
            RangeServer(all) { $0.change = { number, _, answer in if number >= 3 { answer.status = 503 } } }
        )
        var http = HTTPTileOptions()
        http.retries = 0
        let said = message { _ = try TIFFTileSource(server.address, http: http, tiff: TIFFTileOptions(page: 9)) }
        #expect(said.contains("status 503") && !said.contains("were expected"), "\(said)")
    }

    /// A chain that is damaged or turns back ends there, and the message says so.
    @Test func aChainThatEndsEarly() throws {
        let (bytes, _) = chain(3, apart: 300)
        for (next, page, part) in [
            (UInt64(16), 3, "refer to an earlier one"), (1 << 40, 2, "lies beyond the file's end"),
        ] {
            var last = bytes(2)
            last.replaceSubrange(
                last.count - 8..<last.count,
                with: TIFFFormat(isLittle: true, isBig: true).bytes(next, 8)
            )
            let parts = [bytes(0), bytes(1)].flatMap { $0 + [UInt8](repeating: 0, count: 300 - $0.count) }
            let path = folder.write(header + parts + last, to: "made.tif")
            #expect(try opened(path, "#page=\(page)").pyramid.worldWidth == Double(99 + page))
            let said = message { _ = try opened(path, "#page=4") }
            #expect(said.contains("pages 1 to 3 were expected, not 4; it has 1 of 100 x 40") && said.contains(part))
        }
    }

    /// Images of an OME-XML keep their numbers though some are in other files, or cannot be found.
    @Test func seriesKeepTheirNumbers() throws {
        let ome =
            "<OME xmlns='x' UUID='urn:uuid:1'>"
            + "<Image><Pixels><TiffData IFD='0'><UUID FileName='a.tif'>urn:uuid:2</UUID></TiffData></Pixels></Image>"
            + "<Image><Pixels><TiffData IFD='1'><UUID FileName='b.tif'>urn:uuid:1</UUID></TiffData></Pixels></Image>"
            + "<Image/><Image><Pixels><TiffData IFD='9'/></Pixels></Image>"
            + "<Image><Pixels><TiffData IFD='2'><UUID FileName='made.tif'/></TiffData></Pixels></Image>"
            + "<Image><Pixels><TiffData IFD='2'><UUID FileName='other.tif'/></TiffData></Pixels></Image></OME>"
        let pages = [page(200, 130, ome), page(201, 130), page(202, 130)]
        let path = folder.write(MadeTIFF(directories: pages).bytes(), to: "made.tif")
        for (series, width) in [(2, 201), (5, 202)] {
            #expect(try opened(path, "#series=\(series)").pyramid.worldWidth == Double(width))
        }
        for series in [1, 3, 4, 6] {
            #expect(
                message { _ = try opened(path, "#series=\(series)") } == "\(path): series \(series) is not in this file"
            )
        }
        #expect(message { _ = try opened(path, "#series=7") }.contains("series 1 to 6 were expected, not 7"))
    }

    /// An OME-XML says where its images begin, a description of tifffile that another series does.
    @Test func seriesAreChosen() throws {
        let ome =
            "<OME xmlns='x'><Image><Pixels><TiffData IFD='0' PlaneCount='2'/></Pixels></Image>"
            + "<Image><Pixels><TiffData/><TiffData/></Pixels></Image><Image><Pixels><TiffData IFD='4'/></Pixels></Image>"
            + "</OME>"
        let shaped = "{\"shape\": [2, 130, 200, 3]}"
        for (texts, starts) in [
            ([ome, nil, nil, nil, nil], [0, 2, 4]), ([shaped, nil, shaped, nil, shaped], [0, 2, 4]),
            (["ImageJ", nil, nil, nil, nil], [0, 1, 2, 3, 4]), (["<OME", nil, nil, nil, nil], [0, 1, 2, 3, 4]),
        ] {
            let pages = texts.enumerated().map { page(200 + $0.offset, 130, $0.element) }
            let path = folder.write(MadeTIFF(directories: pages).bytes(), to: "made.tif")
            for (series, start) in starts.enumerated() {
                let source = try #require(try opened(path, "#series=\(series + 1)") as? TIFFTileSource)
                #expect(source.pyramid.worldWidth == Double(200 + start), "\(texts[0] ?? "")")
            }
            #expect(message { _ = try opened(path, "#series=6") }.contains("series 1 to \(starts.count) were"))
        }
    }

    /// One band is grey, three are red, green and blue; alpha stays unless it is chosen itself.
    @Test func bandsAreChosen() throws {
        let row = (0..<160).map { (index: Int) -> UInt8 in UInt8(index % 5 * 40 + index / 5) }
        var kind = MadeKind(name: "", samples: 5, photometric: 2, more: [.shorts(338, 0, 2)], row: row, pixels: [])
        for isTiled in [false, true] {
            let path = kind.write(to: folder, isTiled: isTiled, isLittle: true, isBig: false)
            for (fragment, pixel) in [
                ("#band=4,3,2", [123, 83, 43, 163]), ("#band=1", [3, 3, 3, 163]), ("#band=5", [163, 163, 163, 255]),
                ("#band=4,4,5&range=100,200", [59, 59, 161, 255]), ("", [3, 43, 83, 163]),
            ] {
                let source = try opened(path, fragment)
                let pixels = try MadeKind.loaded(source).pixels
                #expect(pixels[12..<16].map { Int($0) } == pixel, "\(fragment)")
            }
            #expect(message { _ = try opened(path, "#band=4,6,2") }.contains("bands 1 to 5 were expected, not 6"))
        }
        kind = MadeKind(name: "", samples: 4, photometric: 5, row: Array(row.prefix(128)), pixels: [])
        let inks = kind.write(to: folder, isTiled: true, isLittle: true, isBig: false)
        #expect(try MadeKind.loaded(opened(inks, "#band=2")).pixels.prefix(4) == [40, 40, 40, 255])
        kind = MadeKind(
            name: "",
            samples: 3,
            photometric: 6,
            more: [.shorts(530, 1, 1)],
            row: Array(row.prefix(96)),
            pixels: []
        )
        let ycc = kind.write(to: folder, isTiled: true, isLittle: true, isBig: false)
        #expect(message { _ = try opened(ycc, "#band=1") }.contains("but not of a palette, YCbCr, CIELab"))
        #expect(message { _ = try TIFFTileSource(ycc, tiff: TIFFTileOptions(bands: [1, 2])) }.contains("one or three"))
    }

    /// Coarser levels that a cache makes, as `ImageTileSource` makes them.
    @Test func levelsAreMade() throws {
        let image = TestImage(width: 200, height: 130)
        let path = folder.write(MadeTIFF(directories: [MadeTIFF.Directory(image)]).bytes(), to: "made.tif")
        let picture = folder.write(image.png, to: "made.png")
        let cut = try ImageTileSource(path: picture, options: TileSourceOptions(tileSize: 32))
        let source = try #require(TileSourceAddress("tiff:\(path)")).open()
        #expect(source.pyramid == cut.pyramid && source.layerOptions.synthesizedLevels == 3)
        let cache = try TileCache(byteLimit: .mebibytes(4), workers: 4)
        let view = cache.makeView(layers: [try source.addLayer(to: cache)])
        for level in 0..<3 {
            let scale = source.pyramid.levels[level].worldPixelsPerPixel
            let isDrawn = settled {
                view.update(
                    TileViewport(
                        center: WorldPoint(x: 100, y: 65),
                        width: 200 / scale,
                        height: 130 / scale,
                        scale: scale
                    )
                )
                let frame = view.frame()
                guard frame.missingTileCount == 0, frame.allSatisfy(\.isExact) else { return false }
                for placement in frame {
                    let tile = placement.tile.identity.tile
                    let part = try? cut.loaded(tile.level, tile.column, tile.row).image
                    let isSame = placement.tile.withUnsafeBytes { $0.equals(part?.pixels ?? []) }
                    if !isSame { Issue.record("tile \(tile) has other pixels") }
                }
                return !frame.isEmpty
            }
            #expect(isDrawn)
        }
        #expect(cache.shutdown() && cache.statistics.contradictions.isEmpty && source.statistics.failureCount == 0)
        for (count, found) in [(0, 0), (2, 2), (9, 3)] {
            let own = try #require(TileSourceAddress("tiff:\(path)#synthesized=\(count)")).open()
            #expect(own.layerOptions.synthesizedLevels == found && own.pyramid.levels.count == found + 1)
        }
        let few = try #require(try TileSourceAddress.tiff(path).open() as? TIFFTileSource)
        #expect(throws: TileFailure.permanent) { try few.loaded(-1, 0, 0) }
        #expect(few.statistics.lastFailure?.contains("synthesizedLevels must be 3") == true)
    }
}
