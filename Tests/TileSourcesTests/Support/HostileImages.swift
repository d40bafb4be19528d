/// Files that contain more than their pixels need.
enum HostileImages {
    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(byte) { value, _ in value >> 1 ^ (value & 1 == 0 ? 0 : 0xEDB8_8320) }
    }

    static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let body = Array(type.utf8) + data
        var checksum = ~UInt32(0)
        for byte in body { checksum = table[Int(UInt8(truncatingIfNeeded: checksum) ^ byte)] ^ checksum >> 8 }
        return bigEndian(UInt32(data.count)) + body + bigEndian(~checksum)
    }

    private static func bigEndian(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * UInt32($0))) }
    }

    /// A zlib stream of up to 64 kB stored. Then about `surplus` bytes that each inflate to 158 zeros.
    static func stream(_ bytes: [UInt8], surplus: Int) -> [UInt8] {
        let (low, high) = (UInt8(bytes.count & 255), UInt8(bytes.count >> 8))
        let stream: [UInt8] = [0x78, 0x01, surplus > 0 ? 0 : 1, low, high, ~low, ~high] + bytes
        var sums = (first: 1, second: 0)
        for byte in bytes {
            sums.first = (sums.first + Int(byte)) % 65_521
            sums.second = (sums.second + sums.first) % 65_521
        }
        func ended(_ zeros: Int) -> [UInt8] {
            let second = (sums.second + sums.first * (zeros % 65_521)) % 65_521
            return bigEndian(UInt32(second << 16 | sums.first))
        }
        guard surplus > 0 else { return stream + ended(0) }
        // A block of fixed codes: a zero (00110000), then 258 bytes of the one before (11000101), a step back (00000).
        let repetition: [UInt8] = [1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0]
        var bits: [UInt8] = [1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0]
        for _ in 0..<24 { bits += repetition }
        var packed: [UInt8] = []
        for start in stride(from: 0, to: bits.count / 8 * 8, by: 8) {
            packed.append((0..<8).reduce(UInt8(0)) { byte, bit in byte | bits[start + bit] << UInt8(bit) })
        }
        // Thirteen bits repeat, and so do thirteen bytes; the rest of the last code and the block's end are zeros.
        let groups = (surplus + 12) / 13
        while packed.count < 13 * groups + 1 { packed.append(packed[packed.count - 13]) }
        return stream + packed.prefix(13 * groups + 1) + [0, 0] + ended(1 + 258 * 8 * groups)
    }

    /// A PNG of one colour whose data continue after the last row. The surplus is `extra` stored bytes, `surplus` bytes
    /// that inflate, or chunks of other kinds before its pixels or in place of its end.
    static func png(
        side: Int,
        extra: Int = 0,
        surplus: Int = 0,
        before: [UInt8] = [],
        end: [UInt8] = chunk("IEND", [])
    ) -> [UInt8] {
        let size = bigEndian(UInt32(side))
        let rows = [UInt8](repeating: 0, count: side * (side + 1) + extra)
        let whole = stream(rows, surplus: surplus)
        return signature + chunk("IHDR", size + size + [8, 0, 0, 0, 0]) + before + chunk("IDAT", whole) + end
    }
}
