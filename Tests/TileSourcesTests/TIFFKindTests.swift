import TestSupport
import Testing

@testable import TileCache
@testable import TileSources

/// Samples, colours and compressions of TIFF, by hand: tiny pictures whose pixels are known.
@Suite(.timeLimit(.minutes(15))) struct TIFFKindTests {
    private let folder = ScratchFolder()
    private static let straight = TileSourceOptions(alpha: .straight, tileSize: 32)

    private static func grey(_ values: UInt8...) -> [[UInt8]] { values.map { [$0, $0, $0, 255] } }

    private static let kinds: [MadeKind] = [
        MadeKind(name: "1 bit", bits: 1, row: [0b1010_0000, 0, 0, 0], pixels: grey(255, 0, 255, 0)),
        MadeKind(name: "1 bit, white", bits: 1, photometric: 0, row: [0xA0, 0, 0, 0], pixels: grey(0, 255, 0, 255)),
        MadeKind(
            name: "1 bit, low first",
            bits: 1,
            more: [.shorts(266, 2)],
            row: [5, 0, 0, 0],
            pixels: grey(255, 0, 255, 0)
        ),
        MadeKind(name: "2 bits", bits: 2, row: [0b00_01_10_11] + zeros(7), pixels: grey(0, 85, 170, 255)),
        MadeKind(name: "3 bits", bits: 3, row: [0b000_010_11, 0b1_0000000] + zeros(10), pixels: grey(0, 73, 255, 0)),
        MadeKind(name: "4 bits", bits: 4, row: [0x0F, 0x81] + zeros(14), pixels: grey(0, 255, 136, 17)),
        MadeKind(
            name: "3 x 4 bits",
            bits: 4,
            samples: 3,
            photometric: 2,
            row: [0xF0, 0x83, 0x21] + zeros(45),
            pixels: [[255, 0, 136, 255], [51, 34, 17, 255]]
        ),
        MadeKind(
            name: "12 bits",
            bits: 12,
            row: [0xFF, 0xF0, 0x00, 0x80, 0x00] + zeros(43),
            pixels: grey(255, 0, 128)
        ),
        MadeKind(
            name: "palette of 2 bits",
            bits: 2,
            photometric: 3,
            more: [.shorts(320, 0, 65535, 0x1200, 0, 0, 0, 0x3400, 0, 0, 0, 0x5600, 0x0180)],
            row: [0b01_10_11_00] + zeros(7),
            pixels: [[255, 0, 0, 255], [0x12, 0x34, 0x56, 255], [0, 0, 1, 255], [0, 0, 0, 255]]
        ),
        MadeKind(
            name: "palette of 1 bit, stated in bytes",
            bits: 1,
            photometric: 3,
            more: [.shorts(320, 0, 200, 0, 100, 7, 50)],
            row: [0x80, 0, 0, 0],
            pixels: [[200, 100, 50, 255], [0, 0, 7, 255]]
        ),
        MadeKind(
            name: "CMYK",
            samples: 4,
            photometric: 5,
            more: [.shorts(338)],
            row: [0, 0, 0, 0, 255, 0, 0, 0, 0, 0, 0, 255, 51, 0, 102, 127] + zeros(112),
            pixels: [[255, 255, 255, 255], [0, 255, 255, 255], [0, 0, 0, 255], [102, 128, 77, 255]]
        ),
        MadeKind(
            name: "grey and alpha",
            samples: 2,
            more: [.shorts(338, 2)],
            row: [100, 255, 200, 7] + zeros(60),
            pixels: [[100, 100, 100, 255], [200, 200, 200, 7]]
        ),
        MadeKind(
            name: "signed grey and alpha",
            samples: 2,
            format: 2,
            more: [.shorts(338, 2), .shorts(280, 0), .shorts(281, 127)],
            row: [127, 127, 0, 0, 127, 0] + zeros(58),
            pixels: [[255, 255, 255, 255], [0, 0, 0, 0], [255, 255, 255, 0]]
        ),
        MadeKind(
            name: "two bands",
            samples: 2,
            more: [.shorts(338, 0)],
            row: [100, 255, 200, 7] + zeros(60),
            pixels: grey(100, 200)
        ),
        MadeKind(
            name: "five bands, the last alpha",
            samples: 5,
            photometric: 2,
            more: [.shorts(338, 0, 2)],
            row: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] + zeros(150),
            pixels: [[1, 2, 3, 5], [6, 7, 8, 10]]
        ),
        MadeKind(
            name: "YCbCr",
            samples: 3,
            photometric: 6,
            more: [.shorts(530, 1, 1)],
            // White, and the red that JPEG has: 76, 85, 255.
            row: [255, 128, 128, 76, 85, 255, 0, 128, 128]
                + zeros(87).enumerated().map { $0.offset % 3 == 0 ? 0 : 128 },
            pixels: [[255, 255, 255, 255], [254, 0, 0, 255], [0, 0, 0, 255]]
        ),
        MadeKind(
            name: "CIELab",
            samples: 3,
            photometric: 8,
            row: [255, 0, 0, 0, 0, 0] + zeros(90),
            // libtiff shows the white of its default, D50, as the light of a screen.
            pixels: [[255, 252, 222, 255], [0, 0, 0, 255]]
        ),
        // Runs of 1 white, 1 black, 30 white.
        MadeKind(
            name: "PackBits, 1 bit",
            bits: 1,
            compression: 32773,
            row: [3, 0x40, 0, 0, 0],
            pixels: grey(0, 255, 0)
        ),
        // 000111 is a white run of 1, 010 a black of 1, 00000011 a white of 30.
        MadeKind(
            name: "CCITT, modified Huffman",
            bits: 1,
            photometric: 0,
            compression: 2,
            row: [0b0001_1101, 0b0000_0001, 0x80],
            pixels: grey(255, 0, 255, 255)
        ),
    ]

    private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

    @Test(arguments: kinds) func pixelsAreKnown(kind: MadeKind) throws {
        for variant in 0..<8 {
            let path = kind.write(
                to: folder,
                isTiled: variant & 1 == 0,
                isLittle: variant & 2 == 0,
                isBig: variant & 4 != 0
            )
            let source = try #require(TileSourceAddress("tiff:\(path)")).open(Self.straight)
            let image = try MadeKind.loaded(source)
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
        directory.more = [MadeTIFF.Field.shorts(262, 0)]
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
        let kind = MadeKind(
            name: "",
            bits: 8,
            more: [.init(tag: 42112, type: 2, values: [UInt64](repeating: 60, count: 40))],
            row: Self.zeros(32),
            pixels: []
        )
        var bytes = try #require(
            OtherPrograms.bytes(kind.write(to: folder, isTiled: true, isLittle: true, isBig: false))
        )
        let entry = try #require((0..<bytes.count - 12).first { Array(bytes[$0..<$0 + 2]) == [0x80, 0xA4] })
        bytes.replaceSubrange(entry + 8..<entry + 12, with: [0, 0, 0, 0x7F])
        let source = try TIFFTileSource(folder.write(bytes, to: "dangling.tif"))
        let pixels = try source.loaded(0, 0, 0).image.pixels
        #expect(pixels.prefix(4) == [0, 0, 0, 255])
    }

    /// Each byte of the directory is changed: the picture opens and loads, or an error names the file.
    @Test(arguments: kinds) func damagedKinds(kind: MadeKind) throws {
        var bytes = try #require(
            OtherPrograms.bytes(kind.write(to: folder, isTiled: true, isLittle: true, isBig: false))
        )
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
                guard source.fileLevels[0].tileWidth * source.fileLevels[0].tileHeight <= 1 << 14 else {
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
}
