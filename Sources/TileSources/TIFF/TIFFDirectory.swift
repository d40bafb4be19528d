import TileCache

/// Bytes of a file as its directories are read. Blocks grow, with a limit in all.
struct TIFFBytes {
    let reader: ByteRangeReader
    private var blocks: [(start: Int, bytes: [UInt8])]
    /// Bytes of the next read, if it is not for more.
    private var nextBlock = 1 << 16
    private var left = 128 << 20
    /// Whether a chain of directories is followed. They may be far apart, as those of planes are: little is read besides
    /// one, and more if the next one is near.
    var isWalking = false { didSet { nextBlock = isWalking ? Self.walkingBlock : 1 << 16 } }
    /// End of the last read.
    private var lastEnd = 0

    private static let walkingBlock = 4096

    /// Maximum bytes that are read because they are likely to be needed.
    private static let longestGuess = 16 << 20

    init(_ reader: ByteRangeReader, beginning: [UInt8]) {
        self.reader = reader
        blocks = [(0, beginning)]
    }

    var name: String { reader.name }

    /// Reads the tile tables of all levels with one request, if they are adjacent.
    ///
    /// In a cloud-optimised file they are before all tiles, and those of overviews are a third as long. Reads nothing if
    /// the first directory's are in memory. Ignores those beyond the file's end.
    mutating func expect(_ main: TIFFDirectory) throws(TileSourceError) {
        let tables = main.tileTables.filter { $0.offset <= reader.size && $0.count <= reader.size - Int($0.offset) }
        let all = tables.reduce(0) { $0 + $1.count }
        var expected = all + all / 3 + 1 << 14
        // In the order of the file: one read from the first that is missing brings those after it, too.
        for (offset, count) in tables {
            if held(Int(offset), count) == nil {
                let length = min(expected, Self.longestGuess)
                if count <= length { _ = try get(offset, count, TIFFTag.tileOffsets.name, reading: length) }
                return
            }
            expected -= count
        }
    }

    /// The bytes of a range that are in memory; `nil` if not all of them are.
    private func held(_ start: Int, _ count: Int) -> ArraySlice<UInt8>? {
        for block in blocks.reversed() where start >= block.start && start + count <= block.start + block.bytes.count {
            return block.bytes[(start - block.start)..<(start - block.start + count)]
        }
        return nil
    }

    /// Gets a range, from memory or with one read. The read may be longer than the next block.
    mutating func get(
        _ offset: UInt64,
        _ count: Int,
        _ field: String,
        reading expected: Int = 0
    ) throws(TileSourceError) -> ArraySlice<UInt8> {
        guard offset <= reader.size, count <= reader.size - Int(offset) else {
            throw TileSourceError(
                name,
                "its \(field) of \(count) bytes at \(offset) lies beyond the file's end at \(reader.size)"
            )
        }
        let start = Int(offset)
        if let held = held(start, count) { return held }
        if isWalking, start < lastEnd || start - lastEnd > nextBlock { nextBlock = Self.walkingBlock }
        // Directories may be far apart, as those of planes are: what is read besides them must leave room for the rest.
        let guess = max(expected, min(nextBlock, left / 64))
        let length = min(max(count, guess), reader.size - start)
        guard length <= left else { throw TileSourceError(name, "its directories are larger than 128 MiB") }
        left -= length
        lastEnd = start + length
        // A file with long tables may have more of them. But no later guess exceeds 1 MiB.
        nextBlock = min(2 * guess, 1 << 20)
        let bytes = try reader.readNow(start..<start + length)
        blocks.append((start, bytes))
        return bytes[..<count]
    }
}

/// One directory of a TIFF file: values of fields, as numbers or text.
struct TIFFDirectory {
    /// Values of a field.
    private struct Field {
        var type: UInt16
        var count: Int
        /// Of the values in the file.
        var offset: UInt64
    }

    private var fields: [TIFFTag: Field] = [:]
    private let isLittle: Bool
    /// The next directory of the chain; 0 if there is none.
    let next: UInt64

    private static let sizes: [UInt16: Int] = [
        1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8, 17: 8, 18: 8,
    ]

    /// Reads the table of fields, but not their values.
    init(_ bytes: inout TIFFBytes, at offset: UInt64, format: TIFFFormat) throws(TileSourceError) {
        let isBig = format.isBig
        isLittle = format.isLittle
        let (countSize, entrySize, linkSize) = isBig ? (8, 20, 8) : (2, 12, 4)
        let count = format.number(try bytes.get(offset, countSize, "directory"))
        guard count > 0, count <= 4096 else {
            throw TileSourceError(bytes.name, "directory at \(offset): 1 to 4096 fields were expected, not \(count)")
        }
        let start = offset + UInt64(countSize)
        let table = try bytes.get(start, Int(count) * entrySize + linkSize, "directory")
        for index in 0..<Int(count) {
            let entry = table[(table.startIndex + index * entrySize)...].prefix(entrySize)
            let first = entry.startIndex
            let type = UInt16(format.number(entry[first + 2..<first + 4]))
            let values = isBig ? first + 12 : first + 8
            let number = format.number(entry[first + 4..<values])
            // Fields of unknown types cannot be used.
            guard let size = Self.sizes[type], number <= 1 << 32 else { continue }
            let isInline = Int(number) * size <= (isBig ? 8 : 4)
            guard let tag = TIFFTag(rawValue: UInt16(format.number(entry[first..<first + 2]))) else { continue }
            let place = start + UInt64(values - table.startIndex)
            let offset = isInline ? place : format.number(entry[values..<first + entrySize])
            if fields[tag] == nil { fields[tag] = Field(type: type, count: Int(number), offset: offset) }
        }
        next = format.number(table.suffix(linkSize))
    }

    func has(_ tag: TIFFTag) -> Bool { fields[tag] != nil }

    /// Whether there is a field whose value lies in the file. What is not needed to read pixels is not missed otherwise.
    func isInFile(_ tag: TIFFTag, _ bytes: TIFFBytes) -> Bool {
        guard let field = fields[tag], let size = Self.sizes[field.type] else { return false }
        let (end, overflow) = field.offset.addingReportingOverflow(UInt64(field.count * size))
        return !overflow && end <= bytes.reader.size
    }

    /// Places of the offsets and byte counts of tiles, in the order of the file.
    var tileTables: [(offset: UInt64, count: Int)] {
        [TIFFTag.tileOffsets, .tileByteCounts].compactMap { fields[$0] }.sorted { $0.offset < $1.offset }
            .map { ($0.offset, $0.count * (Self.sizes[$0.type] ?? 1)) }
    }

    /// Where a table of so many whole numbers is, that is not read at once; `nil` if it is none, or not in the file.
    func far(_ tag: TIFFTag, count: Int, _ bytes: TIFFBytes) -> TIFFFarTables.Field? {
        guard let field = fields[tag], field.count == count, [3, 4, 13, 16, 18].contains(field.type),
            let size = Self.sizes[field.type], isInFile(tag, bytes)
        else { return nil }
        return TIFFFarTables.Field(start: Int(field.offset), size: size)
    }

    /// Whole numbers of a field; `nil` if there is none.
    func numbers(
        _ tag: TIFFTag,
        atMost limit: Int,
        _ bytes: inout TIFFBytes
    ) throws(TileSourceError) -> [UInt64]? {
        guard let field = fields[tag] else { return nil }
        let size = Self.sizes[field.type] ?? 1
        guard [1, 3, 4, 6, 7, 8, 9, 13, 16, 17, 18].contains(field.type) else {
            throw TileSourceError(bytes.name, "\(tag.name): whole numbers were expected, not the type \(field.type)")
        }
        guard field.count <= limit else {
            throw TileSourceError(bytes.name, "\(tag.name): at most \(limit) numbers were expected, not \(field.count)")
        }
        let format = TIFFFormat(isLittle: isLittle, isBig: true)
        let data = try bytes.get(field.offset, field.count * size, tag.name)
        return (0..<field.count).map { index in
            let start = data.startIndex + index * size
            return format.number(data[start..<start + size])
        }
    }

    /// One whole number; the default if there is no such field.
    func number(
        _ tag: TIFFTag,
        _ range: ClosedRange<Int>,
        default value: Int? = nil,
        _ bytes: inout TIFFBytes
    ) throws(TileSourceError) -> Int {
        let found = try numbers(tag, atMost: 1 << 16, &bytes)?.first.map { Int(clamping: $0) } ?? value
        guard let found, range.contains(found) else {
            let text = found.map { "not \($0)" } ?? "and there is none"
            let expected = "\(range.lowerBound) to \(range.upperBound)"
            throw TileSourceError(bytes.name, "\(tag.name) of \(expected) was expected, \(text)")
        }
        return found
    }

    /// Floating-point numbers of a field, of 64 bits. `nil` if there is no such field, or it is of another type.
    func reals(_ tag: TIFFTag, _ bytes: inout TIFFBytes) throws(TileSourceError) -> [Double]? {
        fields[tag]?.type == 12 ? try values(tag, &bytes) : nil
    }

    /// Numbers of a field. `nil` if there is no such field, or its type is none of numbers.
    func values(_ tag: TIFFTag, _ bytes: inout TIFFBytes) throws(TileSourceError) -> [Double]? {
        guard let field = fields[tag], field.count <= 4096, let size = Self.sizes[field.type] else { return nil }
        guard [1, 3, 4, 6, 8, 9, 11, 12].contains(field.type) else { return nil }
        let format = TIFFFormat(isLittle: isLittle, isBig: true)
        let data = try bytes.get(field.offset, field.count * size, tag.name)
        return (0..<field.count).map { index in
            let start = data.startIndex + index * size
            let number = format.number(data[start..<start + size])
            return switch field.type {
            case 6: Double(Int8(truncatingIfNeeded: number))
            case 8: Double(Int16(truncatingIfNeeded: number))
            case 9: Double(Int32(truncatingIfNeeded: number))
            case 11: Double(Float(bitPattern: UInt32(truncatingIfNeeded: number)))
            case 12: Double(bitPattern: number)
            default: Double(number)
            }
        }
    }

    /// Bytes of a field, whatever their type. `nil` if there is none, or it is longer than the limit.
    func raw(_ tag: TIFFTag, atMost limit: Int, _ bytes: inout TIFFBytes) throws(TileSourceError) -> [UInt8]? {
        guard let field = fields[tag], let size = Self.sizes[field.type], field.count * size <= limit else {
            return nil
        }
        return Array(try bytes.get(field.offset, field.count * size, tag.name))
    }

    /// A field as it is in the file, for a directory of the same order of bytes. `nil` if there is none, or it is longer
    /// than the limit.
    func copy(_ tag: TIFFTag, atMost limit: Int, _ bytes: inout TIFFBytes) throws(TileSourceError) -> TIFFField? {
        guard let field = fields[tag], field.type <= 12, let data = try raw(tag, atMost: limit, &bytes) else {
            return nil
        }
        return TIFFField(tag: tag.rawValue, type: field.type, count: field.count, data: data)
    }

    /// Text of a field without the zeros at its end.
    func text(_ tag: TIFFTag, _ bytes: inout TIFFBytes) throws(TileSourceError) -> String? {
        try raw(tag, atMost: 4 << 20, &bytes).map { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

/// A field with its values as a file has them.
struct TIFFField: Sendable {
    var tag: UInt16
    var type: UInt16
    var count: Int
    var data: [UInt8]
}

/// Order of bytes, and width of offsets.
struct TIFFFormat {
    var isLittle: Bool
    var isBig: Bool

    init(isLittle: Bool, isBig: Bool) { (self.isLittle, self.isBig) = (isLittle, isBig) }

    /// Parses the header; returns the first directory's offset, too.
    static func read(_ bytes: [UInt8], path: String) throws(TileSourceError) -> (format: TIFFFormat, first: UInt64) {
        let order = Array(bytes.prefix(2))
        let isLittle = order == Array("II".utf8)
        guard bytes.count >= 8, isLittle || order == Array("MM".utf8) else {
            throw TileSourceError(path, "a TIFF file was expected, which begins with \"II\" or \"MM\"")
        }
        var format = TIFFFormat(isLittle: isLittle, isBig: false)
        let version = format.number(bytes[2..<4])
        guard version == 42 || version == 43 else {
            throw TileSourceError(path, "version 42 or 43 of TIFF was expected, not \(version)")
        }
        guard version == 43 else { return (format, format.number(bytes[4..<8])) }
        guard bytes.count >= 16, format.number(bytes[4..<6]) == 8 else {
            throw TileSourceError(path, "offsets of 8 bytes were expected in a BigTIFF file")
        }
        format.isBig = true
        return (format, format.number(bytes[8..<16]))
    }

    func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        isLittle
            ? bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) } : bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// A number in this order.
    func bytes(_ number: UInt64, _ count: Int) -> [UInt8] {
        let little = (0..<count).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }
        return isLittle ? little : little.reversed()
    }
}
