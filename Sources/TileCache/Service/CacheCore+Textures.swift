/// Interface of a view for renderers with texture slots.
extension CacheCore {
    func setLevelBias(_ bias: Double, of layer: LayerID? = nil, ofView id: Int) {
        guard !isForked else { return }
        let now = MonotonicTime.bounded(clock())
        perform { $0.setLevelBias(bias, of: layer, ofView: id, now: now) }
    }

    /// Resident tiles that a view may draw soon. `nil` if they are those of the given version.
    func upcoming(
        ofView id: Int,
        limit: Int,
        of layers: Set<LayerID>?,
        unless version: FrameVersion?
    ) -> (FrameVersion, [UpcomingTile])? {
        guard !isForked else { return nil }
        return read { state in
            guard !state.isShutDown, let view = state.views[id] else { return nil }
            let queue = state.pool.queue
            let plan = UInt64(queue.epoch) << 32 | UInt64(queue.valued.count)
            let now = FrameVersion(needs: view.model.needsVersion, pool: plan)
            guard now != version else { return nil }
            return (now, view.model.upcoming(limit: limit, of: layers, in: state.pool, drawsCompressed: false))
        }
    }

    /// Leases decoded tiles, each alone; `nil` for those that have gone since.
    func lease(_ tiles: [TileIdentity]) -> [LeasedTile?] {
        guard !isForked else { return tiles.map { _ in nil } }
        let found = perform { state -> [(look: LayerLook, token: LeaseToken, isStale: Bool)?] in
            tiles.map { tile in
                guard !state.isShutDown, let layer = state.record(of: tile.layer) else { return nil }
                let key = TileKey(layer: tile.layer.index, tile.tile)
                guard let found = state.pool.lease(key, generation: tile.generation) else { return nil }
                return (LayerLook(layer, state), found.token, found.isStale)
            }
        }
        return zip(tiles, found).map { tile, found in
            found.map {
                let hold = LeaseHold(core: self, tokens: [$0.token])
                return $0.look.leased(tile, isStale: $0.isStale, token: $0.token, hold: hold)
            }
        }
    }
}

/// Addresses of the slots of one size.
struct SlotRange: Sendable {
    let base: UInt
    let byteCount: Int
    let stride: Int

    init(_ region: MemoryRegion, stride: Int) {
        base = UInt(bitPattern: region.base)
        byteCount = region.byteCount
        self.stride = stride
    }

    func address(of slot: SlotID) -> UInt { base + UInt(slot.number) * UInt(stride) }
}
