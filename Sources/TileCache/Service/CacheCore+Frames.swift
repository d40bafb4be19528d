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
        let count = view.lastIdentities.count + 8
        var composed: [ComposedTile] = []
        composed.reserveCapacity(count)
        var coverage = Coverage()
        let composer = FrameComposer(emitsPlacements: true, drawsCompressed: false, now: now)
        var waits: [Int64] = []
        for index in view.model.layers.indices {
            composer.compose(
                &view.model.layers[index],
                viewport: viewport,
                pool: &state.pool,
                coverage: &coverage,
                emit: { composed.append($0) },
                timeToSharp: { waits.append($0) }
            )
        }
        var tokens: [LeaseToken] = []
        tokens.reserveCapacity(composed.count)
        var look: LayerLook?
        for tile in composed {
            if look?.layer != tile.key.layer { look = LayerLook(state.layers[tile.key.layer], state) }
            state.pool.lease(tile.entry)
            tokens.append(LeaseToken(entry: tile.entry, slot: tile.slot, slotClass: look!.slotClass))
        }
        let hold = LeaseHold(core: self, tokens: tokens)
        // The library writes even into the empty array that all share, which ThreadSanitizer rightly calls a race.
        let placements =
            composed.isEmpty
            ? []
            : [Placement](unsafeUninitializedCapacity: composed.count) { buffer, filled in
                for (index, tile) in composed.enumerated() {
                    if look?.layer != tile.key.layer { look = LayerLook(state.layers[tile.key.layer], state) }
                    buffer.initializeElement(at: index, to: look!.placement(of: tile, token: tokens[index], hold: hold))
                    filled = index + 1
                }
            }
        if view.waits.count < 4096 { view.waits += waits }
        var frame = TileFrame(placements: placements, missingTileCount: coverage.missingTiles, coverage: coverage)
        if !frame.draws(view.lastIdentities) {
            let identities = placements.map(\.tile.identity)
            let before = Set(view.lastIdentities)
            let after = Set(identities)
            frame.appeared = after.subtracting(before).sorted()
            frame.disappeared = before.subtracting(after).sorted()
            view.lastIdentities = identities
        }
        return frame
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
    static let empty = TileFrame(placements: [], missingTileCount: 0, coverage: Coverage())

    /// Whether the placements show these tiles in this order: nothing came and nothing went.
    func draws(_ identities: [TileIdentity]) -> Bool {
        guard placements.count == identities.count else { return false }
        for index in placements.indices where placements[index].tile.identity != identities[index] { return false }
        return true
    }
}

/// What placing a layer's tiles takes, looked up once for all of them.
private struct LayerLook {
    let id: LayerID
    var layer: Int { id.index }
    let format: PixelFormat
    let slotClass: Int32
    let base: UInt
    let slotBytes: Int
    let sizes: [LayerRecord.TileSize]

    init(_ layer: LayerRecord, _ state: borrowing CoreState) {
        id = layer.id
        format = layer.options.format
        slotClass = Int32(layer.slotClass)
        base = UInt(bitPattern: state.slotRegions[layer.slotClass].base)
        slotBytes = state.pool.slots[layer.slotClass].slotBytes
        sizes = layer.sizes
    }

    func placement(of tile: ComposedTile, token: LeaseToken, hold: LeaseHold) -> Placement {
        let coordinate = tile.key.coordinate
        let size = sizes[coordinate.level]
        return Placement(
            tile: LeasedTile(
                identity: TileIdentity(layer: id, tile: coordinate, generation: tile.generation),
                width: size.width,
                height: size.height,
                format: format,
                isStale: tile.isStale,
                address: base + UInt(tile.slot) * UInt(slotBytes),
                byteCount: size.bytes,
                token: token,
                hold: hold
            ),
            worldRectangle: tile.worldRectangle,
            tileRectangle: tile.tileRectangle,
            isExact: tile.isExact
        )
    }
}

extension TileIdentity: Comparable {
    /// Orders by layer, tile and generation.
    public static func < (a: TileIdentity, b: TileIdentity) -> Bool {
        if a.layer != b.layer { return a.layer < b.layer }
        if a.tile != b.tile { return a.tile < b.tile }
        return a.generation < b.generation
    }
}
