import CTileKernels
import TestSupport

@testable import TileCache

/// All formats with pixels.
let pixelFormats: [TilePixelFormat] = [.rgba8, .bgra8, .gray8, .gray16, .rgba16, .float32]

extension TileCodec {
    /// Compresses an array.
    func compress(_ pixels: [UInt8], _ width: Int, _ height: Int, _ format: TilePixelFormat) -> CompressedTile {
        pixels.withUnsafeBytes { compress($0, width: width, height: height, format: format) }
    }

    /// The block as an array, with a given filter. `nil` if it would not be kept.
    func block(
        _ pixels: [UInt8],
        _ width: Int,
        _ height: Int,
        _ format: TilePixelFormat,
        filter: TileFilter? = nil
    ) -> [UInt8]? {
        pixels.withUnsafeBytes { bytes in
            let chosen = filter ?? TileFilter.choose(for: bytes, width: width, height: height, format: format)
            let result = compress(bytes, width: width, height: height, format: format, filter: chosen)
            guard case .block(let block) = result else { return nil }
            return [UInt8](block)
        }
    }

    /// Decompresses into memory with guards on both sides; `nil` if a guard was overwritten.
    func pixels(of block: [UInt8], _ width: Int, _ height: Int, _ format: TilePixelFormat) throws(BlockError)
        -> [UInt8]?
    {
        let count = format.byteCount(width: width, height: height) ?? 0
        let margin = 64
        var target = [UInt8](repeating: 0xa5, count: count + 2 * margin)
        let result = block.withUnsafeBytes { bytes in
            target.withUnsafeMutableBytes { memory in
                let inner = UnsafeMutableRawBufferPointer(rebasing: memory[margin..<margin + count])
                return Result { () throws(BlockError) in
                    try decompress(bytes, into: inner, width: width, height: height, format: format)
                }
            }
        }
        try result.get()
        let intact = target.prefix(margin).allSatisfy { $0 == 0xa5 } && target.suffix(margin).allSatisfy { $0 == 0xa5 }
        return intact ? Array(target[margin..<margin + count]) : nil
    }

    /// Pixels after compression and decompression; the input if the tile stays raw.
    func roundTrip(_ pixels: [UInt8], _ width: Int, _ height: Int, _ format: TilePixelFormat) throws -> [UInt8]? {
        switch compress(pixels, width, height, format) {
        case .raw: return pixels
        case .solid(let pattern):
            var filled = [UInt8](repeating: 0, count: pixels.count)
            filled.withUnsafeMutableBytes { SolidTile.fill($0, with: pattern) }
            return filled
        case .block(let block): return try self.pixels(of: [UInt8](block), width, height, format)
        }
    }
}
