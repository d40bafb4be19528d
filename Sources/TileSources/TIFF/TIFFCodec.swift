import CTileTIFF

/// A compression of TIFF, and what decodes it.
struct TIFFCodec: Sendable {
    enum Decoder {
        case libtiff, openJPEG
        /// Tiles are files of their own, if all samples are together.
        case images
    }

    let name: String
    /// `nil` for what is refused by name.
    var decoder: Decoder? = .libtiff
    /// Whether the decoder fills the whole tile, or fails. Others may end before: CCITT after the mark of its end, JPEG of
    /// a smaller picture.
    var fillsAll = false
    /// Fields that the decoder needs, as they are in the file.
    var fields: [TIFFTag] = []

    private static let all: [Int: TIFFCodec] = [
        1: TIFFCodec(name: "none", fillsAll: true), 5: TIFFCodec(name: "LZW", fillsAll: true),
        8: TIFFCodec(name: "Deflate", fillsAll: true), 32946: TIFFCodec(name: "Deflate", fillsAll: true),
        50000: TIFFCodec(name: "Zstandard", fillsAll: true), 32773: TIFFCodec(name: "PackBits"),
        2: TIFFCodec(name: "CCITT", fields: [.t4Options, .t6Options]),
        3: TIFFCodec(name: "CCITT", fields: [.t4Options, .t6Options]),
        4: TIFFCodec(name: "CCITT", fields: [.t4Options, .t6Options]), 32771: TIFFCodec(name: "CCITT"),
        34887: TIFFCodec(name: "LERC", fields: [.lercParameters]),
        7: TIFFCodec(name: "JPEG", decoder: .images, fields: [.jpegTables]),
        50001: TIFFCodec(name: "WebP", decoder: .images),
        // Of slides, YCbCr and red, green and blue, of libvips, and of others.
        33003: TIFFCodec(name: "JPEG 2000", decoder: .openJPEG),
        33005: TIFFCodec(name: "JPEG 2000", decoder: .openJPEG),
        33004: TIFFCodec(name: "JPEG 2000", decoder: .openJPEG),
        34712: TIFFCodec(name: "JPEG 2000", decoder: .openJPEG),
        6: TIFFCodec(name: "old JPEG", decoder: nil), 34925: TIFFCodec(name: "LZMA", decoder: nil),
        50002: TIFFCodec(name: "JPEG XL", decoder: nil), 52546: TIFFCodec(name: "JPEG XL", decoder: nil),
    ]

    /// The codec of a compression by its number.
    static func of(_ compression: Int, _ path: String) throws(TileSourceError) -> TIFFCodec {
        guard let codec = all[compression], let decoder = codec.decoder else {
            let name = all[compression]?.name ?? "\(compression)"
            throw TileSourceError(
                path,
                "compression by LZW, Deflate, Zstandard, PackBits, CCITT, LERC, JPEG, JPEG 2000, WebP or none was "
                    + "expected, not \(name)"
            )
        }
        guard decoder != .libtiff || tile_tiff_knows(Int32(compression)) != 0 else {
            throw TileSourceError(path, "this system's libtiff cannot decode the compression \(compression)")
        }
        return codec
    }
}
