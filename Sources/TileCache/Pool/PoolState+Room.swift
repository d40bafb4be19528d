/// Making room: what is given up for what, and never a byte over the limit.
extension PoolState {
    /// A slot for a tile of a layer, without the layer's account.
    ///
    /// - Parameter worth: nothing that is worth this much or more is evicted for it.
    mutating func findSlot(layer: Int, worth: Float, now: Int64) -> Admission<SlotID> {
        settleLimit(now: now)
        // Above a lowered limit nothing takes memory, not even what another gave back; and nothing is evicted for what
        // would not fit an empty pool.
        guard !isOverLimit || availableBytes >= 0, fitsLimit(layer: layer) else {
            counters.refusals += 1
            return .refused
        }
        let slotClass = layers[layer].slotClass
        while true {
            if !isFull(layer: layer) {
                let reused = slots[slotClass].takeCommitted()
                if reused >= 0 { return .granted(SlotID(number: reused)) }
                let growth = configuration.grantsBookkeeping ? 0 : slots[slotClass].growth()
                let missing = slots[slotClass].slotBytes + growth - availableBytes
                if missing <= 0 {
                    let fresh = slots[slotClass].takeFresh()
                    guard fresh >= 0 else { return .refused }
                    noteTaken()
                    ledger.noteLimit(committed: committedBytes)
                    return .granted(SlotID(number: fresh))
                }
                if letUnusedGo(missing, sparing: slotClass) { continue }
            }
            switch evict(worth: worth, now: now, for: layer) {
            case .granted: continue
            case .demote(let victim): return .demote(victim)
            case .refused:
                counters.refusals += 1
                return .refused
            }
        }
    }

    /// Whether a layer's tile could be held at all.
    func fitsLimit(layer: Int) -> Bool {
        slotBytes(ofLayer: layer) <= ledger.limit - countedBookkeepingBytes
    }

    /// Frees bytes for tables by giving up tiles that nobody needs; whether it succeeded.
    mutating func makeBytes(_ bytes: Int) -> Bool {
        while availableBytes < bytes {
            if letUnusedGo(bytes - availableBytes, sparing: -1) { continue }
            let victim = coldest(of: .compressed, worth: .infinity, now: 0)
            let other = victim != .none ? victim : coldest(of: .decoded, worth: .infinity, now: 0)
            if other != .none {
                drop(other, cause: .capacity)
            } else if !shedEncoded(bytes - availableBytes) {
                return false
            }
        }
        return true
    }

    /// Frees bytes that a load takes beside its slot.
    mutating func makeBytes(_ bytes: Int, worth: Float, layer: Int, now: Int64) -> Admission<Void> {
        while availableBytes < bytes {
            guard !isOverLimit else { return .refused }
            if letUnusedGo(bytes - availableBytes, sparing: -1) { continue }
            let evicted = evict(worth: worth, now: now, for: layer)
            if evicted.isGranted { continue }
            if case .demote = evicted { return evicted }
            guard dropUncompressed(worth: worth, layer: layer, now: now) else { return .refused }
        }
        return .granted(())
    }

    /// Bytes that compressed tiles may take where decoded ones want them too.
    var compressedLimit: Int { Int(Double(ledger.limit) * split.compressedShare) }

    /// Frees the memory of one tile that is worth less.
    private mutating func evict(worth: Float, now: Int64, for layer: Int) -> Admission<Void> {
        let cold = tiles.compressed > 0 ? coldest(of: .compressed, worth: worth, now: now, for: layer) : .none
        // A few slots beyond the share before pages are turned into slots: turning costs fresh memory each time.
        let isTierFull = pages.usedBytes > compressedLimit + 4 * slotBytes(ofLayer: layer)
        let isColdFirst = cold != .none && (isTierFull || hasFullCompressedShare(layer: layer))
        let victim = isColdFirst ? .none : coldest(of: .decoded, worth: worth, now: now, for: layer)
        if victim != .none, canDemote(victim) {
            if demoteToEncoded(victim) { return .granted(()) }
            return codecJobs < configuration.maximumCodecJobs ? .demote(victim) : .refused
        }
        if victim != .none || cold != .none {
            drop(victim != .none ? victim : cold, cause: .capacity)
            return .granted(())
        }
        // A needed tile comes before the payloads of tiles that are decoded as well.
        let isShed = worth == .infinity && !isFull(layer: layer) && shedEncoded(slotBytes(ofLayer: layer))
        return isShed ? .granted(()) : .refused
    }

    /// Whether a decoded tile is worth compressing before it goes: not where the tier is off, the layer's contents do
    /// not compress, the pixels are outdated, or nothing has ever looked at a prefetched tile twice.
    private func canDemote(_ number: EntryID) -> Bool {
        configuration.compressedTier && table[number].residency == .decoded
            && layers[table[number].key.layer].isCompressible && !table[number].flags.contains(.stale)
    }

    /// Tiles that no plan mentions of which the least worth is looked for: the oldest of each number of visits is nearly
    /// always among so many of the least recently used.
    static let tilesWeighed = 256

    /// The tile of a tier that goes first, or none: the least recently used or least valued one that is evictable.
    ///
    /// - Parameter layer: whose tile it goes for, -1 for none's: shares of layers count.
    mutating func coldest(of tier: EntryList, worth: Float, now: Int64, for layer: Int = -1) -> EntryID {
        evictionSteps += 1
        var walk = ColdWalk(tier, for: layer, in: self)
        guard configuration.eviction == .value else {
            // Values play no part: the plain order decides, with valued tiles among the others.
            return walk.next(in: self)
        }
        var lowest = EntryID.none
        var lowestWorth = Float.infinity
        var weighed = 0
        var classes = 0
        while weighed < Self.tilesWeighed {
            let number = walk.next(in: self)
            guard number != .none else { break }
            evictionSteps += 1
            guard table[number].planEpoch != queue.epoch else { continue }
            // Of each class only the least recently used: what has just come unseen has its time to be seen.
            let visitClass = VisitClass.of(visits: Int(table[number].visits))
            if classes & (1 << visitClass) == 0 {
                classes |= 1 << visitClass
                let own = worthByAge(number)
                if own < lowestWorth {
                    lowest = number
                    lowestWorth = own
                }
                // Nothing is worth less than nothing, and there is no other class.
                if lowestWorth <= 0 || classes == (1 << VisitClass.count) - 1 { break }
            }
            weighed += 1
        }
        evictionSteps += queue.valued.count
        for candidate in queue.valued {
            let entry = table.pointer(candidate)
            guard entry.pointee.list == tier, entry.pointee.leaseCount == 0, entry.pointee.planEpoch == queue.epoch,
                entry.pointee.value < lowestWorth, mayGo(candidate, for: layer)
            else { continue }
            lowest = candidate
            lowestWorth = entry.pointee.value
        }
        return lowestWorth < worth ? lowest : .none
    }

    /// What keeping a tile is worth that the plan does not mention.
    func worthByAge(_ number: EntryID) -> Float {
        let entry = table.pointer(number)
        return queue.plan.recency.worth(
            visits: Int(entry.pointee.visits),
            age: Int(demandClock &- entry.pointee.lastDemand)
        )
    }

    /// Takes a tile's pixels out of the pool.
    mutating func drop(_ number: EntryID, cause: RemovalCause) {
        counters.removals[cause.rawValue] += 1
        noteUnseen(number)
        releasePixels(of: number)
        forgetIfIdle(number)
    }

    /// Counts a load whose pixels leave without having been drawn.
    mutating func noteUnseen(_ number: EntryID) {
        guard !table[number].flags.contains(.seen) else { return }
        counters.loadsUnseen += 1
        if table[number].flags.contains(.prefetched) { counters.prefetchWasted += 1 }
    }

    /// Gives slot and pages back; what was said of the pixels goes with them.
    mutating func releasePixels(of number: EntryID) {
        let entry = table[number]
        if entry.needCount > 0 { drawVersion &+= 1 }
        if entry.slot != .none { giveBack(slot: entry.slot, ofLayer: entry.key.layer) }
        free(entry.form, ofLayer: entry.key.layer)
        change(number) {
            $0.slot = .none
            $0.form = .none
            $0.residency = .none
            $0.flags.subtract(.ofPixels)
        }
    }

    /// Slots and pages that one call decommits at most: the lock must not be held for long.
    private static let decommitsAtOnce = 256

    /// Decommits memory that nothing uses until `bytes` are free, in steps; whether there was any.
    mutating func letUnusedGo(_ bytes: Int, sparing spared: Int, atMost most: Int = decommitsAtOnce) -> Bool {
        let before = ledger.credit
        let last = ledger.pendingDecommits.count + min(most, Self.decommitsAtOnce)
        func isEnough() -> Bool { ledger.credit - before >= bytes || ledger.pendingDecommits.count >= last }
        for slotClass in slots.indices where slotClass != spared {
            while !isEnough(), decommitSlot(ofClass: slotClass) {}
        }
        while !isEnough() {
            let page = pages.beginDecommit()
            if page < 0 { break }
            ledger.beginDecommit(
                MemoryRange(slotClass: MemoryRange.pages, number: page),
                bytes: PageAllocator.pageBytes
            )
        }
        // Tables that are granted on top of the limit make no room for anything.
        while !configuration.grantsBookkeeping, !isEnough(), let range = table.beginDecommit() {
            ledger.beginDecommit(range, bytes: EntryTable.pageBytes)
        }
        return ledger.credit > before
    }

    /// Decommits an unused slot of a size; whether there was one.
    mutating func decommitSlot(ofClass slotClass: Int) -> Bool {
        let slot = slots[slotClass].beginDecommit()
        guard slot >= 0 else { return false }
        ledger.beginDecommit(MemoryRange(slotClass: Int32(slotClass), number: slot), bytes: slots[slotClass].slotBytes)
        return true
    }

    /// The memory is gone; its numbers may be used again, and its bytes for something else.
    mutating func finishDecommits(_ leaving: [LeavingMemory]) {
        for memory in leaving {
            ledger.finishDecommit(memory)
            let range = memory.range
            switch range.slotClass {
            case MemoryRange.pages: pages.finishDecommit(range.number)
            case MemoryRange.entryPages, MemoryRange.chainPages: table.finishDecommit(range)
            default:
                slots[Int(range.slotClass)].finishDecommit(range.number)
                // Its size may go, too.
                if slots[Int(range.slotClass)].isFree { effects.plans = true }
            }
        }
        guard isOverLimit, committedBytes <= ledger.limit else { return }
        // Nothing was taken until now.
        ledger.noteLimit(committed: committedBytes)
        effects.plans = true
    }
}

/// The evictable tiles of a tier from the least recently used on, those that a layer's shares protect left out.
private struct ColdWalk {
    private let layer: Int
    /// The next tile of each group, or none; the first group stands alone, since most caches have no other.
    private var first = EntryID.none
    private var others: [EntryID] = []

    init(_ tier: EntryList, for layer: Int, in pool: borrowing PoolState) {
        self.layer = layer
        first = admitted(pool.lists.tail(of: tier), in: pool)
        guard pool.hasShares else { return }
        others = (1..<pool.lists.groups.count).map { admitted(pool.lists.tail(of: tier, inGroup: $0), in: pool) }
    }

    /// Where the first tile of a group is protected all of it is: its tiles belong to one layer and hardly differ.
    private func admitted(_ number: EntryID, in pool: borrowing PoolState) -> EntryID {
        number != .none && pool.mayGo(number, for: layer) ? number : .none
    }

    mutating func next(in pool: borrowing PoolState) -> EntryID {
        while true {
            var oldest = first
            var group = -1
            for (index, other) in others.enumerated() where other != .none {
                if oldest == .none || pool.table.pointer(other).pointee.stamp < pool.table.pointer(oldest).pointee.stamp
                {
                    oldest = other
                    group = index
                }
            }
            guard oldest != .none else { return .none }
            let following = pool.table.pointer(oldest).pointee.previous
            if group < 0 { first = following } else { others[group] = admitted(following, in: pool) }
            // The tile that room is made for is held for a moment without leaving its list.
            if pool.table.pointer(oldest).pointee.leaseCount == 0 { return oldest }
        }
    }
}
