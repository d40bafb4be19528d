import TestSupport
import Testing

@testable import TileCache
@testable import TileSources

/// Ranges of the numbers of TIFF, stated, measured and given, and numbers without data: tiny pictures whose pixels are known.
@Suite(.timeLimit(.minutes(15))) struct TIFFRangeTests {
    private let folder = ScratchFolder()
    private static let straight = TileSourceOptions(alpha: .straight, tileSize: 32)

    private static func statistics(_ low: String, _ high: String) -> MadeTIFF.Field {
        MadeTIFF.Field.text(
            42112,
            "<GDALMetadata><Item name=\"STATISTICS_MAXIMUM\" sample=\"0\">\(high)</Item><Item name=\"STATISTICS_MINIMUM\" "
                + "sample=\"0\">\(low)</Item><Item name=\"STATISTICS_MINIMUM\" sample=\"3\">-9e9</Item></GDALMetadata>"
        )
    }

    /// Numbers, their range and their value without data. Bytes of a number are those of a row, the least first.
    struct Numbers: CustomTestStringConvertible, Sendable {
        var name: String
        var bits: Int
        var format: UInt64
        var more: [MadeTIFF.Field] = []
        /// The first numbers of a row, as they are in the file; the rest is the last one.
        var numbers: [UInt64]
        /// Grey and alpha of the first pixels.
        var pixels: [[UInt8]]
        var warning: String?

        var testDescription: String { name }
    }

    private static let numbers: [Numbers] = [
        Numbers(
            name: "signed bytes, stated",
            bits: 8,
            format: 2,
            more: [.double(340, -100), .double(341, 100)],
            numbers: [156, 100, 0, 206],
            pixels: [[0, 255], [255, 255], [128, 255], [64, 255]],
            warning:
                "its numbers from -100 to 100 are drawn from black to white, by SMinSampleValue and SMaxSampleValue"
        ),
        Numbers(
            name: "signed 16 bits, statistics",
            bits: 16,
            format: 2,
            more: [statistics("-10.5", "500")],
            numbers: [0xFFF6, 500, 1000, 0x8000],
            pixels: [[0, 255], [255, 255], [255, 255], [0, 255]],
            warning: "its numbers from -10.5 to 500 are drawn from black to white, by GDAL's statistics in the file"
        ),
        Numbers(
            name: "16 bits",
            bits: 16,
            format: 1,
            numbers: [0, 65535, 257],
            pixels: [[0, 255], [255, 255], [1, 255]]
        ),
        Numbers(
            name: "16 bits, stated",
            bits: 16,
            format: 1,
            more: [.shorts(280, 1000), .shorts(281, 2000)],
            numbers: [1000, 2000, 1200, 0],
            pixels: [[0, 255], [255, 255], [51, 255], [0, 255]],
            warning: "its numbers from 1000 to 2000 are drawn from black to white, by MinSampleValue and MaxSampleValue"
        ),
        Numbers(
            name: "24 bits",
            bits: 24,
            format: 1,
            more: [.double(340, 0), .double(341, 1_000_000)],
            numbers: [1_000_000, 200_000, 16_000_000, 0],
            pixels: [[255, 255], [51, 255], [255, 255], [0, 255]],
            warning: "its numbers from 0 to 1000000 are"
        ),
        Numbers(
            name: "32 bits, percentiles",
            bits: 32,
            format: 1,
            numbers: [70_000, 3_000_000_000, 70_000],
            pixels: [[0, 255], [255, 255], [0, 255]],
            warning:
                "its numbers from 70000 to 3000000000 are drawn from black to white, by the percentiles 2 and 98 of its"
        ),
        Numbers(
            name: "signed 32 bits, no data",
            bits: 32,
            format: 2,
            more: [.text(42113, "-9999")],
            numbers: [0xFFFF_D8F1, 100, 300, 100],
            pixels: [[0, 0], [0, 255], [255, 255]],
            warning: "from 100 to 300 are"
        ),
        Numbers(
            name: "64 bits",
            bits: 64,
            format: 2,
            more: [.double(340, -1), .double(341, 4)],
            numbers: [.max, 4, 0],
            pixels: [[0, 255], [255, 255], [51, 255]],
            warning: "from -1 to 4 are"
        ),
        // 1, .5, 0, .25, no number.
        Numbers(
            name: "halves",
            bits: 16,
            format: 3,
            numbers: [0x3C00, 0x3800, 0, 0x3400, 0x7E00],
            pixels: [[255, 255], [128, 255], [0, 255], [64, 255], [0, 255]]
        ),
        // -9999 has no half; the nearest is -10000.
        Numbers(
            name: "halves, no data",
            bits: 16,
            format: 3,
            more: [.text(42113, "-9999")],
            numbers: [0xF0E2, 0x3800],
            pixels: [[0, 0], [128, 255]]
        ),
        Numbers(
            name: "floats, no data is no number",
            bits: 32,
            format: 3,
            more: [.text(42113, "nan")],
            numbers: [0x7FC0_0000, UInt64(Float(2000).bitPattern), UInt64(Float(1000).bitPattern)],
            pixels: [[0, 0], [255, 255], [0, 255]],
            warning: "its numbers from 1000 to 2000 are drawn"
        ),
        Numbers(
            name: "floats, no data in ten digits",
            bits: 32,
            format: 3,
            more: [.text(42113, "-3.402823466e+38")],
            numbers: [0xFF7F_FFFF, UInt64(Float(0.5).bitPattern)],
            pixels: [[0, 0], [128, 255]]
        ),
        Numbers(
            name: "bytes, no data",
            bits: 8,
            format: 1,
            more: [.text(42113, "7")],
            numbers: [7, 8, 0],
            pixels: [[7, 0], [8, 255], [0, 255]]
        ),
    ]

    /// All orders of bytes, in tiles and strips: the range is the same, and the warning says it.
    @Test(arguments: numbers) func numbersHaveARange(kind: Numbers) throws {
        for variant in 0..<4 {
            let format = TIFFFormat(isLittle: variant & 2 == 0, isBig: false)
            let all = (0..<32).map { kind.numbers[min($0, kind.numbers.count - 1)] }
            let row = all.flatMap { format.bytes($0, kind.bits / 8) }
            let own = MadeKind(
                name: kind.name,
                bits: kind.bits,
                format: kind.format,
                more: kind.more,
                row: row,
                pixels: []
            )
            let path = own.write(to: folder, isTiled: variant & 1 == 0, isLittle: variant & 2 == 0, isBig: false)
            let source = try #require(TileSourceAddress("tiff:\(path)")).open(Self.straight)
            let image = try MadeKind.loaded(source)
            for (x, pixel) in kind.pixels.enumerated() {
                let found = Array(image.pixels[4 * x..<4 * x + 4])
                #expect(found == [pixel[0], pixel[0], pixel[0], pixel[1]], "variant \(variant), \(x)")
            }
            let said = source.warning ?? ""
            #expect(kind.warning.map { said.contains($0) } ?? said.isEmpty, "\(said)")
        }
    }

    /// Colours are transparent where all drawn samples are without data, multiplied or not. Fields of other types are no
    /// reason to refuse the file.
    @Test func coloursWithoutData() throws {
        let row: [UInt8] = [7, 7, 7, 7, 7, 8] + [UInt8](repeating: 0, count: 90)
        for (alpha, first) in [(TileAlphaMode.straight, [7, 7, 7, 0]), (.premultiplied, [0, 0, 0, 0])] {
            for more in [
                [MadeTIFF.Field.text(42113, "7 ")],
                [MadeTIFF.Field.text(42113, "7"), MadeTIFF.Field.text(340, "x"), MadeTIFF.Field.text(42112, "<x")],
            ] {
                let kind = MadeKind(name: "", samples: 3, photometric: 2, more: more, row: row, pixels: [])
                let path = kind.write(to: folder, isTiled: true, isLittle: true, isBig: false)
                let source = try TIFFTileSource(path, options: TileSourceOptions(alpha: alpha))
                let found = try source.loaded(0, 0, 0).image.pixels[..<12].map { Int($0) }
                #expect(found == first + [7, 7, 8, 255, 0, 0, 0, 255] && source.warning == nil)
            }
        }
    }

    /// A given range holds for tiles and strips, also of bytes, and needs no warning.
    @Test func aRangeIsGiven() throws {
        let row: [UInt8] = [0, 100, 125, 200, 255] + [UInt8](repeating: 0, count: 27)
        for (photometric, shades) in [(UInt64(1), [0, 0, 64, 255, 255]), (0, [255, 255, 191, 0, 0])] {
            let kind = MadeKind(name: "", photometric: photometric, row: row, pixels: [])
            for isTiled in [false, true] {
                let path = kind.write(to: folder, isTiled: isTiled, isLittle: true, isBig: false)
                let source = try #require(TileSourceAddress("tiff:\(path)#range=100,200")).open(Self.straight)
                let pixels = try MadeKind.loaded(source).pixels
                #expect((0..<5).map { Int(pixels[4 * $0]) } == shades && source.warning == nil)
                #expect(source.dataSet.contains("#range=100.0,200.0"))
            }
        }
        let palette = MadeKind(
            name: "",
            photometric: 3,
            more: [.shorts(320, [UInt64](repeating: 9, count: 768))],
            row: row,
            pixels: []
        )
        let path = palette.write(to: folder, isTiled: true, isLittle: true, isBig: false)
        let said = message { _ = try TIFFTileSource(path, tiff: TIFFTileOptions(range: 0...1)) }
        #expect(
            said == "\(path): a range is of grey or of red, green and blue, and not of a palette, CMYK, YCbCr, CIELab "
                + "or of tiles that are JPEG or WebP files"
        )
    }

    /// All levels have to have numbers: the message names one that has none, be it the coarsest or the finest.
    @Test(arguments: [0, 1]) func aRangeIsOfAllLevels(of images: Int) throws {
        var pages = [(200, 130), (100, 65)].map { MadeTIFF.Directory(TestImage(width: $0.0, height: $0.1)) }
        pages[1].kind = 1
        pages[images].compression = 7
        pages[images].encode = { $0.jpeg() }
        let path = folder.write(MadeTIFF(directories: pages).bytes(), to: "made.tif")
        let name = ["its level of 200 x 130 pixels: ", "its level of 100 x 65 pixels: "][images]
        let said = message { _ = try TIFFTileSource(path, tiff: TIFFTileOptions(range: 0...1)) }
        #expect(said.hasPrefix("\(path): \(name)a range is of grey"), "\(said)")
        let source = try TIFFTileSource(path)
        #expect(source.fileLevels.count == 2 && source.range == nil)
        #expect(message { try source.setRange(0...1, in: []) }.contains("\(name)a range is of grey"))
        let bands = message { _ = try TIFFTileSource(path, tiff: TIFFTileOptions(bands: [1])) }
        #expect(bands.contains("\(images == 1 ? name : "")bands can be chosen"), "\(bands)")
    }

    /// JPEG 2000 of YCbCr becomes red, green and blue, and has no range; other JPEG 2000 has.
    @Test(arguments: [(UInt64(33003), false), (33005, true)]) func rangesOfJPEG2000(compression: UInt64, has: Bool)
        throws
    {
        var kind = MadeKind(name: "", samples: 3, photometric: 2, row: [UInt8](repeating: 0, count: 96), pixels: [])
        kind.compression = compression
        let path = kind.write(to: folder, isTiled: true, isLittle: true, isBig: false)
        let said = message { _ = try TIFFTileSource(path, tiff: TIFFTileOptions(range: 0...100)) }
        #expect(said.contains("a range is of grey") != has)
        #expect((try TIFFTileSource(path).range != nil) == has)
    }

    /// A range that is changed invalidates layers, which then show the new one; stores keep nothing of it.
    @Test func aRangeIsChanged() throws {
        let row = (0..<64).map { UInt8($0 % 2 == 0 ? 0 : 100) }
        let kind = MadeKind(name: "", bits: 16, row: row, pixels: [])
        let path = kind.write(to: folder, isTiled: true, isLittle: true, isBig: false)
        let source = try TIFFTileSource(path)
        let cache = try TileCache(byteLimit: .mebibytes(4), workers: 2)
        let layer = try source.addLayer(to: cache)
        let view = cache.makeView(layers: [layer])
        func shows(_ shade: UInt8) -> Bool {
            settled {
                view.update(TileViewport(center: WorldPoint(x: 16, y: 16), width: 32, height: 32))
                return view.frame().contains { $0.tile.withUnsafeBytes { $0.first } == shade && $0.isExact }
            }
        }
        // 25600 of 65535.
        #expect(source.range == 0...65535 && shows(100))
        try source.setRange(0...51200, in: [layer])
        #expect(source.range == 0...51200 && shows(128))
        try source.setRange(nil, in: [layer])
        #expect(source.range == 0...65535 && shows(100) && source.statistics.loads == 3)
        #expect(message { try source.setRange(3...3, in: [layer]) }.contains("the second larger"))
        #expect(cache.shutdown() && cache.statistics.contradictions.isEmpty)
    }
}
