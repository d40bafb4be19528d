/// Limits the decompression of needed tiles by one frame, on its caller's thread.
///
/// Workers decompress the rest; `onTilesReady` is called when they have.
public struct PromotionBudget: Hashable, Sendable {
    /// Maximum number of tiles in a frame, 0 or more. Default: 8.
    public var maximumTiles: Int
    /// Time in a frame after which no further decompression begins, 0 or more. Default: 2 ms.
    public var maximumTime: Duration

    /// Creates a budget; negative numbers count as 0.
    public init(maximumTiles: Int = 8, maximumTime: Duration = .milliseconds(2)) {
        self.maximumTiles = max(maximumTiles, 0)
        self.maximumTime = max(maximumTime, .zero)
    }
}
