import CTileKernels

@testable import TileCache

/// Repeatable random numbers (SplitMix64), so that a failing case can be run again.
struct TileRandom: RandomNumberGenerator {
    var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}

/// Kinds of contents that take different ways through the codec.
enum TileContents: CaseIterable {
    /// Every byte random: incompressible.
    case noise
    /// Slopes with a little noise: photographs and elevation.
    case slopes
    /// Rectangles of few colours: drawings.
    case drawing
    /// Slopes in which all bytes of a pixel but the last are equal, and the last is constant: opaque grey.
    case opaqueGrey
    /// One colour but for one pixel.
    case speck

    func pixels(width: Int, height: Int, bytesPerPixel: Int, random: inout TileRandom) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: width * height * bytesPerPixel)
        let colors = (0..<4).map { _ in (0..<bytesPerPixel).map { _ in UInt8.random(in: 0...255, using: &random) } }
        let cell = Int.random(in: 3...9, using: &random)
        let slopeX = Int.random(in: 0...3, using: &random)
        let slopeY = Int.random(in: 0...3, using: &random)
        let special = Int.random(in: 0..<max(width * height, 1), using: &random)
        for y in 0..<height {
            for x in 0..<width {
                let at = (y * width + x) * bytesPerPixel
                let slope = x * slopeX + y * slopeY + Int.random(in: 0...2, using: &random)
                for k in 0..<bytesPerPixel {
                    switch self {
                    case .noise: bytes[at + k] = UInt8.random(in: 0...255, using: &random)
                    case .slopes: bytes[at + k] = UInt8(truncatingIfNeeded: slope + 40 * k)
                    case .drawing: bytes[at + k] = colors[(x / cell + y / cell * 3) % 4][k]
                    case .opaqueGrey:
                        bytes[at + k] = k == bytesPerPixel - 1 && k > 0 ? 255 : UInt8(truncatingIfNeeded: slope)
                    case .speck: bytes[at + k] = colors[0][k] ^ (y * width + x == special ? 1 : 0)
                    }
                }
            }
        }
        return bytes
    }
}

/// All formats with pixels.
let pixelFormats: [PixelFormat] = [.rgba8, .bgra8, .gray8, .gray16, .rgba16, .float32]

extension TileCodec {
    /// Compresses an array.
    func compress(_ pixels: [UInt8], _ width: Int, _ height: Int, _ format: PixelFormat) -> CompressedTile {
        pixels.withUnsafeBytes { compress($0, width: width, height: height, format: format) }
    }

    /// The block as an array, with a filter of the test's choice; `nil` when it would not be kept.
    func block(
        _ pixels: [UInt8],
        _ width: Int,
        _ height: Int,
        _ format: PixelFormat,
        filter: TileFilter? = nil
    ) -> [UInt8]? {
        pixels.withUnsafeBytes { bytes in
            let chosen = filter ?? TileFilter.choose(for: bytes, width: width, height: height, format: format)
            let result = compress(bytes, width: width, height: height, format: format, filter: chosen)
            guard case .block(let block) = result else { return nil }
            return [UInt8](block)
        }
    }

    /// Decompresses into memory with guards on both sides; `nil` in place of pixels when a guard was overwritten.
    func pixels(of block: [UInt8], _ width: Int, _ height: Int, _ format: PixelFormat) throws(BlockError) -> [UInt8]? {
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

    /// What comes back after compressing; the pixels themselves where the tile is left raw.
    func roundTrip(_ pixels: [UInt8], _ width: Int, _ height: Int, _ format: PixelFormat) throws -> [UInt8]? {
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
