/// Paints terrain seen from above in the light of a low sun, with grain.
struct ReliefPainter {
    private let frame: TileFrame
    private let elevation: [Float]
    private let growth: [Float]

    init(frame: TileFrame, terrain: Terrain) {
        self.frame = frame
        elevation = terrain.elevationGrid(frame)
        growth = terrain.growth.grid(frame)
    }

    func paint(on canvas: Canvas) {
        let step = TileFrame.step
        let columns = frame.columns
        // Slopes look alike at all levels: at finer levels they are drawn steeper.
        let steepness =
            30 / Float(step) * Float(frame.worldPerPixel / 64).squareRoot()
            / Float(frame.worldPerPixel / 64)
        for y in frame.top..<frame.top + frame.size {
            let j = y / step - frame.firstRow
            let v = (Float(y % step) + 0.5) / Float(step)
            for x in frame.left..<frame.left + frame.size {
                let i = x / step - frame.firstColumn
                let u = (Float(x % step) + 0.5) / Float(step)
                let index = j * columns + i
                let (a, b) = (elevation[index], elevation[index + 1])
                let (c, d) = (elevation[index + columns], elevation[index + columns + 1])
                let height = (a + (b - a) * u) * (1 - v) + (c + (d - c) * u) * v
                let across = (b - a) * (1 - v) + (d - c) * v
                let down = (c - a) * (1 - u) + (d - b) * u
                let grain = Int(Hash.mix(UInt32(truncatingIfNeeded: x), UInt32(truncatingIfNeeded: y), 99) & 7)
                canvas.set(x, y, color(height, (across + down) * steepness, growth[index], grain).packed)
            }
        }
    }

    private func color(_ height: Float, _ slope: Float, _ growth: Float, _ grain: Int) -> Color {
        if height < 0 {
            var water = Color(0x8FB8D0)
            water.mix(Color(0x5F8FB4), min(-height * 3, 1))
            // Water has no grain: such maps have large even areas.
            return water
        }
        var ground = Color(0xB9C99A)
        ground.mix(Color(0x8FAE7A), min(max(growth * 2, 0), 1))
        ground.mix(Color(0xC9B48C), min(max(height * 2.4 - 0.2, 0), 1))
        ground.mix(Color(0xF2F0EC), min(max(height * 4 - 2.2, 0), 1))
        // In invisible steps, as in shaded maps with their limited colours.
        ground.shade(Float(Int32(min(max(1 + slope, 0.45), 1.3) * 48)) / 48)
        ground.shade(1 - (grain == 0 ? 0.04 : grain == 1 ? 0.02 : 0))
        return ground
    }
}
