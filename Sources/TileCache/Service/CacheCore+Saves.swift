import Dispatch

/// Writes to a layer's stores, on workers.
extension CacheCore {
    /// Gives a tile to stores. Its pixels are leased, and compressed if there is room for a codec.
    private func put(_ save: SaveQueue.Save, at address: UInt, _ layer: LayerRecord) {
        guard let tiers = layer.tiers else { return }
        let size = layer.sizes[save.key.level]
        let pixels = UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: address), count: size.bytes)
        let isDone: Void? = withCodec(tileBytes: size.bytes) { codec in
            let format = layer.options.format
            switch codec.compress(pixels, width: size.width, height: size.height, format: format) {
            case .solid(let value): withUnsafeBytes(of: value.littleEndian) { put(save, .solid, $0, tiers) }
            case .block(let block): put(save, .block, block, tiers)
            case .raw: put(save, .pixels, pixels, tiers)
            }
        }
        if isDone == nil { put(save, .pixels, pixels, tiers) }
    }

    /// Gives a payload to the takers of a save.
    private func put(
        _ save: SaveQueue.Save,
        _ kind: TileStorePayload,
        _ payload: UnsafeRawBufferPointer,
        _ tiers: LayerTiers
    ) {
        let tile = save.key.coordinate
        let now = configuration.wallClock()
        let stated = save.freshness ?? TileStoreFreshness(stored: now)
        let freshness = stated.isStorable ? stated : .notStored
        // An entry that no look-up can use replaces an older one, and has none of the bytes: an answer that must not be
        // kept.
        let isUseless = freshness.isUseless(at: now)
        let entry = TileStoreEntry(
            key: tiers.key(of: tile),
            shape: tiers.shape(of: tile),
            generation: save.epoch.generation,
            freshness: freshness,
            kind: isUseless ? .absent : kind,
            payload: isUseless ? UnsafeRawBufferPointer(start: nil, count: 0) : payload
        )
        tiers.put(entry, to: save.takers, cost: save.cost, epoch: save.epoch, replacesOnly: isUseless)
    }

    /// Gives the stores what a load noted for them: its encoded bytes or its absence.
    func settle(_ saving: Saving?, _ ticket: LoadTicket, _ result: LoadResult, _ notes: LoadNotes?) {
        guard let notes, let tiers = notes.tiers else { return }
        let (encoded, wasAsked) = notes.change { values in
            defer { values.encoded = [] }
            return (values.encoded, values.asked != nil)
        }
        switch saving {
        case .now(let save)?:
            encoded.withUnsafeBytes { put(save, result == .absent ? .absent : .encoded, $0, tiers) }
        case .queued?: break
        case nil: if wasAsked { tiers.giveUp(ticket.key.coordinate) }
        }
        if !encoded.isEmpty { perform { $0.pool.note(-encoded.count, in: .copies) } }
    }

    /// Copies the encoded form of a tile for its stores, if there is room and a decoder that will read it.
    func noteEncoded(_ encoded: UnsafeRawBufferPointer, of ticket: LoadTicket, in notes: LoadNotes) {
        guard encoded.count > 0, notes.tiers != nil, notes.change({ $0.encoded.isEmpty }),
            perform({
                $0.layers[ticket.key.layer].decoder != nil && $0.pool.charge(encoded.count, to: .copies, inSteps: true)
            })
        else { return }
        notes.change { $0.encoded = Array(encoded) }
    }

    /// Gives the tiles whose turn it is to the stores.
    func saveAll(until end: DispatchTime) {
        // Workers may add as many as are given away: without a bound, that might not end.
        for _ in 0..<SaveQueue.mostReady where .now() < end {
            guard let next = perform({ $0.nextSave() }) else { return }
            carryOut(next)
        }
    }

    func carryOut(_ next: NextSave) {
        switch next {
        case .tile(let save, let lease, let address, let layer):
            put(save, at: address, layer)
            release([lease])
        case .lost(let lost): giveUp(lost)
        }
    }

    /// Tells the stores of a tile that they do not get.
    func giveUp(_ lost: LostSave) { lost.tiers.giveUp(lost.tile, in: lost.takers) }

    /// Has an invalidation of stored entries made to last. The caller has entered the activity.
    func persist(_ invalidation: LayerTiers.Invalidation, of tiers: LayerTiers) {
        executor.interleave?()
        tiers.endWrites(before: invalidation)
        // A forked child process has no thread for it.
        guard !isForked else { return activity.leave() }
        executor.run(storeQueue) { [self] in
            tiers.persist(invalidation)
            perform { state in
                guard state.stores.endInvalidation(of: tiers.namespace) else { return }
                for layer in state.layers where layer.tiers?.namespace == tiers.namespace { layer.tiers?.open() }
            }
            activity.leave()
        }
    }
}

/// The next tile to give to stores, or one whose pixels have gone.
enum NextSave: Sendable {
    case tile(SaveQueue.Save, LeaseToken, address: UInt, LayerRecord)
    case lost(LostSave)
}

/// A tile that is not stored after all.
struct LostSave: Sendable {
    let tiers: LayerTiers
    let tile: TileCoordinate
    let takers: UInt32
}

extension LayerTiers {
    fileprivate func lose(_ tile: TileCoordinate, for takers: UInt32) -> LostSave {
        noteDropped(takers)
        return LostSave(tiers: self, tile: tile, takers: takers)
    }
}

/// How a loaded tile gets to its stores. At once, with the bytes at hand, or by the queue.
enum Saving: Sendable {
    case now(SaveQueue.Save)
    case queued
}

extension CoreState {
    /// Decides which stores get a loaded tile, and when.
    ///
    /// - Parameter origin: Store that had the tile; `nil` for the source.
    /// - Returns: What to give to them at once.
    mutating func queueSave(
        _ ticket: LoadTicket,
        _ result: LoadResult,
        took: Int64,
        _ notes: LoadNotes,
        from origin: Int?
    ) -> Saving? {
        let (key, record) = (ticket.key, layers[ticket.key.layer])
        guard result == .pixels || result == .absent, let tiers = record.tiers else { return nil }
        let values = notes.now
        // All of this counts for tiles that an invalidation under way may spare, too.
        if values.freshness?.isLasting == false { tiers.noteExpiry() }
        // What waits of an earlier load would be stored with its freshness, and with the pixels of this one.
        let waiting = saves.isEmpty ? 0 : changeSaves { $0.forgetAll(of: key) }
        if values.hasHoles { pool.mark(key, .holes) }
        let hasLanded = pool.hasLanded(key, result) || values.freshness?.isStorable == false
        // A tile made of others has neither expiry nor generation of its own. One with holes may be made whole later.
        guard hasLanded, !record.makes(key.level) || (!values.hasHoles && tiers.keepsMadeTiles) else {
            if waiting != 0 { effects.lostSaves.append(tiers.lose(key.coordinate, for: waiting)) }
            return nil
        }
        let isWanted = ticket.isDemand || pool.isNeeded(key)
        var takers = tiers.takers(before: origin ?? tiers.stores.count, isWanted: isWanted, cost: took)
        takers = (takers.now | waiting, takers.drawn & ~waiting)
        let undrawn = SaveQueue.Save(
            key: key,
            layer: record.id,
            takers: takers.drawn,
            cost: took,
            freshness: values.freshness,
            epoch: notes.epoch
        )
        if values.freshness?.isStorable == false {
            // It replaces older entries: that cannot wait for room in the queue, nor until the tile is drawn.
            var save = undrawn
            save.takers |= takers.now
            return .now(save)
        }
        if takers.drawn != 0, result == .pixels {
            queueUndrawn(undrawn)
        } else if takers.drawn != 0 {
            // An absent tile is never drawn.
            effects.lostSaves.append(LostSave(tiers: tiers, tile: key.coordinate, takers: takers.drawn))
        }
        guard takers.now != 0 else { return takers.drawn == 0 ? nil : .queued }
        var save = undrawn
        save.takers = takers.now
        if result == .absent || !values.encoded.isEmpty { return .now(save) }
        guard changeSaves({ $0.add(save) }) else {
            tiers.noteDropped(takers.now)
            return nil
        }
        effects.wakes = max(effects.wakes, 1)
        return .queued
    }

    /// Queues a tile until it is drawn. In a full queue it takes the place of those that have gone.
    private mutating func queueUndrawn(_ save: SaveQueue.Save) {
        let gone = saves.isFull ? saves.undrawnKeys.filter { !pool.isUnsaved($0) } : []
        let (isWaiting, lost) = changeSaves { saves in
            let forgotten = gone.compactMap { saves.forget($0) }
            return saves.addUndrawn(save) ? (true, forgotten) : (false, forgotten + [save])
        }
        if isWaiting { pool.mark(save.key, .unsaved) }
        effects.lostSaves += lost.compactMap { lose($0) }
    }

    /// Queues tiles that have been drawn for the first time.
    mutating func noteDrawn(_ keys: [TileKey]) {
        guard !keys.isEmpty else { return }
        let lost = changeSaves { saves in keys.compactMap { saves.noteDrawn($0) } }
        effects.lostSaves += lost.compactMap { lose($0) }
        effects.wakes = max(effects.wakes, 1)
    }

    /// Takes the next tile to give to stores.
    mutating func nextSave() -> NextSave? {
        while saves.readyCount > 0, let save = changeSaves({ $0.next() }) {
            guard let record = record(of: save.layer), let tiers = record.tiers else { continue }
            guard let lease = pool.leaseToSave(save.key) else {
                return .lost(tiers.lose(save.key.coordinate, for: save.takers))
            }
            return .tile(save, lease, address: address(of: lease.slot, layer: save.key.layer), record)
        }
        return nil
    }

    /// Forgets tiles that wait for their stores.
    mutating func loseSaves(where isLost: (SaveQueue.Save) -> Bool) {
        effects.lostSaves += saves.all.filter(isLost).compactMap { lose($0) }
        changeSaves { $0.forget(where: isLost) }
    }

    /// Counts a tile that is not stored after all. Returns what to tell its stores.
    func lose(_ save: SaveQueue.Save) -> LostSave? {
        layers[save.key.layer].tiers?.lose(save.key.coordinate, for: save.takers)
    }
}
