/// Values by number, for numbers that mostly ascend, over and over again. Then each is found at once.
struct AscendingTable<Value> {
    /// In ascending order.
    private var entries: [(number: Int, value: Value)] = []
    /// Place behind the last number found.
    private var place = 0

    /// Expects the least number next.
    mutating func restart() { place = 0 }

    /// Removes all values and keeps the memory.
    mutating func removeAll() {
        entries.removeAll(keepingCapacity: true)
        place = 0
    }

    /// Returns the value of a number, which is made if it is not known.
    @inline(__always)
    mutating func find(_ number: Int, _ value: () -> Value) -> Value {
        if place >= entries.count || entries[place].number != number, !seek(number) { add((number, value())) }
        place += 1
        return entries[place - 1].value
    }

    /// Adds an entry at its place. `insert` takes ten times as long as `append`, at the end too.
    private mutating func add(_ entry: (number: Int, value: Value)) {
        if place == entries.count { entries.append(entry) } else { entries.insert(entry, at: place) }
    }

    /// Goes to the place of a number; returns whether the number is known.
    private mutating func seek(_ number: Int) -> Bool {
        if place > 0, entries[place - 1].number >= number {
            place = entries[place - 1].number == number ? place - 1 : 0
        }
        while place < entries.count, entries[place].number < number { place += 1 }
        return place < entries.count && entries[place].number == number
    }
}

/// What depends only on the column or only on the row of tiles, computed once for each of them.
///
/// All tiles must be of one level. Row by row they are found fastest.
struct TileSides<Column, Row> {
    private var columns = AscendingTable<Column>()
    private var row: (number: Int, value: Row)?

    /// Returns the values of a tile's column and row, which are computed unless they are known.
    @inline(__always)
    mutating func find(
        _ tile: TileCoordinate,
        column: @autoclosure () -> Column,
        row: @autoclosure () -> Row
    ) -> (Column, Row) {
        if let known = self.row, known.number == tile.row { return (columns.find(tile.column, column), known.value) }
        let value = row()
        self.row = (tile.row, value)
        columns.restart()
        return (columns.find(tile.column, column), value)
    }
}
