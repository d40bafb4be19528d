import TestSupport

@testable import TileSources

/// A tiled TIFF file that a test writes.
struct MadeTIFF {
    /// One directory.
    struct Directory {
        var width: Int
        var height: Int
        /// Pixels a side of a tile; 0 for strips.
        var tile = 32
        /// Rows of a strip; 0 for one strip.
        var stripRows = 0
        /// Samples of the whole image, by pixel: red, green, blue and alpha of 8 bits.
        var image: TestImage
        var samples = 3
        var bits = 8
        /// 1 for none, 8 for Deflate.
        var compression: UInt64 = 1
        var isPlanar = false
        /// The lowest bit of each byte first, and `FillOrder` to say so. Not for what ``encode`` makes.
        var reversesBits = false
        var kind: UInt64 = 0
        var more: [Field] = []
        /// Sub-directories, by their place in ``MadeTIFF/directories``.
        var children: [Int] = []
        var isInChain = true
        /// Tiles by number whose byte count is 0.
        var absent: Set<Int> = []
        /// Encodes one tile in place of its samples.
        var encode: ((TestImage) -> [UInt8])?

        /// Rows of a tile or strip.
        var rows: Int { tile > 0 ? tile : stripRows > 0 ? stripRows : height }

        init(_ image: TestImage) { (self.image, width, height) = (image, image.width, image.height) }
    }

    struct Field {
        var tag: UInt64
        /// Type by its number. 2 text, 3 short, 4 long, 7 bytes, 12 number with a point, 16 long of 8 bytes.
        var type: UInt64
        var values: [UInt64]
    }

    var directories: [Directory] = []
    var isLittle = true
    var isBig = false

    private static let sizes: [UInt64: Int] = [2: 1, 3: 2, 4: 4, 7: 1, 12: 8, 16: 8]

    /// The whole file: header, directories, then tiles.
    func bytes() -> [UInt8] {
        let format = TIFFFormat(isLittle: isLittle, isBig: isBig)
        let header = isBig ? 16 : 8
        var tiles = directories.map { self.tiles(of: $0, format) }
        var places = directories.map { _ in 0 }
        var table: [UInt8] = []
        // Sizes do not depend on offsets: the second time they are known.
        var dataStart = 0
        for _ in 0..<2 {
            table = []
            var place = dataStart
            let offsets = tiles.map { images in
                images.map { image -> UInt64 in
                    defer { place += image.count }
                    return UInt64(place)
                }
            }
            let chain = directories.indices.filter { directories[$0].isInChain }
            var own = places
            for index in directories.indices {
                own[index] = header + table.count
                let next = chain.firstIndex(of: index).flatMap { $0 + 1 < chain.count ? places[chain[$0 + 1]] : nil }
                table += directory(
                    directories[index],
                    offsets[index],
                    tiles[index].map { UInt64($0.count) },
                    at: header + table.count,
                    next: next ?? 0,
                    places,
                    format
                )
            }
            (places, dataStart) = (own, header + table.count)
        }
        let order = Array((isLittle ? "II" : "MM").utf8)
        let first = UInt64(places[0])
        let start =
            isBig
            ? order + format.bytes(43, 2) + format.bytes(8, 2) + [0, 0] + format.bytes(first, 8)
            : order + format.bytes(42, 2) + format.bytes(first, 4)
        tiles.removeAll { $0.isEmpty }
        var file = start + table
        for tile in tiles.joined() { file += tile }
        return file
    }

    private func directory(
        _ directory: Directory,
        _ offsets: [UInt64],
        _ counts: [UInt64],
        at start: Int,
        next: Int,
        _ places: [Int],
        _ format: TIFFFormat
    ) -> [UInt8] {
        let shorts = { (value: Int) in [UInt64](repeating: UInt64(value), count: directory.samples) }
        let long: UInt64 = isBig ? 16 : 4
        var fields = [
            Field(tag: 254, type: 4, values: [directory.kind]),
            Field(tag: 256, type: 4, values: [UInt64(directory.width)]),
            Field(tag: 257, type: 4, values: [UInt64(directory.height)]),
            Field(tag: 258, type: 3, values: shorts(directory.bits)),
            Field(tag: 259, type: 3, values: [directory.compression]),
            Field(tag: 262, type: 3, values: [directory.samples == 1 ? 1 : 2]),
            Field(tag: 277, type: 3, values: [UInt64(directory.samples)]),
            Field(tag: 284, type: 3, values: [directory.isPlanar ? 2 : 1]),
            Field(tag: 339, type: 3, values: shorts(directory.bits > 16 ? 3 : 1)),
        ]
        if directory.tile > 0 {
            fields += [
                Field(tag: 322, type: 4, values: [UInt64(directory.tile)]),
                Field(tag: 323, type: 4, values: [UInt64(directory.tile)]),
                Field(tag: 324, type: long, values: offsets), Field(tag: 325, type: 4, values: counts),
            ]
        } else {
            fields += [
                Field(tag: 273, type: long, values: offsets),
                Field(tag: 278, type: 4, values: [UInt64(directory.rows)]),
                Field(tag: 279, type: 4, values: counts),
            ]
        }
        if directory.reversesBits { fields.append(Field(tag: 266, type: 3, values: [2])) }
        if directory.samples == 4 { fields.append(Field(tag: 338, type: 3, values: [2])) }
        if !directory.children.isEmpty {
            fields.append(Field(tag: 330, type: long, values: directory.children.map { UInt64(places[$0]) }))
        }
        fields.removeAll { field in directory.more.contains { $0.tag == field.tag } }
        fields = (fields + directory.more).sorted { $0.tag < $1.tag }
        let (countSize, entrySize, wide) = isBig ? (8, 20, 8) : (2, 12, 4)
        let valuesStart = start + countSize + fields.count * entrySize + wide
        var (table, values) = (format.bytes(UInt64(fields.count), countSize), [UInt8]())
        for field in fields {
            var own = field.values.flatMap { format.bytes($0, Self.sizes[field.type] ?? 1) }
            if own.count > wide {
                let place = valuesStart + values.count
                values += own
                own = format.bytes(UInt64(place), wide)
            }
            own += [UInt8](repeating: 0, count: wide - own.count)
            table += format.bytes(field.tag, 2) + format.bytes(field.type, 2)
            table += format.bytes(UInt64(field.values.count), wide) + own
        }
        return table + format.bytes(UInt64(next), wide) + values
    }

    private func tiles(of directory: Directory, _ format: TIFFFormat) -> [[UInt8]] {
        let size = (directory.tile > 0 ? directory.tile : directory.width, directory.rows)
        let columns = (directory.width - 1) / size.0 + 1
        let rows = (directory.height - 1) / size.1 + 1
        let samples = (0...255).map { Self.sample($0, directory.bits, format) }
        var tiles: [[UInt8]] = []
        for plane in 0..<(directory.isPlanar ? directory.samples : 1) {
            for number in 0..<columns * rows {
                if directory.absent.contains(number) {
                    tiles.append([])
                    continue
                }
                let y = number / columns * size.1
                // The last strip is as high as what is left.
                let part = directory.image.part(
                    x: number % columns * size.0,
                    y: y,
                    width: size.0,
                    height: directory.tile > 0 ? size.1 : min(size.1, directory.height - y)
                )
                if let encode = directory.encode {
                    tiles.append(encode(part))
                    continue
                }
                let channels = directory.isPlanar ? [plane] : Array(0..<directory.samples)
                var bytes = RGBAPixels.samples(part.pixels, channels: channels, as: samples)
                if directory.compression == 8 { bytes = Self.deflated(bytes) }
                if directory.reversesBits { bytes = bytes.map { Self.reversed($0) } }
                tiles.append(bytes)
            }
        }
        return tiles
    }

    /// Converts a sample of 8 bits to another depth. It has the same 8 bits there.
    private static func sample(_ value: UInt8, _ bits: Int, _ format: TIFFFormat) -> [UInt8] {
        switch bits {
        case 8: [value]
        case 16: format.bytes(UInt64(value) * 257, 2)
        case 32: format.bytes(UInt64((Float(value) / 255).bitPattern), 4)
        default: format.bytes((Double(value) / 255).bitPattern, 8)
        }
    }

    /// A byte with its bits in the other order.
    private static func reversed(_ byte: UInt8) -> UInt8 {
        var (rest, result) = (byte, UInt8(0))
        for _ in 0..<8 { (result, rest) = (result << 1 | rest & 1, rest >> 1) }
        return result
    }

    /// A zlib stream: the data of gzip in another frame.
    private static func deflated(_ bytes: [UInt8]) -> [UInt8] {
        let packed = MadePMTiles.gzip(bytes)
        let end = TIFFFormat(isLittle: false, isBig: false).bytes(UInt64(bytes.adler32), 4)
        return [0x78, 0x9C] + packed[10..<packed.count - 8] + end
    }
}
