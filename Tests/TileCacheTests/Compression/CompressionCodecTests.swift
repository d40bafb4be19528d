import CLZ4
import TestSupport
import Testing

@testable import TileCache

@Suite struct CompressionCodecTests {
    @Test(arguments: pixelFormats, TileContents.allCases)
    func everyTileComesBack(format: TilePixelFormat, contents: TileContents) throws {
        let codec = try TileCodec(maximumTileBytes: 300 * 300 * 8)
        let bytesPerPixel = try #require(format.bytesPerPixel)
        var random = SplitMix64(seed: 17)
        var sizes = [(1, 1), (1, 2), (2, 1), (1, 300), (300, 1), (64, 64), (256, 256)]
        sizes += (0..<20).map { _ in
            (Int.random(in: 1...300, using: &random), Int.random(in: 1...80, using: &random))
        }
        for (width, height) in sizes {
            let pixels = contents.pixels(
                width: width,
                height: height,
                bytesPerPixel: bytesPerPixel,
                random: &random
            )
            #expect(try codec.roundTrip(pixels, width, height, format) == pixels, "\(width)x\(height)")
        }
    }

    /// Every filter that a format allows is lossless, chosen or not.
    @Test(arguments: pixelFormats)
    func everyFilterComesBack(format: TilePixelFormat) throws {
        let codec = try TileCodec(maximumTileBytes: 1 << 20)
        let bytesPerPixel = try #require(format.bytesPerPixel)
        var random = SplitMix64(seed: 5)
        for filter in TileFilter.allCases where filter.applies(to: format) {
            for contents in TileContents.allCases {
                let pixels = contents.pixels(width: 97, height: 61, bytesPerPixel: bytesPerPixel, random: &random)
                guard let block = codec.block(pixels, 97, 61, format, filter: filter) else {
                    #expect(contents == .noise)
                    continue
                }
                #expect(try codec.pixels(of: block, 97, 61, format) == pixels, "\(filter) \(contents)")
            }
        }
    }

    @Test func filtersBelongToFormats() {
        let table = pixelFormats.map { format in
            TileFilter.allCases.filter { $0.applies(to: format) }
        }
        #expect(
            table == [
                [.none, .greenUp8], [.none, .greenUp8], [.none, .up8], [.none, .gradient16], [.none, .greenUp16],
                [.none, .gradient32, .gradientBytes32],
            ]
        )
        #expect(TileFilter.allCases.filter { $0.applies(to: .opaque(bytesPerTile: 4)) } == [.none])
    }

    @Test(arguments: pixelFormats)
    func oneColorIsSolidAndOnePixelLessIsNot(format: TilePixelFormat) throws {
        let codec = try TileCodec(maximumTileBytes: 64 * 64 * 8)
        let bytesPerPixel = try #require(format.bytesPerPixel)
        let pixel = (0..<bytesPerPixel).map { UInt8(truncatingIfNeeded: 10 + 37 * $0) }
        for (width, height) in [(1, 1), (3, 1), (1, 5), (7, 9), (64, 64)] {
            var pixels = (0..<width * height).flatMap { _ in pixel }
            guard case .solid(let pattern) = codec.compress(pixels, width, height, format) else {
                Issue.record("\(width)x\(height) is not solid")
                continue
            }
            #expect(
                (0..<8).allSatisfy { UInt8(truncatingIfNeeded: pattern >> UInt64(8 * $0)) == pixel[$0 % bytesPerPixel] }
            )
            #expect(try codec.roundTrip(pixels, width, height, format) == pixels)
            guard width * height > 1 else { continue }
            for index in [0, pixels.count / 2, pixels.count - 1] {
                pixels[index] ^= 0x80
                if case .solid = codec.compress(pixels, width, height, format) {
                    Issue.record("\(width)x\(height) with byte \(index) changed is solid")
                }
                #expect(try codec.roundTrip(pixels, width, height, format) == pixels)
                pixels[index] ^= 0x80
            }
        }
    }

    @Test func opaquePayloadsPassUnfiltered() throws {
        let codec = try TileCodec(maximumTileBytes: 4096)
        var random = SplitMix64(seed: 8)
        for count in [1, 7, 8, 9, 16, 333, 4096] {
            let format = TilePixelFormat.opaque(bytesPerTile: count)
            let text = (0..<count).map { UInt8(($0 / 5) % 11) }
            let noise = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            let plain = [UInt8](repeating: 3, count: count)
            for bytes in [text, noise, plain] {
                #expect(try codec.roundTrip(bytes, 1, 1, format) == bytes)
            }
            guard case .solid = codec.compress(plain, 1, 1, format) else {
                #expect(count < 8)
                continue
            }
        }
        let text = [UInt8]((0..<4096).map { UInt8($0 / 64) })
        let block = try #require(codec.block(text, 1, 1, .opaque(bytesPerTile: 4096)))
        #expect(block[4] == TileFilter.none.rawValue)
    }

    /// A tile with constant alpha or constant colour differences stores no plane for them.
    @Test func constantChannelsTakeNoSpace() throws {
        let codec = try TileCodec(maximumTileBytes: 1 << 20)
        var random = SplitMix64(seed: 2)
        var pixels: [UInt8] = []
        for _ in 0..<128 * 128 {
            let grey = UInt8.random(in: 0...255, using: &random)
            pixels += [grey, grey, grey, 77]
        }
        let block = try #require(codec.block(pixels, 128, 128, .rgba8, filter: .greenUp8))
        #expect(block[5] == 0b0001)
        // A plane of noise, a header, and LZ4's length bytes.
        #expect(block.count <= 128 * 128 + 32 + 128 * 128 / 255 + 16)
        #expect(try codec.pixels(of: block, 128, 128, .rgba8) == pixels)

        // Only alpha changes: the only stored plane is the last.
        for index in pixels.indices { pixels[index] = index % 4 == 3 ? UInt8(index / 64 % 251) : 9 }
        let alpha = try #require(codec.block(pixels, 128, 128, .rgba8, filter: .greenUp8))
        #expect(alpha[5] == 0b1000)
        #expect(try codec.pixels(of: alpha, 128, 128, .rgba8) == pixels)

        // Nothing changes: no payload at all.
        let plain = [UInt8](repeating: 50, count: 128 * 128 * 4)
        let empty = try #require(codec.block(plain, 128, 128, .rgba8, filter: .greenUp8))
        #expect(empty.count == TileBlock.headerByteCount)
        #expect(try codec.pixels(of: empty, 128, 128, .rgba8) == plain)
    }

    @Test func whatSavesLessThanASixteenthIsLeftRaw() throws {
        #expect(TileCodec.keeps(blockByteCount: 15, of: 16))
        #expect(!TileCodec.keeps(blockByteCount: 16, of: 16))
        #expect(TileCodec.keeps(blockByteCount: 245_760, of: 262_144))
        #expect(!TileCodec.keeps(blockByteCount: 245_761, of: 262_144))

        let codec = try TileCodec(maximumTileBytes: 64 * 64 * 4)
        var random = SplitMix64(seed: 1)
        let noise = TileContents.noise.pixels(width: 64, height: 64, bytesPerPixel: 4, random: &random)
        guard case .raw = codec.compress(noise, 64, 64, .rgba8) else {
            Issue.record("noise was compressed")
            return
        }
    }

    @Test func theLargestTileIsLZ4sLargestInput() throws {
        let limit = Int(LZ4_MAX_INPUT_SIZE)
        for bytes in [limit + 1, Int.max, 0, -1] {
            #expect(throws: TileCodecError.tileSize(bytes: bytes, limit: limit)) {
                try TileCodec(maximumTileBytes: bytes)
            }
        }
        // A tile too large for the codec stays raw; the codec refuses its block, made by a larger one.
        let large = try TileCodec(maximumTileBytes: 64 * 64 * 4)
        let small = try TileCodec(maximumTileBytes: 63 * 64 * 4)
        var random = SplitMix64(seed: 4)
        let pixels = TileContents.slopes.pixels(width: 64, height: 64, bytesPerPixel: 4, random: &random)
        guard case .raw = small.compress(pixels, 64, 64, .rgba8) else {
            Issue.record("a tile larger than the codec was compressed")
            return
        }
        let block = try #require(large.block(pixels, 64, 64, .rgba8, filter: .greenUp8))
        #expect(throws: BlockError.tooLarge) { try small.pixels(of: block, 64, 64, .rgba8) }
        // It also refuses a block whose byte count does not match its size.
        guard case .raw = large.compress(pixels, 64, 63, .rgba8) else {
            Issue.record("a tile of the wrong size was compressed")
            return
        }
    }

    @Test func scratchIsCountedWhole() throws {
        for bytes in [1, 64, 262_144, 1 << 22] {
            let codec = try TileCodec(maximumTileBytes: bytes)
            let parts =
                Int(LZ4_sizeofState()) + bytes + TileBlock.headerByteCount + Int(LZ4_compressBound(Int32(bytes)))
            #expect(codec.scratchByteCount >= parts)
            #expect(codec.scratchByteCount < parts + 3 * 64)
        }
    }

    @Test(arguments: pixelFormats)
    func veryWideAndVeryHigh(format: TilePixelFormat) throws {
        let bytesPerPixel = try #require(format.bytesPerPixel)
        let codec = try TileCodec(maximumTileBytes: 16384 * 3 * bytesPerPixel)
        var random = SplitMix64(seed: 6)
        for (width, height) in [(16384, 3), (16384, 1), (3, 16384), (1, 16384)] {
            let pixels = TileContents.slopes.pixels(
                width: width,
                height: height,
                bytesPerPixel: bytesPerPixel,
                random: &random
            )
            #expect(try codec.roundTrip(pixels, width, height, format) == pixels)
        }
    }
}
