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
    @inlinable
    public func withTile<Result, Failure: Error>(
        _ tile: TileCoordinate,
        of layer: LayerID,
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard let held = hold(tile, of: layer) else { return nil }
        defer { letGo(held) }
        return try body(
            UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: held.address), count: held.byteCount)
        )
    }

    /// Leases a decoded tile as the most recently used one.
    @usableFromInline
    func hold(_ tile: TileCoordinate, of layer: LayerID) -> HeldTile? {
        core.perform { state in
            guard let key = state.key(of: tile, in: layer) else { return nil }
            let number = state.pool.find(key)
            guard number != .none, state.pool.table[number].residency.isDecoded else { return nil }
            state.pool.lease(number)
            state.pool.touchForUse(number)
            let token = state.pool.token(of: number, layer: key.layer)
            return HeldTile(
                token: token,
                address: state.address(of: token.slot, slotClass: Int(token.slotClass)),
                byteCount: state.layers[key.layer].sizes[tile.level].bytes
            )
        }
    }

    /// Ends the lease. A plan follows where a needed tile, or a lowered limit, may have waited for it.
    @usableFromInline
    func letGo(_ held: HeldTile) {
        core.perform { state in
            let isWaitedFor = state.pool.queue.lacksRoomForNeeds || state.pool.isOverLimit
            if state.pool.release(held.token), isWaitedFor { state.effects.plans = true }
        }
    }

    /// Whether a tile is resident, decoded or compressed. Touches nothing.
    public func isResident(_ tile: TileCoordinate, of layer: LayerID) -> Bool {
        core.read { state in state.key(of: tile, in: layer).map { state.pool.residency(of: $0).isResident } ?? false }
    }
}

/// A decoded tile's pixels, and the lease that keeps them.
@usableFromInline
struct HeldTile: Sendable {
    let token: LeaseToken
    @usableFromInline let address: UInt
    @usableFromInline let byteCount: Int
}
