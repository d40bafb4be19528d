/// Decides whether a tile that has become ready changes what a view draws.
extension ViewRecord {
    /// - Parameter pool: with the tile in it.
    func draws(_ key: TileKey, pool: borrowing PoolState) -> Bool {
        for layer in model.layers where layer.layer == key.layer {
            if layer.needs.tiles.contains(key) || layer.isFallback(key, pool: pool) { return true }
        }
        return false
    }
}

extension ViewLayer {
    /// Whether a tile is the fallback of a missing one. Its nearest ancestor, or a finer tile without any ancestor.
    func isFallback(_ key: TileKey, pool: borrowing PoolState) -> Bool {
        let own = key.coordinate
        guard pool.residency(of: key).isDecoded else { return false }
        let rectangle = pyramid.worldRectangle(of: own)
        for (index, tile) in needs.tiles.enumerated() {
            let needed = needs.entries[index]
            if needed != .none, pool.table[needed].residency.isDecoded { continue }
            let missing = tile.coordinate
            let depth = own.level - missing.level
            guard depth != 0, depth <= FrameComposer.descendantDepth else { continue }
            let isFallback =
                depth > 0
                ? !pyramid.worldRectangle(of: missing).intersection(rectangle).isEmpty
                : pyramid.ancestor(of: missing, at: own.level) == own
            guard isFallback else { continue }
            if !hasAncestor(of: missing, from: depth < 0 ? own.level + 1 : 0, pool: pool) { return true }
        }
        return false
    }

    /// Whether a tile has a drawable ancestor of a level or finer.
    private func hasAncestor(of tile: TileCoordinate, from coarsest: Int, pool: borrowing PoolState) -> Bool {
        for level in stride(from: tile.level - 1, through: coarsest, by: -1) {
            guard let ancestor = pyramid.ancestor(of: tile, at: level) else { return false }
            if pool.residency(of: TileKey(layer: layer, ancestor)).isDecoded { return true }
        }
        return false
    }
}
