/// Moves single tiles between the tiers on the caller's thread. For benchmarks and stress.
extension TileLayer {
    /// Compresses a decoded tile that is neither leased nor needed; returns whether it did.
    package func demote(_ tile: TileCoordinate) -> Bool {
        let (isDone, begun) = core.perform { $0.demote(TileKey(layer: id.index, tile)) }
        if let begun { core.demote(begun, wakes: .max) }
        return isDone || begun != nil
    }

    /// Decompresses a compressed tile; returns whether it did.
    package func promote(_ tile: TileCoordinate) -> Bool {
        let begun = core.perform { $0.beginPromotion(of: TileKey(layer: id.index, tile)) }
        guard let begun else { return false }
        core.decompress(begun, wakes: .max) { $0.endPromotion(begun.ticket, $1) }
        return true
    }
}

extension CoreState {
    /// Compresses a tile that nobody uses; returns whether that is done, or the work that is left.
    fileprivate mutating func demote(_ key: TileKey) -> (isDone: Bool, begun: CodecWork?) {
        let number = pool.table.find(key)
        guard number != .none, !pool.table[number].isInUse else { return (false, nil) }
        if pool.demoteToEncoded(number) { return (true, nil) }
        return (false, pool.table[number].residency == .decoded ? beginDemotion(number) : nil)
    }

    fileprivate mutating func beginPromotion(of key: TileKey) -> CodecWork? {
        let number = pool.table.find(key)
        return number != .none ? beginPromotion(number) : nil
    }
}
