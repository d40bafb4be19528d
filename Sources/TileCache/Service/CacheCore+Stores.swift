import Dispatch
import Synchronization

/// Look-ups in a layer's stores, on workers.
extension CacheCore {
    /// Looks a tile up, nearest store first, and ends its load if one has it.
    ///
    /// - Parameter hasPixels: Whether old pixels are drawn: stale entries are of no use then.
    /// - Returns: What the source is told if none has it; otherwise `nil`.
    func find(_ ticket: LoadTicket, _ layer: LayerRecord, _ tiers: LayerTiers, hasPixels: Bool) -> LoadNotes? {
        let start = clock()
        let notes = LoadNotes(epoch: tiers.prepare(now: start), tiers: tiers)
        let limit = tiers.limit
        for index in tiers.stores.indices {
            var found: (result: LoadResult, isStale: Bool)?
            read(ticket.key.coordinate, of: tiers, at: index, until: limit) { entry, state in
                guard state == .fresh || (state == .stale && !hasPixels && entry.kind != .absent) else {
                    // Without a validator a source cannot confirm it.
                    if entry.freshness.hasValidator {
                        notes.change { ($0.cached, $0.cachedIn) = (entry.freshness, index) }
                    }
                    return .unusable
                }
                let (result, use) = write(entry, for: ticket, layer, notes)
                if use == .used { found = (result, state == .stale) }
                return use
            }
            guard let found else { continue }
            if found.isStale { tiers.noteStale(index) }
            end(ticket, found.result, took: clock() - start, notes: notes, from: index, isStale: found.isStale)
            return nil
        }
        let now = clock()
        notes.change { $0.asked = now }
        return notes
    }

    /// Ends a load whose source has confirmed the stored entry.
    func reread(_ ticket: LoadTicket, _ layer: LayerRecord, _ notes: LoadNotes) -> LoadResult {
        let values = notes.now
        guard let tiers = layer.tiers, let cached = values.cached else {
            return .failed(isPermanent: false, retryAfter: nil)
        }
        let tile = ticket.key.coordinate
        var renewed = values.freshness ?? cached
        if renewed != .notStored {
            renewed.entityTag = renewed.entityTag ?? cached.entityTag
            renewed.lastModified = renewed.lastModified ?? cached.lastModified
        }
        var result: LoadResult?
        read(tile, of: tiers, at: values.cachedIn, until: tiers.limit, counts: false) { entry, _ in
            // Another process may have put other bytes since.
            guard entry.freshness.entityTag == cached.entityTag, entry.freshness.lastModified == cached.lastModified
            else { return .unusable }
            let (written, use) = write(entry, for: ticket, layer, notes)
            if use == .used { result = written }
            return use
        }
        // The entry has gone since: the next attempt asks for all of it.
        guard let result else { return .failed(isPermanent: false, retryAfter: 0) }
        if renewed == .notStored {
            _ = tiers.stores[values.cachedIn].remove([tiers.key(of: tile)])
        } else {
            tiers.stores[values.cachedIn].renew(tiers.key(of: tile), renewed)
        }
        // The store may not have written it yet, and the nearer ones get it too.
        notes.change { $0.freshness = renewed }
        return result
    }

    /// Reads a descendant of a synthesized tile into scratch memory; `nil` if the store has nothing fresh.
    func readStored(
        _ tile: TileCoordinate,
        _ layer: LayerRecord,
        _ tiers: LayerTiers,
        at index: Int,
        into address: UInt
    ) -> LoadResult? {
        _ = tiers.prepare(now: clock())
        var result: LoadResult?
        read(tile, of: tiers, at: index, until: tiers.limit) { entry, state in
            guard state == .fresh else { return .unusable }
            var pixels = layer.pixels(at: address, level: tile.level)
            let use = decode(entry, layer, into: &pixels)
            if use == .used { result = entry.kind == .absent ? .absent : .pixels }
            return use
        }
        return result
    }

    /// What a valid entry was good for.
    private enum EntryUse {
        case used
        /// Not now: out of date, no decoder, or no room for a codec.
        case unusable
        /// Never: it is removed.
        case damaged
    }

    /// Looks a tile up in one store.
    ///
    /// - Parameters:
    ///   - counts: Whether the look-up counts. Default: true.
    ///   - use: Called with a valid entry.
    private func read(
        _ tile: TileCoordinate,
        of tiers: LayerTiers,
        at index: Int,
        until limit: MonotonicTime,
        counts: Bool = true,
        _ use: (TileStoreEntry, TileStoreFreshness.State) -> EntryUse
    ) {
        let (store, key) = (tiers.stores[index], tiers.key(of: tile))
        guard !counts || tiers.isWorthAsking(index, store.presence(of: key)) else { return }
        let (start, wall) = (clock(), configuration.wallClock())
        var found = EntryUse.unusable
        _ = store.get(key, shape: tiers.shape(of: tile), deadline: limit) { entry in
            guard tiers.accepts(entry, of: tile) else { return }
            found = use(entry, entry.freshness.state(at: wall))
        }
        if counts { tiers.note(index, hit: found == .used, took: clock() - start) }
        if found == .damaged { _ = store.remove([key]) }
    }

    /// Writes an entry to a load's slot.
    private func write(
        _ entry: TileStoreEntry,
        for ticket: LoadTicket,
        _ layer: LayerRecord,
        _ notes: LoadNotes
    ) -> (LoadResult, EntryUse) {
        var use = EntryUse.used
        if entry.kind != .absent {
            guard let slot = takeSlot(layer: ticket.key.layer, { $0.pool.reserve(ticket.load, now: $1) }) else {
                return (.refused, .used)
            }
            var pixels = layer.pixels(at: slot.address, level: ticket.key.level)
            use = decode(entry, layer, into: &pixels)
        }
        guard use == .used else { return (.refused, use) }
        if entry.freshness.expires != nil { layer.tiers?.noteExpiry() }
        notes.change { $0.freshness = entry.freshness }
        if entry.kind == .encoded {
            noteEncoded(entry.payload, in: notes)
            _ = keepEncoded(entry.payload, of: ticket)
        }
        return (entry.kind == .absent ? .absent : .pixels, use)
    }

    private func decode(_ entry: TileStoreEntry, _ layer: LayerRecord, into pixels: inout TilePixels) -> EntryUse {
        switch entry.kind {
        case .absent: return .used
        case .encoded:
            guard let decoder = layer.decoder else { return .unusable }
            do throws(TileFailure) {
                try decoder.decode(entry.payload, of: entry.key.tile, into: &pixels)
                return .used
            } catch {
                return .damaged
            }
        case .pixels, .solid, .block:
            let (width, height, format) = (pixels.width, pixels.height, pixels.format)
            return pixels.withUnsafeMutableBytes { memory -> EntryUse in
                switch entry.kind {
                case .pixels where entry.payload.count == memory.count: memory.copyMemory(from: entry.payload)
                case .solid where entry.payload.count == 8:
                    SolidTile.fill(memory, with: UInt64(littleEndian: entry.payload.loadUnaligned(as: UInt64.self)))
                default:
                    let block = entry.payload
                    let isWhole = withCodec(tileBytes: memory.count) { codec in
                        do {
                            try codec.decompress(block, into: memory, width: width, height: height, format: format)
                            return true
                        } catch {
                            return false
                        }
                    }
                    guard let isWhole else { return .unusable }
                    return isWhole ? .used : .damaged
                }
                return .used
            }
        }
    }

    /// Calls a closure with a codec that the pool's jobs do not use; `nil` if there is no room for one.
    private func withCodec<Result>(tileBytes: Int, _ body: (TileCodec) -> Result) -> Result? {
        let idle = storeCodecs.withLock { codecs -> Transferred<TileCodec>? in
            guard let index = codecs.lastIndex(where: { $0.value.maximumTileBytes >= tileBytes }) else { return nil }
            return codecs.remove(at: index)
        }
        if let idle {
            defer { storeCodecs.withLock { $0.append(idle) } }
            return body(idle.value)
        }
        guard let made = try? TileCodec(maximumTileBytes: tileBytes) else { return nil }
        let bytes = made.scratchByteCount
        guard perform({ $0.pool.charge(bytes, to: .stores) }) else { return nil }
        let result = body(made)
        // One is kept. More are needed only while several workers decode at once.
        let codec = Transferred(value: made)
        let isKept = storeCodecs.withLock { codecs -> Bool in
            guard codecs.isEmpty else { return false }
            codecs.append(codec)
            return true
        }
        if !isKept { perform { $0.pool.note(-bytes, in: .stores) } }
        return result
    }
}

/// Writes to a layer's stores, on workers.
extension CacheCore {
    /// Gives a tile to stores. Its pixels are leased, and compressed if there is room for a codec.
    func save(_ work: SaveWork) {
        defer { release([work.lease]) }
        guard let tiers = work.layer.tiers else { return }
        let size = work.layer.sizes[work.save.key.level]
        let pixels = UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: work.address), count: size.bytes)
        let isDone: Void? = withCodec(tileBytes: size.bytes) { codec in
            let format = work.layer.options.format
            switch codec.compress(pixels, width: size.width, height: size.height, format: format) {
            case .solid(let value):
                withUnsafeBytes(of: value.littleEndian) { put(work.save, .solid, $0, tiers) }
            case .block(let block): put(work.save, .block, block, tiers)
            case .raw: put(work.save, .pixels, pixels, tiers)
            }
        }
        if isDone == nil { put(work.save, .pixels, pixels, tiers) }
    }

    /// Gives a payload to the takers of a save.
    func put(
        _ save: SaveQueue.Save,
        _ kind: TileStorePayload,
        _ payload: UnsafeRawBufferPointer,
        _ tiers: LayerTiers
    ) {
        let tile = save.key.coordinate
        let now = configuration.wallClock()
        let freshness = save.freshness ?? TileStoreFreshness(stored: now)
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

    /// Ends what a load noted for the stores: gives them its encoded bytes or its absence at once.
    func settle(_ saving: Saving?, _ ticket: LoadTicket, _ result: LoadResult, _ notes: LoadNotes?) {
        guard let notes else { return }
        let (encoded, wasAsked) = notes.change { values in
            defer { values.encoded = [] }
            return (values.encoded, values.asked != nil)
        }
        let tiers = notes.tiers
        switch saving {
        case .now(let save)?:
            encoded.withUnsafeBytes { put(save, result == .absent ? .absent : .encoded, $0, tiers) }
        case .queued?: break
        case nil: if wasAsked { tiers.giveUp(ticket.key.coordinate) }
        }
        if !encoded.isEmpty { perform { $0.pool.note(-encoded.count, in: .stores) } }
    }

    /// Copies the encoded form of a tile for its stores, if there is room.
    func noteEncoded(_ encoded: UnsafeRawBufferPointer, in notes: LoadNotes) {
        guard encoded.count > 0, notes.change({ $0.encoded.isEmpty }),
            perform({ $0.pool.charge(encoded.count, to: .stores) })
        else { return }
        notes.change { $0.encoded = Array(encoded) }
    }

    /// Gives all tiles whose turn it is to the stores.
    func saveAll() {
        while let next = perform({ $0.nextSave() }) { carryOut(next) }
    }

    func carryOut(_ next: NextSave) {
        switch next {
        case .work(let work): save(work)
        case .lost(let save, let tiers):
            tiers?.noteDropped(save.takers)
            tiers?.giveUp(save.key.coordinate)
        }
    }

    /// Makes stored entries of a layer invalid, and has that made to last.
    func invalidateStored(_ layer: LayerID, _ ranges: [TileRange]?) {
        guard let tiers = read({ $0.record(of: layer)?.tiers }) else { return }
        let persist = tiers.invalidate(ranges)
        activity.enter()
        executor.run(storeQueue) { [self] in
            persist()
            activity.leave()
        }
    }

    /// Updates the bytes that stores hold, at most once a second.
    func noteStoreMemory(now: Int64) {
        let stores = perform { state -> [any TileStore] in
            guard !state.stores.isEmpty, now >= state.storeMemoryDue else { return [] }
            state.storeMemoryDue = now + 1_000_000_000
            return state.stores.map(\.store)
        }
        guard !stores.isEmpty else { return }
        let bytes = stores.reduce(0) { $0 + $1.statistics.memoryBytes }
        perform { state in
            // Without room, which only leases and pins can take, it is tried again.
            if state.pool.charge(bytes - state.storeBytes, to: .stores) { state.storeBytes = bytes }
        }
    }
}

/// A tile to give to stores, with its pixels.
struct SaveWork: Sendable {
    let save: SaveQueue.Save
    let lease: LeaseToken
    let address: UInt
    let layer: LayerRecord
}

/// The next tile to give to stores, or one whose pixels have gone.
enum NextSave: Sendable {
    case work(SaveWork)
    case lost(SaveQueue.Save, LayerTiers?)
}

/// How a loaded tile gets to its stores: at once, with the bytes at hand, or by the queue.
enum Saving: Sendable {
    case now(SaveQueue.Save)
    case queued
}

/// A store that layers name, and the counts of those that are removed.
struct StoreRecord: Sendable {
    let store: any TileStore
    var closed = TileCacheStatistics.StoreCounts()
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
        guard result == .pixels || result == .absent, let tiers = record.tiers, pool.hasLanded(key, result) else {
            return nil
        }
        if notes.now.freshness?.expires != nil { tiers.noteExpiry() }
        // A tile made of others has no expiry of its own.
        if record.makes(key.level), tiers.hasExpiry { return nil }
        let isWanted = ticket.isDemand || pool.isNeeded(key)
        let takers = tiers.takers(before: origin ?? tiers.stores.count, isWanted: isWanted, cost: took)
        let values = notes.now
        var save = SaveQueue.Save(
            key: key,
            layer: record.id,
            takers: takers.drawn,
            cost: took,
            freshness: values.freshness,
            epoch: notes.epoch
        )
        if takers.drawn != 0, result == .pixels {
            if saves.isFull { saves.forget(saves.undrawnKeys.filter { !pool.isUnsaved($0) }) }
            if saves.addUndrawn(save) {
                pool.markUnsaved(key)
            } else {
                tiers.noteDropped(takers.drawn)
            }
        }
        save.takers = takers.now
        defer { chargeSaves() }
        guard takers.now != 0 else { return takers.drawn == 0 ? nil : .queued }
        if result == .absent || !values.encoded.isEmpty { return .now(save) }
        guard saves.add(save) else {
            tiers.noteDropped(takers.now)
            return nil
        }
        effects.wakes = max(effects.wakes, 1)
        return .queued
    }

    /// Queues tiles that have been drawn for the first time.
    mutating func noteDrawn(_ keys: [TileKey]) {
        guard !keys.isEmpty else { return }
        for key in keys {
            if let dropped = saves.noteDrawn(key) { layers[key.layer].tiers?.noteDropped(dropped.takers) }
        }
        effects.wakes = max(effects.wakes, 1)
        chargeSaves()
    }

    /// Takes the next tile to give to stores.
    mutating func nextSave() -> NextSave? {
        guard let save = saves.next() else { return nil }
        chargeSaves()
        guard let record = record(of: save.layer) else { return .lost(save, nil) }
        guard let lease = pool.leaseToSave(save.key) else { return .lost(save, record.tiers) }
        let address = address(of: lease.slot, layer: save.key.layer)
        return .work(SaveWork(save: save, lease: lease, address: address, layer: record))
    }

    /// Counts the waiting tiles' memory. Without room for it, they are not stored.
    mutating func chargeSaves() {
        if !pool.charge(saves.byteCount - saveBytes, to: .stores) {
            saves = SaveQueue()
            pool.note(-saveBytes, in: .stores)
        }
        saveBytes = saves.byteCount
    }

    /// Adds stores that no layer has named before.
    mutating func adopt(_ tiers: LayerTiers) {
        for store in tiers.stores where !stores.contains(where: { $0.store === store }) {
            stores.append(StoreRecord(store: store))
        }
    }

    /// Keeps the counts of a layer that is removed.
    mutating func closeStores(of tiers: LayerTiers) {
        for (store, counts) in zip(tiers.stores, tiers.counts) {
            guard let index = stores.firstIndex(where: { $0.store === store }) else { continue }
            stores[index].closed = stores[index].closed + counts
        }
    }

    /// Counts by store, over all layers.
    borrowing func storeCounts() -> [TileCacheStatistics.StoreCounts] {
        var counts = stores.map(\.closed)
        for layer in layers {
            guard let tiers = layer.tiers else { continue }
            for (store, own) in zip(tiers.stores, tiers.counts) {
                guard let index = stores.firstIndex(where: { $0.store === store }) else { continue }
                counts[index] = counts[index] + own
            }
        }
        return counts
    }
}
