/// A compression or decompression that has begun; what it holds is its own until its end.
struct CodecTicket: Hashable, Sendable {
    var entry: EntryID
    /// Must still be the entry's `work`, or the result is nobody's.
    var work: UInt32
    var key: TileKey
    /// The slot that is read (demotion) or written (promotion).
    var slot: SlotID
    /// What is read (promotion) or where the block goes (store).
    var form: ColdForm
}

/// What became of a promotion.
enum PromotionResult: Hashable, Sendable {
    /// The pixels stand in their slot.
    case pixels
    /// The block is not what was stored.
    case damaged
    /// The source could not decode what it had handed over.
    case undecodable
}

/// What compressing a tile gave.
enum DemotionResult: Hashable, Sendable {
    /// One pixel value says it all.
    case solid(UInt64)
    /// A block of this many bytes.
    case block(Int)
    /// It would not become smaller.
    case incompressible
}

/// Moves between the tiers. Each is begun under the lock, done outside of it, and finished under it.
extension PoolState {
    /// Begins to compress or decompress a tile, which is held like a leased one meanwhile.
    mutating func beginWork(on number: EntryID, as residency: Residency, slot: SlotID = .none) -> CodecTicket {
        codecJobs += 1
        layers[table[number].key.layer].jobs += 1
        table[number].work = nameWork()
        table[number].leaseCount += 1
        change(number) { $0.residency = residency }
        let entry = table[number]
        return CodecTicket(
            entry: number,
            work: entry.work,
            key: entry.key,
            slot: slot,
            form: residency == .promoting ? entry.form : .none
        )
    }

    mutating func endJob(ofLayer layer: Int) {
        codecJobs -= 1
        layers[layer].jobs -= 1
        if layers[layer].isRemoved { effects.plans = true }
    }

    /// Begins to compress a decoded tile.
    mutating func beginDemotion(_ number: EntryID) -> CodecTicket {
        beginWork(on: number, as: .demoting, slot: table[number].slot)
    }

    /// Ends a compression. Where the tile is still cold, its slot is free now and the answer says where the block goes;
    /// the caller copies it there and calls `finishStore`.
    mutating func finishDemotion(_ ticket: CodecTicket, _ result: DemotionResult, now: Int64) -> CodecTicket? {
        let number = ticket.entry
        var stored: CodecTicket?
        // Until a block is copied its codec is still busy.
        defer { if stored == nil { endJob(ofLayer: ticket.key.layer) } }
        guard isCurrent(ticket) else {
            let slotClass = Int32(layers[ticket.key.layer].slotClass)
            release(LeaseToken(entry: number, slot: ticket.slot, slotClass: slotClass))
            return nil
        }
        table[number].leaseCount -= 1
        // Off its list, until it is known where it belongs.
        table[number].residency = .decoded
        if table[number].isPinned || table[number].flags.contains(.stale) {
            relist(number)
            return nil
        }
        let layer = ticket.key.layer
        switch result {
        case .incompressible: noteBlock(bytes: tileBytes(of: ticket.key), layer: layer)
        case .block(let bytes): noteBlock(bytes: bytes, layer: layer)
        case .solid: break
        }
        if table[number].form.isEncoded {
            if keepsEncoded(over: result, of: number) {
                table[number].flags.insert(.encodedIsSmaller)
                moveToEncoded(number)
                return nil
            }
            dropEncoded(of: number)
        }
        switch result {
        case .incompressible:
            counters.demotions += 1
            counters.storedRaw += 1
            drop(number, cause: .incompressible)
            return nil
        case .solid(let value):
            counters.demotions += 1
            moveToCompressed(number, .solid(value))
            return nil
        case .block(let bytes):
            noteDemotion(number, blockBytes: bytes)
            moveToCompressed(number, .none)
            guard makePages(for: bytes, of: number, now: now) else {
                drop(number, cause: .capacity)
                return nil
            }
            stored = ticket
            stored?.form = .block(allocate(bytes: bytes, ofLayer: layer))
            change(number) {
                $0.form = stored?.form ?? .none
                $0.residency = .storing
            }
            return stored
        }
    }

    /// Whether what the source delivered is the smaller form.
    private func keepsEncoded(over result: DemotionResult, of number: EntryID) -> Bool {
        switch result {
        case .solid: false
        case .incompressible: true
        case .block(let bytes): table[number].form.byteCount <= bytes
        }
    }

    /// The block stands in its pages. A tile that has come into view meanwhile has to be decompressed again.
    mutating func finishStore(_ ticket: CodecTicket) {
        endJob(ofLayer: ticket.key.layer)
        guard isCurrent(ticket), table[ticket.entry].residency == .storing else {
            free(ticket.form, ofLayer: ticket.key.layer)
            return
        }
        change(ticket.entry) { $0.residency = .compressed }
        if table[ticket.entry].needCount > 0 { effects.plans = true }
    }

    /// Takes a slot for a compressed tile's pixels and begins to decompress it.
    mutating func beginPromotion(_ number: EntryID, worth: Float, now: Int64) -> Admission<CodecTicket> {
        guard table[number].residency == .compressed else { return .refused }
        // Held, so that making room cannot evict the very tile that it is made for.
        table[number].leaseCount += 1
        let room = acquireSlot(layer: table[number].key.layer, worth: worth, now: now)
        table[number].leaseCount -= 1
        return room.map { beginWork(on: number, as: .promoting, slot: $0) }
    }

    /// Begins to decompress a tile to memory that is no slot of its own. `nil` if it is not compressed, or being moved.
    mutating func beginPeek(_ number: EntryID) -> CodecTicket? {
        table[number].residency == .compressed ? beginWork(on: number, as: .promoting) : nil
    }

    /// Ends a decompression. A damaged block leaves the pool, and its tile is a miss that is loaded again. If it was to
    /// memory that is no slot of the tile, the tile is as compressed as before.
    mutating func finishPromotion(_ ticket: CodecTicket, _ result: PromotionResult = .pixels) {
        endJob(ofLayer: ticket.key.layer)
        // The tile has to be loaded again.
        if result != .pixels { effects.plans = true }
        let number = ticket.entry
        let isCurrent = isCurrent(ticket)
        let isPeek = ticket.slot == .none
        if !isPeek, !isCurrent || result != .pixels { giveBack(slot: ticket.slot, ofLayer: ticket.key.layer) }
        guard isCurrent else { return free(ticket.form, ofLayer: ticket.key.layer) }
        table[number].leaseCount -= 1
        guard result == .pixels else {
            if result == .damaged { counters.damagedBlocks += 1 } else { counters.undecodable += 1 }
            return drop(number, cause: .damaged)
        }
        guard !isPeek else {
            change(number) { $0.residency = .compressed }
            // A view may wait for the tile by now.
            if table[number].needCount > 0 { effects.plans = true }
            return
        }
        counters.promotions += 1
        // What the source delivered stays: the way back down costs nothing then.
        if !ticket.form.isEncoded { free(ticket.form, ofLayer: ticket.key.layer) }
        lastStamp += 1
        let stamp = lastStamp
        change(number) {
            if !$0.form.isEncoded { $0.form = .none }
            $0.slot = ticket.slot
            $0.residency = .decoded
            $0.stamp = stamp
        }
        notePeaks()
    }

    func isCurrent(_ ticket: CodecTicket) -> Bool {
        table[ticket.entry].key == ticket.key && table[ticket.entry].work == ticket.work
    }

    /// Releases a decoded tile's slot and lists the entry as compressed.
    mutating func moveToCompressed(_ number: EntryID, _ form: ColdForm) {
        giveBack(slot: table[number].slot, ofLayer: table[number].key.layer)
        lastStamp += 1
        let stamp = lastStamp
        change(number) {
            $0.slot = .none
            $0.residency = .compressed
            $0.stamp = stamp
            $0.form = form
        }
    }

    private func worthOfKeeping(_ number: EntryID, now: Int64) -> Float {
        guard configuration.eviction == .value else { return .infinity }
        let entry = table[number]
        return entry.planEpoch == queue.epoch ? entry.value : worthByAge(number)
    }

    /// Sees to it that the pages of a tile's block can be taken: other compressed tiles go while their tier has its share, else
    /// memory of free slots is turned into pages.
    mutating func makePages(for bytes: Int, of number: EntryID, now: Int64) -> Bool {
        let worth = worthOfKeeping(number, now: now)
        while true {
            // Asked anew each time: the block that was given up may have taken the shared page along.
            let needed = pages.pagesNeeded(for: bytes)
            if pages.unusedCount >= needed { return true }
            let fresh = needed - pages.unusedCount
            let growth = configuration.grantsBookkeeping ? 0 : pages.tableGrowth(taking: needed)
            let missing = fresh * PageAllocator.pageBytes + growth
            if availableBytes >= missing { return fresh <= pages.freshCount }
            if pages.usedBytes + bytes > compressedLimit {
                let victim = coldest(of: .compressed, worth: worth, now: now, for: table[number].key.layer)
                // The entry itself is on the list too, without pages: giving it up would free nothing.
                if victim != .none, victim != number {
                    drop(victim, cause: .capacity)
                    continue
                }
            }
            if !letUnusedGo(missing - availableBytes, sparing: -1) { return false }
        }
    }
}
