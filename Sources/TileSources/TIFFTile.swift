import CTileImages
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
    private let scratch: ScratchMemory

    /// - Parameters:
    ///   - scratch: Memory of what is decoded.
    ///   - rows: Of a tile. Default: the level's.
    init(_ level: TIFFLevel, _ options: TileSourceOptions, _ scratch: ScratchMemory, rows: Int? = nil) {
        self.scratch = scratch
        layout = level.layout
        side = (level.tileWidth, rows ?? level.tileHeight)
        bytesPerPixel = options.format.bytesPerPixel ?? 4
        writer = TilePixelWriter(options)
    }

    /// Whether libtiff can decode a compression.
    static func knows(_ compression: Int) -> Bool {
        compression == 7 || compression == 50001 || tile_tiff_knows(Int32(compression)) != 0
    }

    /// Decodes a tile that is no JPEG or WebP.
    ///
    /// - Parameters:
    ///   - planes: Encoded bytes, of all samples or of each.
    ///   - width: Pixels that are drawn; the rest of the tile is zeros.
    func decode(
        _ planes: [RangeBytes],
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
    func decode(_ planes: [RangeBytes]) throws(TileLoadFailure) -> [ScratchBytes] {
        var decoded: [ScratchBytes] = []
        for plane in planes { decoded.append(try decode(plane, samples: planes.count > 1 ? 1 : layout.samples)) }
        return decoded
    }

    /// Writes a row of decoded samples in the layer's format.
    ///
    /// - Parameter row: Scratch memory, 4 bytes a pixel, at first opaque.
    func write(
        _ decoded: [ScratchBytes],
        _ y: Int,
        _ width: Int,
        _ row: inout [UInt8],
        to target: UnsafeMutablePointer<UInt8>
    ) {
        let hasAlpha = layout.samples == 4 && layout.extra > 0
        let channels = hasAlpha ? 4 : min(layout.samples, 3)
        let step = decoded.count > 1 ? 1 : layout.samples
        let first = y * side.width * step * layout.bits / 8
        row.withUnsafeMutableBufferPointer { row in
            guard let row = row.baseAddress else { return }
            for plane in 0..<(decoded.count > 1 ? channels : 1) {
                let count = decoded.count > 1 ? 1 : channels
                guard let start = decoded[plane].memory.baseAddress else { continue }
                ti_take_samples(start + first, step, Int32(layout.bits), width, Int32(count), row + plane)
            }
            if channels == 1 { ti_spread_grey(row, width, layout.photometric == 0 ? 1 : 0) }
        }
        writer.write(&row, width, alpha: layout.alpha, to: target)
    }

    private func decode(_ bytes: RangeBytes, samples: Int) throws(TileLoadFailure) -> ScratchBytes {
        let target = try lend(side.width * side.height * samples * layout.bits / 8)
        // A plane that is not in the file: writers leave out those of zeros.
        guard bytes.count > 0 else {
            target.memory.update(repeating: 0)
            return target
        }
        let head = head(of: bytes.count, samples: samples)
        // libtiff turns the bits where they are.
        let bytes = layout.fillOrder == 1 ? bytes : bytes.withBytes { .received(Array($0)) }
        var message = [CChar](repeating: 0, count: 200)
        let (start, room) = (target.memory.baseAddress, target.memory.count)
        let isDecoded = bytes.withBytes {
            tile_tiff_decode(head, head.count, $0.baseAddress, $0.count, start, room, &message, message.count) != 0
        }
        guard isDecoded else {
            let text = String(decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            throw TileLoadFailure(.undecodable, text.isEmpty ? "its data are damaged" : "libtiff says: \(text)")
        }
        return target
    }

    private func lend(_ byteCount: Int) throws(TileLoadFailure) -> ScratchBytes {
        guard let bytes = scratch.lend(byteCount) else { throw .noMemory(byteCount) }
        return bytes
    }

    /// A file with one directory and one tile, up to the bytes of the tile.
    private func head(of byteCount: Int, samples: Int) -> [UInt8] {
        let format = TIFFFormat(isLittle: layout.isLittle, isBig: false)
        // Tag, type, values: short or long. Photometric 6 is JPEG's alone.
        let fields: [(tag: UInt64, type: UInt64, values: [UInt64])] = [
            (256, 4, [UInt64(side.width)]), (257, 4, [UInt64(side.height)]),
            (258, 3, .init(repeating: UInt64(layout.bits), count: samples)), (259, 3, [UInt64(layout.compression)]),
            (262, 3, [samples == 1 ? 1 : 2]), (266, 3, [UInt64(layout.fillOrder)]), (277, 3, [UInt64(samples)]),
            (284, 3, [1]),
            (317, 3, [UInt64(layout.predictor)]), (322, 4, [UInt64(side.width)]), (323, 4, [UInt64(side.height)]),
            (324, 4, [0]), (325, 4, [UInt64(byteCount)]),
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
        return order + format.bytes(42, 2) + format.bytes(8, 4) + table + [0, 0, 0, 0] + values
    }

    /// A JPEG file of a tile, with its directory's tables and a marker of colours.
    ///
    /// Markers of JFIF and Adobe in the tile and the tables are left out: the directory states its colours.
    static func joined(_ tile: UnsafeBufferPointer<UInt8>, tables: [UInt8], photometric: Int) -> [UInt8] {
        let start: [UInt8] = [0xFF, 0xD8]
        guard tile.starts(with: start) else { return Array(tile) }
        // Adobe's marker: transform 1 is YCbCr, 0 is none.
        let colours: [UInt8] =
            [0xFF, 0xEE, 0, 14] + Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, photometric == 6 ? 1 : 0]
        let hasTables = tables.count >= 4 && tables.starts(with: start) && tables.suffix(2).elementsEqual([0xFF, 0xD9])
        var file = start + colours
        file.reserveCapacity(file.count + tables.count + tile.count)
        func add(_ part: UnsafeBufferPointer<UInt8>) {
            var place = 2
            // Segments before the first scan. If none follows, the decoder fails with a message.
            while place + 4 <= part.count, part[place] == 0xFF, part[place + 1] != 0xDA {
                let end = place + 2 + Int(part[place + 2]) << 8 + Int(part[place + 3])
                guard end > place + 3, end <= part.count else { break }
                if part[place + 1] != 0xE0, part[place + 1] != 0xEE { file += part[place..<end] }
                place = end
            }
            file += part[place...]
        }
        if hasTables { tables.withUnsafeBufferPointer { add(UnsafeBufferPointer(rebasing: $0.dropLast(2))) } }
        add(tile)
        return file
    }
}
