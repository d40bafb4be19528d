extension TileCache {
    /// Replaces what a layer may load ahead of need. Loads in flight continue.
    ///
    /// If there were ceilings before, what was counted in the last minute counts toward the new ones. Layers of another
    /// cache, or removed ones, are ignored.
    ///
    /// - Throws: ``TileCacheError/invalidLayer(_:)`` for a field out of range.
    public func setPrefetchAllowance(_ allowance: PrefetchAllowance, of layer: LayerID) throws(TileCacheError) {
        if let problem = allowance.problem { throw .invalidLayer(problem) }
        core.perform { state in
            if state.record(of: layer) != nil { state.pool.set(allowance, ofLayer: layer.index) }
        }
    }

    /// What a layer may load ahead of need. `nil` for layers of another cache, or removed ones.
    public func prefetchAllowance(of layer: LayerID) -> PrefetchAllowance? {
        core.read { state in state.record(of: layer).map { _ in state.pool.layers[layer.index].allowance } }
    }

    /// Prefetches of a layer since it was added. `nil` for layers of another cache, or removed ones.
    public func prefetchCounts(of layer: LayerID) -> LayerPrefetchCounts? {
        core.read { state in state.record(of: layer).map { _ in state.pool.layers[layer.index].prefetches } }
    }
}
