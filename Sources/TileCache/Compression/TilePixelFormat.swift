/// Pixel format of a layer's tiles.
public enum TilePixelFormat: Hashable, Sendable {
    /// Four bytes a pixel: red, green, blue, alpha.
    case rgba8
    /// Four bytes a pixel: blue, green, red, alpha.
    case bgra8
    /// One byte a pixel.
    case gray8
    /// Two bytes a pixel: one little-endian unsigned (or signed) 16-bit number, such as elevation.
    case gray16
    /// Eight bytes a pixel: four little-endian 16-bit channels, integer or half float.
    case rgba16
    /// Four bytes a pixel: one little-endian 32-bit float.
    case float32
    /// A payload of fixed size that only the renderer interprets (a compressed texture); never filtered.
    case opaque(bytesPerTile: Int)

    /// Bytes a pixel; `nil` for opaque payloads.
    public var bytesPerPixel: Int? {
        switch self {
        case .gray8: 1
        case .gray16: 2
        case .rgba8, .bgra8, .float32: 4
        case .rgba16: 8
        case .opaque: nil
        }
    }

    /// Bytes of a tile of this format, with packed rows. `nil` if the size overflows or is not positive.
    public func byteCount(width: Int, height: Int) -> Int? {
        guard width > 0, height > 0 else { return nil }
        if case .opaque(let bytes) = self { return bytes > 0 ? bytes : nil }
        let (pixels, overflow) = width.multipliedReportingOverflow(by: height)
        let (bytes, overflow2) = pixels.multipliedReportingOverflow(by: bytesPerPixel ?? 1)
        return overflow || overflow2 ? nil : bytes
    }
}

/// Meaning of the alpha channel of a layer's pixels.
public enum TileAlphaMode: Hashable, Sendable {
    /// Colours are not multiplied by alpha.
    case straight
    /// Colours are multiplied by alpha.
    case premultiplied
    /// There is no alpha, or it is to be ignored.
    case ignored
}
