/// Makes room by eviction; never exceeds the limit.
extension PoolState {
    /// Takes a slot for a tile of a layer, not charged to the layer. Evicts only tiles worth less than `worth`.
    ///
    /// One tile may take the room of thousands of smaller ones: it is made in steps.
    mutating func findSlot(layer: Int, worth: Float) -> Admission<SlotID> {
        settleLimit()
        // Above a lowered limit nothing takes memory, freed memory included. A tile that would not fit an empty pool
        // evicts nothing.
        guard !isOverLimit || availableBytes >= 0, fitsLimit(layer: layer) else {
            return refuseSlot()
        }
        let slotClass = layers[layer].slotClass
        while true {
            if !isFull(layer: layer) {
                if let reused = slots[slotClass].takeCommitted() { return .granted(SlotID(number: reused)) }
                let growth = configuration.grantsBookkeeping ? 0 : slots[slotClass].growth()
                let missing = slots[slotClass].slotBytes + growth - availableBytes
                if missing <= 0 {
                    guard let fresh = slots[slotClass].takeFresh() else { return refuseSlot(ofNumber: true) }
                    effects.fresh.append(MemoryRange(slotClass: Int32(slotClass), number: fresh))
                    noteTaken()
                    noteReturned()
                    return .granted(SlotID(number: fresh))
                }
                if decommitUnused(missing, sparing: slotClass, atMost: hold.left) { continue }
            }
            guard hold.mayGoOn() else { return .refused }
            switch evict(worth: worth, for: layer) {
            case .granted: continue
            case .demote(let victim): return .demote(victim)
            case .refused: return refuseSlot()
            }
        }
    }

    private mutating func refuseSlot(ofNumber: Bool = false) -> Admission<SlotID> {
        counters.refusals += 1
        ledger.noteRefusal(ofNumber: ofNumber)
        return .refused
    }

    /// Whether the limit has room for a tile of a layer, and other bytes beside it, at all.
    func fitsLimit(layer: Int, beside bytes: Int = 0) -> Bool {
        let tables = configuration.grantsBookkeeping ? 0 : lastingBookkeepingBytes
        return slotBytes(ofLayer: layer) <= ledger.limit - tables - bytes
    }

    /// Frees bytes for tables by evicting unneeded tiles; returns whether it succeeded. If they cannot be enough, none
    /// is evicted. Not above a lowered limit: that is reached in steps, by `settleLimit` alone.
    ///
    /// - Parameter inSteps: Whether it may be interrupted. Default: true. Not if the caller's request bounds it.
    mutating func makeBytes(_ bytes: Int, inSteps: Bool = true) -> Bool {
        guard isOverLimit || mayFree(bytes) else {
            ledger.noteRefusal()
            return false
        }
        while availableBytes < bytes {
            guard !isOverLimit else { return false }
            if decommitUnused(bytes - availableBytes, atMost: inSteps ? hold.left : .max) { continue }
            if inSteps, !hold.mayGoOn() { return false }
            let victim = coldest(of: .compressed, worth: .infinity)
            let other = victim != .none ? victim : coldest(of: .decoded, worth: .infinity)
            if other != .none {
                drop(other, cause: .capacity)
            } else if !shedEncoded(bytes - availableBytes) {
                ledger.noteRefusal()
                return false
            }
        }
        return true
    }

    /// Whether the evictable tiles may be enough for some bytes. All pages and the table count, as if each block, payload
    /// and entry could go. So do tiles behind the first few hundred, so that the walk is short.
    private func mayFree(_ bytes: Int) -> Bool {
        var free = availableBytes
        guard free < bytes else { return true }
        free += slots.committedBytes - slots.usedBytes + pages.committedBytes
        // Tables granted on top of the limit make no room.
        if !configuration.grantsBookkeeping { free += table.byteCount }
        var passed = 0
        for group in table.lists.groups.indices {
            var number = table.lists.tail(of: .decoded, inGroup: group)
            while number != .none, free < bytes {
                free += slotBytes(ofLayer: table[number].key.layer)
                number = table[number].previous
                passed += 1
                if passed == Self.tilesWeighed { return true }
            }
        }
        return free >= bytes
    }

    /// Frees bytes that a load takes in addition to its slot.
    mutating func makeBytes(_ bytes: Int, worth: Float, layer: Int) -> Admission<Void> {
        while availableBytes < bytes {
            guard !isOverLimit else { return .refused }
            if decommitUnused(bytes - availableBytes, atMost: hold.left) { continue }
            guard hold.mayGoOn() else { return .refused }
            let evicted = evict(worth: worth, for: layer)
            if evicted.isGranted { continue }
            if case .demote = evicted { return evicted }
            guard dropUncompressed(worth: worth, layer: layer) else {
                ledger.noteRefusal()
                return .refused
            }
        }
        return .granted(())
    }

    /// Maximum bytes of compressed tiles while decoded ones compete for the limit.
    var compressedLimit: Int { Int(Double(ledger.limit) * split.compressedShare) }

    /// Evicts one tile worth less than `worth`.
    private mutating func evict(worth: Float, for layer: Int) -> Admission<Void> {
        let cold = table.counts.compressed > 0 ? coldest(of: .compressed, worth: worth, for: layer) : .none
        // A margin of a few slots: turning pages into slots costs fresh memory each time.
        let isTierFull = pages.usedBytes > compressedLimit + 4 * slotBytes(ofLayer: layer)
        let isColdFirst = cold != .none && (isTierFull || hasFullCompressedShare(layer: layer))
        let victim = isColdFirst ? .none : coldest(of: .decoded, worth: worth, for: layer)
        if victim != .none, canDemote(victim) {
            if demoteToEncoded(victim) { return .granted(()) }
            return codecJobs.count < configuration.maximumCodecJobs ? .demote(victim) : .refused
        }
        if victim != .none || cold != .none {
            drop(victim != .none ? victim : cold, cause: .capacity)
            return .granted(())
        }
        // A needed tile has priority over payloads of tiles that are decoded too.
        let isShed = worth == .infinity && !isFull(layer: layer) && shedEncoded(slotBytes(ofLayer: layer))
        return isShed ? .granted(()) : .refused
    }

    /// Whether a decoded tile is compressed before its eviction. Needs a tier, a compressible layer and current pixels.
    private func canDemote(_ number: EntryID) -> Bool {
        configuration.compressedTier && table[number].residency == .decoded
            && layers[table[number].key.layer].isCompressible && !table[number].flags.contains(.stale)
    }

    /// Maximum number of unplanned tiles compared per search. The oldest of each visit class is nearly always among
    /// them.
    static let tilesWeighed = 256

    /// Finds the first tile of a tier to evict, by recency or by value. Returns none if nothing is evictable.
    ///
    /// - Parameter layer: Layer that needs the room; shares of layers count. Default: nil, none.
    mutating func coldest(of tier: EntryList, worth: Float, for layer: Int? = nil) -> EntryID {
        noteEvictionSteps(1)
        var walk = ColdWalk(tier, for: layer, in: self)
        guard configuration.eviction == .value else {
            // Values do not count: valued tiles are ordered like all others.
            return walk.next(in: self)
        }
        var lowest = EntryID.none
        var lowestWorth = Float.infinity
        var weighed = 0
        var classes = 0
        let epoch = queue.epoch
        var steps = 0
        while weighed < Self.tilesWeighed {
            let number = walk.hasOneGroup ? walk.nextOfFirst(in: self) : walk.next(in: self)
            guard number != .none else { break }
            steps += 1
            let entry = table.pointer(number)
            guard entry.pointee.planEpoch != epoch else { continue }
            // The least recently used of each class only: unseen arrivals get time to be seen.
            let visitClass = VisitClass.of(visits: Int(entry.pointee.visits))
            if classes & (1 << visitClass) == 0 {
                classes |= 1 << visitClass
                let own = worthByAge(number)
                if own < lowestWorth {
                    lowest = number
                    lowestWorth = own
                }
                // No tile of the classes that are left can be worth less.
                if lowestWorth <= queue.plan.recency.least(outside: classes) { break }
            }
            weighed += 1
        }
        noteEvictionSteps(steps + queue.valued.count)
        for candidate in queue.valued where candidate.value < lowestWorth {
            let entry = table.pointer(candidate.number)
            guard entry.pointee.list == tier, entry.pointee.leaseCount == 0, entry.pointee.planEpoch == epoch,
                entry.pointee.value < lowestWorth, mayEvict(candidate.number, for: layer)
            else { continue }
            lowest = candidate.number
            lowestWorth = entry.pointee.value
        }
        return lowestWorth < worth ? lowest : .none
    }

    /// Worth of keeping a tile that the plan does not contain.
    func worthByAge(_ number: EntryID) -> Float {
        let entry = table.pointer(number)
        return queue.plan.recency.worth(
            visits: Int(entry.pointee.visits),
            age: Int(demandClock &- entry.pointee.lastDemand)
        )
    }

    /// Removes a tile's pixels from the pool.
    mutating func drop(_ number: EntryID, cause: TileCacheStatistics.RemovalCause) {
        hold.spend()
        counters.tiers.countRemoval(cause)
        noteUnseen(number)
        releasePixels(of: number)
        // Also if it has failed since its pixels landed: without them it is tried again as soon as it may. And the plan may
        // have a damaged one for another reason than that it is kept.
        if table[number].isKept || cause == .damaged { noteDemand() }
        forgetIfIdle(number)
    }

    /// Counts a load whose pixels are removed without having been drawn.
    mutating func noteUnseen(_ number: EntryID) {
        guard !table[number].flags.contains(.seen) else { return }
        count(number) { $0.unseen += 1 }
        if table[number].flags.contains(.prefetched) { counters.prefetches.wasted += 1 }
    }

    /// Releases slot and pages, and clears the flags of the pixels.
    mutating func releasePixels(of number: EntryID) {
        let entry = table[number]
        if !validators.isEmpty { validators.remove(number) }
        if entry.needCount > 0 { noteDrawing() }
        if entry.slot != .none { release(slot: entry.slot, ofLayer: entry.key.layer) }
        free(entry.form, ofLayer: entry.key.layer)
        change(number) {
            $0.slot = .none
            $0.form = .none
            $0.residency = .none
            $0.flags.subtract(.ofPixels)
        }
    }

    /// Decommits unused memory until `bytes` are free; returns whether there was any.
    ///
    /// - Parameter most: Maximum decommits, which bounds how long the lock is held.
    mutating func decommitUnused(_ bytes: Int, sparing spared: Int? = nil, atMost most: Int) -> Bool {
        let before = ledger.credit
        let first = ledger.pendingDecommits.count
        func isEnough() -> Bool { ledger.credit - before >= bytes || ledger.pendingDecommits.count - first >= most }
        for slotClass in slots.indices where slotClass != spared {
            while !isEnough(), decommitSlot(ofClass: slotClass) {}
        }
        while !isEnough(), let page = pages.beginDecommit() {
            ledger.beginDecommit(MemoryRange(slotClass: MemoryRange.pages, number: page), bytes: pages.pageBytes)
        }
        // Tables granted on top of the limit make no room.
        while !configuration.grantsBookkeeping, !isEnough(), let range = table.beginDecommit() {
            ledger.beginDecommit(range, bytes: table.pageBytes)
        }
        hold.spend(ledger.pendingDecommits.count - first)
        return ledger.credit > before
    }

    /// Decommits an unused slot of a size; returns whether there was one.
    mutating func decommitSlot(ofClass slotClass: Int) -> Bool {
        guard let slot = slots[slotClass].beginDecommit() else { return false }
        ledger.beginDecommit(MemoryRange(slotClass: Int32(slotClass), number: slot), bytes: slots[slotClass].slotBytes)
        return true
    }

    /// Makes decommitted numbers and bytes available again.
    mutating func finishDecommits(_ leaving: [LeavingMemory]) {
        for memory in leaving {
            ledger.finishDecommit(memory)
            let range = memory.range
            switch range.slotClass {
            case MemoryRange.pages: pages.finishDecommit(range.number)
            case MemoryRange.entryPages, MemoryRange.chainPages: table.finishDecommit(range)
            default:
                slots[Int(range.slotClass)].finishDecommit(range.number)
            }
        }
        if isOverLimit || slots.haveRemains { ledger.noteStep() }
        noteReturned()
    }
}

/// Walks the evictable tiles of a tier, least recently used first, without protected ones.
private struct ColdWalk {
    private let layer: Int?
    /// Next tile of each group, or none. The first group is separate, since most caches have no other.
    private var first = EntryID.none
    private var others: [EntryID] = []

    init(_ tier: EntryList, for layer: Int?, in pool: borrowing PoolState) {
        self.layer = layer
        first = admitted(pool.table.lists.tail(of: tier), in: pool)
        guard pool.layers.haveShares else { return }
        others = (1..<pool.table.lists.groups.count).map {
            admitted(pool.table.lists.tail(of: tier, inGroup: $0), in: pool)
        }
    }

    /// Checks the first tile of a group only. A group is one layer, and its tiles hardly differ.
    private func admitted(_ number: EntryID, in pool: borrowing PoolState) -> EntryID {
        number != .none && pool.mayEvict(number, for: layer) ? number : .none
    }

    /// Whether there is but one group: most caches have no other.
    var hasOneGroup: Bool { others.isEmpty }

    /// The next tile of the first group.
    @inline(__always)
    mutating func nextOfFirst(in pool: borrowing PoolState) -> EntryID {
        while first != .none {
            let number = first
            let entry = pool.table.pointer(number)
            first = entry.pointee.previous
            // The tile that needs the room is leased briefly without leaving its list.
            if entry.pointee.leaseCount == 0 { return number }
        }
        return .none
    }

    /// The least recently used tile of all groups. Apart, so that a walk along one group pays nothing for the others.
    @inline(never)
    mutating func next(in pool: borrowing PoolState) -> EntryID {
        while true {
            var oldest = first
            var group: Int?
            for (index, other) in others.enumerated() where other != .none {
                if oldest == .none || pool.table.pointer(other).pointee.stamp < pool.table.pointer(oldest).pointee.stamp
                {
                    oldest = other
                    group = index
                }
            }
            guard oldest != .none else { return .none }
            let following = pool.table.pointer(oldest).pointee.previous
            if let group { others[group] = admitted(following, in: pool) } else { first = following }
            // The tile that needs the room is leased briefly without leaving its list.
            if pool.table.pointer(oldest).pointee.leaseCount == 0 { return oldest }
        }
    }
}
