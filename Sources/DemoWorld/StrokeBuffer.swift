/// Distance of each pixel of a tile from the nearest of some lines.
///
/// Lines that cross or join form one shape: no seam of casing runs across a junction, and the order of drawing does not
/// matter.
struct StrokeBuffer {
    private let frame: TileFrame
    /// Maximum distance considered, in pixels.
    private let reach: Double
    private var distances: [Float] = []

    init(frame: TileFrame, reach: Double) {
        self.frame = frame
        self.reach = reach
    }

    /// Adds a straight line between two points of the level's plane, in pixels.
    mutating func add(from a: (x: Double, y: Double), to b: (x: Double, y: Double)) {
        let (left, right) = (Double(frame.left), Double(frame.left + frame.size))
        let (top, bottom) = (Double(frame.top), Double(frame.top + frame.size))
        guard max(a.x, b.x) > left - reach, min(a.x, b.x) < right + reach,
            max(a.y, b.y) > top - reach, min(a.y, b.y) < bottom + reach
        else { return }
        if distances.isEmpty { distances = [Float](repeating: .infinity, count: frame.size * frame.size) }

        let (dx, dy) = (b.x - a.x, b.y - a.y)
        let lengthSquared = max(dx * dx + dy * dy, 1e-12)
        let firstRow = max(Int((min(a.y, b.y) - reach).rounded(.down)), frame.top)
        let lastRow = min(Int((max(a.y, b.y) + reach).rounded(.up)), frame.top + frame.size - 1)
        guard firstRow <= lastRow else { return }
        distances.withUnsafeMutableBufferPointer { distances in
            for row in firstRow...lastRow {
                let y = Double(row) + 0.5
                // The part of the line near this row bounds the columns.
                var (from, to) = (0.0, 1.0)
                if dy.magnitude > 1e-9 {
                    let (one, two) = ((y - reach - a.y) / dy, (y + reach - a.y) / dy)
                    from = min(max(min(one, two), 0), 1)
                    to = min(max(max(one, two), 0), 1)
                }
                let (x0, x1) = (a.x + dx * from, a.x + dx * to)
                let first = max(Int((min(x0, x1) - reach).rounded(.down)), frame.left)
                let last = min(Int((max(x0, x1) + reach).rounded(.up)), frame.left + frame.size - 1)
                guard first <= last else { continue }
                let start = (row - frame.top) * frame.size - frame.left
                for column in first...last {
                    let x = Double(column) + 0.5
                    let along = min(max(((x - a.x) * dx + (y - a.y) * dy) / lengthSquared, 0), 1)
                    let (ex, ey) = (x - a.x - dx * along, y - a.y - dy * along)
                    let squared = Float(ex * ex + ey * ey)
                    if squared < distances[start + column] { distances[start + column] = squared }
                }
            }
        }
    }

    /// Paints everything within a distance of the lines.
    ///
    /// - Parameters:
    ///   - color: The colour.
    ///   - halfWidth: In pixels.
    ///   - canvas: Receives the pixels.
    func paint(_ color: Color, halfWidth: Float, on canvas: Canvas) {
        guard !distances.isEmpty else { return }
        let farthest = (halfWidth + 0.5) * (halfWidth + 0.5)
        for row in 0..<frame.size {
            for column in 0..<frame.size {
                let squared = distances[row * frame.size + column]
                guard squared < farthest else { continue }
                canvas.blend(
                    frame.left + column,
                    frame.top + row,
                    color,
                    min(halfWidth + 0.5 - squared.squareRoot(), 1)
                )
            }
        }
    }
}
