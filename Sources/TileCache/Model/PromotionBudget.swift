/// How much one frame may spend on decompressing tiles that it needs, on the thread that asks for the frame.
///
/// What is left over is done by workers, and `onTilesReady` says when.
public struct PromotionBudget: Hashable, Sendable {
    /// Tiles a frame, 0 or more. Default: 8.
    public var maximumTiles: Int
    /// Nanoseconds a frame after which no further decompression begins. Default: 2 ms.
    public var maximumNanoseconds: Int64

    /// Makes a budget.
    public init(maximumTiles: Int = 8, maximumNanoseconds: Int64 = 2_000_000) {
        self.maximumTiles = max(maximumTiles, 0)
        self.maximumNanoseconds = max(maximumNanoseconds, 0)
    }
}
