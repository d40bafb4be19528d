/// Density of buildings at the field points of a frame, and their settlement.
struct TownGrid {
    /// Built-up above 0.
    private(set) var density: [Float]
    /// 32 bits: at low zoom a large tile has more settlements than 16 bits count.
    private var owners: [Int32]
    private let settlements: [Settlement]

    /// - Parameters:
    ///   - frame: The frame.
    ///   - settlements: Settlements that may reach into it.
    init(frame: TileFrame, settlements: [Settlement]) {
        let columns = frame.columns
        let rows = frame.rows
        density = [Float](repeating: -1, count: columns * rows)
        owners = [Int32](repeating: -1, count: columns * rows)
        self.settlements = settlements
        let spacing = Double(TileFrame.step) * frame.worldPerPixel
        for (index, settlement) in settlements.enumerated() {
            let reach = settlement.radius * 1.5
            let first = (
                x: max(Int(((settlement.x - reach) / spacing).rounded(.down)) - frame.firstColumn, 0),
                y: max(Int(((settlement.y - reach) / spacing).rounded(.down)) - frame.firstRow, 0)
            )
            let last = (
                x: min(Int(((settlement.x + reach) / spacing).rounded(.up)) - frame.firstColumn, columns - 1),
                y: min(Int(((settlement.y + reach) / spacing).rounded(.up)) - frame.firstRow, rows - 1)
            )
            guard first.x <= last.x, first.y <= last.y else { continue }
            for j in first.y...last.y {
                let dy = Double(frame.firstRow + j) * spacing - settlement.y
                for i in first.x...last.x {
                    let dx = Double(frame.firstColumn + i) * spacing - settlement.x
                    let distance = (dx * dx + dy * dy).squareRoot() / settlement.radius
                    guard distance < 1.5 else { continue }
                    // Fingers along a few directions, so that a town is not a disc.
                    let fray = Self.fray(dx, dy, settlement)
                    let value = Float(1 - distance) + fray
                    if value > density[j * columns + i] {
                        density[j * columns + i] = value
                        owners[j * columns + i] = Int32(index)
                    }
                }
            }
        }
    }

    /// Settlement of most of a cell's buildings; `nil` if there are none.
    ///
    /// - Parameters:
    ///   - index: The upper left one of the cell's field points.
    ///   - columns: Distance from one row of field points to the next.
    func owner(_ index: Int, _ columns: Int) -> Settlement? {
        var best = index
        if density[index + 1] > density[best] { best = index + 1 }
        if density[index + columns] > density[best] { best = index + columns }
        if density[index + columns + 1] > density[best] { best = index + columns + 1 }
        return owners[best] < 0 ? nil : settlements[Int(owners[best])]
    }

    private static func fray(_ dx: Double, _ dy: Double, _ settlement: Settlement) -> Float {
        let (u, v) = (dx / settlement.radius, dy / settlement.radius)
        let phase = Double(settlement.bits & 7) - 3.5
        let lobes = (u * u - v * v) * 0.3 * phase / 3.5 + u * v * 0.35
        let squares = u * u + v * v
        return Float(lobes / (0.4 + squares))
    }
}
