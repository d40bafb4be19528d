import TileCache

/// Tables of a level's tiles that are too long to be in memory: parts of them are read with the tiles.
final class TIFFFarTables: Sendable {
    /// Where a table is in the file: the first number, and bytes of each.
    struct Field {
        var start: Int
        var size: Int
    }

    /// Places of some tiles that follow each other.
    struct Part: Sendable {
        var offsets: [UInt64]
        var counts: [UInt32]
    }

    /// Tiles of a part, and parts that are kept: 1.5 MiB.
    static let partLength = 4096
    private static let mostParts = 32

    private let offsets: Field
    private let counts: Field
    private let count: Int
    private let format: TIFFFormat
    /// The least recently used first.
    private let kept = Lock<[(number: Int, part: Part)]>([])

    init(offsets: Field, counts: Field, count: Int, _ format: TIFFFormat) {
        (self.offsets, self.counts, self.count, self.format) = (offsets, counts, count, format)
    }

    var byteCount: Int { kept.withLock { $0.reduce(0) { $0 + 12 * $1.part.offsets.count } } }

    /// The part of a tile if it is in memory.
    func part(of tile: Int) -> Part? {
        let number = tile / Self.partLength
        return kept.withLock { kept -> Part? in
            guard let place = kept.firstIndex(where: { $0.number == number }) else { return nil }
            kept.append(kept.remove(at: place))
            return kept[kept.count - 1].part
        }
    }

    /// Where the two tables of a tile's part are in the file.
    func ranges(of tile: Int) -> [Range<Int>] {
        let number = tile / Self.partLength
        let tiles = number * Self.partLength..<min((number + 1) * Self.partLength, count)
        return [offsets, counts].map { field in
            field.start + tiles.lowerBound * field.size..<field.start + tiles.upperBound * field.size
        }
    }

    /// Takes the bytes of a part's two tables.
    func take(_ number: Int, _ bytes: [RangeBytes]) -> Part {
        let format = format
        func numbers(_ bytes: RangeBytes, _ size: Int) -> [UInt64] {
            let all = bytes.array
            return stride(from: 0, to: all.count, by: size).map { format.number(all[$0..<$0 + size]) }
        }
        let part = Part(
            offsets: numbers(bytes[0], offsets.size),
            counts: numbers(bytes[1], counts.size).map { UInt32(clamping: $0) }
        )
        kept.withLock { kept in
            kept.removeAll { $0.number == number }
            kept.append((number, part))
            if kept.count > Self.mostParts { kept.removeFirst() }
        }
        return part
    }
}

/// Where the tiles that a request needs are, by part of a level's tables and of its mask's.
struct TIFFPlaces: Sendable {
    fileprivate struct Key: Hashable {
        var isMask: Bool
        var number: Int
    }

    /// What is to be read first.
    struct Lack: Sendable {
        fileprivate var key: Key
        fileprivate var tables: TIFFFarTables
        var ranges: [Range<Int>]
    }

    private var parts: [Key: TIFFFarTables.Part] = [:]
    private(set) var lacks: [Lack] = []

    /// Finds the parts of tiles' places; those of levels in memory need none.
    mutating func find(_ tile: Int, in tables: TIFFFarTables, isMask: Bool) {
        let key = Key(isMask: isMask, number: tile / TIFFFarTables.partLength)
        guard parts[key] == nil, !lacks.contains(where: { $0.key == key }) else { return }
        if let part = tables.part(of: tile) {
            parts[key] = part
        } else {
            lacks.append(Lack(key: key, tables: tables, ranges: tables.ranges(of: tile)))
        }
    }

    /// Takes the bytes of all that lacks, two tables each.
    mutating func take(_ bytes: [RangeBytes]) {
        for (index, lack) in lacks.enumerated() {
            parts[lack.key] = lack.tables.take(lack.key.number, Array(bytes[2 * index..<2 * index + 2]))
        }
        lacks = []
    }

    /// The place of a tile.
    func place(of tile: Int, isMask: Bool) -> (offset: UInt64, count: UInt32)? {
        let key = Key(isMask: isMask, number: tile / TIFFFarTables.partLength)
        let index = tile % TIFFFarTables.partLength
        guard let part = parts[key], index < part.offsets.count, index < part.counts.count else { return nil }
        return (part.offsets[index], part.counts[index])
    }
}
