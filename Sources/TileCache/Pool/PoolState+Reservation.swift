/// Memory reserved by loads in flight, and refusals of it.
extension PoolState {
    /// Takes a slot for a load whose source is ready to write.
    mutating func reserve(_ id: LoadID) -> Admission<SlotID> {
        guard let load = loads[id], !load.isOutdated else { return .refused }
        if load.slot != .none { return .granted(load.slot) }
        let room = takeSlot(for: load)
        if case .granted(let slot) = room { loads.change(id) { $0.slot = slot } }
        return room
    }

    /// Takes a slot for a load; it counts as in flight.
    mutating func takeSlot(for load: Load) -> Admission<SlotID> {
        let layer = table[load.entry].key.layer
        let worth = worth(of: load)
        var room = acquireSlot(layer: layer, worth: worth)
        while room == .refused, !hold.isInterrupted, fitsLimit(layer: layer),
            dropUncompressed(worth: worth, layer: layer)
        {
            room = acquireSlot(layer: layer, worth: worth)
        }
        if room.isGranted {
            ledger.noteInFlight(slotBytes(ofLayer: layer))
            notePeaks()
        }
        return room
    }

    /// Takes a slot for a load that begins. After a refusal, requires that the refused memory is available too.
    mutating func acquireSlot(for number: EntryID, worth: Float) -> Admission<SlotID> {
        let layer = table[number].key.layer
        let room = acquireSlot(layer: layer, worth: worth)
        let refused = refusedBytes(of: number)
        guard case .granted(let slot) = room, refused > 0 else { return room }
        let beside = makeBytes(refused, worth: worth, layer: layer)
        if !beside.isGranted {
            // Its memory may be decommitted in this hold.
            let slotClass = layers[layer].slotClass
            effects.fresh.removeAll { $0.slotClass == slotClass && $0.number == slot.number }
            release(slot: slot, ofLayer: layer)
        }
        return beside.map { slot }
    }

    /// Bytes that the last load of a tile was refused in addition to its slot.
    func refusedBytes(of number: EntryID) -> Int {
        guard number != .none, table[number].flags.contains(.refused) else { return 0 }
        return Int(table[number].refusedPages) * pages.pageBytes
    }

    /// Bytes that all of these tiles of a layer need at once to be loaded: their slots and, if these are within a budget,
    /// the most that a load of one was refused in addition. A load that would not fit an empty pool does not count: it
    /// never begins again. Nor does what pinned tiles have: the budget is without it. They are decompressed one by one,
    /// each into a slot beside its block.
    func bytes(toLoad tiles: some TileWalk, ofLayer layer: Int, within budget: Int) -> Int {
        var count = tiles.count
        var (blocks, largest) = (0, 0)
        if layers[layer].pinnedBytes > 0 {
            tiles.forEachKey { tile in
                let number = table.find(tile)
                guard number != .none else { return }
                let entry = table.pointer(number)
                guard entry.pointee.flags.contains(.pinned) else { return }
                if entry.pointee.residency.isDecoded {
                    count -= 1
                } else {
                    blocks += entry.pointee.form.byteCount
                    largest = max(largest, entry.pointee.form.byteCount)
                }
            }
        }
        let slots = count * slotBytes(ofLayer: layer) - blocks + largest
        guard counters.loads.refused > 0, slots <= budget else { return slots }
        var beside = 0
        tiles.forEachKey { tile in
            let refused = refusedBytes(of: table.find(tile))
            if refused > beside, fitsLimit(layer: layer, beside: refused) { beside = refused }
        }
        return slots + beside
    }

    /// Whether a needed tile lacks room that nothing under way will make: what is left is needed, pinned or leased.
    var onlyLeasesMakeRoom: Bool { queue.lacksRoomForNeeds && isRoomSettled }

    /// Whether nothing is under way that may take or make room.
    var isRoomSettled: Bool { loads.busyCount == 0 && codecJobs.count == 0 }

    /// Evicts a cold tile uncompressed if every codec is busy. A source that is ready does not wait for one.
    mutating func dropUncompressed(worth: Float, layer: Int) -> Bool {
        guard codecJobs.count >= configuration.maximumCodecJobs else { return false }
        let victim = coldest(of: .decoded, worth: worth, for: layer)
        guard victim != .none else { return false }
        drop(victim, cause: .capacity)
        return true
    }

    /// Classifies the result of a load. Failed or cancelled after a refusal of memory, it is refused.
    func outcome(_ result: LoadResult, of load: Load) -> LoadResult {
        switch result {
        case .pixels: load.slot == .none ? .refused : .pixels
        // Its pixels have been removed meanwhile.
        case .unchanged where !load.isRevalidation || !table[load.entry].residency.isResident:
            .failed(isPermanent: false, retryAfter: 0)
        case .unchanged: .unchanged
        case .failed(isPermanent: false, _), .postponed, .cancelled: load.refusedPages != nil ? .refused : result
        case .failed, .absent, .refused: result
        }
    }

    /// Records that a tile's load was refused memory.
    mutating func noteRefusal(of load: Load, in number: EntryID, now: Int64) {
        counters.refusals += 1
        if !load.isRevalidation { count(number) { $0.refused += 1 } }
        // Memory is available again as soon as other loads end, sooner than a server recovers.
        let retryAt = backOff(number, first: max(configuration.retryDelay / 5, 1), now: now)
        change(number) {
            $0.flags.insert(.refused)
            $0.flags.remove(.expires)
            $0.refusedPages = load.refusedPages ?? 0
            $0.retryAt = retryAt
        }
    }

    /// Computes when a tile may be retried; the wait doubles with each attempt.
    ///
    /// - Parameters:
    ///   - first: First wait, in nanoseconds.
    ///   - wait: Minimum wait required by the source, in nanoseconds.
    mutating func backOff(_ number: EntryID, first: Int64, atLeast wait: Int64 = 0, now: Int64) -> Int64 {
        let attempts = table[number].attempts
        table.note(number) { $0.attempts = attempts == .max ? .max : attempts + 1 }
        let (product, tooLong) = first.multipliedReportingOverflow(by: 1 << Int64(min(attempts, 20)))
        let doubled = tooLong ? Int64.max : product
        return later(now, by: max(min(doubled, configuration.maximumRetryDelay), wait))
    }

    /// A time after a wait, which is cut at the longest one.
    func later(_ now: Int64, by wait: Int64) -> Int64 {
        let (time, overflow) = now.addingReportingOverflow(min(wait, PoolConfiguration.longestRetryWait))
        return overflow ? .max : time
    }

    /// Time of a plan made only to retry a tile; `nil` for never. A prefetch that was refused memory makes none.
    func retryTime(of number: EntryID, after result: LoadResult) -> Int64? {
        let entry = table[number]
        switch result {
        case .failed, .postponed: return entry.retryAt == .max ? nil : entry.retryAt
        case .refused: return entry.isKept ? entry.retryAt : nil
        case .pixels, .unchanged, .absent, .cancelled: return nil
        }
    }

    /// Takes a slot as scratch memory of a load in flight. It counts as in flight until `returnScratch`.
    mutating func takeScratch(for id: LoadID) -> Admission<SlotID> {
        guard let load = loads[id], !load.isOutdated else { return .refused }
        return takeSlot(for: load)
    }

    mutating func returnScratch(_ slot: SlotID, layer: Int) {
        ledger.noteInFlight(-slotBytes(ofLayer: layer))
        release(slot: slot, ofLayer: layer)
        settleLimit()
    }
}
