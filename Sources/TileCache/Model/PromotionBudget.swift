/// How much one frame may spend on decompressing tiles that it needs, on the thread that asks for the frame.
///
/// What is left over is done by workers, and `onTilesReady` says when.
public struct PromotionBudget: Hashable, Sendable {
    /// Tiles a frame, 0 or more. Default: 8.
    public var maximumTiles: Int
    /// The time in a frame after which no further decompression begins, 0 or more. Default: 2 ms.
    public var maximumTime: Duration

    /// Makes a budget; negative numbers count as 0.
    public init(maximumTiles: Int = 8, maximumTime: Duration = .milliseconds(2)) {
        self.maximumTiles = max(maximumTiles, 0)
        self.maximumTime = max(maximumTime, .zero)
    }
}
