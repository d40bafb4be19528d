public import TileCache

/// A source with its own pyramid, as every source of this module.
///
/// It is opened once for any number of layers, of one or several caches.
///
/// ```swift
/// let map = try MBTilesTileSource(path: "map.mbtiles")
/// let layer = try map.addLayer(to: cache)                       // or, to keep tiles beyond the life of the cache,
/// let stored = try map.addLayer(to: cache, stores: [disk])
/// ```
public protocol PyramidTileSource: Sendable {
    /// Origin of the tiles, for display.
    var name: String { get }
    /// Levels of the source. Its coarsest is level 0, whatever its number in the container.
    var pyramid: TilePyramid { get }
    /// Pixel format and other options of the layer.
    var layerOptions: LayerOptions { get }
    /// Part of the world that is known to have tiles. All of it if nothing is known.
    var contents: PixelRect { get }
    /// Counts of loads and failures so far.
    var statistics: TileSourceStatistics { get }
    /// A warning if the source's metadata contradict its options or its tiles, or if no tile comes, with the reason
    /// (``TileSourceStatistics/silence``). Otherwise `nil`. It may change while the source is used.
    var warning: String? { get }
    /// What identifies the data and how they are decoded, for `LayerStores(_:dataSet:)`; not empty.
    ///
    /// Sources that may deliver different pixels for a tile have different data sets. It is determined when the source
    /// is opened: after a file has changed, a source that is opened anew has another one. Each source documents what
    /// it notices.
    var dataSet: [String] { get }
    /// Adds the source to a cache.
    ///
    /// - Parameters:
    ///   - cache: The cache.
    ///   - pyramid: The source's own, or one with the same levels that differs in whether the world wraps.
    ///   - options: ``layerOptions``, with another share of the cache, stores or levels that the cache makes. Format
    ///     and alpha must be the source's: tiles fail otherwise.
    /// - Throws: `TileCacheError.invalidLayer` if a tile is larger than the limit or an option is out of range.
    func addLayer(
        to cache: TileCache,
        pyramid: TilePyramid,
        options: LayerOptions
    ) throws(TileCacheError) -> TileLayer
}

extension PyramidTileSource {
    /// No warning.
    public var warning: String? { nil }

    /// All of the world.
    public var contents: PixelRect {
        PixelRect(minX: 0, minY: 0, maxX: pyramid.worldWidth, maxY: pyramid.worldHeight)
    }

    /// Adds the source to a cache, with ``layerOptions`` and stores for ``dataSet``.
    ///
    /// - Parameters:
    ///   - cache: The cache.
    ///   - pyramid: One with the same levels that differs in whether the world wraps. Default: the source's own.
    ///   - stores: Tiers below memory that keep tiles beyond the life of the cache, nearest first, at most 32. Default:
    ///     none.
    ///   - profile: What was learned of this layer in earlier sessions. Default: `nil`, nothing.
    /// - Throws: `TileCacheError.invalidLayer` if a tile is larger than the limit or there are too many stores.
    public func addLayer(
        to cache: TileCache,
        pyramid: TilePyramid? = nil,
        stores: [any TileStore] = [],
        profile: PrefetchProfile? = nil
    ) throws(TileCacheError) -> TileLayer {
        var options = layerOptions
        options.profile = profile
        if !stores.isEmpty { options.stores = LayerStores(stores, dataSet: dataSet) }
        return try addLayer(to: cache, pyramid: pyramid ?? self.pyramid, options: options)
    }
}

extension PyramidTileSource where Self: BlockingTileSource {
    /// Adds the source to a cache.
    public func addLayer(
        to cache: TileCache,
        pyramid: TilePyramid,
        options: LayerOptions
    ) throws(TileCacheError) -> TileLayer {
        try cache.addLayer(self, pyramid: pyramid, options: options)
    }
}

extension PyramidTileSource where Self: TileSource {
    /// Adds the source to a cache.
    public func addLayer(
        to cache: TileCache,
        pyramid: TilePyramid,
        options: LayerOptions
    ) throws(TileCacheError) -> TileLayer {
        try cache.addLayer(self, pyramid: pyramid, options: options)
    }
}
