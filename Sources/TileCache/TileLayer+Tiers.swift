/// Moves single tiles between the tiers on the caller's thread. For benchmarks and stress.
extension TileLayer {
    /// Compresses a decoded tile that is neither leased nor needed; returns whether it did.
    package func demote(_ tile: TileCoordinate) -> Bool {
        let (isDone, begun) = core.perform { state -> (Bool, CodecWork?) in
            let number = state.pool.table.find(TileKey(layer: id.index, tile))
            guard number != .none, !state.pool.table[number].isInUse else { return (false, nil) }
            if state.pool.demoteToEncoded(number) { return (true, nil) }
            return (false, state.pool.table[number].residency == .decoded ? state.beginDemotion(number) : nil)
        }
        if let begun { core.demote(begun, wakes: .max) }
        return isDone || begun != nil
    }

    /// Decompresses a compressed tile; returns whether it did.
    package func promote(_ tile: TileCoordinate) -> Bool {
        let begun = core.perform { state -> CodecWork? in
            let number = state.pool.table.find(TileKey(layer: id.index, tile))
            return number != .none ? state.beginPromotion(number) : nil
        }
        guard let begun else { return false }
        core.decompress(begun, wakes: .max) { $0.endPromotion(begun.ticket, $1) }
        return true
    }
}
