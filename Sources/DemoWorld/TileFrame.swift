/// Which pixels are being drawn: a square of the level's pixel plane, and how much world each pixel is.
///
/// Everything is computed from the position in the whole plane and never from the position in the tile, so that two
/// tiles agree along their border to the bit.
struct TileFrame {
    /// The distance in pixels between the points at which slowly changing fields are evaluated.
    static let step = 4

    /// World pixels per pixel.
    let worldPerPixel: Double
    /// The left edge in pixels of the level's plane.
    let left: Int
    /// The top edge in pixels of the level's plane.
    let top: Int
    /// The width and the height in pixels.
    let size: Int

    /// The first column of the grid of field points that this square needs.
    var firstColumn: Int { left / Self.step }
    /// The first row of the grid of field points that this square needs.
    var firstRow: Int { top / Self.step }
    /// How many columns of field points it takes to surround the pixels.
    var columns: Int { (left + size + Self.step - 1) / Self.step - firstColumn + 1 }
    /// How many rows of field points it takes to surround the pixels.
    var rows: Int { (top + size + Self.step - 1) / Self.step - firstRow + 1 }

    /// The cells of a square lattice over the world that a margin around this square touches.
    ///
    /// - Parameters:
    ///   - cell: the size of a cell in world pixels.
    ///   - margin: in world pixels.
    func cells(ofSize cell: Double, margin: Double) -> (columns: ClosedRange<Int>, rows: ClosedRange<Int>) {
        func range(_ start: Int) -> ClosedRange<Int> {
            let low = (Double(start) * worldPerPixel - margin) / cell
            let high = (Double(start + size) * worldPerPixel + margin) / cell
            return Int(low.rounded(.down))...Int(high.rounded(.down))
        }
        return (range(left), range(top))
    }
}
