public import TileCache

/// A source that knows its own pyramid: everything in this module is one.
///
/// ```swift
/// let map = try MBTilesTileSource(path: "map.mbtiles")
/// let layer = try map.addLayer(to: cache)
/// ```
public protocol PyramidTileSource: Sendable {
    /// Where the tiles come from, for people.
    var name: String { get }
    /// The levels that the source has. Its coarsest is level 0, whatever number it has in the container.
    var pyramid: TilePyramid { get }
    /// How the layer's pixels are laid out.
    var layerOptions: LayerOptions { get }
    /// The part of the world that is known to have tiles; all of it where nothing is known.
    var contents: PixelRect { get }
    /// What has been loaded and what has failed so far.
    var statistics: TileSourceStatistics { get }
    /// What its metadata says against the way that it is read, as a sentence; `nil` if nothing.
    var warning: String? { get }
    /// Adds the source to a cache.
    ///
    /// - Parameters:
    ///   - cache: which cache.
    ///   - pyramid: the source's own, or one with the same levels that differs in whether the world wraps.
    /// - Throws: `TileCacheError.invalidLayer` where a tile is larger than the limit.
    func addLayer(to cache: TileCache, pyramid: TilePyramid) throws(TileCacheError) -> LayerID
}

extension PyramidTileSource {
    /// Nothing.
    public var warning: String? { nil }

    /// All of the world.
    public var contents: PixelRect {
        PixelRect(minX: 0, minY: 0, maxX: pyramid.worldWidth, maxY: pyramid.worldHeight)
    }

    /// Adds the source to a cache, with its own pyramid and ``layerOptions``.
    public func addLayer(to cache: TileCache) throws(TileCacheError) -> LayerID {
        try addLayer(to: cache, pyramid: pyramid)
    }
}

extension PyramidTileSource where Self: BlockingTileSource {
    /// Adds the source to a cache.
    public func addLayer(to cache: TileCache, pyramid: TilePyramid) throws(TileCacheError) -> LayerID {
        try cache.addLayer(self, pyramid: pyramid, options: layerOptions)
    }
}

extension PyramidTileSource where Self: TileSource {
    /// Adds the source to a cache.
    public func addLayer(to cache: TileCache, pyramid: TilePyramid) throws(TileCacheError) -> LayerID {
        try cache.addLayer(self, pyramid: pyramid, options: layerOptions)
    }
}
