import TileCache

/// A city, a town or a village.
struct Settlement {
    /// 0 for a city, 1 for a town, 2 for a village.
    let rank: Int
    /// Centre, in world pixels; beyond the edges for the copies of a wrapping world.
    let x: Double
    /// Centre, in world pixels.
    let y: Double
    /// Radius of its houses, in world pixels.
    let radius: Double
    /// The direction of its streets.
    let cosine: Double
    /// The direction of its streets.
    let sine: Double
    /// Random bits of its own.
    let bits: UInt64
}

/// Places at most one settlement on land in each cell of a lattice. Lower ranks have a finer lattice.
struct Settlements {
    let terrain: Terrain
    let worldWidth: Double
    let seed: UInt64

    /// Cells across the world, by rank.
    static let cellsAcross = [8, 32, 128]

    /// Size of a cell in world pixels.
    func cell(rank: Int) -> Double { worldWidth / Double(Self.cellsAcross[rank]) }

    /// The settlement of a cell, if there is one.
    ///
    /// - Parameters:
    ///   - rank: 0 ... 2.
    ///   - column: May be beyond the edges of the world, for its copies.
    ///   - row: May be beyond the edges of the world, where there is none.
    func settlement(rank: Int, column: Int, row: Int) -> Settlement? {
        let cells = Self.cellsAcross[rank]
        let wrapped = (column % cells + cells) % cells
        var random = SplitMix64(
            seed: seed ^ UInt64(rank) << 60 ^ UInt64(wrapped) << 30 ^ UInt64(truncatingIfNeeded: row)
        )
        let bits = random.next()
        let size = cell(rank: rank)
        let x = (Double(column) + random.next(from: 0.2, to: 0.8)) * size
        let y = (Double(row) + random.next(from: 0.2, to: 0.8)) * size
        guard random.nextUnit() < [0.95, 0.8, 0.7][rank] else { return nil }
        let home = (Double(wrapped) - Double(column)) * size + x
        guard terrain.elevation(x: home, y: y) > 0.03 else { return nil }
        let angle = random.next(from: -0.7, to: 0.7)
        let share = [0.075, 0.11, 0.17][rank] * random.next(from: 0.6, to: 1.3)
        return Settlement(
            rank: rank,
            x: x,
            y: y,
            radius: share * size,
            cosine: PortableMath.cos(angle),
            sine: PortableMath.sin(angle),
            bits: bits
        )
    }

    /// All settlements of a rank in the cells around a frame.
    func window(rank: Int, frame: TileFrame, margin: Double) -> SettlementWindow {
        let cells = frame.cells(ofSize: cell(rank: rank), margin: margin)
        return SettlementWindow(columns: cells.columns, rows: cells.rows) {
            settlement(rank: rank, column: $0, row: $1)
        }
    }
}

/// The settlements of some cells, computed once.
struct SettlementWindow {
    let columns: ClosedRange<Int>
    let rows: ClosedRange<Int>
    private let found: [Settlement?]

    init(columns: ClosedRange<Int>, rows: ClosedRange<Int>, _ find: (Int, Int) -> Settlement?) {
        self.columns = columns
        self.rows = rows
        found = rows.flatMap { row in columns.map { find($0, row) } }
    }

    /// All settlements, row by row.
    var all: [Settlement] { found.compactMap { $0 } }

    /// The settlement of a cell; `nil` also outside of the window.
    subscript(column: Int, row: Int) -> Settlement? {
        guard columns.contains(column), rows.contains(row) else { return nil }
        return found[(row - rows.lowerBound) * columns.count + column - columns.lowerBound]
    }
}
