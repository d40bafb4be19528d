/// A needed tile that will not be loaded: it is absent or failed permanently.
public struct UnavailableTile: Hashable, Sendable {
    /// Reason why there are no pixels.
    public enum Cause: Sendable, Hashable {
        /// The source reported that the tile does not exist.
        case absent
        /// The tile failed permanently; it is not requested again until an invalidation.
        case failed
    }

    /// Layer of the tile.
    public let layer: LayerID
    /// Position of the tile.
    public let tile: TileCoordinate
    /// World rectangle of the tile, in world pixels. On a wrapping world, in the copy on screen.
    public let worldRectangle: PixelRect
    /// Reason why there are no pixels.
    public let cause: Cause
}
