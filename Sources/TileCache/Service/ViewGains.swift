/// Decides whether a tile that has become ready changes what a view draws.
extension ViewRecord {
    /// - Parameter pool: with the tile in it.
    func draws(_ key: TileKey, pool: borrowing PoolState) -> Bool {
        let number = pool.table.find(key)
        let isComplete = contents?.version == FrameVersion(needs: model.needsVersion, pool: pool.drawVersion)
        for layer in model.layers where layer.layer == key.layer {
            if pool.index(of: number, in: layer.needs) != nil { return true }
            // It may be needed without an entry of the view.
            if layer.needs.isIncomplete, layer.needs.tiles.contains(key) { return true }
            // A complete frame draws no fallbacks.
            guard !isComplete, pool.residency(of: key).isDecoded else { continue }
            if layer.isFallback(key, in: model.viewport, pool: pool) { return true }
        }
        return false
    }

    /// Whether the last frame's leases take room that is lacking: of tiles that are not needed, or of pixels that were
    /// replaced.
    func takesRoom(in pool: borrowing PoolState) -> Bool {
        for tile in contents?.tiles ?? [] where pool.queue.lack.concerns(tile.key.layer) {
            guard let entry = pool.table[tile.key], entry.isKept, entry.slot == tile.slot else { return true }
        }
        return false
    }

    /// Whether tiles of the view take room that needed ones lack. The next frames spare it then.
    mutating func noteLack(in pool: borrowing PoolState) -> Bool {
        let lack = pool.queue.lack
        guard lack.exists, model.layers.contains(where: { lack.concerns($0.layer) }) else { return false }
        spared.add(lack)
        return true
    }

    /// Whether a needed tile waits until it is tried again, after a refusal of memory that there may be.
    func awaitsRoom(in pool: borrowing PoolState) -> Bool {
        for layer in model.layers {
            for number in layer.needs.entries where number != .none {
                // One that has failed waits for its source, and so does one whose load, or layer, hangs.
                guard pool.table[number].flags.intersection([.refused, .failed]) == .refused,
                    pool.table[number].load == .none, !pool.hasAllItsLoads(layer: layer.layer)
                else { continue }
                if pool.fitsLimit(layer: layer.layer, beside: pool.refusedBytes(of: number)) { return true }
            }
        }
        return false
    }
}

extension ViewLayer {
    /// Whether a tile is drawn in place of a missing one.
    fileprivate func isFallback(_ key: TileKey, in viewport: TileViewport?, pool: borrowing PoolState) -> Bool {
        // Tiles of one level do not overlap. Most tiles that land without being needed are of the view's level.
        guard hasOwnList || key.level != needs.level, key.level <= needs.level + FrameComposer.descendantDepth else {
            return false
        }
        let rectangle = pyramid.worldRectangle(of: key.coordinate)
        let composer = FrameComposer(emitsPlacements: true, drawsCompressed: false, now: 0)
        let clip = ViewportClip(hasOwnList ? nil : viewport)
        for visible in visible {
            let number = needs.entries[Int(visible.index)]
            if number != .none, pool.table[number].residency.isDecoded { continue }
            let missing = pyramid.worldRectangle(of: needs.tiles[Int(visible.index)].coordinate)
            guard !missing.intersection(rectangle).isEmpty else { continue }
            var isDrawn = false
            _ = composer.emitFallback(of: visible, in: self, clip, pool) { isDrawn = isDrawn || $0.key == key }
            if isDrawn { return true }
        }
        return false
    }
}
