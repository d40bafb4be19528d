extension TileLayer {
    /// Prefetches tiles once, under any effort and allowance. They wait for the ceilings of
    /// ``PrefetchAllowance/priced(_:)``.
    ///
    /// They come after needed tiles, margins and declared destinations, and before all predicted tiles that are not
    /// urgent. Ignores tiles that are resident, absent, failed or not in the layer, and those beyond a quarter of the limit or
    /// 4,096 pending tiles.
    public func prefetch(_ tiles: [TileCoordinate]) { core.prefetch(tiles, of: id) }

    /// What may be loaded ahead of need. `nil` once the layer is removed. See ``setPrefetchAllowance(_:)``.
    public var prefetchAllowance: PrefetchAllowance? {
        core.read { state in state.record(of: id).map { _ in state.pool.layers[id.index].allowance } }
    }

    /// Replaces what may be loaded ahead of need. Loads in flight continue.
    ///
    /// If there were ceilings before, what was counted in the last minute counts toward the new ones. Ignored once the
    /// layer is removed.
    ///
    /// - Throws: ``TileCacheError/invalidLayer(_:)`` for a field out of range.
    public func setPrefetchAllowance(_ allowance: PrefetchAllowance) throws(TileCacheError) {
        if let problem = allowance.problem { throw .invalidLayer(problem) }
        core.perform { state in
            if state.record(of: id) != nil { state.pool.set(allowance, ofLayer: id.index) }
        }
    }

    /// Prefetches since the layer was added. `nil` once it is removed.
    public var prefetchCounts: LayerPrefetchCounts? { statistics?.prefetches }
}
