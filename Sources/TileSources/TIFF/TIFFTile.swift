import CTileOpenJPEG
import CTileTIFF
import TileCache

/// Decodes tiles of a TIFF file.
///
/// libtiff is given a file of one tile that is made here, with checked fields: it sees nothing of the file's own
/// directories.
struct TIFFTile: Sendable {
    private let layout: TIFFLayout
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

    /// Decodes a tile that is no JPEG or WebP.
    ///
    /// - Parameters:
    ///   - planes: Encoded bytes, of all samples or of each.
    ///   - mask: What marks its pixels, if there is one.
    ///   - width: Pixels that are drawn; the rest of the tile is zeros.
    func decode(
        _ planes: [RangeBytes],
        _ colours: TIFFColours,
        mask: TIFFMask?,
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
                let place = (first + y * stride).assumingMemoryBound(to: UInt8.self)
                write(decoded, colours, mask: mask, y, width, &row, to: place)
            }
        }
    }

    /// Decodes all planes, or converts them; the samples of a row are those of ``write(_:_:_:_:to:)``.
    func decode(_ planes: [RangeBytes]) throws(TileLoadFailure) -> [ScratchBytes] {
        var decoded: [ScratchBytes] = []
        for plane in planes { decoded.append(try decode(plane, samples: layout.isPlanar ? 1 : layout.samples)) }
        return decoded
    }

    /// Writes a row of decoded samples in the layer's format.
    ///
    /// - Parameter row: Scratch memory, 4 bytes a pixel, at first opaque.
    func write(
        _ decoded: [ScratchBytes],
        _ colours: TIFFColours,
        mask: TIFFMask? = nil,
        _ y: Int,
        _ width: Int,
        _ row: inout [UInt8],
        to target: UnsafeMutablePointer<UInt8>
    ) {
        row.withUnsafeMutableBufferPointer { row in
            guard let row = row.baseAddress else { return }
            let rows = rows(decoded, y)
            if layout.isConverted {
                row.update(from: rows[0], count: 4 * width)
            } else {
                colours.write(rows, width, to: row)
            }
            mask?.write(y, width, to: row + 3)
        }
        writer.write(&row, width, alpha: layout.alpha, to: target)
    }

    /// Reads the numbers of the drawn samples of a row, of every so many pixels.
    func numbers(_ decoded: [ScratchBytes], _ y: Int, _ width: Int, every: Int) -> [Double] {
        withExtendedLifetime(decoded) { layout.numbers(rows(decoded, y), width, every: every) }
    }

    /// A row of each plane.
    func rows(_ decoded: [ScratchBytes], _ y: Int) -> [UnsafePointer<UInt8>] {
        let bytes = rowBytes(samples: layout.isPlanar ? 1 : layout.samples)
        return decoded.compactMap { $0.memory.baseAddress.map { UnsafePointer($0 + y * bytes) } }
    }

    private func rowBytes(samples: Int) -> Int {
        layout.isConverted ? 4 * side.width : layout.rowBytes(side.width, samples: samples)
    }

    private func decode(_ bytes: RangeBytes, samples: Int) throws(TileLoadFailure) -> ScratchBytes {
        let target = try lend(side.height * rowBytes(samples: samples))
        // A plane that is not in the file: writers leave out those of zeros.
        guard bytes.count > 0 else {
            target.memory.update(repeating: 0)
            return target
        }
        if !layout.fillsAll { target.memory.update(repeating: 0) }
        if layout.isJPEG2000 {
            try scratch.counting(layout.ownBytes(side.width, side.height)) { () throws(TileLoadFailure) in
                try decodeJPEG2000(bytes, samples: samples, to: target)
            }
            return target
        }
        let head = head(of: bytes.count, samples: samples)
        // libtiff turns the bits where they are.
        let bytes = layout.fillOrder == 1 ? bytes : bytes.withBytes { .received(Array($0)) }
        var message = [CChar](repeating: 0, count: 200)
        let (start, room) = (target.memory.baseAddress, target.memory.count)
        let isDecoded = bytes.withBytes { tile in
            guard layout.isConverted else {
                let (bytes, count) = (tile.baseAddress, tile.count)
                return tile_tiff_decode(head, head.count, bytes, count, start, room, &message, message.count) != 0
            }
            return (head + tile).withUnsafeBufferPointer { file in
                let first = file.baseAddress
                let tile = first.map { $0 + head.count }
                let count = file.count - head.count
                return tile_tiff_convert(first, head.count, tile, count, start, room, &message, message.count) != 0
            }
        }
        guard isDecoded else {
            let text = String(decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            throw TileLoadFailure(.undecodable, text.isEmpty ? "its data are damaged" : "libtiff says: \(text)")
        }
        return target
    }

    private func decodeJPEG2000(
        _ bytes: RangeBytes,
        samples: Int,
        to target: ScratchBytes
    ) throws(TileLoadFailure) {
        var kind = tile_j2k_kind(
            width: UInt32(side.width),
            height: UInt32(side.height),
            samples: UInt32(samples),
            bits: UInt32(layout.bits),
            is_ycc: layout.isYCC ? 1 : 0
        )
        var message = [CChar](repeating: 0, count: 200)
        let start = target.memory.baseAddress
        let isDecoded = bytes.withBytes { tile in
            tile_j2k_decode(tile.baseAddress, tile.count, &kind, start, &message, message.count) != 0
        }
        guard !isDecoded else { return }
        let text = String(decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        throw TileLoadFailure(.undecodable, text.isEmpty ? "its data are damaged" : "OpenJPEG says: \(text)")
    }

    private func lend(_ byteCount: Int) throws(TileLoadFailure) -> ScratchBytes {
        guard let bytes = scratch.lend(byteCount) else { throw .noMemory(byteCount) }
        return bytes
    }

    /// A file with one directory and one tile, up to the bytes of the tile.
    private func head(of byteCount: Int, samples: Int) -> [UInt8] {
        let format = TIFFFormat(isLittle: layout.isLittle, isBig: false)
        let colours = layout.isConverted ? layout.photometric : samples < 3 ? 1 : 2
        func field(_ tag: UInt16, _ values: Int..., type: UInt16 = 3) -> TIFFField {
            let data = values.flatMap { format.bytes(UInt64($0), type == 3 ? 2 : 4) }
            return TIFFField(tag: tag, type: type, count: values.count, data: data)
        }
        func repeated(_ tag: UInt16, _ value: Int, _ count: Int) -> TIFFField {
            let values = [[UInt8]](repeating: format.bytes(UInt64(value), 2), count: count)
            return TIFFField(tag: tag, type: 3, count: count, data: values.flatMap(\.self))
        }
        var fields = [
            field(256, side.width, type: 4), field(257, side.height, type: 4), repeated(258, layout.bits, samples),
            field(259, layout.compression), field(262, colours), field(266, layout.fillOrder), field(277, samples),
            field(284, 1), field(317, layout.predictor), field(322, side.width, type: 4),
            field(323, side.height, type: 4), field(324, 0, type: 4), field(325, byteCount, type: 4),
            repeated(339, layout.sampleFormat, samples),
        ]
        let extras = samples - (colours == 1 ? 1 : 3)
        if extras > 0 { fields.append(repeated(338, 0, extras)) }
        fields = (fields + layout.own).sorted { $0.tag < $1.tag }
        let tableEnd = 8 + 2 + 12 * fields.count + 4
        let dataStart = tableEnd + fields.reduce(0) { $0 + ($1.data.count > 4 ? $1.data.count : 0) }
        var table = format.bytes(UInt64(fields.count), 2)
        var values: [UInt8] = []
        for field in fields {
            var own = field.tag == 324 ? format.bytes(UInt64(dataStart), 4) : field.data
            if own.count > 4 {
                let place = tableEnd + values.count
                values += own
                own = format.bytes(UInt64(place), 4)
            }
            own += [UInt8](repeating: 0, count: 4 - own.count)
            table += format.bytes(UInt64(field.tag), 2) + format.bytes(UInt64(field.type), 2)
            table += format.bytes(UInt64(field.count), 4) + own
        }
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
