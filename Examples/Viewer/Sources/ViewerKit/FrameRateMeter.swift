public import TileCache

/// Measures frames a second, every half second.
public struct FrameRateMeter: Sendable {
    private var since: Int64?
    private var frames = 0
    /// Rate over the last half second; `nil` before the first.
    public private(set) var framesPerSecond: Double?

    /// Creates a meter without a figure.
    public init() {}

    /// Counts a frame.
    ///
    /// - Returns: whether there is a new figure.
    public mutating func frame(at time: MonotonicTime) -> Bool {
        guard let start = since else {
            since = time.nanoseconds
            return false
        }
        frames += 1
        let elapsed = time.nanoseconds - start
        guard elapsed >= 500_000_000 else { return false }
        framesPerSecond = Double(frames) * 1e9 / Double(elapsed)
        since = time.nanoseconds
        frames = 0
        return true
    }
}
