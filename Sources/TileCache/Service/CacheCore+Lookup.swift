extension CacheCore {
    /// Leases a decoded tile and marks it as the most recently used one.
    func hold(_ tile: TileCoordinate, of layer: LayerID) -> HeldTile? {
        perform { state in
            guard let key = state.key(of: tile, in: layer), let token = state.pool.leaseForUse(key) else { return nil }
            return HeldTile(
                token: token,
                address: UnsafeRawPointer(bitPattern: state.address(of: token.slot, slotClass: Int(token.slotClass)))!,
                byteCount: state.layers[key.layer].sizes[tile.level].bytes
            )
        }
    }

    /// Ends the lease.
    func endLease(of held: HeldTile) {
        perform { $0.pool.endLeases(CollectionOfOne(held.token)) }
    }
}

/// Pixels of a decoded tile and their lease.
///
/// Four words with a pointer that is never null, so that an optional value is returned in registers.
@usableFromInline
struct HeldTile: @unchecked Sendable {
    let token: LeaseToken
    // Only an address: the lease protects the memory behind it.
    @usableFromInline let address: UnsafeRawPointer
    @usableFromInline let byteCount: Int
}
