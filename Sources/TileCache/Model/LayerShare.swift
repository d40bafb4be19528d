/// What part of the cache's byte limit a layer's tiles may take, and what part other layers leave them.
///
/// Decoded tiles, compressed ones and loads in flight count together. A layer that has all its share makes room among
/// its own tiles, and a view whose needed tiles do not fit it draws a coarser level.
public struct LayerShare: Hashable, Sendable {
    /// The part of the limit that the layer's tiles never exceed, larger than 0, at most 1; 1 unless given.
    public var maximum: Double
    /// Tiles of the layer are not given up for other layers while it has no more than this part of the limit, 0 to
    /// `maximum`; 0 unless given. What the layer does not use others may use until it does. All layers' parts together
    /// are at most 1.
    public var guaranteed: Double

    /// Nothing is held back and nothing guaranteed.
    public static let all = LayerShare()

    /// Names a share; `TileCache.addLayer` checks it.
    public init(maximum: Double = 1, guaranteed: Double = 0) {
        self.maximum = maximum
        self.guaranteed = guaranteed
    }
}
