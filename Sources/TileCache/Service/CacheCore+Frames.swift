import Synchronization

/// What the renderer's thread asks for: frames, and the end of what they hold.
extension CacheCore {
    func frame(ofView id: Int) -> TileFrame {
        promoteNeeded(byView: id)
        let now = clock()
        return lock.withLock { state in
            guard !state.isShutDown, var view = state.views[id].take() else { return .empty }
            defer { state.views[id] = view }
            return compose(&view, &state, now: now)
        }
    }

    private func compose(_ view: inout ViewRecord, _ state: inout CoreState, now: Int64) -> TileFrame {
        guard let viewport = view.model.viewport else { return .empty }
        var composed: [ComposedTile] = []
        composed.reserveCapacity(view.lastIdentities.count + 8)
        var coverage = Coverage()
        let composer = FrameComposer(emitsPlacements: true, drawsCompressed: false, now: now)
        for index in view.model.layers.indices {
            composer.compose(
                &view.model.layers[index], viewport: viewport, pool: &state.pool, coverage: &coverage,
                emit: { composed.append($0) },
                timeToSharp: { if view.waits.count < 4096 { view.waits.append($0) } })
        }
        for tile in composed { state.pool.lease(tile.entry) }
        let hold = LeaseHold(
            core: self, tokens: composed.map { LeaseToken(entry: $0.entry, slot: $0.slot, slotClass: $0.slotClass) })
        var identities: [TileIdentity] = []
        identities.reserveCapacity(composed.count)
        var placements: [Placement] = []
        placements.reserveCapacity(composed.count)
        for tile in composed {
            let layer = state.layers[tile.key.layer]
            let size = layer.size(ofLevel: tile.key.level)
            let identity = TileIdentity(
                layer: LayerID(tile.key.layer), tile: tile.key.coordinate, generation: tile.generation)
            identities.append(identity)
            placements.append(
                Placement(
                    tile: LeasedTile(
                        identity: identity, width: size.width, height: size.height, format: layer.options.format,
                        isStale: tile.isStale,
                        address: UInt(
                            bitPattern: state.address(slotClass: Int(tile.slotClass), slot: tile.slot)),
                        byteCount: size.bytes,
                        token: LeaseToken(entry: tile.entry, slot: tile.slot, slotClass: tile.slotClass), hold: hold),
                    worldRectangle: tile.worldRectangle, tileRectangle: tile.tileRectangle, isExact: tile.isExact))
        }
        var appeared: [TileIdentity] = []
        var disappeared: [TileIdentity] = []
        if identities != view.lastIdentities {
            let before = Set(view.lastIdentities)
            let after = Set(identities)
            appeared = after.subtracting(before).sorted()
            disappeared = before.subtracting(after).sorted()
            view.lastIdentities = identities
        }
        return TileFrame(
            placements: placements, appeared: appeared, disappeared: disappeared,
            missingTileCount: coverage.missingTiles, coverage: coverage)
    }

    /// Decompresses needed tiles on the caller's thread, within the view's budget and without waiting for anybody: where
    /// a slot could only be had by compressing another tile first, a worker does it.
    private func promoteNeeded(byView id: Int) {
        let start = clock()
        var done = 0
        while true {
            let begun = perform { state -> (CodecTicket, CodecWork)? in
                guard !state.isShutDown, let budget = state.views[id]?.promotionBudget, done < budget.maximumTiles,
                    done == 0 || clock() - start < budget.maximumNanoseconds, !state.codecs.isEmpty,
                    let number = state.firstCompressedNeed(ofView: id)
                else { return nil }
                guard case .ticket(let ticket) = state.pool.beginPromotion(number, worth: .infinity, now: start) else {
                    return nil
                }
                return (ticket, codecWork(for: ticket, &state))
            }
            guard let (ticket, work) = begun else { return }
            let isIntact = decompress(ticket, work)
            perform { state in
                state.pool.finishPromotion(ticket, isIntact: isIntact)
                state.returnCodec(work.codec)
            }
            if !isIntact { requestPlan() }
            done += 1
        }
    }

    // MARK: - Leases

    func retain(_ token: LeaseToken) {
        lock.withLock { $0.pool.lease(token.entry, slotClass: Int(token.slotClass), slot: token.slot) }
    }

    func release(_ tokens: [LeaseToken]) {
        guard !tokens.isEmpty else { return }
        perform { state in
            for token in tokens {
                state.pool.release(token.entry, slotClass: Int(token.slotClass), slot: token.slot)
            }
            state.pool.settleLimit(now: 0)
        }
    }

    func removeView(_ id: Int) {
        perform { state in
            guard var view = state.views[id].take() else { return }
            for index in view.model.layers.indices { state.pool.clear(&view.model.layers[index].needs) }
            state.closedPan = state.closedPan + view.model.pan
            state.closedZoom = state.closedZoom + view.model.zoom
        }
        setPolicies(nil, ofView: id)
    }
}

extension CoreState {
    /// A needed tile of a view that is resident, but compressed.
    func firstCompressedNeed(ofView id: Int) -> Int32? {
        guard let layers = views[id]?.model.layers else { return nil }
        for layer in layers {
            for number in layer.needs.entries where number >= 0 && pool.table[number].residency == .compressed {
                return number
            }
        }
        return nil
    }

    /// Whether an update is worth a plan: not where the view has long been at rest and nothing is under way.
    func wantsPlan(for view: ViewRecord, now: Int64) -> Bool {
        let restingTime: Int64 = 3_000_000_000
        return view.model.hasMoved || now - view.lastMoved < restingTime || pool.loadCount > 0
    }
}

extension TileFrame {
    static let empty = TileFrame(
        placements: [], appeared: [], disappeared: [], missingTileCount: 0, coverage: Coverage())
}

extension TileIdentity: Comparable {
    /// Orders by layer, tile and generation.
    public static func < (a: TileIdentity, b: TileIdentity) -> Bool {
        if a.layer != b.layer { return a.layer < b.layer }
        if a.tile != b.tile { return a.tile < b.tile }
        return a.generation < b.generation
    }
}
