extension TilePixelFormat {
    /// Number of the format in checksums of blocks, entries of stores and fingerprints; never changed.
    ///
    /// Formats of equal size have different numbers, so that a block is never accepted for another layer's format.
    var code: UInt8 {
        switch self {
        case .rgba8: 1
        case .bgra8: 2
        case .gray8: 3
        case .gray16: 4
        case .rgba16: 5
        case .float32: 6
        case .opaque: 7
        }
    }

    /// Bytes of an opaque tile; 0 for pixels.
    var opaqueByteCount: Int { if case .opaque(let bytes) = self { bytes } else { 0 } }

    /// The format with a number; `nil` if there is none.
    ///
    /// The bytes are 0 for pixels and positive for opaque tiles, else the result is `nil`.
    init?(code: UInt8, opaqueByteCount: Int) {
        switch code {
        case 1: self = .rgba8
        case 2: self = .bgra8
        case 3: self = .gray8
        case 4: self = .gray16
        case 5: self = .rgba16
        case 6: self = .float32
        case 7: self = .opaque(bytesPerTile: opaqueByteCount)
        default: return nil
        }
        guard code == 7 ? opaqueByteCount > 0 : opaqueByteCount == 0 else { return nil }
    }
}
