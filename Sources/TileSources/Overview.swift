/// A smaller image of all of the world.
enum Overview {
    /// World pixels for one of its pixels. `nil` if it shows something else: its sides have another ratio than the
    /// world's, and rounding does not explain that.
    ///
    /// The longer side counts, since rounding changes its scale the least.
    ///
    /// - Parameter limit: Pixels by which the shorter side may differ.
    static func scale(
        width: Int,
        height: Int,
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
