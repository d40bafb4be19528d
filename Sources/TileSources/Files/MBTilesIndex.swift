import TileCache

/// Places of the tiles in a table that has no index: 16 bytes a tile.
struct MBTilesIndex: Sendable {
    /// Tiles of an index, at most.
    static let most = 1 << 20

    private struct Entry {
        var number: UInt64
        var place: Int
    }

    /// In the order of their numbers.
    private let entries: [Entry]

    var byteCount: Int { entries.count * MemoryLayout<Entry>.stride }
    var count: Int { entries.count }

    /// Place of a tile whose row is as the file counts it; `nil` if there was none when the file was opened.
    func place(_ zoom: Int, _ column: Int, _ row: Int) -> Int? {
        let number = Self.number(zoom, column, row)
        let index = Self.first(entries.count) { entries[$0].number >= number }
        return index < entries.count && entries[index].number == number ? entries[index].place : nil
    }

    /// Column and place of some tiles of a zoom, spread over its rows.
    func spread(_ count: Int, zoom: Int) -> [(Int, Int)] {
        let first = Self.first(entries.count) { entries[$0].number >= Self.number(zoom, 0, 0) }
        let end = Self.first(entries.count) { entries[$0].number >= Self.number(zoom + 1, 0, 0) }
        return TileSizeSamples.spread(count, over: end - first).map { index in
            let entry = entries[first + index]
            return (Int(entry.number - Self.number(zoom, 0, 0)) & ((2 << zoom) - 1), entry.place)
        }
    }

    /// Number of a tile: zoom by zoom, row by row.
    private static func number(_ zoom: Int, _ column: Int, _ row: Int) -> UInt64 {
        // Tiles of all coarser zooms of a geodetic world: 2 + 8 + 32 + ...
        2 * (((1 as UInt64) << (2 * UInt64(zoom)) - 1) / 3) + UInt64(row) << (UInt64(zoom) + 1) + UInt64(column)
    }

    /// The first number for which a condition holds that holds for all after it.
    private static func first(_ count: Int, where holds: (Int) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if holds(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// One pass over a table.
    struct Reading {
        private(set) var extents: [Int: TileExtent] = [:]
        /// `nil` if there are too many tiles, or if rows have no place, as those of a view.
        private(set) var index: MBTilesIndex?

        /// Reads all of a table; `nil` if that takes too long.
        init?(_ database: Database, of world: MapWorld) {
            let numbers = "zoom_level, tile_column, tile_row"
            let placed = database.query("SELECT \(numbers), rowid FROM tiles")
            guard let query = placed ?? database.query("SELECT \(numbers), NULL FROM tiles") else { return nil }
            var entries: [Entry]? = placed == nil ? nil : []
            query.bind()
            while case .row = query.step() {
                guard
                    case (.integer(let zoom), .integer(let column), .integer(let row)) = (query[0], query[1], query[2]),
                    MapPyramid.zooms.contains(zoom), case let side = 1 << zoom,
                    (0..<side * world.width).contains(column), (0..<side).contains(row)
                else { continue }
                if extents[zoom] == nil { extents[zoom] = TileExtent(columns: column...column, rows: row...row) }
                extents[zoom]?.add(column, row)
                guard case .integer(let place) = query[3], let count = entries?.count, count < most else {
                    entries = nil
                    continue
                }
                entries?.append(Entry(number: number(zoom, column, row), place: place))
            }
            guard query.isDone else { return nil }
            entries?.sort { ($0.number, $0.place) < ($1.number, $1.place) }
            index = entries.map { MBTilesIndex(entries: $0) }
        }
    }
}
