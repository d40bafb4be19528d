import CTileImages
import TileCache

/// What the fourth channel of decoded pixels is.
enum DecodedAlpha: Sendable {
    case straight
    /// Colours are multiplied by it.
    case multiplied
    /// No alpha: pixels are opaque.
    case unused
}

/// Converts decoded pixels and writes them.
struct TilePixelWriter {
    let layout: ti_layout
    let premultiplies: Bool

    init(_ options: TileSourceOptions) {
        switch options.format {
        case .bgra8: layout = ti_bgra
        case .gray8: layout = ti_gray
        default: layout = ti_rgba
        }
        premultiplies = options.alpha == .premultiplied
    }

    /// Writes pixels. Makes them straight or opaque first if necessary, so the same pixels must not be written twice.
    func write(
        _ rgba: UnsafeMutablePointer<UInt8>,
        _ count: Int,
        alpha: DecodedAlpha = .straight,
        to target: UnsafeMutablePointer<UInt8>
    ) {
        switch alpha {
        case .straight: break
        case .multiplied: if !premultiplies { ti_divide_by_alpha(rgba, count) }
        case .unused: for pixel in 0..<count { rgba[4 * pixel + 3] = 255 }
        }
        // Colours that are multiplied in the file are not multiplied again.
        ti_convert(rgba, count, layout, premultiplies && alpha != .multiplied ? 1 : 0, target)
    }

    /// Whether pixels have four bytes, so that a decoder may write them where they stay.
    var isDirect: Bool { layout != ti_gray }

    /// Finishes pixels that were decoded in the layer's order, where they are.
    func finish(_ pixels: UnsafeMutablePointer<UInt8>, _ count: Int, alpha: DecodedAlpha) {
        switch alpha {
        case .straight: if premultiplies { ti_premultiply(pixels, count) }
        case .multiplied: if !premultiplies { ti_divide_by_alpha(pixels, count) }
        case .unused: for pixel in 0..<count { pixels[4 * pixel + 3] = 255 }
        }
    }
}

/// An image that is decoded row by row.
protocol ImageRowSource {
    var width: Int { get }
    var height: Int { get }
    /// Bytes that the decoder needs besides rows.
    var wholeBytes: Int { get }
    /// How the image is turned to be shown: EXIF's value, 1 to 8.
    var orientation: Int { get }
    /// What to do with an image that is too large, for messages.
    var hint: String { get }
    /// Whether stores may keep the tiles.
    var isStorable: Bool { get }
    /// What is wrong with the file or its server; `nil` if nothing is.
    var warning: String? { get }

    /// Decodes the whole image.
    ///
    /// - Parameters:
    ///   - limit: Bytes that a decoder may need besides rows.
    ///   - goesOn: Called after each row with their number so far; `false` cancels.
    func decode(
        _ options: TileSourceOptions,
        limit: Int,
        into cutter: ImageCutter,
        goesOn: (Int) -> Bool
    ) throws(TileSourceError)
}

extension ImageRowSource {
    /// As it is stored.
    var orientation: Int { 1 }
}

/// Decodes an image file row by row.
final class ImageRows: ImageRowSource {
    let width: Int
    let height: Int
    let wholeBytes: Int
    let orientation: Int
    let hint = ""
    let isStorable = true
    let warning: String? = nil
    private let path: String
    private let reader: OpaquePointer

    /// Reads the header.
    init(_ path: String) throws(TileSourceError) {
        let expected = "a PNG, JPEG or WebP file was expected"
        guard !Files.isOther(path) else { throw TileSourceError(path, "\(expected), and this is no file") }
        guard let file = fopen(path, "rb") else { throw TileSourceError(path, "\(expected): \(Files.lastError)") }
        var (info, error) = (ti_info(), ti_error())
        guard let reader = ti_open_file(file, &info, &error) else { throw TileSourceError(path, error.text) }
        self.reader = reader
        self.path = path
        (width, height) = (Int(info.width), Int(info.height))
        wholeBytes = Int(clamping: info.whole_bytes)
        orientation = Int(info.orientation)
    }

    deinit { ti_close(reader) }

    func decode(
        _ options: TileSourceOptions,
        limit: Int,
        into cutter: ImageCutter,
        goesOn: (Int) -> Bool
    ) throws(TileSourceError) {
        let writer = TilePixelWriter(options)
        var error = ti_error()
        func check(_ status: ti_status) throws(TileSourceError) {
            guard status == ti_ok else { throw TileSourceError(path, error.text) }
        }
        try check(ti_start(reader, UInt64(limit), &error))
        let row = UnsafeMutablePointer<UInt8>.allocate(capacity: width * 4)
        defer { row.deallocate() }
        for number in 1...height {
            try check(ti_row(reader, row, &error))
            cutter.withNextRow { [width] target in
                if let start = target.baseAddress?.assumingMemoryBound(to: UInt8.self) {
                    writer.write(row, width, to: start)
                }
            }
            if let failure = cutter.rowIsThere() { throw TileSourceError(path, failure.message) }
            guard goesOn(number) else { throw TileSourceError(path, "it was cancelled at row \(number) of \(height)") }
        }
        try check(ti_end(reader, &error))
    }
}
