import TileCache

/// Numbers of tiles in a PMTiles archive: zoom by zoom, along a Hilbert curve within each.
enum PMTilesID {
    /// Number of a tile. Its zoom is at most 30, and its column and row are below 2^zoom.
    static func number(zoom: Int, column: Int, row: Int) -> UInt64 {
        var (x, y) = (UInt64(column), UInt64(row))
        // Tiles of all coarser zooms: 1 + 4 + 16 + ...
        var number = ((1 as UInt64) << (2 * UInt64(zoom)) - 1) / 3
        for bit in (0..<UInt64(zoom)).reversed() {
            let side = (1 as UInt64) << bit
            let (right, lower) = (x & side != 0, y & side != 0)
            number += side * side * (right ? (lower ? 2 : 3) : (lower ? 1 : 0))
            (x, y) = (x & (side - 1), y & (side - 1))
            if !lower {
                if right { (x, y) = (side - 1 - x, side - 1 - y) }
                (x, y) = (y, x)
            }
        }
        return number
    }
}

extension PMTilesID {
    /// The zoom of a tile.
    static func zoom(of number: UInt64) -> Int {
        var zoom = 0
        while zoom < 30, number >= Self.number(zoom: zoom + 1, column: 0, row: 0) { zoom += 1 }
        return zoom
    }
}

/// A directory of a PMTiles archive: where tiles, or further directories, are.
struct PMTilesDirectory: Equatable, Sendable {
    struct Entry: Equatable, Sendable {
        var id: UInt64
        /// From the start of the section of tiles, or of leaf directories.
        var offset: UInt64
        var length: UInt32
        /// Tiles in sequence with these bytes; 0 if they are a leaf directory.
        var run: UInt32
    }

    /// Maximum number of entries; archives of the whole earth have about 50,000 in a directory.
    static let largestCount = 1 << 18
    /// Maximum bytes of a directory before compression: the longest numbers of all entries.
    static let largestBytes = largestCount * (10 + 10 + 5 + 5) + 10

    let entries: [Entry]

    /// Bytes in memory, those of its place among others included.
    var byteCount: Int { 128 + entries.count * MemoryLayout<Entry>.stride }

    /// Parses a decompressed directory.
    init(_ bytes: [UInt8]) throws(TileLoadFailure) {
        var reader = VarintReader(bytes: bytes)
        let count = try reader.next("the number of entries", upTo: UInt64(Self.largestCount))
        // Each entry takes at least four bytes: no memory for a claim alone.
        guard count <= bytes.count / 4 else {
            throw TileLoadFailure(.truncated, "\(count) entries in a directory of \(bytes.count) bytes")
        }
        var entries = [Entry](repeating: Entry(id: 0, offset: 0, length: 0, run: 0), count: Int(count))
        var id: UInt64 = 0
        for index in entries.indices {
            let step = try reader.next("a tile's number")
            let (sum, overflow) = id.addingReportingOverflow(step)
            guard !overflow, sum < 1 << 62, index == 0 || step > 0 else {
                throw TileLoadFailure(.undecodable, "entry \(index): tile numbers in order were expected")
            }
            id = sum
            entries[index].id = id
        }
        for index in entries.indices { entries[index].run = UInt32(try reader.next("a run length", upTo: .max32)) }
        for index in entries.indices { entries[index].length = UInt32(try reader.next("a length", upTo: .max32)) }
        var end: UInt64 = 0
        for index in entries.indices {
            let value = try reader.next("an offset")
            guard value > 0 || index > 0 else {
                throw TileLoadFailure(.undecodable, "an offset was expected in the first entry")
            }
            let offset = value == 0 ? end : value - 1
            guard offset < 1 << 62 else { throw TileLoadFailure(.undecodable, "entry \(index): the offset \(offset)") }
            entries[index].offset = offset
            end = offset + UInt64(entries[index].length)
        }
        self.entries = entries
    }

    /// Zoom of the last tile that the directory is known to have, which of a leaf directory is its first one. `nil` if it
    /// is empty.
    var lastZoom: Int? { entries.last.map { PMTilesID.zoom(of: $0.id + UInt64(max($0.run, 1)) - 1) } }

    /// The entry that covers a tile, or the leaf directory that may. It is the last one whose number is not above the
    /// tile's.
    func entry(for id: UInt64) -> Entry? {
        let next = entries.indices.partitioningIndex { entries[$0].id > id }
        guard next > 0 else { return nil }
        let entry = entries[next - 1]
        return entry.run == 0 || id - entry.id < entry.run ? entry : nil
    }
}

/// Reads numbers of seven bits a byte, the lowest first.
private struct VarintReader {
    var bytes: [UInt8]
    var position = 0

    mutating func next(_ field: String, upTo maximum: UInt64 = .max) throws(TileLoadFailure) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            guard shift < 63 || byte <= 1 else { break }
            value |= UInt64(byte & 127) << shift
            guard byte >= 128 else {
                guard value <= maximum else {
                    throw TileLoadFailure(.tooLarge, "\(field) of at most \(maximum) was expected, not \(value)")
                }
                return value
            }
            shift += 7
        }
        throw TileLoadFailure(.truncated, "\(field) was expected at byte \(position) of its directory")
    }
}

extension UInt64 {
    fileprivate static let max32 = UInt64(UInt32.max)
}
