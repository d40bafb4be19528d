/// A compression or decompression under way, with the memory reserved for it.
struct CodecTicket: Hashable, Sendable {
    var entry: EntryID
    /// Must equal the entry's `work`; otherwise the result is discarded.
    var work: UInt32
    var key: TileKey
    /// Slot that is read (demotion) or written (promotion).
    var slot: SlotID
    /// Form that is read (promotion) or written (store).
    var form: ColdForm
}

/// Compressions and decompressions under way.
struct CodecJobs {
    /// Number of those that take a codec.
    private(set) var count = 0
    /// Last identifier. Shared by all entries: an entry's number and key may be reused while work for the former entry
    /// is under way.
    private var last: UInt32 = 0

    /// Begins a job; returns its identifier, not 0.
    mutating func begin() -> UInt32 {
        count += 1
        last = last == .max ? 1 : last + 1
        return last
    }

    mutating func end() { count -= 1 }
    /// Takes a codec again.
    mutating func resume() { count += 1 }
}

enum PromotionResult: Hashable, Sendable {
    /// The pixels are in their slot.
    case pixels
    /// The block differs from what was stored.
    case damaged
    /// The source could not decode its own payload.
    case undecodable
}

/// Result of compressing a tile.
enum DemotionResult: Hashable, Sendable {
    /// All pixels have this value.
    case solid(UInt64)
    /// A block of this many bytes.
    case block(Int)
    /// It would not become smaller.
    case incompressible
}

/// Moves tiles between the tiers. Each move begins and ends under the lock, and runs without it.
extension PoolState {
    /// Begins to compress or decompress a tile; it is leased meanwhile.
    mutating func beginWork(on number: EntryID, as residency: Residency, slot: SlotID = .none) -> CodecTicket {
        layers.change(table[number].key.layer) { $0.jobs += 1 }
        let work = codecJobs.begin()
        change(number) {
            $0.work = work
            $0.leaseCount += 1
            $0.residency = residency
        }
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
        codecJobs.end()
        layers.change(layer) { $0.jobs -= 1 }
        noteEnd()
    }

    /// Begins to compress a decoded tile.
    mutating func beginDemotion(_ number: EntryID) -> CodecTicket {
        beginWork(on: number, as: .demoting, slot: table[number].slot)
    }

    /// Ends a compression. If the tile is still unneeded, releases its slot and returns where the block goes; the
    /// caller copies it there and calls `finishStore`.
    mutating func finishDemotion(_ ticket: CodecTicket, _ result: DemotionResult) -> CodecTicket? {
        let stored = demote(ticket, result)
        // The codec is busy until the block is copied.
        if stored == nil { endJob(ofLayer: ticket.key.layer) }
        return stored
    }

    /// Takes the result of a compression. Returns where its block goes, if it is kept.
    private mutating func demote(_ ticket: CodecTicket, _ result: DemotionResult) -> CodecTicket? {
        let number = ticket.entry
        guard isCurrent(ticket) else {
            let slotClass = Int32(layers[ticket.key.layer].slotClass)
            release(LeaseToken(entry: number, slot: ticket.slot, slotClass: slotClass))
            return nil
        }
        // Not relisted until its new state is known.
        table.stage(number) {
            $0.leaseCount -= 1
            $0.residency = .decoded
        }
        if table[number].isInUse || table[number].flags.contains(.stale) {
            relist(number)
            return nil
        }
        let layer = ticket.key.layer
        switch result {
        case .incompressible:
            let bytes = tileBytes(of: ticket.key)
            layers.change(layer) { $0.noteBlock(bytes: bytes) }
        case .block(let bytes): layers.change(layer) { $0.noteBlock(bytes: bytes) }
        case .solid: break
        }
        if table[number].form.isEncoded {
            if keepsEncoded(over: result, of: number) {
                table.stage(number) { $0.flags.insert(.encodedIsSmaller) }
                moveToEncoded(number)
                return nil
            }
            dropEncoded(of: number)
        }
        return compress(number, ticket, result)
    }

    /// Replaces the pixels of a tile by the result of its compression.
    private mutating func compress(_ number: EntryID, _ ticket: CodecTicket, _ result: DemotionResult) -> CodecTicket? {
        switch result {
        case .incompressible:
            counters.tiers.demotions += 1
            counters.tiers.incompressible += 1
            drop(number, cause: .incompressible)
            return nil
        case .solid(let value):
            counters.tiers.demotions += 1
            moveToCompressed(number, .solid(value))
            return nil
        case .block(let bytes):
            noteDemotion(number, blockBytes: bytes)
            moveToCompressed(number, .none)
            guard makePages(for: bytes, of: number) else {
                drop(number, cause: .capacity)
                return nil
            }
            var stored = ticket
            stored.form = .block(allocate(bytes: bytes, ofLayer: ticket.key.layer))
            change(number) { [form = stored.form] in
                $0.form = form
                $0.residency = .storing
            }
            return stored
        }
    }

    /// Whether the source's payload is smaller than the compressed block.
    private func keepsEncoded(over result: DemotionResult, of number: EntryID) -> Bool {
        switch result {
        case .solid: false
        case .incompressible: true
        case .block(let bytes): table[number].form.byteCount <= bytes
        }
    }

    /// Ends the copy of a block. A tile needed meanwhile has to be decompressed again.
    mutating func finishStore(_ ticket: CodecTicket) {
        endJob(ofLayer: ticket.key.layer)
        guard isCurrent(ticket), table[ticket.entry].residency == .storing else {
            free(ticket.form, ofLayer: ticket.key.layer)
            return
        }
        change(ticket.entry) { $0.residency = .compressed }
    }

    /// Takes a slot for a compressed tile and begins to decompress it.
    mutating func beginPromotion(_ number: EntryID, worth: Float) -> Admission<CodecTicket> {
        guard table[number].residency == .compressed else { return .refused }
        // Leased, so that making room does not evict the tile itself.
        table.stage(number) { $0.leaseCount += 1 }
        let room = acquireSlot(layer: table[number].key.layer, worth: worth)
        table.stage(number) { $0.leaseCount -= 1 }
        // A slot that is used again has not been counted as decoded.
        if room.isGranted { notePeaks() }
        return room.map { beginWork(on: number, as: .promoting, slot: $0) }
    }

    /// The entry of a tile that is compressed as a block, which any thread can decompress, and that no invalidation may
    /// have overtaken.
    func currentBlock(of key: TileKey) -> EntryID? {
        let number = table.find(key)
        guard number != .none, table[number].residency == .compressed, !table[number].form.isEncoded,
            !mayBeOutdated(number)
        else { return nil }
        return number
    }

    /// Begins to decompress a tile into memory of the caller. `nil` if it is not compressed or being moved.
    mutating func beginPeek(_ key: TileKey) -> CodecTicket? {
        let number = table.find(key)
        guard number != .none, table[number].residency == .compressed else { return nil }
        return beginWork(on: number, as: .promoting)
    }

    /// What a coarser tile can be made of: a descendant as it is now. A decoded one is leased.
    mutating func findPart(_ key: TileKey) -> SynthesisPart {
        let number = table.find(key)
        guard number != .none else { return SynthesisPart(finding: .none) }
        let entry = table[number]
        // Outdated loads are not waited for; other loads are shared.
        if let load = loads[entry.load], !load.isOutdated { return SynthesisPart(finding: .inFlight(entry.load)) }
        // A tile made of outdated ones would count as current.
        guard !mayBeOutdated(number) else { return SynthesisPart(finding: .none) }
        if entry.flags.contains(.absent) { return SynthesisPart(finding: .absent) }
        let hasHoles = entry.flags.contains(.holes)
        if entry.residency.isCompressed { return SynthesisPart(finding: .compressed, hasHoles: hasHoles) }
        guard entry.residency.isDecoded else { return SynthesisPart(finding: .none) }
        lease(number)
        return SynthesisPart(finding: .decoded(token(of: number, layer: key.layer)), hasHoles: hasHoles)
    }

    /// Ends a decompression. A damaged block is removed and its tile loaded again. After a decompression into memory of
    /// the caller, the tile stays compressed.
    mutating func finishPromotion(_ ticket: CodecTicket, _ result: PromotionResult = .pixels) {
        endJob(ofLayer: ticket.key.layer)
        let number = ticket.entry
        let isCurrent = isCurrent(ticket)
        let isPeek = ticket.slot == .none
        if !isPeek, !isCurrent || result != .pixels { release(slot: ticket.slot, ofLayer: ticket.key.layer) }
        guard isCurrent else { return free(ticket.form, ofLayer: ticket.key.layer) }
        table.stage(number) { $0.leaseCount -= 1 }
        guard result == .pixels else {
            if result == .damaged { counters.tiers.damagedBlocks += 1 } else { counters.tiers.undecodablePayloads += 1 }
            return drop(number, cause: .damaged)
        }
        guard !isPeek else {
            change(number) { $0.residency = .compressed }
            return
        }
        counters.tiers.promotions += 1
        // The source's payload is kept: the next demotion is free then.
        if !ticket.form.isEncoded { free(ticket.form, ofLayer: ticket.key.layer) }
        let stamp = table.nextStamp()
        change(number) {
            if !$0.form.isEncoded { $0.form = .none }
            $0.slot = ticket.slot
            $0.residency = .decoded
            $0.stamp = stamp
        }
        noteExpiry(of: number)
    }

    func isCurrent(_ ticket: CodecTicket) -> Bool {
        table[ticket.entry].key == ticket.key && table[ticket.entry].work == ticket.work
    }

    /// Releases a decoded tile's slot and lists the entry as compressed.
    mutating func moveToCompressed(_ number: EntryID, _ form: ColdForm) {
        release(slot: table[number].slot, ofLayer: table[number].key.layer)
        let stamp = table.nextStamp()
        change(number) {
            $0.slot = .none
            $0.residency = .compressed
            $0.stamp = stamp
            $0.form = form
        }
    }

    private func worthOfKeeping(_ number: EntryID) -> Float {
        guard configuration.eviction == .value else { return .infinity }
        let entry = table[number]
        return entry.planEpoch == queue.epoch ? entry.value : worthByAge(number)
    }

    /// Makes room for the pages of a tile's block. Evicts compressed tiles if their tier is full, otherwise decommits
    /// unused slots.
    mutating func makePages(for bytes: Int, of number: EntryID) -> Bool {
        let worth = worthOfKeeping(number)
        while true {
            // Recomputed in each pass: an evicted block may have freed the shared page too.
            let needed = pages.pagesNeeded(for: bytes)
            if pages.unusedCount >= needed { return true }
            let fresh = needed - pages.unusedCount
            let growth = configuration.grantsBookkeeping ? 0 : pages.tableGrowth(taking: needed)
            let missing = fresh * pages.pageBytes + growth
            if availableBytes >= missing { return fresh <= pages.freshCount }
            if pages.usedBytes + bytes > compressedLimit {
                // Too many for one hold of the lock: it is not worth them.
                guard hold.left > 0 else { return false }
                let victim = coldest(of: .compressed, worth: worth, for: table[number].key.layer)
                // The entry itself is listed too, without pages: evicting it would free nothing.
                if victim != .none, victim != number {
                    drop(victim, cause: .capacity)
                    continue
                }
            }
            if !decommitUnused(missing - availableBytes, atMost: hold.left) { return false }
        }
    }
}

/// A tile of which a coarser one can be made.
struct SynthesisPart {
    enum Finding {
        /// Leased.
        case decoded(LeaseToken)
        case compressed
        case inFlight(LoadID)
        case absent
        case none
    }

    var finding: Finding
    /// Whether it is made of others itself, of which some failed.
    var hasHoles = false
}
