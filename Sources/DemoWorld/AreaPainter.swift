/// Paints what covers areas: sea, land, forest, towns; and the rivers, which are the edges of areas too.
///
/// Fields are known every four pixels. Where none of them crosses a border between four such points the sixteen pixels
/// are one colour, which is most of a map; elsewhere each pixel is blended from how far it is from each border.
struct AreaPainter {
    private let frame: TileFrame
    private let plan: TownPlan
    private let salt: UInt32
    private let columns: Int
    private let elevation: [Float]
    private let growth: [Float]
    private let rivers: [Float]
    private let towns: TownGrid
    /// Half of the width of a river in pixels; 0 where rivers are too many to be shown.
    private let riverHalfWidth: Float

    init(frame: TileFrame, terrain: Terrain, towns: TownGrid, salt: UInt32) {
        self.frame = frame
        self.towns = towns
        self.salt = salt
        plan = TownPlan(worldPerPixel: Float(frame.worldPerPixel))
        columns = frame.columns
        elevation = terrain.elevationGrid(frame)
        growth = terrain.growth.grid(frame)
        rivers = terrain.rivers.grid(frame)
        let riverCell = terrain.rivers.worldWidth / Double(terrain.rivers.cellsAcross) / frame.worldPerPixel
        riverHalfWidth = riverCell < 90 ? 0 : Float(min(max(9 / frame.worldPerPixel, 0.7), 9))
    }

    func paint(on canvas: Canvas) {
        let step = TileFrame.step
        for j in 0..<frame.rows - 1 {
            let top = (frame.firstRow + j) * step
            let rows = max(top, frame.top)..<min(top + step, frame.top + frame.size)
            for i in 0..<columns - 1 {
                let left = (frame.firstColumn + i) * step
                let across = max(left, frame.left)..<min(left + step, frame.left + frame.size)
                let cell = Cell(self, column: i, row: j)
                if cell.isPlain {
                    var color = Palette.land
                    blend(&color, cell, 2, 2, x: left, y: top)
                    let packed = color.packed
                    for y in rows { for x in across { canvas.set(x, y, packed) } }
                } else {
                    for y in rows {
                        for x in across {
                            var color = Palette.land
                            blend(&color, cell, Float(x - left) + 0.5, Float(y - top) + 0.5, x: x, y: y)
                            canvas.set(x, y, color.packed)
                        }
                    }
                }
            }
        }
    }

    /// One square between four field points, and what may be seen in it.
    private struct Cell {
        let elevation: Patch
        let growth: Patch
        let rivers: Patch
        let town: Patch
        let owner: Settlement?
        let isPlain: Bool
        let hasDetail: Bool

        init(_ painter: AreaPainter, column: Int, row: Int) {
            let index = row * painter.columns + column
            elevation = Patch(painter.elevation, index, painter.columns)
            growth = Patch(painter.growth, index, painter.columns)
            rivers = Patch(painter.rivers, index, painter.columns)
            town = Patch(painter.towns.density, index, painter.columns)
            owner = painter.towns.owner(index, painter.columns)
            // Nothing on the open sea but its own depths.
            let isSea = elevation.isBelow(-2)
            hasDetail = painter.plan.hasStreets && !isSea
            let isPlainLand =
                !hasDetail && elevation.isClear(of: AreaPainter.highland) && growth.isClear(of: AreaPainter.forest)
                && growth.isClear(of: AreaPainter.park)
                && (owner == nil || town.isClear(of: 0))
                && (painter.riverHalfWidth == 0 || rivers.isClear(of: 0, by: painter.riverHalfWidth + 1))
            isPlain =
                elevation.isClear(of: AreaPainter.deepSea) && elevation.isClear(of: 0, by: 2.5)
                && (isSea || isPlainLand)
        }
    }

    fileprivate static let highland: Float = 0.36
    fileprivate static let forest: Float = 0.16
    fileprivate static let park: Float = -0.34
    fileprivate static let deepSea: Float = -0.14

    private func blend(_ color: inout Color, _ cell: Cell, _ u: Float, _ v: Float, x: Int, y: Int) {
        let height = cell.elevation.value(u, v)
        let fromCoast = height / cell.elevation.slope
        if fromCoast > -1.5 {
            paintLand(&color, cell, u, v, height, x: x, y: y)
            if fromCoast < 2 {
                color.mix(Palette.sea, min(max(0.5 - fromCoast, 0), 1))
                color.mix(Palette.coast, max(0, 1.1 - (fromCoast + 0.2).magnitude) * 0.8)
            }
        } else {
            color = Palette.sea
            color.mix(Color(0x9AC3D8), cell.elevation.part(below: Self.deepSea, u, v))
        }
    }

    private func paintLand(
        _ color: inout Color,
        _ cell: Cell,
        _ u: Float,
        _ v: Float,
        _ height: Float,
        x: Int,
        y: Int
    ) {
        color.mix(Palette.highland, cell.elevation.part(above: Self.highland, u, v))
        let forest = cell.growth.part(above: Self.forest, u, v)
        let town = cell.owner == nil ? 0 : cell.town.part(above: 0, u, v)
        let worldX = (Double(x) + 0.5) * frame.worldPerPixel
        let worldY = (Double(y) + 0.5) * frame.worldPerPixel
        if cell.hasDetail, forest < 1, town < 1, height < Self.highland {
            plan.paintFields(&color, x: worldX, y: worldY, salt: salt)
        }
        if forest > 0 {
            var wood = Palette.forest
            if plan.hasHouses { plan.paintTrees(&wood, x: worldX, y: worldY, salt: salt) }
            color.mix(wood, forest)
        }
        if town > 0, let owner = cell.owner {
            var built = Palette.builtUp
            built.mix(Palette.park, cell.growth.part(below: Self.park, u, v))
            if plan.hasStreets {
                plan.paintTown(
                    &built,
                    x: Float(worldX - owner.x),
                    y: Float(worldY - owner.y),
                    settlement: owner
                )
            }
            color.mix(built, town)
        }
        if riverHalfWidth > 0 {
            let away = cell.rivers.value(u, v).magnitude / cell.rivers.slope
            color.mix(Palette.sea, min(max(riverHalfWidth + 0.5 - away, 0), 1))
        }
    }
}

/// A field between four of its points.
private struct Patch {
    private let a: Float
    private let b: Float
    private let c: Float
    private let d: Float
    /// How much the field changes over a pixel where it changes most.
    let slope: Float

    init(_ field: [Float], _ index: Int, _ columns: Int) {
        (a, b) = (field[index], field[index + 1])
        (c, d) = (field[index + columns], field[index + columns + 1])
        let step = Float(TileFrame.step)
        let across = ((b - a) + (d - c)) / (2 * step)
        let down = ((c - a) + (d - b)) / (2 * step)
        // On a flat summit the border is wherever it likes to be, but not infinitely wide.
        slope = max((across * across + down * down).squareRoot(), 1e-5)
    }

    @inline(__always)
    func value(_ u: Float, _ v: Float) -> Float {
        let (x, y) = (u / Float(TileFrame.step), v / Float(TileFrame.step))
        let upper = a + (b - a) * x
        let lower = c + (d - c) * x
        return upper + (lower - upper) * y
    }

    /// How much of a pixel lies above a threshold.
    @inline(__always)
    func part(above threshold: Float, _ u: Float, _ v: Float) -> Float {
        min(max(0.5 + (value(u, v) - threshold) / slope, 0), 1)
    }

    /// How much of a pixel lies below a threshold.
    @inline(__always)
    func part(below threshold: Float, _ u: Float, _ v: Float) -> Float {
        1 - part(above: threshold, u, v)
    }

    /// Whether no pixel is nearer to a threshold than some pixels.
    func isClear(of threshold: Float, by pixels: Float = 0.5) -> Bool {
        let (low, high) = (min(min(a, b), min(c, d)), max(max(a, b), max(c, d)))
        return low - threshold > slope * pixels || threshold - high > slope * pixels
    }

    /// Whether every pixel is farther below 0 than some pixels.
    func isBelow(_ pixels: Float) -> Bool {
        max(max(a, b), max(c, d)) < slope * pixels
    }
}
