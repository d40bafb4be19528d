import Synchronization

extension TileCache {
    /// Lends the pixels of a tile that is ready to draw, without a view: for tools, and for renderers that keep their
    /// own list of what is on screen. Counts as a use, not as a demand.
    ///
    /// - Parameters:
    ///   - tile: which one.
    ///   - layer: whose.
    ///   - body: called with the pixels, rows packed; they are held for the time of the call and no longer.
    /// - Returns: what `body` returned; `nil` where the tile is not decoded now, and `body` was not called.
    public func withTile<Result, Failure: Error>(
        _ tile: TileCoordinate,
        of layer: LayerID,
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        let key = TileKey(layer: layer.index, tile)
        let held = core.lock.withLock { state -> HeldTile? in
            guard state.has(tile, layer) else { return nil }
            let number = state.pool.find(key)
            guard number >= 0, state.pool.table[number].residency.isDecoded else { return nil }
            state.pool.lease(number)
            state.pool.touchForUse(number)
            let slot = state.pool.table[number].slot
            let slotClass = state.pool.layers[key.layer].slotClass
            return HeldTile(
                token: LeaseToken(entry: number, slot: slot, slotClass: Int32(slotClass)),
                address: UInt(bitPattern: state.address(slotClass: slotClass, slot: slot)),
                byteCount: state.layers[key.layer].sizes[tile.level].bytes
            )
        }
        guard let held else { return nil }
        defer {
            core.lock.withLock {
                $0.pool.release(held.token.entry, slotClass: Int(held.token.slotClass), slot: held.token.slot)
            }
        }
        return try body(
            UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: held.address), count: held.byteCount)
        )
    }

    /// Whether a tile is resident, decoded or compressed. Touches nothing.
    public func isResident(_ tile: TileCoordinate, of layer: LayerID) -> Bool {
        let key = TileKey(layer: layer.index, tile)
        return core.lock.withLock { $0.has(tile, layer) && $0.pool.residency(of: key).isResident }
    }
}

private struct HeldTile: Sendable {
    var token: LeaseToken
    var address: UInt
    var byteCount: Int
}

extension CoreState {
    /// Whether there is such a tile: coordinates from outside may be anything, and keys keep no more than 40 bits.
    fileprivate func has(_ tile: TileCoordinate, _ layer: LayerID) -> Bool {
        layers.indices.contains(layer.index) && layers[layer.index].pyramid.contains(tile)
    }
}
