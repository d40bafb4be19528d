/// What a worker is to do next.
enum Job: Hashable, Sendable {
    case load(LoadTicket)
    case demote(CodecTicket)
    case promote(CodecTicket)
}

/// A load that has begun.
struct LoadTicket: Hashable, Sendable {
    /// The load's number until it ends.
    var load: LoadID
    /// Tells it from later loads of the same number.
    var serial: UInt32 = 0
    var key: TileKey
    /// Where to write; none if the bytes are reserved when the source is ready.
    var slot: SlotID
    var isDemand: Bool
}

/// How a load ended.
enum LoadResult: Sendable, Hashable {
    /// The pixels stand in the reserved slot.
    case pixels
    /// The tile does not exist.
    case absent
    /// It failed; tried again after a wait, unless it never can succeed.
    case failed(isPermanent: Bool, retryAfter: Int64?)
    /// Nobody wanted it any more.
    case cancelled
    /// It was refused memory; tried again after a wait, if memory for it can be had.
    case refused
}

extension PoolState {
    /// Puts a new plan in the place of the old one; what has not started of the old one never will.
    ///
    /// - Parameter now: tiles that may be tried again after it count for `nextRetry`. Default: none.
    mutating func install(_ newPlan: consuming Plan, now: Int64 = .max) {
        let hasRoom = makeRoom(for: newPlan)
        queue.install(newPlan, hasRoom: hasRoom)
        for wish in queue.plan.keepValues {
            let number = table.find(wish.key)
            guard number != .none else { continue }
            setValue(wish.value, of: number)
            setHistory(wish, of: number)
        }
        let epoch = queue.epoch
        for wish in queue.plan.entries {
            let number = table.find(wish.key)
            guard number != .none else { continue }
            let load = table[number].load
            if load != .none {
                loads.change(load) { $0.wantedEpoch = epoch }
            } else if table[number].retryAt > now {
                // A prefetch that was refused memory is no reason for a plan.
                let flags = table[number].flags
                let isReason = flags.contains(.failed) || (flags.contains(.refused) && wish.reason != .prefetch)
                if isReason { queue.noteRetry(at: table[number].retryAt) }
            }
            if wish.reason == .prefetch { setValue(wish.value, of: number) }
        }
        notePeaks()
    }

    /// Notes what a policy remembers of a tile from before it was last given up.
    private mutating func setHistory(_ wish: PlanEntry, of number: EntryID) {
        guard wish.visits > table[number].visits else { return }
        if table[number].visits == 0 { table[number].lastDemand = demandClock &- UInt32(max(wish.age, 0)) }
        table[number].visits = wish.visits
    }

    /// Takes a plan's own bytes, and those of the list of what it values, from the budget.
    private mutating func makeRoom(for newPlan: borrowing Plan) -> Bool {
        let wishes = newPlan.entries.count + newPlan.keepValues.count
        // An array that grows has room for at most twice its elements. Its capacity itself is what the allocator happened
        // to give: by that the same replay would not always fit the same limit.
        let most = wishes * (2 * MemoryLayout<PlanEntry>.stride + MemoryLayout<EntryID>.stride)
        // In steps, so that plans that grow little by little do not ask each time.
        let bytes = configuration.paged(most)
        // Memory that a much larger plan took goes back.
        if bytes < ledger[.plan] / 4 { dropPlan() }
        let growth = bytes - ledger[.plan]
        guard growth > 0 else { return true }
        guard configuration.grantsBookkeeping || makeBytes(growth) else { return false }
        note(growth, in: .plan)
        queue.reserve(wishes)
        return true
    }

    /// Drops the plan and its bytes; the next plan takes its own.
    mutating func dropPlan() {
        queue.drop()
        ledger.add(-ledger[.plan], to: .plan)
    }

    /// Notes what the current plan thinks of a tile: the most that any of its wishes says.
    private mutating func setValue(_ value: Float, of number: EntryID) {
        guard table[number].planEpoch != queue.epoch else {
            table[number].value = max(table[number].value, value)
            return
        }
        table[number].planEpoch = queue.epoch
        table[number].value = value
        if table[number].residency.isResident { queue.noteValued(number) }
    }

    func needsWork(_ number: EntryID, _ wish: PlanEntry, now: Int64) -> Bool {
        let entry = table[number]
        if entry.load != .none { return false }
        if entry.flags.contains(.absent) { return false }
        if !entry.flags.isDisjoint(with: [.failed, .refused]), now < entry.retryAt { return false }
        if entry.flags.contains(.stale) { return true }
        switch entry.residency {
        case .none: return true
        case .compressed: return wish.wantsDecoded
        case .decoded, .demoting, .storing, .promoting: return false
        }
    }

    /// What may be given up for a wish: whatever is worth less than this.
    func worth(of wish: PlanEntry) -> Float {
        switch wish.reason {
        case .prefetch: wish.value - queue.plan.margin
        case .cover: queue.plan.isAtRest ? -.infinity : .infinity
        case .demand, .floor: .infinity
        }
    }

    mutating func beginLoad(_ wish: PlanEntry, now: Int64) -> Admission<LoadTicket> {
        let number = entry(for: wish.key, forgetsAbsences: wish.reason == .demand)
        guard number != .none else { return .refused }
        var room = Admission.granted(SlotID.none)
        let worth = worth(of: wish)
        // A source is never asked ahead of need for what there may be no room for, and for a needed tile at most once.
        if !layers[wish.key.layer].reservesLate || worth < .infinity || table[number].flags.contains(.refused) {
            // The entry must outlive the search for room.
            table[number].leaseCount += 1
            room = acquireSlot(for: number, worth: worth, now: now)
            table[number].leaseCount -= 1
        }
        if !room.isGranted { forgetIfIdle(number) }
        return room.map { begin(wish, of: number, in: $0, now: now) }
    }

    private mutating func begin(_ wish: PlanEntry, of number: EntryID, in slot: SlotID, now: Int64) -> LoadTicket {
        let isDemand = wish.reason != .prefetch
        let layer = wish.key.layer
        if slot != .none { ledger.noteInFlight(slotBytes(ofLayer: layer)) }
        let (id, serial) = loads.begin(
            Load(
                entry: number,
                generation: layers[layer].generation,
                slot: slot,
                started: now,
                isDemand: isDemand,
                wantedEpoch: queue.epoch,
                value: wish.value
            )
        )
        table[number].load = id
        relist(number)
        setHistory(wish, of: number)
        // What has just landed is not given up again before a plan has looked at it.
        if !isDemand { setValue(.greatestFiniteMagnitude, of: number) }
        counters.loads.started += 1
        if table[number].attempts > 0 { counters.loads.retried += 1 }
        if !isDemand { counters.prefetches.started += 1 }
        notePeaks()
        return LoadTicket(
            load: id,
            serial: serial,
            key: wish.key,
            slot: slot,
            isDemand: isDemand
        )
    }

    /// Ends a load. Pixels that an invalidation has overtaken, or that nobody has room for, never land.
    mutating func finishLoad(_ id: LoadID, _ answer: LoadResult, now: Int64) {
        guard let load = loads.end(id) else { return }
        let wasOverLimit = isOverLimit
        let result = outcome(answer, of: load)
        let number = load.entry
        let layer = table[number].key.layer
        table[number].load = .none
        if load.slot != .none { ledger.noteInFlight(-slotBytes(ofLayer: layer)) }
        ledger.noteHeld(-load.heldBytes)

        let isOutdated = load.isOutdated
        if isOutdated { counters.loads.outdated += 1 }
        // The plan passed over a needed or pinned tile because it was on its way.
        let isWanted = table[number].needCount > 0 || table[number].flags.contains(.floor)
        if isOutdated || (answer == .cancelled && isWanted) { effects.plans = true }
        if result == .pixels, !isOutdated {
            land(load, in: number, now: now)
        } else {
            if load.slot != .none { giveBack(slot: load.slot, ofLayer: layer) }
            free(load.encoded, ofLayer: layer)
            if !isOutdated {
                note(result, load, in: number, now: now)
                if let time = retryTime(of: number, after: result) { effects.replanAt = min(effects.replanAt, time) }
            }
            noteFruitless(load, result)
            forgetIfIdle(number)
        }
        notePeaks()
        settleLimit(now: now)
        // A source that answered at last is asked again.
        if load.isWrittenOff { effects.lateWorkers += 1 }
        if load.isWrittenOff || queue.hasPassedForLoads || hasMorePins || wasOverLimit { effects.plans = true }
    }

    private mutating func land(_ load: Load, in number: EntryID, now: Int64) {
        counters.loads.finished += 1
        counters.loads.byteTotal += tileBytes(of: table[number].key)
        if table[number].residency.isResident { detachPixels(of: number, cause: .replaced) }
        table[number].form = load.encoded
        if load.encoded != .none { counters.tiers.encodedPayloads += 1 }
        lastStamp += 1
        let stamp = lastStamp
        change(number) {
            $0.slot = load.slot
            $0.residency = .decoded
            $0.generation = load.generation
            $0.lastUse = now
            $0.stamp = stamp
            $0.attempts = 0
            $0.flags.formIntersection(.floor)
            // One that was late already counts as late, not as useful or wasted.
            if !load.isDemand, !load.wasLate { $0.flags.insert(.prefetched) }
        }
        if table[number].planEpoch == queue.epoch { queue.noteValued(number) }
    }

    /// Takes pixels that must not be drawn again out of their entry, whatever is being done with them. Who holds them
    /// keeps them.
    mutating func detachPixels(of number: EntryID, cause: TileCacheStatistics.RemovalCause) {
        counters.tiers.countRemoval(cause)
        noteUnseen(number)
        let entry = table[number]
        if entry.slot != .none, entry.leaseCount > 0 {
            let slotClass = Int32(layers[entry.key.layer].slotClass)
            orphans.add(MemoryRange(slotClass: slotClass, number: entry.slot.number), holds: entry.leaseCount)
            layers[entry.key.layer].slotBytes -= slotBytes(ofLayer: entry.key.layer)
            table[number].slot = .none
            table[number].leaseCount = 0
        }
        // A block that a worker is reading or writing belongs to the worker's ticket from here on.
        if entry.residency == .storing || entry.residency == .promoting {
            if table[number].form.block != nil { table[number].form = .none }
            if entry.residency == .promoting { table[number].leaseCount -= 1 }
        }
        table[number].work = 0
        releasePixels(of: number)
    }

    private mutating func note(_ result: LoadResult, _ load: Load, in number: EntryID, now: Int64) {
        switch result {
        case .pixels: break
        case .absent:
            counters.loads.absent += 1
            // The tile is gone at its source.
            if table[number].residency.isResident { detachPixels(of: number, cause: .replaced) }
            table[number].flags.subtract(.remembered)
            table[number].flags.insert(.absent)
        case .failed(let isPermanent, let retryAfter):
            counters.loads.failed += 1
            table[number].flags.insert(.failed)
            let retryAt = backOff(number, first: configuration.retryDelay, atLeast: retryAfter ?? 0, now: now)
            table[number].retryAt = isPermanent ? .max : retryAt
        case .cancelled:
            counters.loads.cancelled += 1
        case .refused: noteRefusal(of: load, in: number, now: now)
        }
    }

    /// Counts a load that did not land among those that are never drawn, and among the prefetches of its kind.
    private mutating func noteFruitless(_ load: Load, _ result: LoadResult) {
        if load.isOutdated || result == .refused || result == .cancelled { counters.loads.unseen += 1 }
        // A late one counts as late, whatever becomes of it.
        guard !load.isDemand, !load.wasLate else { return }
        switch result {
        case .pixels: counters.prefetches.wasted += 1
        case .cancelled: counters.prefetches.cancelled += 1
        case .absent, .failed, .refused: counters.prefetches.empty += 1
        }
    }

    /// Whether no view and no plan wants a load any more.
    func isUnwanted(load id: LoadID) -> Bool {
        // The pins of a removed layer go in steps: some are still marked.
        guard let load = loads[id], !layers[table[load.entry].key.layer].isRemoved else { return true }
        return table[load.entry].needCount == 0 && load.wantedEpoch != queue.epoch
            && !table[load.entry].flags.contains(.floor)
    }
}
