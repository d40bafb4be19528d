/// Tiles whose source hands its own encoded bytes (JPEG, WebP) over: a payload that lies in pages beside the decoded
/// pixels and takes the place of an LZ4 block where it is the smaller of the two.
extension PoolState {
    /// Takes pages for what the source of a load hands over; `nil` where it would not be kept or has no room. Only memory
    /// that nothing uses, and tiles whose own payload stays, make way for it.
    ///
    /// - Parameter checksum: of the bytes, so that damage is noticed when they are decoded.
    mutating func reserveEncoded(
        _ ticket: LoadTicket,
        bytes: Int,
        checksum: UInt64,
        now: Int64
    ) -> PageAllocator.Block? {
        guard let load = loads[ticket], load.slot != .none, load.encoded == .none else { return nil }
        let own = table[load.entry].key.layer
        let layer = layers[own]
        if hasShares, usedBytes(ofLayer: own) + bytes > maximumBytes(ofLayer: own) { return nil }
        guard configuration.compressedTier, layer.isCompressible, bytes > 0, bytes <= Int32.max,
            TileCodec.keeps(blockByteCount: bytes, of: tileBytes(of: table[load.entry].key))
        else { return nil }
        // Far larger than what compression makes of such tiles: not worth its memory until that is found out for certain.
        if layer.meanBlockBytes > 0, bytes > 2 * layer.meanBlockBytes { return nil }
        let worth = load.isDemand ? Float.infinity : load.value - queue.plan.margin
        while !makePages(for: bytes, of: load.entry, now: now) {
            let victim = coldest(of: .decoded, worth: worth, now: now, for: own)
            guard victim != .none, demoteToEncoded(victim) else { return nil }
        }
        let block = allocate(bytes: bytes, ofLayer: own)
        loads.change(ticket.load) { $0.encoded = .encoded(checksum: checksum, block) }
        return block
    }

    /// Whether a decoded tile's payload is known to be smaller than what compression would make of it: found out by a
    /// comparison, or half of what that usually comes to.
    func prefersEncoded(_ number: EntryID) -> Bool {
        let entry = table[number]
        guard entry.form.isEncoded else { return false }
        return entry.flags.contains(.encodedIsSmaller)
            || entry.form.byteCount * 2 <= layers[entry.key.layer].meanBlockBytes
    }

    /// Gives up the pixels of a tile whose payload is its compressed form; whether it is such a one. Nothing is
    /// compressed or copied for it.
    mutating func demoteToEncoded(_ number: EntryID) -> Bool {
        guard table[number].residency == .decoded, !table[number].flags.contains(.stale), prefersEncoded(number) else {
            return false
        }
        moveToEncoded(number)
        return true
    }

    mutating func moveToEncoded(_ number: EntryID) {
        let form = table[number].form
        noteDemotion(number, blockBytes: form.byteCount)
        moveToCompressed(number, form)
    }

    /// Gives a tile's payload up.
    mutating func dropEncoded(of number: EntryID) {
        guard table[number].form.isEncoded else { return }
        free(table[number].form, ofLayer: table[number].key.layer)
        table[number].form = .none
        table[number].flags.remove(.encodedIsSmaller)
    }

    /// Tiles that are looked at for a payload at most; the next call goes on behind them.
    private static let payloadSteps = 1024

    /// Gives up payloads of decoded tiles that cannot go themselves, for what is needed and finds no other room;
    /// whether there were any. Their tiles lose nothing but a smaller form later on.
    mutating func shedEncoded(_ bytes: Int) -> Bool {
        guard counters.encodedKept > 0 else { return false }
        let wanted = (bytes + PageAllocator.pageBytes - 1) / PageAllocator.pageBytes
        let before = pages.unusedCount
        for list in [EntryList.needed, .pinned, .held] {
            for _ in 0..<min(lists.count(of: list), Self.payloadSteps) where pages.unusedCount - before < wanted {
                let number = lists.tail(of: list)
                if table[number].residency.isDecoded { dropEncoded(of: number) }
                lists.rotate(number, in: table)
            }
        }
        return pages.unusedCount > before
    }

    /// Counts encoded bytes that a source holds for a load in its own memory, in the place of what it held before;
    /// grants all of them.
    mutating func holdEncoded(_ ticket: LoadTicket, bytes: Int, now: Int64) -> Admission<Int> {
        guard let load = loads[ticket], bytes >= 0 else { return .refused }
        let growth = bytes - load.heldBytes
        if growth > 0 {
            // Nothing is evicted for what would not fit an empty pool.
            let layer = table[load.entry].key.layer
            let room: Admission<Void> =
                fitsHeld(growth) ? makeBytes(growth, worth: worth(of: load), layer: layer, now: now) : .refused
            if case .refused = room {
                let pages = bytes / PageAllocator.pageBytes + (bytes % PageAllocator.pageBytes == 0 ? 0 : 1)
                loads.change(ticket.load) { $0.refusedPages = UInt16(clamping: pages) }
            }
            guard room.isGranted else { return room.map { bytes } }
        }
        loads.change(ticket.load) {
            $0.heldBytes = bytes
            $0.refusedPages = nil
        }
        ledger.noteHeld(growth)
        noteTaken()
        return .granted(bytes)
    }

    /// Counts a copy of a payload for its decoder; whether there is room for it.
    mutating func reserveForDecode(_ ticket: CodecTicket) -> Bool {
        guard ticket.form.isEncoded, !isOverLimit, fitsHeld(ticket.form.byteCount), makeBytes(ticket.form.byteCount)
        else { return false }
        ledger.noteHeld(ticket.form.byteCount)
        noteTaken()
        return true
    }

    /// The copy is made: the codec is another's now.
    mutating func beginDecode() { codecJobs -= 1 }

    /// The decoder has returned and its copy is gone; the promotion or look still is to be finished.
    mutating func finishDecode(_ ticket: CodecTicket) {
        ledger.noteHeld(-ticket.form.byteCount)
        codecJobs += 1
    }

    /// Whether so many bytes more could be held beside what is held already, if all tiles went.
    private func fitsHeld(_ bytes: Int) -> Bool {
        bytes <= ledger.limit - ledger.heldBytes - countedBookkeepingBytes
    }

    /// Counts a tile that gives its slot up for a smaller form.
    mutating func noteDemotion(_ number: EntryID, blockBytes: Int) {
        counters.demotions += 1
        counters.demotedRawBytes += tileBytes(of: table[number].key)
        counters.demotedBlockBytes += blockBytes
    }

    /// Learns what compression makes of a layer's tiles: an exponential mean over about eight.
    mutating func noteBlock(bytes: Int, layer: Int) {
        let mean = layers[layer].meanBlockBytes
        layers[layer].meanBlockBytes = mean == 0 ? bytes : mean + (bytes - mean) / 8
    }
}
