/// The slowly changing fields that everything else rests on: how high the land is, what grows, where water runs.
struct Terrain {
    /// Above 0 is land, below is sea.
    let elevation: GradientNoise
    /// Forest where it is high.
    let growth: GradientNoise
    /// Rivers run where it is 0.
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

    /// The elevation at one point, as coarse as decisions about settlements and roads need it.
    func elevation(x: Double, y: Double) -> Float {
        elevation.value(x: x, y: y, finestCell: elevation.worldWidth / 1024) - seaLevel
    }

    /// The elevation at the field points of a frame.
    func elevationGrid(_ frame: TileFrame) -> [Float] {
        elevation.grid(frame).map { $0 - seaLevel }
    }
}
