/// Maximum and guaranteed fraction of the cache's byte limit for a layer's tiles.
///
/// Decoded tiles, compressed ones and loads in flight count together. A layer at its maximum makes room among its own
/// tiles, and a view whose needed tiles exceed the maximum draws a coarser level.
public struct LayerShare: Hashable, Sendable {
    /// Fraction of the limit that the layer's tiles never exceed, above 0, at most 1. Default: 1.
    public var maximum: Double
    /// Guaranteed fraction of the limit, 0 to `maximum`. Below it the layer's tiles are not evicted for other layers.
    /// Default: 0.
    ///
    /// Other layers may use the unused part. The fractions of all layers together are at most 1.
    public var guaranteed: Double

    /// No maximum and no guarantee.
    public static let all = LayerShare()

    /// Creates a share; `TileCache.addLayer` checks it.
    public init(maximum: Double = 1, guaranteed: Double = 0) {
        self.maximum = maximum
        self.guaranteed = guaranteed
    }
}
