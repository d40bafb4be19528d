/// Properties of a layer's tiles.
public struct LayerOptions: Hashable, Sendable {
    /// Pixel format. Default: ``TilePixelFormat/rgba8``.
    public var format: TilePixelFormat
    /// Meaning of alpha, which the cache reports and never applies. Default: premultiplied.
    public var alpha: TileAlphaMode
    /// Whether cold tiles may be kept compressed. Default: `true`. Set `false` for incompressible contents.
    ///
    /// Tiles larger than 2016 MiB, LZ4's maximum input, are never compressed.
    public var isCompressible: Bool
    /// Fraction of the cache's limit that the layer's tiles never exceed, above 0, at most 1. Default: 1.
    ///
    /// Decoded tiles, compressed ones and loads in flight count together. A layer at its maximum makes room among its
    /// own tiles, and a view whose needed tiles exceed it draws a coarser level.
    public var maximumShare: Double
    /// Number of the pyramid's coarsest levels that the source does not have, 0 or more. Default: 0.
    ///
    /// The cache makes their tiles by halving the 2 x 2 tiles below and never requests them. The number bounds the cost
    /// of a tile: n levels above the source it is made of 4^n tiles of the source, less those resident at any level
    /// between. A child that is absent or fails permanently leaves a hole; a tile without any child is absent. See
    /// ``TilePyramid/keepingFinestLevels(_:)``.
    public var synthesizedLevels: Int
    /// How pixels are averaged for those levels. Default: as stored.
    public var downsampling: TileDownsampling

    /// What may be loaded ahead of need. Default: everything that the cache's effort allows.
    public var prefetch: PrefetchAllowance
    /// What was learned of this layer in earlier sessions. Default: `nil`, nothing.
    ///
    /// Each view that begins to show the layer starts with it. It takes about 0.25 MB of the limit, and 0.3 to 0.4 MB
    /// more for each view. A view goes without if its part is more than a sixteenth of the limit, and from when its
    /// tables have to make room.
    public var profile: PrefetchProfile?
    /// Tiers below memory that keep tiles beyond the life of the cache. Default: `nil`, none.
    public var stores: LayerStores?

    /// Creates options.
    public init(
        format: TilePixelFormat = .rgba8,
        alpha: TileAlphaMode = .premultiplied,
        isCompressible: Bool = true,
        maximumShare: Double = 1,
        synthesizedLevels: Int = 0,
        downsampling: TileDownsampling = .linear,
        prefetch: PrefetchAllowance = .standard,
        profile: PrefetchProfile? = nil,
        stores: LayerStores? = nil
    ) {
        self.format = format
        self.alpha = alpha
        self.isCompressible = isCompressible
        self.maximumShare = maximumShare
        self.synthesizedLevels = synthesizedLevels
        self.downsampling = downsampling
        self.prefetch = prefetch
        self.profile = profile
        self.stores = stores
    }
}
