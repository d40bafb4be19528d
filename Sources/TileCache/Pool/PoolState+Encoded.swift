/// Payloads: encoded bytes (JPEG, WebP) that a source hands over. They lie in pages beside the decoded pixels and
/// replace the LZ4 block if they are smaller.
extension PoolState {
    /// Takes pages for a load's payload. `nil` if it is not worth keeping or has no room. Only unused memory, and tiles
    /// that keep their own payload, make way.
    ///
    /// - Parameter checksum: Checksum of the bytes, compared before they are decoded.
    mutating func reserveEncoded(_ ticket: LoadTicket, bytes: Int, checksum: UInt64) -> PageAllocator.Block? {
        guard let load = loads[ticket], load.slot != .none, load.encoded == .none else { return nil }
        let own = table[load.entry].key.layer
        let layer = layers[own]
        if layers.haveShares, usedBytes(ofLayer: own) + bytes > maximumBytes(ofLayer: own) { return nil }
        guard configuration.compressedTier, layer.isCompressible, bytes > 0, bytes <= Int32.max,
            TileCodec.keeps(blockByteCount: bytes, of: tileBytes(of: table[load.entry].key))
        else { return nil }
        // Much larger than compressed tiles of the layer.
        if layer.meanBlockBytes > 0, bytes > 2 * layer.meanBlockBytes { return nil }
        let worth = worth(of: load)
        while !makePages(for: bytes, of: load.entry) {
            guard hold.left > 0 else { return nil }
            let victim = coldest(of: .decoded, worth: worth, for: own)
            guard victim != .none, demoteToEncoded(victim) else { return nil }
        }
        let block = allocate(bytes: bytes, ofLayer: own)
        loads.change(ticket.load) { $0.encoded = .encoded(checksum: checksum, block) }
        return block
    }

    /// Whether a tile's payload is smaller than its block would be. Known by comparison, or half the layer's mean.
    func prefersEncoded(_ number: EntryID) -> Bool {
        let entry = table[number]
        guard entry.form.isEncoded else { return false }
        return entry.flags.contains(.encodedIsSmaller)
            || entry.form.byteCount * 2 <= layers[entry.key.layer].meanBlockBytes
    }

    /// Drops the pixels of a tile whose payload is its compressed form. Returns whether it did. Nothing is compressed.
    mutating func demoteToEncoded(_ number: EntryID) -> Bool {
        guard table[number].residency == .decoded, !table[number].flags.contains(.stale), prefersEncoded(number) else {
            return false
        }
        moveToEncoded(number)
        return true
    }

    mutating func moveToEncoded(_ number: EntryID) {
        let form = table[number].form
        hold.spend()
        noteDemotion(number, blockBytes: form.byteCount)
        moveToCompressed(number, form)
    }

    /// Drops a tile's payload.
    mutating func dropEncoded(of number: EntryID) {
        guard table[number].form.isEncoded else { return }
        free(table[number].form, ofLayer: table[number].key.layer)
        table.stage(number) {
            $0.form = .none
            $0.flags.remove(.encodedIsSmaller)
        }
    }

    /// Maximum tiles searched for a payload per list; the next call continues behind them.
    private static let payloadSteps = 1024

    /// Drops payloads of decoded tiles that cannot be evicted; returns whether there were any. The tiles only lose a
    /// smaller compressed form.
    mutating func shedEncoded(_ bytes: Int) -> Bool {
        guard counters.tiers.encodedPayloads > 0 else { return false }
        let wanted = configuration.paged(bytes) / pages.pageBytes
        let before = pages.unusedCount
        var passed = 0
        defer { hold.pass(passed) }
        for list in [EntryList.needed, .pinned, .held] {
            for _ in 0..<min(table.lists.count(of: list), Self.payloadSteps) where pages.unusedCount - before < wanted {
                let number = table.lists.tail(of: list)
                if table[number].residency.isDecoded { dropEncoded(of: number) }
                table.rotate(number, layers)
                passed += 1
            }
        }
        return pages.unusedCount > before
    }

    /// Counts the encoded bytes that a source holds for a load, replacing the former number. Grants all of them.
    mutating func holdEncoded(_ ticket: LoadTicket, bytes: Int) -> Admission<Int> {
        guard let load = loads[ticket], bytes >= 0 else { return .refused }
        let growth = bytes - load.heldBytes
        if growth > 0 {
            // Bytes that would not fit an empty pool evict nothing.
            let layer = table[load.entry].key.layer
            let room: Admission<Void> =
                fitsHeld(growth) ? makeBytes(growth, worth: worth(of: load), layer: layer) : .refused
            if case .refused = room, !hold.isInterrupted {
                let pages = configuration.paged(bytes) / self.pages.pageBytes
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

    /// Ends the load of a tile of which a synthesized one is made: the bytes that the source holds for it go.
    ///
    /// - Returns: Its result. Refused if it failed after a refusal of memory, which then stays noted for the tile.
    mutating func endChild(of ticket: LoadTicket, _ answer: LoadResult) -> LoadResult {
        guard let load = loads[ticket] else { return answer }
        let result = outcome(answer, of: load)
        loads.change(ticket.load) {
            $0.heldBytes = 0
            if result != .refused { $0.refusedPages = nil }
        }
        ledger.noteHeld(-load.heldBytes)
        noteReturned()
        return result
    }

    /// Counts a copy of a payload for its decoder; returns whether there is room.
    mutating func reserveForDecode(_ ticket: CodecTicket) -> Bool {
        guard ticket.form.isEncoded, !isOverLimit, fitsHeld(ticket.form.byteCount), makeBytes(ticket.form.byteCount)
        else { return false }
        ledger.noteHeld(ticket.form.byteCount)
        noteTaken()
        return true
    }

    /// Returns the codec once the payload is copied.
    mutating func beginDecode() { codecJobs.end() }

    /// Counts the copy out again; the promotion is still to be finished.
    mutating func finishDecode(_ ticket: CodecTicket) {
        ledger.noteHeld(-ticket.form.byteCount)
        codecJobs.resume()
        noteReturned()
    }

    /// Whether the limit has room for more held bytes if all tiles were evicted.
    private func fitsHeld(_ bytes: Int) -> Bool {
        bytes <= ledger.limit - ledger.heldBytes - countedBookkeepingBytes
    }

    /// Counts a demotion.
    mutating func noteDemotion(_ number: EntryID, blockBytes: Int) {
        counters.tiers.demotions += 1
        counters.tiers.demotedRawBytes += tileBytes(of: table[number].key)
        counters.tiers.demotedBlockBytes += blockBytes
    }
}
