/// What a layer's tiles are like.
public struct LayerOptions: Hashable, Sendable {
    /// How a pixel is laid out; ``TilePixelFormat/rgba8`` unless given.
    public var format: TilePixelFormat
    /// What alpha means; premultiplied unless given. The cache hands it on and never changes pixels.
    public var alpha: TileAlphaMode
    /// Whether cold tiles may be kept compressed; `true` unless given. Say `false` for contents that are known not to
    /// become smaller.
    ///
    /// Tiles larger than 2016 MiB, LZ4's largest input, never are.
    public var isCompressible: Bool
    /// What part of the cache's limit the layer's tiles may take, and what part others leave them; all and none unless
    /// given.
    public var share: LayerShare
    /// How many of the pyramid's coarsest levels the source does not have, 0 or more: the cache makes them itself, each
    /// tile by halving the 2 x 2 tiles below it, and asks the source for no tile of them. 0 unless given.
    ///
    /// The number bounds what one tile may cost: n levels down it is made of 4^n tiles of the source, of which those
    /// that are resident, at any level between, are not loaded again. Holes stay where a child is absent, or fails for
    /// good; a tile without any child is absent. See ``TilePyramid/keepingFinestLevels(_:)``.
    public var synthesizedLevels: Int
    /// How pixels are averaged for those levels; as they are stored unless given.
    public var downsampling: TileDownsampling

    /// Makes options.
    public init(
        format: TilePixelFormat = .rgba8,
        alpha: TileAlphaMode = .premultiplied,
        isCompressible: Bool = true,
        share: LayerShare = .all,
        synthesizedLevels: Int = 0,
        downsampling: TileDownsampling = .linear
    ) {
        self.format = format
        self.alpha = alpha
        self.isCompressible = isCompressible
        self.share = share
        self.synthesizedLevels = synthesizedLevels
        self.downsampling = downsampling
    }
}
