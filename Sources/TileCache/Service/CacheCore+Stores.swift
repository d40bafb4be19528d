/// Look-ups in a layer's stores, on workers.
extension CacheCore {
    /// Looks a tile up, nearest store first, and ends its load if one has it.
    ///
    /// - Parameters:
    ///   - held: Validators of the old pixels; `nil` if there are none.
    ///   - hasPixels: Whether old pixels are drawn: stale entries are of no use then.
    ///   - staysHere: Whether only stores that are known to have the tile are used.
    /// - Returns: Notes for the source if none has it; otherwise `nil`.
    func find(
        _ ticket: LoadTicket,
        _ layer: LayerRecord,
        _ tiers: LayerTiers,
        _ held: TileStoreFreshness?,
        hasPixels: Bool,
        staysHere: Bool
    ) -> LoadNotes? {
        let start = clock()
        let notes = LoadNotes(epoch: tiers.prepare(now: start), tiers: tiers, held: held)
        let limit = tiers.limit
        for index in tiers.stores.indices {
            if staysHere, tiers.stores[index].presence(of: tiers.key(of: ticket.key.coordinate)) != .present {
                continue
            }
            var found: (result: LoadResult, isStale: Bool)?
            read(ticket.key.coordinate, of: tiers, at: index, until: limit) { entry, state in
                guard state == .fresh || (state == .stale && !hasPixels && entry.kind != .absent) else {
                    // Without a validator a source cannot confirm it.
                    if entry.freshness.hasValidator {
                        notes.change { $0.note(cached: entry.freshness, in: index) }
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

    /// Ends a load whose source has confirmed the pixels in memory, or the stored entry.
    func confirm(_ ticket: LoadTicket, _ layer: LayerRecord, _ notes: LoadNotes) -> LoadResult {
        let values = notes.now
        guard values.isHeld, let held = values.cached else { return reread(ticket, layer, notes) }
        let renewed = Self.renewed(values.freshness, confirming: held)
        notes.change { $0.freshness = renewed }
        if let tiers = layer.tiers {
            let key = tiers.key(of: ticket.key.coordinate)
            for (index, store) in tiers.stores.enumerated() {
                if !renewed.isStorable {
                    if store.presence(of: key) != .absent { store.remove([key]) }
                } else if values.sameIn >> UInt32(index) & 1 == 1 {
                    // Entries that were not read may have other bytes, which the source has not confirmed.
                    store.renew(key, renewed)
                }
            }
        }
        return .unchanged
    }

    /// The new freshness of a confirmed tile. It keeps the validators that the answer does not replace.
    private static func renewed(
        _ freshness: TileStoreFreshness?,
        confirming cached: TileStoreFreshness
    ) -> TileStoreFreshness {
        var renewed = freshness ?? cached
        guard renewed != .notStored else { return renewed }
        renewed.entityTag = renewed.entityTag ?? cached.entityTag
        renewed.lastModified = renewed.lastModified ?? cached.lastModified
        return renewed
    }

    /// Ends a load whose source has confirmed the stored entry.
    func reread(_ ticket: LoadTicket, _ layer: LayerRecord, _ notes: LoadNotes) -> LoadResult {
        let values = notes.now
        guard let tiers = layer.tiers, let cached = values.cached else {
            return .failed(isPermanent: false, retryAfter: nil)
        }
        let tile = ticket.key.coordinate
        let renewed = Self.renewed(values.freshness, confirming: cached)
        var result: LoadResult?
        read(tile, of: tiers, at: values.cachedIn, until: tiers.limit, counts: false) { entry, _ in
            // Another process may have put other bytes since.
            guard entry.freshness.entityTag == cached.entityTag, entry.freshness.lastModified == cached.lastModified
            else { return .unusable }
            let (written, use) = write(entry, for: ticket, layer, notes)
            if use == .used { result = written }
            // The source would confirm it each time, and the tile never come.
            return use == .used ? .used : .damaged
        }
        // The entry has gone since: the next attempt requests all of it.
        guard let result else { return .failed(isPermanent: false, retryAfter: 0) }
        if !renewed.isStorable {
            // Without room to draw it, the next attempt needs it.
            let key = tiers.key(of: tile)
            // A shared store that cannot confirm a removal removes the whole data set: only if it may have the tile.
            if result != .refused {
                for store in tiers.stores where store.presence(of: key) != .absent { store.remove([key]) }
            }
        } else {
            tiers.stores[values.cachedIn].renew(tiers.key(of: tile), renewed)
        }
        // The store may not have written it yet, and the nearer ones get it too.
        notes.change { $0.freshness = renewed }
        return result
    }

    /// Reads a descendant of a synthesized tile into scratch memory. `nil` if the store has nothing fresh.
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
            // The tile that is made of it would not expire.
            if entry.freshness.expires != nil { tiers.noteExpiry() }
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
        guard tiers.mayRead(tile), !counts || tiers.isWorthAsking(index, store.presence(of: key)) else { return }
        let (start, wall) = (clock(), configuration.wallClock())
        var found = EntryUse.unusable
        _ = store.get(key, shape: tiers.shape(of: tile), deadline: limit) { entry in
            guard tiers.accepts(entry, of: tile) else { return }
            found = use(entry, entry.freshness.state(at: wall))
        }
        if counts { tiers.note(index, hit: found == .used, took: clock() - start) }
        if found == .damaged { store.remove([key]) }
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
            guard let slot = takeSlot(layer: ticket.key.layer, { $0.pool.reserve(ticket.load) }) else {
                return (.refused, .used)
            }
            var pixels = layer.pixels(at: slot.address, level: ticket.key.level)
            use = decode(entry, layer, into: &pixels)
        }
        guard use == .used else { return (.refused, use) }
        if entry.freshness.expires != nil { layer.tiers?.noteExpiry() }
        notes.change { $0.freshness = entry.freshness }
        if entry.kind == .encoded {
            noteEncoded(entry.payload, of: ticket, in: notes)
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
                    let isWhole = withCodec(tileBytes: memory.count) { codec -> Bool in
                        (try? codec.decompress(block, into: memory, width: width, height: height, format: format))
                            != nil
                    }
                    return isWhole.map { $0 ? .used : .damaged } ?? .unusable
                }
                return .used
            }
        }
    }

    /// Calls a closure with a codec that the pool's jobs do not use. `nil` if there is no room for one.
    func withCodec<Result>(tileBytes: Int, _ body: (TileCodec) -> Result) -> Result? {
        let idle = perform { $0.takeStoreCodec(tileBytes: tileBytes) }
        guard let codec = idle ?? makeStoreCodec(tileBytes: tileBytes) else { return nil }
        let result = body(codec.value)
        perform { $0.returnStoreCodec(codec) }
        return result
    }

    /// Makes a codec if the limit has room for it.
    private func makeStoreCodec(tileBytes: Int) -> Transferred<TileCodec>? {
        guard let made = try? TileCodec(maximumTileBytes: tileBytes) else { return nil }
        let codec = Transferred(value: made)
        let bytes = made.scratchByteCount
        guard read({ $0.allowsCodec(scratchBytes: bytes) }) else { return nil }
        makeRoom(for: bytes)
        let isCharged = perform {
            $0.allowsCodec(scratchBytes: bytes) && $0.pool.charge(bytes, to: .stores, inSteps: true)
        }
        return isCharged ? codec : nil
    }
}
