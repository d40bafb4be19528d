import TestSupport
import Testing

@testable import TileCache

/// A damaged block throws. It never gives wrong pixels or accesses memory outside the tile.
@Suite struct CompressionDamageTests {
    private static let width = 61
    private static let height = 47

    private static func sample(
        _ format: TilePixelFormat,
        _ contents: TileContents = .slopes
    ) throws -> (codec: TileCodec, pixels: [UInt8], block: [UInt8]) {
        let codec = try TileCodec(maximumTileBytes: 1 << 16)
        var random = SplitMix64(seed: 11)
        let bytesPerPixel = try #require(format.bytesPerPixel)
        let pixels = contents.pixels(width: width, height: height, bytesPerPixel: bytesPerPixel, random: &random)
        return (codec, pixels, try #require(codec.block(pixels, width, height, format)))
    }

    /// Whether a block of this size is refused with an error. `#expect(throws:)` describes each error that it sees, which
    /// takes longer than the check.
    private static func isRefused(
        _ block: [UInt8],
        _ codec: TileCodec,
        _ format: TilePixelFormat,
        by expected: BlockError? = nil
    ) -> Bool {
        do {
            _ = try codec.pixels(of: block, width, height, format)
            return false
        } catch {
            return expected == nil || error == expected
        }
    }

    @Test(arguments: pixelFormats)
    func everyBitOfTheHeader(format: TilePixelFormat) throws {
        let (codec, _, block) = try Self.sample(format)
        for index in 0..<TileBlock.headerByteCount {
            for bit in 0..<8 {
                var damaged = block
                damaged[index] ^= 1 << bit
                if !Self.isRefused(damaged, codec, format) { Issue.record("byte \(index) bit \(bit)") }
            }
        }
    }

    @Test(arguments: pixelFormats, [TileContents.slopes, .drawing])
    func randomDamageOfThePayload(format: TilePixelFormat, contents: TileContents) throws {
        let (codec, _, block) = try Self.sample(format, contents)
        var random = SplitMix64(seed: 12)
        for _ in 0..<2000 {
            var damaged = block
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = Int.random(in: TileBlock.headerByteCount..<block.count, using: &random)
                damaged[index] = UInt8.random(in: 0...255, using: &random)
            }
            guard damaged != block else { continue }
            if !Self.isRefused(damaged, codec, format, by: .checksum) { Issue.record("no wrong checksum") }
        }
    }

    @Test(arguments: pixelFormats)
    func everyTruncationAndSomeExtensions(format: TilePixelFormat) throws {
        let (codec, _, block) = try Self.sample(format)
        for count in 0..<block.count {
            let error: BlockError = count < TileBlock.headerByteCount ? .notABlock : .mismatch
            if !Self.isRefused(Array(block[..<count]), codec, format, by: error) { Issue.record("\(count) bytes") }
        }
        for extra in 1...20 {
            #expect(throws: BlockError.mismatch) {
                try codec.pixels(of: block + [UInt8](repeating: 0, count: extra), Self.width, Self.height, format)
            }
        }
    }

    /// A block is valid for one size and format only. Equal byte counts do not matter.
    @Test func anotherTilesSizeOrFormat() throws {
        let (codec, pixels, block) = try Self.sample(.rgba8)
        #expect(try codec.pixels(of: block, Self.width, Self.height, .rgba8) == pixels)
        #expect(throws: BlockError.checksum) { try codec.pixels(of: block, Self.height, Self.width, .rgba8) }
        #expect(throws: BlockError.checksum) { try codec.pixels(of: block, Self.width, Self.height, .bgra8) }
        #expect(throws: BlockError.mismatch) { try codec.pixels(of: block, Self.width, Self.height, .float32) }
        #expect(throws: BlockError.mismatch) { try codec.pixels(of: block, Self.width, Self.height + 1, .rgba8) }
        #expect(throws: BlockError.mismatch) { try codec.pixels(of: block, 0, 0, .rgba8) }
    }

    @Test func garbageIsNoBlock() throws {
        let codec = try TileCodec(maximumTileBytes: 1 << 16)
        var random = SplitMix64(seed: 13)
        for _ in 0..<3000 {
            let count = Int.random(in: 0...400, using: &random)
            var bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            // Half of them start like a block.
            if count >= 8 && Bool.random(using: &random) {
                bytes.replaceSubrange(0..<8, with: [0x54, 0x43, 0x42, 1, UInt8(count % 7), 1, 0, 0])
            }
            #expect(throws: BlockError.self) { try codec.pixels(of: bytes, 16, 16, .rgba8) }
        }
    }

    /// Damage that the checksum misses: random payloads with a valid checksum. Decoding stays within the tile, whatever
    /// LZ4 returns.
    @Test(arguments: pixelFormats)
    func sealedGarbageStaysInside(format: TilePixelFormat) throws {
        let (codec, _, block) = try Self.sample(format)
        var random = SplitMix64(seed: 14)
        for round in 0..<2000 {
            var forged = block
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                let index = Int.random(in: TileBlock.headerByteCount..<block.count, using: &random)
                forged[index] = UInt8.random(in: 0...255, using: &random)
            }
            if round % 3 == 0 { forged.removeLast(Int.random(in: 0..<block.count - 40, using: &random)) }
            let payload = forged.count - TileBlock.headerByteCount
            let filter = try #require(TileFilter(rawValue: block[4]))
            let mask = UInt8.random(in: 0...255, using: &random) & UInt8(1 << filter.planeCount - 1)
            let header = TileBlock(
                filter: filter,
                storedPlanes: round % 2 == 0 ? block[5] : mask,
                rawByteCount: format.byteCount(width: Self.width, height: Self.height) ?? 0,
                payloadByteCount: payload,
                firstPixel: random.next()
            )
            try forged.withUnsafeMutableBytes { bytes in
                header.seal(try #require(bytes.baseAddress), width: Self.width, height: Self.height, format: format)
            }
            do throws(BlockError) {
                let pixels = try codec.pixels(of: forged, Self.width, Self.height, format)
                #expect(pixels != nil, "wrote outside of the tile")
            } catch {
                #expect(error == .payload)
            }
        }
    }
}
