/// The pixels to draw. A square of the level's plane, and its world pixels per pixel.
///
/// Everything is computed from the position in the plane, never from the position in the tile, so that two tiles agree
/// to the bit along their border.
struct TileFrame {
    /// Pixels between the points at which slowly changing fields are evaluated.
    static let step = 4

    /// World pixels per pixel.
    let worldPerPixel: Double
    /// Left edge in pixels of the level's plane.
    let left: Int
    /// Top edge in pixels of the level's plane.
    let top: Int
    /// Width and height in pixels.
    let size: Int

    /// First column of the grid of field points that this square needs.
    var firstColumn: Int { left / Self.step }
    /// First row of the grid of field points that this square needs.
    var firstRow: Int { top / Self.step }
    /// Number of columns of field points that surround the pixels.
    var columns: Int { (left + size + Self.step - 1) / Self.step - firstColumn + 1 }
    /// Number of rows of field points that surround the pixels.
    var rows: Int { (top + size + Self.step - 1) / Self.step - firstRow + 1 }

    /// Cells of a square lattice over the world that a margin around this square touches.
    ///
    /// - Parameters:
    ///   - cell: Size of a cell in world pixels.
    ///   - margin: In world pixels.
    func cells(ofSize cell: Double, margin: Double) -> (columns: ClosedRange<Int>, rows: ClosedRange<Int>) {
        func range(_ start: Int) -> ClosedRange<Int> {
            let low = (Double(start) * worldPerPixel - margin) / cell
            let high = (Double(start + size) * worldPerPixel + margin) / cell
            return Int(low.rounded(.down))...Int(high.rounded(.down))
        }
        return (range(left), range(top))
    }
}
