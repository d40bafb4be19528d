/// A tile that a renderer with perspective, a globe or a feedback buffer needs.
public struct NeededTile: Hashable, Sendable {
    /// Layer of the tile.
    public var layer: LayerID
    /// Position of the tile.
    public var tile: TileCoordinate
    /// Importance of the tile; of a layer's tiles, larger is loaded sooner. Default: 1. NaN counts as the least. Layers that
    /// miss tiles share the workers' time, whatever the importance.
    public var importance: Float

    /// Creates a needed tile.
    public init(layer: LayerID, tile: TileCoordinate, importance: Float = 1) {
        self.layer = layer
        self.tile = tile
        self.importance = importance
    }
}

/// A renderer's own list of needed tiles by layer, each tile once, the most important first.
///
/// Made without the lock: a list may be far longer than what has room.
struct NeededList: Sendable {
    struct OfLayer: Sendable {
        var keys: [TileKey] = []
        /// Importance of each key.
        var importance: [Float] = []
    }

    private var layers: [LayerID: OfLayer] = [:]

    /// - Parameter pyramids: Pyramids of the layers that count. Tiles of other layers, and tiles outside of the known
    ///   contents, are left out.
    init(_ list: [NeededTile], pyramids: [LayerID: TilePyramid]) {
        var importance: [TileKey: Float] = [:]
        for wish in list {
            guard let pyramid = pyramids[wish.layer], pyramid.hasTile(wish.tile) else { continue }
            let key = TileKey(layer: wish.layer.index, wish.tile)
            // NaN cannot be ordered.
            let own = wish.importance.isNaN ? -.infinity : wish.importance
            if importance.updateValue(max(own, importance[key] ?? own), forKey: key) == nil {
                layers[wish.layer, default: OfLayer()].keys.append(key)
            }
        }
        layers = layers.mapValues { own in
            let keys = own.keys.sorted { (importance[$0] ?? 0) > (importance[$1] ?? 0) }
            return OfLayer(keys: keys, importance: keys.map { importance[$0] ?? 0 })
        }
    }

    subscript(layer: LayerID) -> OfLayer { layers[layer] ?? OfLayer() }
}
