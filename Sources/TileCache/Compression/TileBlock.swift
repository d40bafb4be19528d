import CTileKernels

/// Reason why a block cannot be decompressed: the tile is loaded again.
package enum BlockError: Error, Equatable {
    /// The bytes are shorter than a header, or begin with another version's.
    case notABlock
    /// The header has another size, format or filter than the tile.
    case mismatch
    /// The bytes are not those that were stored.
    case checksum
    /// The payload is not valid LZ4.
    case payload
    /// The tile is larger than the codec's maximum.
    case tooLarge
}

/// Header of a compressed tile, before its LZ4 payload.
///
/// Blocks exist in memory only, in the byte order of the machine; the version guards against blocks that a source has
/// kept.
///
/// | bytes | meaning |
/// | --- | --- |
/// | 0 ..< 3 | "TCB" |
/// | 3 | version |
/// | 4 | filter |
/// | 5 | stored planes, one bit each; the others are zeros |
/// | 6 ..< 8 | 0 |
/// | 8 ..< 12 | bytes of the tile's pixels |
/// | 12 ..< 16 | bytes of the payload |
/// | 16 ..< 24 | the first pixel, which the filters predict from |
/// | 24 ..< 32 | checksum of the above, the tile's width, height and format, and the payload |
struct TileBlock: Equatable {
    /// Size of a header; the payload has the alignment of the block.
    static let headerByteCount = 32
    private static let magic: UInt32 = 0x0142_4354

    var filter: TileFilter
    var storedPlanes: UInt8
    var rawByteCount: Int
    var payloadByteCount: Int
    var firstPixel: UInt64

    /// Writes the header before a payload that is in place.
    func seal(_ block: UnsafeMutableRawPointer, width: Int, height: Int, format: TilePixelFormat) {
        let words = self.words
        block.storeBytes(of: words.0, as: UInt64.self)
        block.storeBytes(of: words.1, toByteOffset: 8, as: UInt64.self)
        block.storeBytes(of: words.2, toByteOffset: 16, as: UInt64.self)
        let payload = UnsafeRawBufferPointer(start: block + Self.headerByteCount, count: payloadByteCount)
        let sum = checksum(of: payload, width: width, height: height, format: format)
        block.storeBytes(of: sum, toByteOffset: 24, as: UInt64.self)
    }
}

// Apart, so that there is an initializer of the fields too.
extension TileBlock {
    /// Reads and checks a header and its payload. Accepts only what ``seal`` wrote, except damage that a 64-bit
    /// checksum misses; decoding is safe even then.
    init(
        checking block: UnsafeRawBufferPointer,
        width: Int,
        height: Int,
        format: TilePixelFormat
    ) throws(BlockError) {
        guard block.count >= Self.headerByteCount else { throw .notABlock }
        let word0 = block.loadUnaligned(as: UInt64.self)
        let word1 = block.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
        guard UInt32(truncatingIfNeeded: word0) == Self.magic, word0 >> 48 == 0 else { throw .notABlock }
        guard let filter = TileFilter(rawValue: UInt8(truncatingIfNeeded: word0 >> 32)) else { throw .notABlock }
        self.filter = filter
        storedPlanes = UInt8(truncatingIfNeeded: word0 >> 40)
        rawByteCount = Int(UInt32(truncatingIfNeeded: word1))
        payloadByteCount = Int(word1 >> 32)
        firstPixel = block.loadUnaligned(fromByteOffset: 16, as: UInt64.self)

        let planes = UInt32(1) << filter.planeCount - 1
        guard filter.applies(to: format), UInt32(storedPlanes) & ~planes == 0,
            rawByteCount == format.byteCount(width: width, height: height),
            payloadByteCount == block.count - Self.headerByteCount
        else { throw .mismatch }
        let payload = UnsafeRawBufferPointer(rebasing: block[Self.headerByteCount...])
        let sum = checksum(of: payload, width: width, height: height, format: format)
        guard sum == block.loadUnaligned(fromByteOffset: 24, as: UInt64.self) else { throw .checksum }
    }

    private var words: (UInt64, UInt64, UInt64) {
        let word0 = UInt64(Self.magic) | UInt64(filter.rawValue) << 32 | UInt64(storedPlanes) << 40
        return (word0, UInt64(rawByteCount) | UInt64(payloadByteCount) << 32, firstPixel)
    }

    /// Each step is invertible, so that a change in any one word is never lost.
    private func checksum(
        of payload: UnsafeRawBufferPointer,
        width: Int,
        height: Int,
        format: TilePixelFormat
    ) -> UInt64 {
        func mix(_ seed: UInt64, _ word: UInt64) -> UInt64 {
            let mixed = (seed ^ word) &* 0x9e37_79b9_7f4a_7c15
            return mixed ^ mixed >> 32
        }
        let words = self.words
        var seed = mix(mix(0, UInt64(truncatingIfNeeded: width)), UInt64(truncatingIfNeeded: height))
        seed = mix(mix(mix(mix(seed, UInt64(format.code)), words.0), words.1), words.2)
        let bytes = payload.baseAddress?.assumingMemoryBound(to: UInt8.self)
        return tk_checksum(tk_path_automatic, bytes, payload.count, seed)
    }
}
