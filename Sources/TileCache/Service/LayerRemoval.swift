/// Removal of layers.
extension CoreState {
    /// Whether a layer is one of this cache, and not removed.
    borrowing func has(_ id: LayerID) -> Bool {
        layers.indices.contains(id.index) && layers[id.index].id == id && !pool.layers[id.index].isRemoved
    }

    /// The record of a layer, unless it is foreign or removed. A copy, whose references are counted.
    borrowing func record(of id: LayerID) -> LayerRecord? { has(id) ? layers[id.index] : nil }

    /// The key of an untrusted tile; `nil` for foreign or removed layers and impossible tiles.
    borrowing func key(of tile: TileCoordinate, in layer: LayerID) -> TileKey? {
        has(layer) ? TileKey(exactly: layer.index, tile) : nil
    }

    /// Begins to remove a layer from views, pins and shares.
    ///
    /// - Returns: Its record, to be released without the lock; `nil` if the layer is foreign or removed.
    mutating func beginRemoval(of id: LayerID, now: Int64) -> LayerRecord? {
        guard let record = record(of: id) else { return nil }
        // First: views are fitted to what the layer's share leaves.
        pool.beginRemoval(ofLayer: id.index)
        for place in views.indices {
            guard let shown = views[place]?.model.layers, shown.contains(where: { $0.id == id }) else { continue }
            let rest = shown.filter { $0.id != id }.map { ($0.id, $0.pyramid) }
            views[place]?.model.setLayers(rest, now: now, pool: &pool)
            callBack(view: place)
        }
        endFetches { $0.layer == id.index }
        pins.cut(to: .none, of: id.index)
        dropAsked { key, _ in key.layer == id.index }
        loseSaves { $0.layer == id }
        if let tiers = record.tiers { stores.close(tiers) }
        layers.beginRemoval(of: id.index)
        return record
    }

    /// Frees indices, bytes and slots of removed layers that have ended. Returns whether more steps would help.
    mutating func finishRemovals(now: Int64) -> Bool {
        freeRemovedLayers(now: now)
        let goesOn = pool.releaseRemoved()
        cutSlotRegions()
        return goesOn
    }

    /// Frees indices and bytes of removed layers that have ended.
    mutating func freeRemovedLayers(now: Int64) {
        if !planning.delaysRemoval(ofAny: !layers.removed.isEmpty), !layers.removed.isEmpty {
            var hasRoom = false
            for index in layers.removed where pool.finishRemoval(ofLayer: index) {
                hasRoom = true
                let (bytes, spare) = layers.finishRemoval(of: index)
                pool.note(-bytes, in: .layers)
                if let spare { effects.unmapped.append(spare) }
                // Only now has no worker one for this layer.
                dropStoreCodec()
            }
            if hasRoom { refitShort(now: now) }
            layers.cut(to: pool.layers.count)
        }
    }
}

extension LayerRecord {
    mutating func forgetSource() {
        (source, decoder, reporting) = (nil, nil, nil)
        // The options hold the stores, too.
        (tiers, options.stores, options.profile) = (nil, nil, nil)
    }
}

extension CacheCore {
    func removeLayer(_ id: LayerID) {
        let now = clock()
        guard removeTiles(of: id, now: now) else { return }
        // Stores and sources that no other layer has may have ended.
        noteHeldMemory()
        fitCodecs()
        perform { $0.refitShort(now: now) }
    }

    /// Returns whether the layer was there.
    private func removeTiles(of id: LayerID, now: Int64) -> Bool {
        // All but those that come meanwhile.
        while perform({ state in
            state.record(of: id) != nil
                && state.endFetches(atMost: PoolState.stepsAtOnce) { $0.layer == id.index }
        }) {}
        let begun = perform { state -> (record: LayerRecord, pages: Range<Int32>)? in
            state.beginRemoval(of: id, now: now).map { ($0, state.pool.table.pages) }
        }
        // Source and stores are released last and without the lock: their deinitializers run foreign code.
        guard let (record, pages) = begun else { return false }
        defer { if let tiers = record.tiers { releaseStores(tiers.stores) } }
        walk(pages) { state, some in
            // A plan may have freed the index since the last step.
            guard state.layers.indices.contains(id.index), state.layers[id.index].id == id else { return false }
            return state.pool.removeTiles(onPages: some, ofLayer: id.index)
        }
        removePolicies(ofLayer: id)
        while perform({ $0.finishRemovals(now: now) }) {}
        return true
    }
}
