/// Room for the needed tiles of a view.
extension ViewModel {
    /// Maximum bytes of a layer's needed tiles, without what pinned tiles have.
    ///
    /// - Parameter share: What each layer may have of the view's room.
    func budget(ofLayer layer: Int, share: Int, _ pool: borrowing PoolState) -> Int {
        min(share, pool.attainableBytes(ofLayer: layer))
    }

    /// Notes what each layer needs at least and asks for under a viewport. Returns the share of the room that each may
    /// have.
    mutating func claimRoom(for viewport: TileViewport, _ pool: inout PoolState) -> Int {
        for index in layers.indices {
            let cover = ViewportCover(pyramid: layers[index].pyramid, viewport: viewport, levelIndex: 0)
            noteLeast(layer: index, cover.tileCount, &pool)
        }
        guard layers.count > 1 else { return pool.unpinnedBytes }
        for index in layers.indices { layers[index].askedBytes = askedBytes(of: layers[index], under: viewport, pool) }
        return shareOfRoom(pool)
    }

    /// The share of the room that each layer may have under the last viewport.
    func shareOfRoom(_ pool: borrowing PoolState) -> Int {
        layers.count > 1
            ? Self.share(of: pool.unpinnedBytes, for: layers.map(\.askedBytes)) : pool.unpinnedBytes
    }

    /// The share of the room that each layer may have under another viewport.
    func shareOfRoom(for viewport: TileViewport, _ pool: borrowing PoolState) -> Int {
        guard layers.count > 1 else { return pool.unpinnedBytes }
        var asked: [Int] = []
        for layer in layers { asked.append(askedBytes(of: layer, under: viewport, pool)) }
        return Self.share(of: pool.unpinnedBytes, for: asked)
    }

    /// Bytes of a layer's tiles at the level that a viewport asks for.
    private func askedBytes(of layer: ViewLayer, under viewport: TileViewport, _ pool: borrowing PoolState) -> Int {
        let level = selection(of: layer).level(for: viewport.scale, in: layer.pyramid, previous: layer.needs.level)
        let cover = ViewportCover(pyramid: layer.pyramid, viewport: viewport, levelIndex: level)
        return cover.tileCount * pool.slotBytes(ofLayer: layer.layer)
    }

    /// The equal share of some room that each may have: what a layer does not ask for is left to the others. A layer
    /// that needs nothing, since it is off the screen, takes no part.
    ///
    /// - Parameter asked: What each layer asks for.
    static func share(of room: Int, for asked: [Int]) -> Int {
        var (rest, others, share) = (room, asked.count, room)
        for bytes in asked.sorted() {
            share = rest / others
            if bytes > share { break }
            rest -= bytes
            others -= 1
        }
        return share
    }

    /// Chooses the level of a layer: the finest that the viewport asks for and whose tiles have room.
    ///
    /// Tiles are counted and looked up, not listed: under a small limit most levels have no room, and the limit does not
    /// count the memory of their lists.
    ///
    /// - Parameter share: What each layer may have of the view's room.
    mutating func chooseLevel(
        layer index: Int,
        _ viewport: TileViewport,
        share: Int,
        _ pool: inout PoolState
    ) -> ViewportCover {
        let (layer, pyramid, previous) = (layers[index].layer, layers[index].pyramid, layers[index].needs.level)
        let gaveWay = layers[index].gaveWay
        var level = selection(of: layers[index]).level(for: viewport.scale, in: pyramid, previous: previous)
        (layers[index].askedLevel, layers[index].gaveWay) = (level, false)
        let budget = budget(ofLayer: layer, share: share, pool)
        while true {
            let cover = ViewportCover(pyramid: pyramid, viewport: viewport, levelIndex: level)
            guard fitsBudget else { return cover }
            let tiles = CoveredTiles(cover, layer: layer)
            let bytes = pool.bytes(toLoad: tiles, ofLayer: layer, within: budget)
            if bytes <= budget {
                let isReturn = gaveWay && level > previous
                if leavesRoom(layer: index, tiles, bytes: bytes, isReturn: isReturn, &pool) { return cover }
                layers[index].gaveWay = true
            }
            shortfallBytes = max(shortfallBytes, bytes)
            guard level > 0 else { return cover }
            level -= 1
        }
    }

    /// Level of a layer whose tiles have room at the destination; tiles of a finer level would be loaded in vain. `nil`
    /// without a destination, or if levels do not depend on the room.
    ///
    /// - Parameter share: What each layer may have of the room there.
    func destinationLevel(
        of layer: ViewLayer,
        under viewport: TileViewport?,
        share: Int,
        _ pool: borrowing PoolState
    ) -> Int? {
        guard let viewport else { return nil }
        let most = budget(ofLayer: layer.layer, share: share, pool) / pool.slotBytes(ofLayer: layer.layer)
        var level = selection(of: layer).level(for: viewport.scale, in: layer.pyramid, previous: layer.needs.level)
        while level > 0,
            ViewportCover(pyramid: layer.pyramid, viewport: viewport, levelIndex: level).tileCount > most
        {
            level -= 1
        }
        return level
    }

    /// Whether the tiles of a layer have room beside what other views need, or are within the layer's equal part: each
    /// layer of a view keeps what it needs at least, and the rest is divided by the number of layers.
    ///
    /// - Parameter isReturn: Whether the level would be finer again after it gave way. An eighth of the room has to be
    ///   left then, so that levels do not alternate while other views move or memory comes and goes.
    func leavesRoom(
        layer index: Int,
        _ tiles: some TileWalk,
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
        let share = shareOfRoom(pool)
        for (index, layer) in layers.enumerated() where layer.needs.level > 0 || shortfallBytes == 0 {
            let budget = budget(ofLayer: layer.layer, share: share, pool)
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
