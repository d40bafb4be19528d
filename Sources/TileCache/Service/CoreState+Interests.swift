/// Interests in single tiles, and their bytes in the ledger.
extension CoreState {
    /// Adds an interest; `nil` if the limit has no room for its record.
    mutating func add(_ interest: Interests.Interest) -> InterestID? {
        guard pool.charge(Interests.bytesEach, to: .demand) else { return nil }
        pool.noteDemand()
        return interests.add(interest, in: &pool)
    }

    /// Adds tiles to prefetch once. They may take a quarter of the limit.
    mutating func ask(for tiles: some Sequence<TileCoordinate>, of layer: LayerID) {
        guard record(of: layer) != nil else { return }
        dropAsked { !$1.wantsLoad($0) }
        // Layers may have tiles of different sizes.
        var left = pool.ledger.limit / 4
        for interest in interests.pending.values where !interest.isRequest {
            left -= pool.slotBytes(ofLayer: interest.key.layer)
        }
        let own = pool.slotBytes(ofLayer: layer.index)
        for tile in tiles where own <= left && interests.count(of: .asked) < Interests.maximumCount {
            let key = TileKey(layer: layer.index, tile)
            guard pool.wantsLoad(key), interests.asked(for: key) == nil else { continue }
            guard add(Interests.Interest(key: key, rank: .asked)) != nil else { return }
            left -= own
        }
    }

    /// Forgets tiles to prefetch once that meet a condition.
    mutating func dropAsked(where isGone: (TileKey, borrowing PoolState) -> Bool) {
        guard interests.count(of: .asked) > 0 else { return }
        for id in interests.ids(where: { !$0.isRequest && isGone($0.key, pool) }) { drop(id) }
    }

    /// Forgets a tile to prefetch once.
    mutating func drop(_ asked: InterestID) {
        if interests.remove(asked) != nil { pool.note(-Interests.bytesEach, in: .demand) }
    }
}

extension CacheCore {
    /// Prefetches tiles once.
    func prefetch(_ tiles: [TileCoordinate], of layer: LayerID) {
        guard let pyramid = read({ $0.record(of: layer)?.pyramid }) else { return }
        tiles.lazy.filter { pyramid.hasTile($0) }.forEachPart(of: PoolState.stepsAtOnce) { some in
            perform { $0.ask(for: some, of: layer) }
        }
    }
}
