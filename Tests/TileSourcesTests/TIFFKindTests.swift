import TestSupport
import Testing

@testable import TileCache
@testable import TileSources

/// Samples, colours and compressions of TIFF, by hand: tiny pictures whose pixels are known.
@Suite(.timeLimit(.minutes(15))) struct TIFFKindTests {
    private let folder = ScratchFolder()
    private static let straight = TileSourceOptions(alpha: .straight, tileSize: 32)

    /// A picture of one tile, 32 pixels a side.
    struct Kind: CustomTestStringConvertible, Sendable {
        var name: String
        var bits = 8
        var samples = 1
        var format: UInt64 = 1
        var photometric: UInt64 = 1
        var compression: UInt64 = 1
        var more: [MadeTIFF.Field] = []
        /// Encoded bytes of a row.
        var row: [UInt8]
        /// Red, green, blue and alpha of the first pixels of a row.
        var pixels: [[UInt8]]

        var testDescription: String { name }
    }

    private static func grey(_ values: UInt8...) -> [[UInt8]] { values.map { [$0, $0, $0, 255] } }

    private static func shorts(_ tag: UInt64, _ values: UInt64...) -> MadeTIFF.Field {
        MadeTIFF.Field(tag: tag, type: 3, values: values)
    }

    private static let kinds: [Kind] = [
        Kind(name: "1 bit", bits: 1, row: [0b1010_0000, 0, 0, 0], pixels: grey(255, 0, 255, 0)),
        Kind(name: "1 bit, white", bits: 1, photometric: 0, row: [0xA0, 0, 0, 0], pixels: grey(0, 255, 0, 255)),
        Kind(
            name: "1 bit, low first",
            bits: 1,
            more: [shorts(266, 2)],
            row: [5, 0, 0, 0],
            pixels: grey(255, 0, 255, 0)
        ),
        Kind(name: "2 bits", bits: 2, row: [0b00_01_10_11] + zeros(7), pixels: grey(0, 85, 170, 255)),
        Kind(name: "3 bits", bits: 3, row: [0b000_010_11, 0b1_0000000] + zeros(10), pixels: grey(0, 73, 255, 0)),
        Kind(name: "4 bits", bits: 4, row: [0x0F, 0x81] + zeros(14), pixels: grey(0, 255, 136, 17)),
        Kind(
            name: "3 x 4 bits",
            bits: 4,
            samples: 3,
            photometric: 2,
            row: [0xF0, 0x83, 0x21] + zeros(45),
            pixels: [[255, 0, 136, 255], [51, 34, 17, 255]]
        ),
        Kind(name: "12 bits", bits: 12, row: [0xFF, 0xF0, 0x00, 0x80, 0x00] + zeros(43), pixels: grey(255, 0, 128)),
        Kind(
            name: "palette of 2 bits",
            bits: 2,
            photometric: 3,
            more: [shorts(320, 0, 65535, 0x1200, 0, 0, 0, 0x3400, 0, 0, 0, 0x5600, 0x0180)],
            row: [0b01_10_11_00] + zeros(7),
            pixels: [[255, 0, 0, 255], [0x12, 0x34, 0x56, 255], [0, 0, 1, 255], [0, 0, 0, 255]]
        ),
        Kind(
            name: "palette of 1 bit, stated in bytes",
            bits: 1,
            photometric: 3,
            more: [shorts(320, 0, 200, 0, 100, 7, 50)],
            row: [0x80, 0, 0, 0],
            pixels: [[200, 100, 50, 255], [0, 0, 7, 255]]
        ),
        Kind(
            name: "CMYK",
            samples: 4,
            photometric: 5,
            more: [shorts(338)],
            row: [0, 0, 0, 0, 255, 0, 0, 0, 0, 0, 0, 255, 51, 0, 102, 127] + zeros(112),
            pixels: [[255, 255, 255, 255], [0, 255, 255, 255], [0, 0, 0, 255], [102, 128, 77, 255]]
        ),
        Kind(
            name: "grey and alpha",
            samples: 2,
            more: [shorts(338, 2)],
            row: [100, 255, 200, 7] + zeros(60),
            pixels: [[100, 100, 100, 255], [200, 200, 200, 7]]
        ),
        Kind(
            name: "signed grey and alpha",
            samples: 2,
            format: 2,
            more: [shorts(338, 2), shorts(280, 0), shorts(281, 127)],
            row: [127, 127, 0, 0, 127, 0] + zeros(58),
            pixels: [[255, 255, 255, 255], [0, 0, 0, 0], [255, 255, 255, 0]]
        ),
        Kind(
            name: "two bands",
            samples: 2,
            more: [shorts(338, 0)],
            row: [100, 255, 200, 7] + zeros(60),
            pixels: grey(100, 200)
        ),
        Kind(
            name: "five bands, the last alpha",
            samples: 5,
            photometric: 2,
            more: [shorts(338, 0, 2)],
            row: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] + zeros(150),
            pixels: [[1, 2, 3, 5], [6, 7, 8, 10]]
        ),
        Kind(
            name: "YCbCr",
            samples: 3,
            photometric: 6,
            more: [shorts(530, 1, 1)],
            // White, and the red that JPEG has: 76, 85, 255.
            row: [255, 128, 128, 76, 85, 255, 0, 128, 128]
                + zeros(87).enumerated().map { $0.offset % 3 == 0 ? 0 : 128 },
            pixels: [[255, 255, 255, 255], [254, 0, 0, 255], [0, 0, 0, 255]]
        ),
        Kind(
            name: "CIELab",
            samples: 3,
            photometric: 8,
            row: [255, 0, 0, 0, 0, 0] + zeros(90),
            // libtiff shows the white of its default, D50, as the light of a screen.
            pixels: [[255, 252, 222, 255], [0, 0, 0, 255]]
        ),
        // Runs of 1 white, 1 black, 30 white.
        Kind(
            name: "PackBits, 1 bit",
            bits: 1,
            compression: 32773,
            row: [3, 0x40, 0, 0, 0],
            pixels: grey(0, 255, 0)
        ),
        // 000111 is a white run of 1, 010 a black of 1, 00000011 a white of 30.
        Kind(
            name: "CCITT, modified Huffman",
            bits: 1,
            photometric: 0,
            compression: 2,
            row: [0b0001_1101, 0b0000_0001, 0x80],
            pixels: grey(255, 0, 255, 255)
        ),
    ]

    /// A number in one field, of a value of 64 bits with a point.
    private static func double(_ tag: UInt64, _ value: Double) -> MadeTIFF.Field {
        MadeTIFF.Field(tag: tag, type: 12, values: [value.bitPattern])
    }

    private static func text(_ tag: UInt64, _ text: String) -> MadeTIFF.Field {
        MadeTIFF.Field(tag: tag, type: 2, values: (Array(text.utf8) + [0]).map { UInt64($0) })
    }

    private static func statistics(_ low: String, _ high: String) -> MadeTIFF.Field {
        text(
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
            more: [double(340, -100), double(341, 100)],
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
            more: [shorts(280, 1000), shorts(281, 2000)],
            numbers: [1000, 2000, 1200, 0],
            pixels: [[0, 255], [255, 255], [51, 255], [0, 255]],
            warning: "its numbers from 1000 to 2000 are drawn from black to white, by MinSampleValue and MaxSampleValue"
        ),
        Numbers(
            name: "24 bits",
            bits: 24,
            format: 1,
            more: [double(340, 0), double(341, 1_000_000)],
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
            more: [text(42113, "-9999")],
            numbers: [0xFFFF_D8F1, 100, 300, 100],
            pixels: [[0, 0], [0, 255], [255, 255]],
            warning: "from 100 to 300 are"
        ),
        Numbers(
            name: "64 bits",
            bits: 64,
            format: 2,
            more: [double(340, -1), double(341, 4)],
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
            more: [text(42113, "-9999")],
            numbers: [0xF0E2, 0x3800],
            pixels: [[0, 0], [128, 255]]
        ),
        Numbers(
            name: "floats, no data is no number",
            bits: 32,
            format: 3,
            more: [text(42113, "nan")],
            numbers: [0x7FC0_0000, UInt64(Float(2000).bitPattern), UInt64(Float(1000).bitPattern)],
            pixels: [[0, 0], [255, 255], [0, 255]],
            warning: "its numbers from 1000 to 2000 are drawn"
        ),
        Numbers(
            name: "floats, no data in ten digits",
            bits: 32,
            format: 3,
            more: [text(42113, "-3.402823466e+38")],
            numbers: [0xFF7F_FFFF, UInt64(Float(0.5).bitPattern)],
            pixels: [[0, 0], [128, 255]]
        ),
        Numbers(
            name: "bytes, no data",
            bits: 8,
            format: 1,
            more: [text(42113, "7")],
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
            let own = Kind(
                name: kind.name,
                bits: kind.bits,
                format: kind.format,
                more: kind.more,
                row: row,
                pixels: []
            )
            let path = made(own, isTiled: variant & 1 == 0, isLittle: variant & 2 == 0, isBig: false)
            let source = try #require(TileSourceAddress("tiff:\(path)")).open(Self.straight)
            let image = try loaded(source)
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
        let row: [UInt8] = [7, 7, 7, 7, 7, 8] + Self.zeros(90)
        for (alpha, first) in [(TileAlphaMode.straight, [7, 7, 7, 0]), (.premultiplied, [0, 0, 0, 0])] {
            for more in [
                [Self.text(42113, "7 ")], [Self.text(42113, "7"), Self.text(340, "x"), Self.text(42112, "<x")],
            ] {
                let kind = Kind(name: "", samples: 3, photometric: 2, more: more, row: row, pixels: [])
                let path = made(kind, isTiled: true, isLittle: true, isBig: false)
                let source = try TIFFTileSource(path, options: TileSourceOptions(alpha: alpha))
                let found = try source.loaded(0, 0, 0).image.pixels[..<12].map { Int($0) }
                #expect(found == first + [7, 7, 8, 255, 0, 0, 0, 255] && source.warning == nil)
            }
        }
    }

    private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

    private func made(_ kind: Kind, isTiled: Bool, isLittle: Bool, isBig: Bool) -> String {
        var directory = MadeTIFF.Directory(TestImage(width: 32, height: 32))
        (directory.tile, directory.samples, directory.bits) = (isTiled ? 32 : 0, kind.samples, kind.bits)
        directory.stripRows = 8
        directory.compression = kind.compression
        directory.more = kind.more + [Self.shorts(262, kind.photometric)]
        let formats = [UInt64](repeating: kind.format, count: kind.samples)
        directory.more.append(.init(tag: 339, type: 3, values: formats))
        directory.more.removeAll { $0.values.isEmpty }
        directory.encode = { part in (0..<part.height).flatMap { _ in kind.row } }
        let made = MadeTIFF(directories: [directory], isLittle: isLittle, isBig: isBig)
        return folder.write(made.bytes(), to: "made.tif")
    }

    @Test(arguments: kinds) func pixelsAreKnown(kind: Kind) throws {
        for variant in 0..<8 {
            let path = made(kind, isTiled: variant & 1 == 0, isLittle: variant & 2 == 0, isBig: variant & 4 != 0)
            let source = try #require(TileSourceAddress("tiff:\(path)")).open(Self.straight)
            let image = try loaded(source)
            for y in [0, 9, 31] {
                let found = (0..<kind.pixels.count).map {
                    Array(image.pixels[(y * 32 + $0) * 4..<(y * 32 + $0) * 4 + 4])
                }
                #expect(found == kind.pixels, "variant \(variant), row \(y)")
            }
            #expect(source.statistics.failureCount == 0)
        }
    }

    /// A tile of CCITT group 4 that ends after its first row, after one that is black: what its decoder leaves out is white.
    @Test func whatADecoderLeavesOutIsEmpty() throws {
        var image = TestImage(width: 64, height: 32)
        image.pixels = [UInt8](repeating: 0, count: 64 * 32 * 4)
        image.pixels[32 * 4] = 9
        var directory = MadeTIFF.Directory(image)
        (directory.samples, directory.bits, directory.compression) = (1, 1, 4)
        directory.more = [Self.shorts(262, 0)]
        // A row of 32 black pixels, 31 rows as the one above, the mark of the end; one white row and the mark.
        let end = "000000000001000000000001"
        let black = "00100110101000001101010" + String(repeating: "11", count: 31) + end
        directory.encode = { Self.bytes(ofBits: $0.pixels[0] == 9 ? "1" + end : black) }
        let source = try TIFFTileSource(folder.write(MadeTIFF(directories: [directory]).bytes(), to: "early.tif"))
        for _ in 0..<3 {
            let first = try source.loaded(0, 0, 0).image.pixels
            #expect(first.prefix(3) == [0, 0, 0])
            let late = try source.loaded(0, 1, 0).image.pixels
            #expect(late.allSatisfy { $0 == 255 })
        }
    }

    private static func bytes(ofBits bits: String) -> [UInt8] {
        let padded = Array(bits + String(repeating: "0", count: (8 - bits.count % 8) % 8))
        return stride(from: 0, to: padded.count, by: 8).map { UInt8(String(padded[$0..<$0 + 8]), radix: 2) ?? 0 }
    }

    /// Fields that no decoder of the picture needs may lie beyond the file.
    @Test func fieldsThatAreNotNeededAreNotRead() throws {
        let kind = Kind(
            name: "",
            bits: 8,
            more: [.init(tag: 42112, type: 2, values: [UInt64](repeating: 60, count: 40))],
            row: Self.zeros(32),
            pixels: []
        )
        var bytes = try #require(OtherPrograms.bytes(made(kind, isTiled: true, isLittle: true, isBig: false)))
        let entry = try #require((0..<bytes.count - 12).first { Array(bytes[$0..<$0 + 2]) == [0x80, 0xA4] })
        bytes.replaceSubrange(entry + 8..<entry + 12, with: [0, 0, 0, 0x7F])
        let source = try TIFFTileSource(folder.write(bytes, to: "dangling.tif"))
        let pixels = try source.loaded(0, 0, 0).image.pixels
        #expect(pixels.prefix(4) == [0, 0, 0, 255])
    }

    /// Each byte of the directory is changed: the picture opens and loads, or an error names the file.
    @Test(arguments: kinds) func damagedKinds(kind: Kind) throws {
        var bytes = try #require(OtherPrograms.bytes(made(kind, isTiled: true, isLittle: true, isBig: false)))
        var random = SplitMix64(seed: 7)
        var opened = 0
        for position in 8..<min(300, bytes.count) {
            let own = bytes[position]
            bytes[position] ^= UInt8(random.next() % 255 + 1)
            let path = folder.write(bytes, to: "damaged.tif")
            bytes[position] = own
            do {
                let source = try TIFFTileSource(path)
                opened += 1
                guard source.pyramid.levels[0].tileWidth * source.pyramid.levels[0].tileHeight <= 1 << 14 else {
                    continue
                }
                let isFailed = (try? source.loaded(0, 0, 0)) == nil
                #expect(!isFailed || source.statistics.lastFailure?.hasPrefix(path) == true)
            } catch {
                #expect("\(error)".hasPrefix(path))
            }
        }
        #expect(opened > 10)
    }

    private func loaded(_ source: any PyramidTileSource) throws -> TestImage {
        if let tiled = source as? TIFFTileSource { return try tiled.loaded(0, 0, 0).image }
        return try #require(source as? ImageTileSource).loaded(0, 0, 0).image
    }
}
