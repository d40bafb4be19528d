/// Speed of a view's pans: a mean over the way, which uncovers the tiles, not over the time.
struct PanPace: Sendable {
    /// Way over which the mean is taken, in screen pixels.
    static let memory = 8192.0
    /// Weight of the speed before the first pan, in screen pixels.
    static let leastWay = 256.0
    /// In screen pixels a second.
    private(set) var speed = BinPriors.speed
    private var way = leastWay

    /// - Parameters:
    ///   - step: Way of a frame, in screen pixels.
    ///   - now: Speed at the frame.
    mutating func note(way step: Double, speed now: Double) {
        guard step > 0, step.isFinite, now.isFinite else { return }
        way = min(way + step, Self.memory)
        speed += (now - speed) * min(step / way, 1)
    }
}
