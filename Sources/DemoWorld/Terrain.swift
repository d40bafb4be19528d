/// Slowly changing fields that all else depends on: elevation, vegetation, rivers.
struct Terrain {
    /// Land above 0, sea below.
    let elevation: GradientNoise
    /// Forest at high values.
    let growth: GradientNoise
    /// Rivers at 0.
    let rivers: GradientNoise
    private let seaLevel: Float = 0.02

    init(worldWidth: Double, seed: UInt32) {
        elevation = GradientNoise(worldWidth: worldWidth, cellsAcross: 3, octaves: 14, gain: 0.56, salt: seed)
        growth = GradientNoise(
            worldWidth: worldWidth,
            cellsAcross: 40,
            octaves: 9,
            gain: 0.55,
            salt: seed &+ 0x5151_0001
        )
        rivers = GradientNoise(
            worldWidth: worldWidth,
            cellsAcross: 11,
            octaves: 9,
            gain: 0.46,
            salt: seed &+ 0x7272_0002
        )
    }

    /// Elevation at a point, as coarse as the placing of settlements and roads needs it.
    func elevation(x: Double, y: Double) -> Float {
        elevation.value(x: x, y: y, finestCell: elevation.worldWidth / 1024) - seaLevel
    }

    /// Elevation at the field points of a frame.
    func elevationGrid(_ frame: TileFrame) -> [Float] {
        elevation.grid(frame).map { $0 - seaLevel }
    }
}
