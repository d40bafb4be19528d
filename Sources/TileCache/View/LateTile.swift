/// A needed tile that is on its way. It is being loaded or decompressed, or waits for its turn or its next attempt.
public struct LateTile: Hashable, Sendable {
    /// Layer of the tile.
    public let layer: LayerID
    /// Position of the tile.
    public let tile: TileCoordinate
    /// World rectangle of the tile, in world pixels. On a wrapping world, in the copy on screen.
    public let worldRectangle: PixelRect
    /// When it was first missed. For a tile that was drawn and removed since: when its load began, or now.
    public let since: MonotonicTime
    /// Whether its load is in flight.
    public let isLoading: Bool
}
