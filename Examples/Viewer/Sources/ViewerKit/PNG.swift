/// Writes images as uncompressed PNG, for screenshots.
public enum PNG {
    /// Returns the bytes of a file.
    ///
    /// - Parameters:
    ///   - rgba: Four bytes a pixel, rows packed.
    ///   - width: Columns, 1 or more.
    ///   - height: Rows, 1 or more.
    public static func encoded(rgba: [UInt8], width: Int, height: Int) -> [UInt8] {
        precondition(width > 0 && height > 0 && rgba.count == width * height * 4, "the pixels do not fit the size")
        var rows: [UInt8] = []
        rows.reserveCapacity((width * 3 + 1) * height)
        for row in 0..<height {
            rows.append(0)
            for pixel in row * width..<(row + 1) * width { rows += rgba[pixel * 4..<pixel * 4 + 3] }
        }
        var file: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        // Eight bits a channel, RGB, not interlaced.
        append("IHDR", bigEndian(UInt32(width)) + bigEndian(UInt32(height)) + [8, 2, 0, 0, 0], to: &file)
        append("IDAT", stored(rows), to: &file)
        append("IEND", [], to: &file)
        return file
    }

    /// A zlib stream of stored blocks.
    private static func stored(_ bytes: [UInt8]) -> [UInt8] {
        var stream: [UInt8] = [0x78, 0x01]
        var start = 0
        repeat {
            let count = min(bytes.count - start, 65_535)
            let isLast = start + count == bytes.count
            stream += [isLast ? 1 : 0, UInt8(count & 0xFF), UInt8(count >> 8)]
            stream += [UInt8(~count & 0xFF), UInt8(~count >> 8 & 0xFF)]
            stream += bytes[start..<start + count]
            start += count
        } while start < bytes.count
        var (a, b): (UInt32, UInt32) = (1, 0)
        for byte in bytes {
            a = (a + UInt32(byte)) % 65_521
            b = (b + a) % 65_521
        }
        return stream + bigEndian(b << 16 | a)
    }

    private static func append(_ type: String, _ contents: [UInt8], to file: inout [UInt8]) {
        let body = Array(type.utf8) + contents
        file += bigEndian(UInt32(contents.count)) + body + bigEndian(checksum(body))
    }

    private static func bigEndian(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1 }
    }

    static func checksum(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(UInt32.max) { table[Int(($0 ^ UInt32($1)) & 0xFF)] ^ $0 >> 8 }
    }
}
