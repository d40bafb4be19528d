import CTileTIFF
import TileCache

/// Decodes tiles of a TIFF file.
///
/// libtiff is given a file of one tile that is made here, with checked fields: it sees nothing of the file's own
/// directories.
struct TIFFTile: Sendable {
    private let layout: TIFFLevel.Layout
    private let side: (width: Int, height: Int)
    private let writer: TilePixelWriter
    private let bytesPerPixel: Int
    private let premultiplies: Bool

    /// - Parameter rows: Of a tile. Default: the level's.
    init(_ level: TIFFLevel, _ options: TileSourceOptions, rows: Int? = nil) {
        layout = level.layout
        side = (level.tileWidth, rows ?? level.tileHeight)
        bytesPerPixel = options.format.bytesPerPixel ?? 4
        premultiplies = options.alpha == .premultiplied
        // Colours that are multiplied in the file are not multiplied again.
        var own = options
        if layout.extra == 1 { own.alpha = .straight }
        writer = TilePixelWriter(own)
    }

    /// Whether libtiff can decode a compression.
    static func knows(_ compression: Int) -> Bool {
        compression == 7 || compression == 50001 || tile_tiff_knows(Int32(compression)) != 0
    }

    /// Decodes a tile that is no JPEG or WebP.
    ///
    /// - Parameters:
    ///   - planes: Encoded bytes, one array for all samples or one for each.
    ///   - width: Pixels that are drawn; the rest of the tile is zeros.
    func decode(
        _ planes: [[UInt8]],
        width: Int,
        height: Int,
        into pixels: inout TilePixels
    ) throws(TileLoadFailure) {
        guard pixels.width == side.width, pixels.height == side.height,
            pixels.bytesPerRow == side.width * bytesPerPixel
        else { throw TileLoadFailure(.wrongSize, "the layer's tiles are of another size or format than the source's") }
        let decoded = try decode(planes)
        let stride = pixels.bytesPerRow
        pixels.withUnsafeMutableBytes { target in
            guard let first = target.baseAddress else { return }
            target.initializeMemory(as: UInt8.self, repeating: 0)
            var row = [UInt8](repeating: 255, count: side.width * 4)
            for y in 0..<height {
                write(decoded, y, width, &row, to: (first + y * stride).assumingMemoryBound(to: UInt8.self))
            }
        }
    }

    /// Decodes all planes; the samples of a row are those of ``write(_:_:_:_:to:)``.
    func decode(_ planes: [[UInt8]]) throws(TileLoadFailure) -> [[UInt8]] {
        var decoded: [[UInt8]] = []
        for plane in planes { decoded.append(try decode(plane, samples: planes.count > 1 ? 1 : layout.samples)) }
        return decoded
    }

    /// Writes a row of decoded samples in the layer's format.
    ///
    /// - Parameter row: Scratch memory, 4 bytes a pixel.
    func write(
        _ decoded: [[UInt8]],
        _ y: Int,
        _ width: Int,
        _ row: inout [UInt8],
        to target: UnsafeMutablePointer<UInt8>
    ) {
        if layout.bits == 8, decoded.count == 1, layout.extra != 1 {
            copy(decoded[0], y * side.width, width, &row)
        } else {
            for x in 0..<width { convert(decoded, y * side.width + x, &row, 4 * x) }
        }
        writer.write(row, width, to: target)
    }

    private func decode(_ bytes: [UInt8], samples: Int) throws(TileLoadFailure) -> [UInt8] {
        let file = file(bytes, samples: samples)
        var target = [UInt8](repeating: 0, count: side.width * side.height * samples * layout.bits / 8)
        var message = [CChar](repeating: 0, count: 200)
        let isGood = target.withUnsafeMutableBufferPointer { target in
            tile_tiff_decode(file, file.count, target.baseAddress, target.count, &message, message.count) != 0
        }
        guard isGood else {
            let text = String(decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            throw TileLoadFailure(.undecodable, text.isEmpty ? "its data are damaged" : "libtiff says: \(text)")
        }
        return target
    }

    /// A file with one directory and one tile.
    private func file(_ bytes: [UInt8], samples: Int) -> [UInt8] {
        let format = TIFFFormat(isLittle: layout.isLittle, isBig: false)
        // Tag, type, values: short or long. Photometric 6 is JPEG's alone.
        let fields: [(tag: UInt64, type: UInt64, values: [UInt64])] = [
            (256, 4, [UInt64(side.width)]), (257, 4, [UInt64(side.height)]),
            (258, 3, .init(repeating: UInt64(layout.bits), count: samples)), (259, 3, [UInt64(layout.compression)]),
            (262, 3, [samples == 1 ? 1 : 2]), (277, 3, [UInt64(samples)]), (284, 3, [1]),
            (317, 3, [UInt64(layout.predictor)]), (322, 4, [UInt64(side.width)]), (323, 4, [UInt64(side.height)]),
            (324, 4, [0]), (325, 4, [UInt64(bytes.count)]),
            (338, 3, samples == 4 ? [0] : []),
            (339, 3, .init(repeating: UInt64(layout.sampleFormat), count: samples)),
        ].filter { !$0.values.isEmpty }
        let tableEnd = 8 + 2 + 12 * fields.count + 4
        // Values that do not fit in their fields: at most two times four shorts.
        let dataStart = tableEnd + 16
        var table = format.bytes(UInt64(fields.count), 2)
        var values: [UInt8] = []
        for field in fields {
            let size = field.type == 3 ? 2 : 4
            let numbers = field.tag == 324 ? [UInt64(dataStart)] : field.values
            var own = numbers.flatMap { format.bytes($0, size) }
            if own.count > 4 {
                let place = tableEnd + values.count
                values += own
                own = format.bytes(UInt64(place), 4)
            }
            own += [UInt8](repeating: 0, count: 4 - own.count)
            table += format.bytes(field.tag, 2) + format.bytes(field.type, 2)
            table += format.bytes(UInt64(numbers.count), 4) + own
        }
        values += [UInt8](repeating: 0, count: 16 - values.count)
        let order = Array((layout.isLittle ? "II" : "MM").utf8)
        return order + format.bytes(42, 2) + format.bytes(8, 4) + table + [0, 0, 0, 0] + values + bytes
    }

    /// Writes pixels of 8 bits as red, green, blue and alpha.
    private func copy(_ bytes: [UInt8], _ first: Int, _ count: Int, _ row: inout [UInt8]) {
        let (samples, isInverse) = (layout.samples, layout.photometric == 0)
        let hasAlpha = samples == 4 && layout.extra > 0
        bytes.withUnsafeBufferPointer { bytes in
            row.withUnsafeMutableBufferPointer { row in
                for x in 0..<count {
                    let from = (first + x) * samples
                    for channel in 0..<3 {
                        let value = bytes[samples == 1 ? from : from + channel]
                        row[4 * x + channel] = isInverse ? 255 - value : value
                    }
                    row[4 * x + 3] = hasAlpha ? bytes[from + 3] : 255
                }
            }
        }
    }

    /// Writes one pixel as red, green, blue and alpha.
    private func convert(_ planes: [[UInt8]], _ pixel: Int, _ row: inout [UInt8], _ place: Int) {
        func sample(_ index: Int) -> UInt8 {
            planes.count > 1 ? value(planes[index], pixel) : value(planes[0], pixel * layout.samples + index)
        }
        if layout.samples == 1 {
            let grey = layout.photometric == 0 ? 255 - sample(0) : sample(0)
            (row[place], row[place + 1], row[place + 2], row[place + 3]) = (grey, grey, grey, 255)
            return
        }
        let alpha = layout.samples == 4 && layout.extra > 0 ? sample(3) : 255
        for index in 0..<3 {
            let colour = sample(index)
            let isToBeDivided = layout.extra == 1 && !premultiplies && alpha > 0
            let straight = isToBeDivided ? min((Int(colour) * 255 + Int(alpha) / 2) / Int(alpha), 255) : Int(colour)
            row[place + index] = UInt8(straight)
        }
        row[place + 3] = alpha
    }

    /// A sample as 8 bits: 16 bits are rounded, numbers with a point are 0 to 1.
    private func value(_ bytes: [UInt8], _ index: Int) -> UInt8 {
        bytes.withUnsafeBytes { bytes in
            switch layout.bits {
            case 8: return bytes[index]
            case 16:
                let value = bytes.loadUnaligned(fromByteOffset: 2 * index, as: UInt16.self)
                return UInt8((Int(value) * 255 + 32_767) / 65_535)
            case 32: return Self.byte(Double(bytes.loadUnaligned(fromByteOffset: 4 * index, as: Float.self)))
            default: return Self.byte(bytes.loadUnaligned(fromByteOffset: 8 * index, as: Double.self))
            }
        }
    }

    private static func byte(_ value: Double) -> UInt8 { value.isNaN ? 0 : UInt8(min(max(value, 0), 1) * 255 + 0.5) }

    /// A JPEG file of a tile: with the tables of its directory, and a marker that tells its colours.
    static func joined(_ tile: [UInt8], tables: [UInt8], photometric: Int) -> [UInt8] {
        let start: [UInt8] = [0xFF, 0xD8]
        guard tile.starts(with: start) else { return tile }
        // Adobe's marker: transform 1 is YCbCr, 0 is none.
        let colours: [UInt8] =
            [0xFF, 0xEE, 0, 14] + Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, photometric == 6 ? 1 : 0]
        let hasTables = tables.count >= 4 && tables.starts(with: start) && tables.suffix(2).elementsEqual([0xFF, 0xD9])
        return start + colours + (hasTables ? tables.dropFirst(2).dropLast(2) : []) + tile.dropFirst(2)
    }
}
