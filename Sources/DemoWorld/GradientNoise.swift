/// Smooth random hills in several octaves. Each is half as wide and about half as high as the one before.
///
/// Gradient noise over a lattice with a whole number of columns, so that the world is continuous at its left and right
/// edges. Octaves finer than the pixels are left out, which keeps the shapes equal at all levels.
struct GradientNoise {
    /// Width of the world in world pixels.
    let worldWidth: Double
    /// Lattice cells across the world for the widest hills.
    let cellsAcross: Int
    /// Number of octaves.
    let octaves: Int
    /// Height of hills relative to that of hills twice as wide.
    let gain: Float
    /// Distinguishes this noise from others of the same world.
    let salt: UInt32

    /// Height at a point, with hills down to a given width.
    func value(x: Double, y: Double, finestCell: Double) -> Float {
        var sum: Float = 0
        forEachOctave(finestCell: finestCell) { cell, cells, salt, weight in
            let column = Lattice(x / cell)
            let row = Lattice(y / cell)
            let corners = Corners(column: column.index, row: row.index, cells: cells, salt: salt)
            sum += weight * corners.value(column.part, row.part, column.fade, row.fade)
        }
        return sum
    }

    /// Heights at the field points of a frame, row by row.
    func grid(_ frame: TileFrame) -> [Float] {
        let columns = frame.columns
        var values = [Float](repeating: 0, count: columns * frame.rows)
        let spacing = Double(TileFrame.step) * frame.worldPerPixel
        forEachOctave(finestCell: 2 * spacing) { cell, cells, salt, weight in
            let across = (0..<columns).map { Lattice(Double(frame.firstColumn + $0) * spacing / cell) }
            values.withUnsafeMutableBufferPointer { values in
                for j in 0..<frame.rows {
                    let row = Lattice(Double(frame.firstRow + j) * spacing / cell)
                    var corners = Corners(column: across[0].index, row: row.index, cells: cells, salt: salt)
                    var index = across[0].index
                    for i in 0..<columns {
                        let column = across[i]
                        if column.index != index {
                            index = column.index
                            corners = Corners(column: index, row: row.index, cells: cells, salt: salt)
                        }
                        values[j * columns + i] +=
                            weight * corners.value(column.part, row.part, column.fade, row.fade)
                    }
                }
            }
        }
        return values
    }

    private func forEachOctave(
        finestCell: Double,
        _ body: (_ cell: Double, _ cells: Int, _ salt: UInt32, _ weight: Float) -> Void
    ) {
        var amplitude: Float = 1.4
        for octave in 0..<octaves {
            let cells = cellsAcross << octave
            let cell = worldWidth / Double(cells)
            // Fades in over one level instead of popping up.
            let weight = amplitude * Float(min(max(cell / finestCell - 1, 0), 1))
            guard weight > 0 else { return }
            body(cell, cells, salt &+ UInt32(octave) &* 0x9E37_79B9, weight)
            amplitude *= gain
        }
    }
}

/// A position along one side of a lattice. Cell, fraction of it, and that fraction eased.
private struct Lattice {
    let index: Int
    let part: Float
    let fade: Float

    init(_ position: Double) {
        let whole = position.rounded(.down)
        index = Int(whole)
        let part = Float(position - whole)
        self.part = part
        fade = part * part * part * (10 + part * (6 * part - 15))
    }
}

/// Gradients at the four corners of a lattice cell.
private struct Corners {
    private let a: (Float, Float)
    private let b: (Float, Float)
    private let c: (Float, Float)
    private let d: (Float, Float)

    init(column: Int, row: Int, cells: Int, salt: UInt32) {
        a = Self.slope(column, row, cells, salt)
        b = Self.slope(column + 1, row, cells, salt)
        c = Self.slope(column, row + 1, cells, salt)
        d = Self.slope(column + 1, row + 1, cells, salt)
    }

    @inline(__always)
    func value(_ x: Float, _ y: Float, _ fadeX: Float, _ fadeY: Float) -> Float {
        let top = a.0 * x + a.1 * y
        let topRight = b.0 * (x - 1) + b.1 * y
        let bottom = c.0 * x + c.1 * (y - 1)
        let bottomRight = d.0 * (x - 1) + d.1 * (y - 1)
        let upper = top + fadeX * (topRight - top)
        let lower = bottom + fadeX * (bottomRight - bottom)
        return upper + fadeY * (lower - upper)
    }

    private static func slope(_ column: Int, _ row: Int, _ cells: Int, _ salt: UInt32) -> (Float, Float) {
        let wrapped = column % cells
        let bits = Hash.mix(
            UInt32(truncatingIfNeeded: wrapped < 0 ? wrapped + cells : wrapped),
            UInt32(truncatingIfNeeded: row),
            salt
        )
        // Sixteen directions: an eighth or sixteenth of a turn apart, none of them favoured.
        let x: Float
        let y: Float
        switch bits & 3 {
        case 0: (x, y) = (1, 0)
        case 1: (x, y) = (0.92387953, 0.38268343)
        case 2: (x, y) = (0.70710678, 0.70710678)
        default: (x, y) = (0.38268343, 0.92387953)
        }
        switch (bits >> 2) & 3 {
        case 0: return (x, y)
        case 1: return (-y, x)
        case 2: return (-x, -y)
        default: return (y, -x)
        }
    }
}

/// Random bits of a place: a function of the numbers alone, on every machine.
enum Hash {
    /// Thirty-two random bits for three numbers.
    @inline(__always)
    static func mix(_ a: UInt32, _ b: UInt32, _ salt: UInt32) -> UInt32 {
        var bits = (a &* 0x8DA6_B343) ^ (b &* 0xD816_3841) ^ salt
        bits = (bits ^ (bits >> 16)) &* 0x7FEB_352D
        bits = (bits ^ (bits >> 15)) &* 0x846C_A68B
        return bits ^ (bits >> 16)
    }

    /// Thirty-two random bits for a cell of a lattice.
    @inline(__always)
    static func mix(_ column: Int32, _ row: Int32, _ salt: UInt32) -> UInt32 {
        mix(UInt32(bitPattern: column), UInt32(bitPattern: row), salt)
    }
}
