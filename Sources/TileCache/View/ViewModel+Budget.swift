/// Room for the needed tiles of a view.
extension ViewModel {
    /// Maximum bytes of a layer's needed tiles, without what pinned ones have.
    func budget(ofLayer layer: Int, _ pool: borrowing PoolState) -> Int {
        let part = pool.unpinnedBytes / max(layers.count, 1)
        let guaranteed = pool.guaranteedBytes(ofLayer: layer) - pool.layers[layer].pinnedBytes
        return min(max(part, guaranteed), pool.attainableBytes(ofLayer: layer))
    }

    /// Level of a layer whose tiles have room at the destination; those of a finer one would be loaded in vain. `nil`
    /// without a destination, or if levels do not depend on the room.
    func destinationLevel(of layer: ViewLayer, at now: Int64, _ pool: borrowing PoolState) -> Int? {
        guard fitsBudget, let destination, destination.isAhead(at: now) else { return nil }
        let viewport = destination.viewport
        let most = budget(ofLayer: layer.layer, pool) / pool.slotBytes(ofLayer: layer.layer)
        var level = selection.level(for: viewport.scale, in: layer.pyramid, previous: layer.needs.level)
        while level > 0,
            ViewportCover(pyramid: layer.pyramid, viewport: viewport, levelIndex: level).tileCount > most
        {
            level -= 1
        }
        return level
    }

    /// Whether the tiles of a layer have room beside what other views need, or are within its equal part: what each
    /// layer of a view needs at least stays, and the rest is divided by their number.
    ///
    /// - Parameter isReturn: Whether the level would be finer again after it gave way. An eighth of the room has to be
    ///   left then, so that levels do not alternate while other views move or memory comes and goes.
    func leavesRoom(
        layer index: Int,
        _ tiles: [TileKey],
        bytes: Int,
        isReturn: Bool,
        _ pool: inout PoolState
    ) -> Bool {
        guard pool.claimCount > layers.count(where: { $0.needs.leastBytes > 0 }) else { return true }
        func usable(_ bytes: Int) -> Int { isReturn ? bytes - bytes / 8 : bytes }
        let (layer, needs) = (layers[index].layer, layers[index].needs)
        let rest = max(pool.attainableBytes(ofLayer: layer) - pool.leastBytes, 0)
        if bytes <= usable(needs.leastBytes + rest / pool.claimCount) { return true }
        let room = usable(pool.attainableBytes(ofLayer: layer, keepsNeeded: true))
        return bytes <= room - pool.bytes(ofLayer: layer, besideView: needs, needing: tiles)
    }

    /// Whether the needed tiles have no room: since the levels were chosen, tables have grown, pinned tiles have
    /// landed, other views need more, or a load was refused what it takes beside its tile.
    func isCrowded(_ pool: inout PoolState) -> Bool {
        guard fitsBudget, !layers.contains(where: { $0.hasOwnList }) else { return false }
        for (index, layer) in layers.enumerated() where layer.needs.level > 0 || shortfallBytes == 0 {
            let budget = budget(ofLayer: layer.layer, pool)
            let bytes = pool.bytes(toLoad: layer.needs.tiles, ofLayer: layer.layer, within: budget)
            guard bytes <= budget,
                leavesRoom(layer: index, layer.needs.tiles, bytes: bytes, isReturn: false, &pool)
            else { return true }
        }
        return false
    }

    /// Whether a level gave way to other views or layers, and their needs have changed since.
    func mayBecomeFiner(_ pool: borrowing PoolState) -> Bool {
        for layer in layers where layer.gaveWay && layer.fittedVersion != pool.needVersion { return true }
        return false
    }
}
