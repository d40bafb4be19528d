/// A tile that a renderer with perspective, a globe or a feedback buffer needs.
public struct NeededTile: Hashable, Sendable {
    /// Layer of the tile.
    public var layer: LayerID
    /// Position of the tile.
    public var tile: TileCoordinate
    /// Importance of the tile; larger is loaded sooner. Default: 1.
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

    /// - Parameter pyramids: Those of the layers that count. Tiles of others, and those that do not exist, are left out.
    init(_ list: [NeededTile], pyramids: [LayerID: TilePyramid]) {
        var importance: [LayerID: [TileKey: Float]] = [:]
        for wish in list {
            guard let pyramid = pyramids[wish.layer], pyramid.contains(wish.tile) else { continue }
            let key = TileKey(layer: wish.layer.index, wish.tile)
            // NaN cannot be ordered.
            let own = wish.importance.isNaN ? -.infinity : wish.importance
            let former = importance[wish.layer, default: [:]].updateValue(own, forKey: key)
            if let former {
                importance[wish.layer]?[key] = max(own, former)
            } else {
                layers[wish.layer, default: OfLayer()].keys.append(key)
            }
        }
        for (layer, values) in importance {
            var own = self[layer]
            own.keys.sort { (values[$0] ?? 0) > (values[$1] ?? 0) }
            own.importance = own.keys.map { values[$0] ?? 0 }
            layers[layer] = own
        }
    }

    subscript(layer: LayerID) -> OfLayer { layers[layer] ?? OfLayer() }
}
