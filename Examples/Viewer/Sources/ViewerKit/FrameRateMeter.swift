public import TileCache

/// Counts frames a second, half a second at a time.
public struct FrameRateMeter: Sendable {
    private var since: Int64?
    private var frames = 0
    /// Of the last half second; `nil` before there was one.
    public private(set) var framesPerSecond: Double?

    /// Nothing counted yet.
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
