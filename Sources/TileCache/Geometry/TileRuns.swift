/// A set of tiles: runs of neighbours in a row, sorted by level, row and column. Runs do not overlap.
///
/// Differences and unions take the time of one pass over both sets, look-ups that of a binary search.
struct TileRuns: Sendable {
    /// Neighbouring tiles in one row.
    struct Run: Hashable, Sendable {
        var level: Int
        var row: Int
        var columns: Range<Int>

        /// Whether it ends before another one begins.
        func isBefore(_ other: Run) -> Bool {
            (level, row) == (other.level, other.row)
                ? columns.upperBound <= other.columns.lowerBound : (level, row) < (other.level, other.row)
        }

        func contains(_ tile: TileCoordinate) -> Bool {
            tile.level == level && tile.row == row && columns.contains(tile.column)
        }
    }

    let runs: [Run]
    /// Number of tiles.
    let count: Int

    /// - Parameter runs: Sorted, without overlaps.
    private init(sorted runs: [Run]) {
        self.runs = runs
        count = runs.reduce(0) { $0 + $1.columns.count }
    }

    /// The set of some tiles.
    init(_ tiles: some Sequence<TileCoordinate>) {
        var runs: [Run] = []
        for tile in tiles.sorted(by: { ($0.level, $0.row, $0.column) < ($1.level, $1.row, $1.column) }) {
            if let last = runs.last, last.level == tile.level, last.row == tile.row,
                tile.column <= last.columns.upperBound
            {
                let end = Swift.max(last.columns.upperBound, tile.column + 1)
                runs[runs.count - 1].columns = last.columns.lowerBound..<end
            } else {
                runs.append(Run(level: tile.level, row: tile.row, columns: tile.column..<tile.column + 1))
            }
        }
        self.init(sorted: runs)
    }

    /// The set of all tiles of ranges, by ascending levels. There is a run for each row.
    init(_ ranges: [TileRange]) {
        self.init(
            sorted: ranges.flatMap { range in
                range.rows.map { Run(level: range.level, row: $0, columns: range.columns) }
            }
        )
    }

    /// No tiles.
    static let none = TileRuns(sorted: [])

    var isEmpty: Bool { runs.isEmpty }

    /// All tiles, run by run.
    var tiles: some Sequence<TileCoordinate> {
        runs.lazy.flatMap { run in
            run.columns.lazy.map { TileCoordinate(level: run.level, column: $0, row: run.row) }
        }
    }

    func contains(_ tile: TileCoordinate) -> Bool {
        let own = Run(level: tile.level, row: tile.row, columns: tile.column..<tile.column + 1)
        let first = runs.indices.partitioningIndex { !runs[$0].isBefore(own) }
        return first < runs.count && runs[first].contains(tile)
    }

    /// The tiles that another set does not have.
    func subtracting(_ other: TileRuns) -> TileRuns {
        var rest: [Run] = []
        var first = 0
        for var run in runs {
            while first < other.runs.count, other.runs[first].isBefore(run) { first += 1 }
            var place = first
            while !run.columns.isEmpty, place < other.runs.count, !run.isBefore(other.runs[place]) {
                let taken = other.runs[place].columns
                if run.columns.lowerBound < taken.lowerBound {
                    rest.append(Run(level: run.level, row: run.row, columns: run.columns.lowerBound..<taken.lowerBound))
                }
                run.columns = min(taken.upperBound, run.columns.upperBound)..<run.columns.upperBound
                place += 1
            }
            if !run.columns.isEmpty { rest.append(run) }
        }
        return TileRuns(sorted: rest)
    }

    /// The tiles of both sets. They have none in common.
    func union(disjoint other: TileRuns) -> TileRuns {
        // The sort merges two sorted parts in one pass.
        TileRuns(sorted: (runs + other.runs).sorted { $0.isBefore($1) })
    }

    /// The tiles within ranges, of which there is at most one for each level.
    func intersection(_ ranges: [TileRange]) -> TileRuns {
        let ranges = Dictionary(ranges.map { ($0.level, $0) }) { first, _ in first }
        return TileRuns(
            sorted: runs.compactMap { run in
                guard let range = ranges[run.level], range.rows.contains(run.row) else { return nil }
                let columns = run.columns.clamped(to: range.columns)
                return columns.isEmpty ? nil : Run(level: run.level, row: run.row, columns: columns)
            }
        )
    }
}
