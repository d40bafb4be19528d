package import TileCache

/// Kinds of contents for different paths of the codec.
package enum TileContents: CaseIterable {
    /// Every byte random: incompressible.
    case noise
    /// Slopes with a little noise: photographs and elevation.
    case slopes
    /// Rectangles of few colours: drawings.
    case drawing
    /// Opaque grey slopes. All bytes of a pixel but the last are equal, and the last is constant.
    case opaqueGrey
    /// One colour except for one pixel.
    case speck

    package func pixels(width: Int, height: Int, bytesPerPixel: Int, random: inout SplitMix64) -> [UInt8] {
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
