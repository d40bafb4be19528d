/// A tile of a tiled scroll view: its place in a grid that begins at the content's upper left corner.
public struct ScrollTile: Hashable, Sendable {
    /// The column, 0 at the left edge of the content.
    public var column: Int
    /// The row, 0 at the top edge of the content.
    public var row: Int

    /// Makes a tile of its place.
    @inlinable
    public init(column: Int, row: Int) {
        self.column = column
        self.row = row
    }
}

/// What a layout did to the things that show tiles (sprites, textures, views), each known by a number from 0.
public struct ScrollTileChanges: Hashable, Sendable {
    /// Something that shows a tile.
    public struct Slot: Hashable, Sendable {
        /// Its number, from 0; numbers of recycled slots are used again first.
        public var number: Int
        /// The tile that it shows, or showed before it was recycled.
        public var tile: ScrollTile
    }

    /// Those that show what they showed.
    public var kept: [Slot] = []
    /// Those whose tile has left the view.
    public var recycled: [Slot] = []
    /// Recycled ones, and ones in place, that show another tile now.
    public var retasked: [Slot] = []
    /// New ones, because no recycled one was left.
    public var made: [Slot] = []

    /// All that show a tile now.
    public var shown: [Slot] { kept + retasked + made }
    /// Whether everything is as it was.
    public var isEmpty: Bool { recycled.isEmpty && retasked.isEmpty && made.isEmpty }
}

/// The slots of a tiled scroll view: whatever leaves is recycled at once, whatever enters takes recycled ones first.
struct TileRecycler: Sendable {
    private var shown: [ScrollTile: Int] = [:]
    private var free: [Int] = []
    private var count = 0

    /// Shows a box of tiles and nothing else.
    ///
    /// - Parameter keepsTiles: whether a tile that was shown before is the same tile; not after a zoom was transferred.
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
