/// The filters of the compression and their checksum by their definitions, one number at a time.
package struct FilterModel {
    /// Channels of a pixel, and bytes of each.
    package var channels: Int
    package var bytes: Int
    package var isGradient: Bool
    package var isGreen: Bool
    package var isFolded: Bool

    package init(channels: Int, bytes: Int, isGradient: Bool, isGreen: Bool, isFolded: Bool) {
        (self.channels, self.bytes) = (channels, bytes)
        (self.isGradient, self.isGreen, self.isFolded) = (isGradient, isGreen, isFolded)
    }

    package func planes(_ pixels: [UInt8], width: Int, height: Int) -> [UInt8] {
        let bits = UInt32(bytes * 8)
        let wrap = UInt32(truncatingIfNeeded: (UInt64(1) << bits) - 1)

        func value(_ x: Int, _ y: Int, _ channel: Int) -> UInt32 {
            let at = y < 0 ? channel * bytes : ((y * width + x) * channels + channel) * bytes
            return (0..<bytes).reduce(0) { $0 | UInt32(pixels[at + $1]) << UInt32(8 * $1) }
        }
        func vertical(_ x: Int, _ y: Int, _ channel: Int) -> UInt32 {
            x < 0 ? 0 : value(x, y, channel) &- value(x, y - 1, channel)
        }
        func residual(_ x: Int, _ y: Int, _ channel: Int) -> UInt32 {
            var v = vertical(x, y, channel)
            if isGradient { v = v &- vertical(x - 1, y, channel) }
            if isGreen && (channel == 0 || channel == 2) { v = v &- vertical(x, y, 1) }
            v &= wrap
            guard isFolded else { return v }
            let isNegative = v >> (bits - 1) == 1
            return (isNegative ? ~(v << 1) : v << 1) & wrap
        }
        let order = isGreen ? [1, 0, 2, 3] : Array(0..<channels)
        var planes: [UInt8] = []
        for channel in order {
            for byte in 0..<bytes {
                for y in 0..<height {
                    for x in 0..<width {
                        planes.append(UInt8(truncatingIfNeeded: residual(x, y, channel) >> UInt32(8 * byte)))
                    }
                }
            }
        }
        return planes
    }

    /// The checksum: 64 lanes of 32 bits.
    package static func checksum(_ bytes: [UInt8], seed: UInt64) -> UInt64 {
        var lanes = (1...64).map { UInt32($0) &* 0x85eb_ca77 }
        let padded = bytes + [UInt8](repeating: 0, count: (256 - bytes.count % 256) % 256)
        for at in stride(from: 0, to: padded.count, by: 4) {
            let word = (0..<4).reduce(UInt32(0)) { $0 | UInt32(padded[at + $1]) << UInt32(8 * $1) }
            let lane = at / 4 % 64
            let mixed = (lanes[lane] ^ word) &* 0x9e37_79b1
            lanes[lane] = mixed ^ mixed >> 15
        }
        var hash = (seed ^ UInt64(bytes.count)) &* 0x9e37_79b9_7f4a_7c15
        hash ^= hash >> 29
        for lane in stride(from: 0, to: 64, by: 2) {
            hash = (hash ^ (UInt64(lanes[lane]) | UInt64(lanes[lane + 1]) << 32)) &* 0xc2b2_ae3d_27d4_eb4f
            hash ^= hash >> 29
        }
        return hash
    }
}
