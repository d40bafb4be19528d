/// Identifies a tile's pixels. Equal as long as the pixels are the same, so that a texture is uploaded once.
public struct TileIdentity: Hashable, Sendable {
    /// Layer of the tile.
    public let layer: LayerID
    // Stored here it fits the padding behind the layer: a frame keeps an identity for each tile.
    /// Incremented when an invalidation has brought newer pixels.
    public let generation: UInt32
    /// Position of the tile.
    public let tile: TileCoordinate

    package init(layer: LayerID, tile: TileCoordinate, generation: UInt32) {
        self.layer = layer
        self.tile = tile
        self.generation = generation
    }
}
