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
            said.hasPrefix("\(path): page 1 to 5 were expected, not 6; it has 1 of 200 x 130 pixels, 2 of 100 x 65")
        )
        #expect(
            message { _ = try opened(path, "#series=4") }.contains("series 1 to 3 were expected, not 4; it has 1 of")
        )
        #expect(
            message { _ = try TIFFTileSource(path, tiff: TIFFTileOptions(page: 0)) }.contains("from 1 was expected")
        )
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
