/// Paints areas: sea, land, forest, towns; and rivers, which are edges of areas.
///
/// Fields are known every four pixels. If none of them crosses a border between four such points, the sixteen pixels
/// have one colour, as most of a map does. Elsewhere each pixel is blended by its distance from each border.
struct AreaPainter {
    private let frame: TileFrame
    private let plan: TownPlan
    private let salt: UInt32
    private let columns: Int
    private let elevation: [Float]
    private let growth: [Float]
    private let rivers: [Float]
    private let towns: TownGrid
    /// Half the width of a river in pixels; 0 if rivers are too dense.
    private let riverHalfWidth: Float

    init(frame: TileFrame, terrain: Terrain, towns: TownGrid) {
        self.frame = frame
        self.towns = towns
        salt = terrain.growth.salt
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

    /// One square between four field points.
    private struct Cell {
        let elevation: Patch
        let rivers: Patch
        let highland: Border
        let deepSea: Border
        let forest: Border
        let park: Border
        let town: Border
        let owner: Settlement?
        let fields: FieldGroup?
        /// Whether no river, coast or border is near: one colour, unless there is detail.
        let isPlain: Bool
        /// Whether no river is near.
        let isDry: Bool

        init(_ painter: AreaPainter, column: Int, row: Int) {
            let index = row * painter.columns + column
            elevation = Patch(painter.elevation, index, painter.columns)
            rivers = Patch(painter.rivers, index, painter.columns)
            let growth = Patch(painter.growth, index, painter.columns)
            let density = Patch(painter.towns.density, index, painter.columns)
            highland = Border(elevation, 0.36)
            deepSea = Border(elevation, -0.14)
            forest = Border(growth, 0.16)
            park = Border(growth, -0.34)
            town = Border(density, 0)
            owner = painter.towns.owner(index, painter.columns)
            isDry = painter.riverHalfWidth == 0 || rivers.isClear(of: 0, by: painter.riverHalfWidth + 1)
            let isSea = elevation.isBelow(-2)
            let hasDetail = painter.plan.hasStreets && !isSea
            let step = Double(TileFrame.step) * painter.frame.worldPerPixel
            fields =
                hasDetail && forest.part != 1 && town.part != 1 && highland.part != 1
                ? FieldGroup(
                    x: Double(painter.frame.firstColumn + column) * step,
                    y: Double(painter.frame.firstRow + row) * step,
                    worldPerPixel: painter.frame.worldPerPixel,
                    salt: painter.salt
                ) : nil
            let isPlainLand =
                !hasDetail && isDry && highland.part != nil && forest.part != nil
                && (owner == nil || (town.part != nil && park.part != nil))
            isPlain =
                elevation.isClear(of: 0, by: 2.5) && deepSea.part != nil && (isSea || isPlainLand)
        }
    }

    private func blend(_ color: inout Color, _ cell: Cell, _ u: Float, _ v: Float, x: Int, y: Int) {
        let height = cell.elevation.value(u, v)
        let fromCoast = height / cell.elevation.slope
        if fromCoast > -1.5 {
            paintLand(&color, cell, u, v, x: x, y: y)
            if fromCoast < 2 {
                color.mix(Palette.sea, min(max(0.5 - fromCoast, 0), 1))
                color.mix(Palette.coast, max(0, 1.1 - (fromCoast + 0.2).magnitude) * 0.8)
            }
        } else {
            color = Palette.sea
            color.mix(Palette.deepSea, 1 - cell.deepSea.part(u, v))
        }
    }

    private func paintLand(_ color: inout Color, _ cell: Cell, _ u: Float, _ v: Float, x: Int, y: Int) {
        color.mix(Palette.highland, cell.highland.part(u, v))
        let forest = cell.forest.part(u, v)
        let town = cell.owner == nil ? 0 : cell.town.part(u, v)
        if let fields = cell.fields, forest < 1, town < 1 { fields.paint(&color, x: x, y: y) }
        if forest > 0, town < 1 {
            var wood = Palette.forest
            if plan.hasHouses { plan.paintTrees(&wood, x: world(x), y: world(y), salt: salt) }
            color.mix(wood, forest)
        }
        if town > 0, let owner = cell.owner {
            var built = Palette.builtUp
            built.mix(Palette.park, 1 - cell.park.part(u, v))
            if plan.hasStreets {
                plan.paintTown(
                    &built,
                    x: Float(world(x) - owner.x),
                    y: Float(world(y) - owner.y),
                    settlement: owner
                )
            }
            color.mix(built, town)
        }
        if !cell.isDry {
            let away = cell.rivers.value(u, v).magnitude / cell.rivers.slope
            color.mix(Palette.sea, min(max(riverHalfWidth + 0.5 - away, 0), 1))
        }
    }

    /// Centre of a pixel in world pixels.
    private func world(_ pixel: Int) -> Double { (Double(pixel) + 0.5) * frame.worldPerPixel }
}

/// Border where a field crosses a threshold, as coverage of each pixel of a patch.
private struct Border {
    private let patch: Patch
    private let threshold: Float
    /// Coverage of the whole patch, 0 or 1, if the border is not in it.
    let part: Float?

    init(_ patch: Patch, _ threshold: Float) {
        self.patch = patch
        self.threshold = threshold
        part = patch.isClear(of: threshold) ? (patch.isAbove(threshold) ? 1 : 0) : nil
    }

    @inline(__always)
    func part(_ u: Float, _ v: Float) -> Float {
        part ?? min(max(0.5 + (patch.value(u, v) - threshold) / patch.slope, 0), 1)
    }
}

/// A field between four of its points.
private struct Patch {
    private let a: Float
    private let b: Float
    private let c: Float
    private let d: Float
    /// Maximum change of the field over a pixel.
    let slope: Float

    init(_ field: [Float], _ index: Int, _ columns: Int) {
        (a, b) = (field[index], field[index + 1])
        (c, d) = (field[index + columns], field[index + columns + 1])
        let step = Float(TileFrame.step)
        let across = ((b - a) + (d - c)) / (2 * step)
        let down = ((c - a) + (d - b)) / (2 * step)
        // On a flat summit the border is undefined; the bound keeps it from being infinitely wide.
        slope = max((across * across + down * down).squareRoot(), 1e-5)
    }

    @inline(__always)
    func value(_ u: Float, _ v: Float) -> Float {
        let (x, y) = (u * (1 / Float(TileFrame.step)), v * (1 / Float(TileFrame.step)))
        let upper = a + (b - a) * x
        let lower = c + (d - c) * x
        return upper + (lower - upper) * y
    }

    /// Whether all of it is above a threshold that it does not cross.
    func isAbove(_ threshold: Float) -> Bool { a > threshold }

    /// Whether no pixel is nearer to a threshold than this many pixels.
    func isClear(of threshold: Float, by pixels: Float = 0.5) -> Bool {
        let (low, high) = (min(min(a, b), min(c, d)), max(max(a, b), max(c, d)))
        return low - threshold > slope * pixels || threshold - high > slope * pixels
    }

    /// Whether every pixel is farther below 0 than this many pixels.
    func isBelow(_ pixels: Float) -> Bool {
        max(max(a, b), max(c, d)) < slope * pixels
    }
}
