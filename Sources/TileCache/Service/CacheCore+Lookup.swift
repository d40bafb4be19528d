extension TileCache {
    /// Lends the pixels of a decoded tile without a view. For tools and own lists of tiles.
    ///
    /// Counts as a use, not as a demand.
    ///
    /// - Parameters:
    ///   - tile: The tile.
    ///   - layer: Layer of the tile.
    ///   - body: Called with the pixels, rows packed, which are valid only during the call.
    /// - Returns: The result of `body`; `nil`, without a call of `body`, if the tile is not decoded.
    @inlinable
    public func withTile<Result, Failure: Error>(
        _ tile: TileCoordinate,
        of layer: LayerID,
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard let held = hold(tile, of: layer) else { return nil }
        defer { endLease(of: held) }
        return try body(
            UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: held.address), count: held.byteCount)
        )
    }

    /// Leases a decoded tile and marks it as the most recently used one.
    @usableFromInline
    func hold(_ tile: TileCoordinate, of layer: LayerID) -> HeldTile? {
        core.perform { state in
            guard let key = state.key(of: tile, in: layer) else { return nil }
            let number = state.pool.table.find(key)
            guard number != .none, state.pool.table.pointer(number).pointee.residency.isDecoded else { return nil }
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

    /// Ends the lease.
    @usableFromInline
    func endLease(of held: HeldTile) {
        core.perform { $0.pool.endLeases(CollectionOfOne(held.token)) }
    }

    /// Whether a tile is resident, decoded or compressed. Does not count as a use.
    public func isResident(_ tile: TileCoordinate, of layer: LayerID) -> Bool {
        core.read { state in state.key(of: tile, in: layer).map { state.pool.residency(of: $0).isResident } ?? false }
    }
}

/// Pixels of a decoded tile and their lease.
@usableFromInline
struct HeldTile: Sendable {
    let token: LeaseToken
    @usableFromInline let address: UInt
    @usableFromInline let byteCount: Int
}
