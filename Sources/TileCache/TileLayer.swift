/// A layer of a cache, returned by `TileCache.addLayer`.
///
/// Copies are the same layer. Like a ``TileView``, a layer does not keep its cache at work: that ends with the last
/// reference to the ``TileCache``, or with ``TileCache/shutdown(timeout:)``. The cache's memory stays until the last view,
/// layer and leased tile is released, too. Once a layer is removed, its methods do nothing, and `pin` throws.
public struct TileLayer: Hashable, Sendable {
    /// Identity of the layer, which frames, textures and ``NeededTile`` name.
    public let id: LayerID
    let core: CacheCore

    init(_ id: LayerID, of core: CacheCore) {
        self.id = id
        self.core = core
    }

    /// Whether both are the same layer of one cache.
    public static func == (a: TileLayer, b: TileLayer) -> Bool { a.id == b.id }

    /// Hashes the identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }

    /// Removes the layer from the cache and all views. Cancels its loads, evicts its tiles and undoes its pins.
    ///
    /// Tiles that frames hold stay valid until they are released. A source that does not return keeps its worker and
    /// its tile's memory until it does. Ignored if the layer was removed already.
    public func remove() { core.removeLayer(id) }

    /// World and levels of the layer: their sizes, resolutions and tiles. `nil` once the layer is removed.
    public var pyramid: TilePyramid? { core.read { $0.record(of: id)?.pyramid } }

    /// Demands, loads and memory of the layer since it was added. `nil` once it is removed.
    public var statistics: TileLayerStatistics? {
        core.read { state in state.record(of: id).map { _ in TileLayerStatistics(of: state.pool.layers[id.index]) } }
    }

    /// Invalidates tiles that have changed at their source.
    ///
    /// Pixels of loads that began earlier are discarded. The old pixels are drawn, marked stale, until new ones arrive.
    ///
    /// - Parameters:
    ///   - region: In world pixels. Default: `nil`, all of the layer.
    ///   - keepsStale: `false` removes the old pixels at once, except those of leased tiles. Default: `true`.
    public func invalidate(region: PixelRect? = nil, keepsStale: Bool = true) {
        core.invalidate(id, region: region, keepsStale: keepsStale)
    }

    /// What was learned of the layer in this session so far. `nil` if no view shows it.
    ///
    /// Contains only what was learned in existing views: call it before they are released. Does not contain
    /// ``LayerOptions/profile``. Takes a few milliseconds.
    public func learnedProfile() -> PrefetchProfile? { core.learnedProfile(of: id) }
}
