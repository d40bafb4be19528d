/// Position of a tile in its layer's pyramid.
///
/// Level 0 is the coarsest; row 0 is at the top, as in the z/x/y of web maps. Columns of a wrapping world are always in
/// `0 ..< columns`, whatever copy of the world is on screen.
public struct TileCoordinate: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The pyramid level, 0 the coarsest.
    public var level: Int
    /// The column, 0 at the left edge of the world.
    public var column: Int
    /// The row, 0 at the top edge of the world.
    public var row: Int

    /// Creates a coordinate without checking it.
    @inlinable
    public init(level: Int, column: Int, row: Int) {
        self.level = level
        self.column = column
        self.row = row
    }

    /// Orders by level, then row, then column, which is reading order.
    public static func < (a: TileCoordinate, b: TileCoordinate) -> Bool {
        if a.level != b.level { return a.level < b.level }
        if a.row != b.row { return a.row < b.row }
        return a.column < b.column
    }

    /// `level/column/row`, the z/x/y of web maps.
    public var description: String { "\(level)/\(column)/\(row)" }
}
