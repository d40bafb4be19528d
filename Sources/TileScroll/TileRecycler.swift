/// Position of a tile in a grid from the content's upper left corner.
public struct ScrollTile: Hashable, Sendable {
    /// The column, 0 at the left edge of the content.
    public var column: Int
    /// The row, 0 at the top edge of the content.
    public var row: Int

    /// Creates a tile from its position.
    @inlinable
    public init(column: Int, row: Int) {
        self.column = column
        self.row = row
    }
}

/// Changes that a layout made to slots, the objects that show tiles (sprites, textures, views).
public struct ScrollTileChanges: Hashable, Sendable {
    /// An object that shows a tile.
    public struct Slot: Hashable, Sendable {
        /// Number, from 0; numbers of recycled slots are reused first.
        public var number: Int
        /// The tile that it shows, or showed before it was recycled.
        public var tile: ScrollTile
    }

    /// Slots that show the same tile as before.
    public var kept: [Slot] = []
    /// Slots whose tile has left the view.
    public var recycled: [Slot] = []
    /// Slots, recycled or not, that show another tile now.
    public var retasked: [Slot] = []
    /// New slots, made because no recycled one was left.
    public var made: [Slot] = []

    /// All slots that show a tile now.
    public var shown: [Slot] { kept + retasked + made }
    /// Whether nothing has changed.
    public var isEmpty: Bool { recycled.isEmpty && retasked.isEmpty && made.isEmpty }
}

/// Slots of a tiled scroll view. A tile that leaves frees its slot, a tile that enters reuses one first.
struct TileRecycler: Sendable {
    private var shown: [ScrollTile: Int] = [:]
    private var free: [Int] = []
    private var count = 0

    /// Shows exactly a box of tiles.
    ///
    /// - Parameter keepsTiles: Whether shown tiles remain the same; `false` after a zoom was transferred.
    mutating func show(columns: Range<Int>, rows: Range<Int>, keepsTiles: Bool) -> ScrollTileChanges {
        var changes = ScrollTileChanges()
        for (tile, slot) in shown.sorted(by: { $0.value < $1.value }) {
            if keepsTiles, columns.contains(tile.column), rows.contains(tile.row) { continue }
            shown[tile] = nil
            free.append(slot)
            changes.recycled.append(.init(number: slot, tile: tile))
        }
        for row in rows {
            for column in columns {
                let tile = ScrollTile(column: column, row: row)
                if let slot = shown[tile] {
                    changes.kept.append(.init(number: slot, tile: tile))
                } else if let slot = free.popLast() {
                    shown[tile] = slot
                    changes.retasked.append(.init(number: slot, tile: tile))
                } else {
                    shown[tile] = count
                    changes.made.append(.init(number: count, tile: tile))
                    count += 1
                }
            }
        }
        return changes
    }
}
