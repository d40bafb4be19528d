#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Tiles of a single colour, such as sea, paper or transparency. They cost eight bytes and no compression.
package enum SolidTile {
    /// Eight bytes whose repetition is the whole tile; `nil` if the tile has several colours.
    ///
    /// Compares the tile with itself one pixel further on, up to the first difference. Opaque payloads are compared in
    /// units of eight bytes, whatever their meaning.
    package static func pattern(of pixels: UnsafeRawBufferPointer, format: TilePixelFormat) -> UInt64? {
        let period = format.bytesPerPixel ?? 8
        guard let base = pixels.baseAddress, pixels.count >= period else { return nil }
        guard memcmp(base, base + period, pixels.count - period) == 0 else { return nil }
        return repeated(firstPixel(of: pixels, byteCount: period), byteCount: period)
    }

    /// Fills a tile with one colour.
    package static func fill(_ pixels: UnsafeMutableRawBufferPointer, with pattern: UInt64) {
        guard let base = pixels.baseAddress else { return }
        let words = pixels.count / 8
        for index in 0..<words { base.storeBytes(of: pattern, toByteOffset: index * 8, as: UInt64.self) }
        for index in words * 8..<pixels.count {
            pixels[index] = UInt8(truncatingIfNeeded: pattern >> (index % 8 * 8))
        }
    }

    /// The first pixel, in the low bytes.
    static func firstPixel(of pixels: UnsafeRawBufferPointer, byteCount: Int) -> UInt64 {
        var value: UInt64 = 0
        for index in 0..<min(byteCount, pixels.count, 8) { value |= UInt64(pixels[index]) << (index * 8) }
        return value
    }

    /// A pixel of 1, 2, 4 or 8 bytes, repeated to fill eight.
    private static func repeated(_ pixel: UInt64, byteCount: Int) -> UInt64 {
        switch byteCount {
        case 1: pixel &* 0x0101_0101_0101_0101
        case 2: pixel &* 0x0001_0001_0001_0001
        case 4: pixel &* 0x0000_0001_0000_0001
        default: pixel
        }
    }
}
