public import TileCache

/// A source with its own pyramid, as every source of this module.
///
/// ```swift
/// let map = try MBTilesTileSource(path: "map.mbtiles")
/// let layer = try map.addLayer(to: cache)
/// ```
public protocol PyramidTileSource: Sendable {
    /// Origin of the tiles, for display.
    var name: String { get }
    /// Levels of the source. Its coarsest is level 0, whatever its number in the container.
    var pyramid: TilePyramid { get }
    /// Pixel format and other options of the layer.
    var layerOptions: LayerOptions { get }
    /// Part of the world that is known to have tiles; all of it if nothing is known.
    var contents: PixelRect { get }
    /// Counts of loads and failures so far.
    var statistics: TileSourceStatistics { get }
    /// A warning if the source's metadata contradicts its options; otherwise `nil`.
    var warning: String? { get }
    /// Adds the source to a cache.
    ///
    /// - Parameters:
    ///   - cache: The cache.
    ///   - pyramid: The source's own, or one with the same levels that differs in whether the world wraps.
    /// - Throws: `TileCacheError.invalidLayer` if a tile is larger than the limit.
    func addLayer(to cache: TileCache, pyramid: TilePyramid) throws(TileCacheError) -> LayerID
}

extension PyramidTileSource {
    /// No warning.
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
