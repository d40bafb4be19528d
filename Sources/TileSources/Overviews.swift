import TileCache

/// Scales of smaller images of all of the world, from their sizes. They are taken from fine to coarse.
struct Overviews {
    private let world: (width: Int, height: Int)
    /// Pixels by which the shorter side of an image may differ from the world's ratio.
    private let limit: Double
    private var scales: LevelScales

    init(of world: (width: Int, height: Int), within limit: Double) {
        (self.world, self.limit) = (world, limit)
        scales = LevelScales(of: world)
    }

    /// World pixels for one pixel of the next coarser image. `nil` if it shows something else: its sides have another
    /// ratio than the world's, and rounding does not explain that.
    ///
    /// A whole number if rounding of the sides explains one. Otherwise the quotient of the longer sides, which rounding
    /// changes the least.
    mutating func take(width: Int, height: Int) -> Double? {
        guard let quotient = Self.quotient(width, height, of: world, within: limit) else { return nil }
        return scales.take(width: width, height: height).map { Double($0) } ?? quotient
    }

    /// Quotient of the longer sides; `nil` if the shorter one differs by more than the limit.
    static func quotient(
        _ width: Int,
        _ height: Int,
        of world: (width: Int, height: Int),
        within limit: Double
    ) -> Double? {
        let across = Double(world.width) / Double(width)
        let down = Double(world.height) / Double(height)
        let isTall = world.height > world.width
        let scale = isTall ? down : across
        let difference =
            isTall ? Double(world.width) / scale - Double(width) : Double(world.height) / scale - Double(height)
        return abs(difference) <= limit ? scale : nil
    }
}
