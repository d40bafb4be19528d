/// What part of the cache's byte limit a layer's tiles may take, and what part other layers leave them.
///
/// Decoded tiles, compressed ones and loads in flight count together. A layer that has all its share makes room among
/// its own tiles, and a view whose needed tiles do not fit it draws a coarser level.
public struct LayerShare: Hashable, Sendable {
    /// The part of the limit that the layer's tiles never exceed, larger than 0, at most 1. Default: 1.
    public var maximum: Double
    /// The part of the limit, 0 to `maximum`, within which no tile of the layer is evicted for another layer. Default: 0.
    ///
    /// Other layers may use what the layer does not use yet. All layers' parts together are at most 1.
    public var guaranteed: Double

    /// Nothing is held back and nothing guaranteed.
    public static let all = LayerShare()

    /// Names a share; `TileCache.addLayer` checks it.
    public init(maximum: Double = 1, guaranteed: Double = 0) {
        self.maximum = maximum
        self.guaranteed = guaranteed
    }
}
