@testable import TileCache

/// Key of a tile in one row. Default: layer 0.
func key(_ column: Int, level: Int = 3, layer: Int = 0) -> TileKey {
    TileKey(layer: layer, TileCoordinate(level: level, column: column, row: 0))
}

extension RecencyList {
    /// Entries from the most recently used on. `nil` if the links are not those of a list.
    func numbers(_ entry: (EntryID) -> Entry) -> [EntryID]? {
        var numbers: [EntryID] = []
        var previous = EntryID.none
        var number = head
        while number != .none {
            guard entry(number).previous == previous, numbers.count < count else { return nil }
            numbers.append(number)
            previous = number
            number = entry(number).next
        }
        return previous == tail && numbers.count == count ? numbers : nil
    }
}
