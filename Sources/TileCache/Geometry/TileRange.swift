/// A rectangle of tiles of one level.
public struct TileRange: Hashable, Sendable, Sequence {
    /// The pyramid level, 0 the coarsest.
    public var level: Int
    /// The columns, within the level's grid.
    public var columns: Range<Int>
    /// The rows, within the level's grid.
    public var rows: Range<Int>

    /// Creates a range of tiles.
    public init(level: Int, columns: Range<Int>, rows: Range<Int>) {
        self.level = level
        self.columns = columns
        self.rows = rows
    }

    /// Number of tiles; `Int.max` if there are more.
    public var count: Int {
        let (count, overflow) = columns.count.multipliedReportingOverflow(by: rows.count)
        return overflow ? .max : count
    }
    /// Whether there are no tiles.
    public var isEmpty: Bool { columns.isEmpty || rows.isEmpty }

    /// Whether it contains a tile.
    public func contains(_ tile: TileCoordinate) -> Bool {
        tile.level == level && columns.contains(tile.column) && rows.contains(tile.row)
    }

    /// Iterates over the tiles row by row from the top left.
    public func makeIterator() -> some IteratorProtocol<TileCoordinate> { Tiles(range: self) }

    /// Iterates over a range row by row from the top left.
    private struct Tiles: IteratorProtocol {
        private let range: TileRange
        private var column: Int
        private var row: Int

        init(range: TileRange) {
            self.range = range
            column = range.columns.lowerBound
            row = range.isEmpty ? range.rows.upperBound : range.rows.lowerBound
        }

        /// Returns the next tile; `nil` after the last.
        mutating func next() -> TileCoordinate? {
            guard row < range.rows.upperBound else { return nil }
            defer {
                column += 1
                if column == range.columns.upperBound {
                    column = range.columns.lowerBound
                    row += 1
                }
            }
            return TileCoordinate(level: range.level, column: column, row: row)
        }
    }
}

extension TileRange {
    /// The range whose tiles these are, row by row from the top left. `nil` if they are not those of a range.
    init?(_ tiles: some BidirectionalCollection<TileCoordinate>) {
        guard let first = tiles.first, let last = tiles.last, first.column <= last.column, first.row <= last.row else {
            return nil
        }
        self.init(level: first.level, columns: first.column..<last.column + 1, rows: first.row..<last.row + 1)
        guard elementsEqual(tiles) else { return nil }
    }
}

extension [TileRange] {
    /// Number of tiles of all levels. A sum of `Int` could overflow.
    var tileCount: Double { reduce(0) { $0 + Double($1.columns.count) * Double($1.rows.count) } }
}
