/// What a worker is to do next.
enum Job: Hashable, Sendable {
    case load(LoadTicket)
    case demote(CodecTicket)
    case promote(CodecTicket)
}

/// A load that has begun.
struct LoadTicket: Hashable, Sendable {
    /// The load's number until it ends.
    var load: Int32
    /// Tells it from later loads of the same number.
    var serial: UInt32 = 0
    var key: TileKey
    /// Where to write, or -1 if the bytes are reserved when the source is ready.
    var slot: Int32
    var slotClass: Int
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
        // Without room every byte is held: nothing could be loaded either, until some is released.
        plan = hasRoom ? newPlan : Plan()
        beginPlan()
        lacksRoomForNeeds = !hasRoom
        planCutsPins = plan.entries.lazy.filter { $0.reason == .floor }.count >= Self.pinsOfAPlan
        planEpoch &+= 1
        valued.removeAll(keepingCapacity: true)
        for wish in plan.keepValues {
            let number = table.find(wish.key)
            guard number >= 0 else { continue }
            setValue(wish.value, of: number)
            setHistory(wish, of: number)
        }
        nextRetry = .max
        for wish in plan.entries {
            let number = table.find(wish.key)
            guard number >= 0 else { continue }
            let load = table[number].load
            if load >= 0 {
                loads[Int(load)]?.wantedEpoch = planEpoch
            } else if table[number].retryAt > now {
                // A prefetch that was refused memory is no reason for a plan.
                let flags = table[number].flags
                let isReason = flags.contains(.failed) || (flags.contains(.refused) && wish.reason != .prefetch)
                if isReason { nextRetry = min(nextRetry, table[number].retryAt) }
            }
            if wish.reason == .prefetch { setValue(wish.value, of: number) }
        }
        notePeaks()
    }

    /// Notes what a policy remembers of a tile from before it was last given up.
    private mutating func setHistory(_ wish: PlanEntry, of number: Int32) {
        guard wish.visits > table[number].visits else { return }
        if table[number].visits == 0 { table[number].lastDemand = demandClock &- UInt32(max(wish.age, 0)) }
        table[number].visits = wish.visits
    }

    /// Takes a plan's own bytes, and those of the list of what it values, from the budget.
    private mutating func makeRoom(for newPlan: borrowing Plan) -> Bool {
        let wishes = newPlan.entries.count + newPlan.keepValues.count
        // An array that grows has room for at most twice its elements. Its capacity itself is what the allocator happened
        // to give: by that the same replay would not always fit the same limit.
        let most = wishes * (2 * MemoryLayout<PlanEntry>.stride + MemoryLayout<Int32>.stride)
        // In steps, so that plans that grow little by little do not ask each time.
        let bytes = (most + 4095) & ~4095
        // Memory that a much larger plan took goes back.
        if bytes < planBytes / 4 { dropPlan() }
        guard bytes > planBytes else { return true }
        guard configuration.grantsBookkeeping || makeBytes(bytes - planBytes) else { return false }
        planBytes = bytes
        coverTaken()
        valued.reserveCapacity(wishes)
        return true
    }

    /// Gives up the plan and its bytes; the next plan takes its own.
    mutating func dropPlan() {
        plan = Plan()
        valued = []
        planBytes = 0
        planEpoch &+= 1
        beginPlan()
        // What it would have loaded is asked for again when there is room.
        lacksRoomForNeeds = true
    }

    /// Notes what the current plan thinks of a tile: the most that any of its wishes says.
    private mutating func setValue(_ value: Float, of number: Int32) {
        guard table[number].planEpoch != planEpoch else {
            table[number].value = max(table[number].value, value)
            return
        }
        table[number].planEpoch = planEpoch
        table[number].value = value
        if table[number].residency.isResident { valued.append(number) }
    }

    func needsWork(_ number: Int32, _ wish: PlanEntry, now: Int64) -> Bool {
        let entry = table[number]
        if entry.load >= 0 { return false }
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
        case .prefetch: wish.value - plan.margin
        case .cover: plan.isAtRest ? -.infinity : .infinity
        case .demand, .floor: .infinity
        }
    }

    enum Begun<Ticket> {
        case ticket(Ticket)
        case demote(Int32)
        case none
    }

    mutating func beginLoad(_ wish: PlanEntry, now: Int64) -> Begun<LoadTicket> {
        let isDemand = wish.reason != .prefetch
        let layer = wish.key.layer
        let number = entry(for: wish.key, forgetsAbsences: wish.reason == .demand)
        guard number >= 0 else { return .none }
        var slot: Int32 = -1
        let worth = worth(of: wish)
        // A source is never asked ahead of need for what there may be no room for, and for a needed tile at most once.
        if !layers[layer].reservesLate || worth < .infinity || table[number].flags.contains(.refused) {
            // The entry must outlive the search for room.
            table[number].leaseCount += 1
            let room = acquireSlot(for: number, worth: worth, now: now)
            table[number].leaseCount -= 1
            switch room {
            case .slot(let acquired): slot = acquired
            case .demote(let victim):
                forgetIfIdle(number)
                return .demote(victim)
            case .none:
                forgetIfIdle(number)
                return .none
            }
            inFlightBytes += slotBytes(ofLayer: layer)
        }
        let load = Load(
            entry: number,
            generation: layers[layer].generation,
            slot: slot,
            serial: nameLoad(),
            started: now,
            isDemand: isDemand,
            wantedEpoch: planEpoch,
            value: wish.value
        )
        let id: Int32
        if let free = freeLoads.popLast() {
            id = free
            loads[Int(id)] = load
        } else {
            id = Int32(loads.count)
            loads.append(load)
        }
        table[number].load = id
        relist(number)
        setHistory(wish, of: number)
        // What has just landed is not given up again before a plan has looked at it.
        if !isDemand { setValue(.greatestFiniteMagnitude, of: number) }
        loadCount += 1
        counters.loadsStarted += 1
        if table[number].attempts > 0 { counters.loadsRetried += 1 }
        if !isDemand {
            prefetchLoadCount += 1
            counters.prefetchStarted += 1
        }
        notePeaks()
        return .ticket(
            LoadTicket(
                load: id,
                serial: load.serial,
                key: wish.key,
                slot: slot,
                slotClass: layers[layer].slotClass,
                isDemand: isDemand
            )
        )
    }

    /// The load of a ticket, unless it has ended or an invalidation has overtaken it.
    func load(of ticket: LoadTicket) -> Load? {
        guard loads.indices.contains(Int(ticket.load)), let load = loads[Int(ticket.load)], load.generation != 0,
            load.serial == ticket.serial
        else { return nil }
        return load
    }

    /// Ends a load. Pixels that an invalidation has overtaken, or that nobody has room for, never land.
    mutating func finishLoad(_ id: Int32, _ answer: LoadResult, now: Int64) {
        guard loads.indices.contains(Int(id)), let load = loads[Int(id)] else { return }
        let wasOverLimit = isOverLimit
        let result = outcome(answer, of: load)
        loads[Int(id)] = nil
        freeLoads.append(id)
        let number = load.entry
        let layer = table[number].key.layer
        table[number].load = -1
        loadCount -= 1
        if load.isWrittenOff {
            writtenOffCount -= 1
        } else if !load.isDemand {
            prefetchLoadCount -= 1
        }
        if load.slot >= 0 { inFlightBytes -= slotBytes(ofLayer: layer) }
        heldBytes -= load.heldBytes

        let isOutdated = load.generation == 0
        if isOutdated { counters.loadsOutdated += 1 }
        // The plan passed over a needed or pinned tile because it was on its way.
        let isWanted = table[number].needCount > 0 || table[number].flags.contains(.floor)
        if isOutdated || (answer == .cancelled && isWanted) { effects.plans = true }
        if result == .pixels, !isOutdated {
            land(load, in: number, now: now)
        } else {
            if load.slot >= 0 { giveBack(slot: load.slot, ofLayer: layer) }
            if load.encodedBytes > 0 { free(load.encoded, bytes: Int(load.encodedBytes), ofLayer: layer) }
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
        if load.isWrittenOff || hasPassedForLoads || hasMorePins || wasOverLimit { effects.plans = true }
    }

    private mutating func land(_ load: Load, in number: Int32, now: Int64) {
        counters.loadsFinished += 1
        counters.loadedBytes += tileBytes(of: table[number].key)
        if table[number].residency.isResident { detachPixels(of: number, cause: .replaced) }
        adoptEncoded(of: load, in: number)
        lastStamp += 1
        let stamp = lastStamp
        change(number) {
            $0.slot = load.slot
            $0.residency = .decoded
            $0.generation = load.generation
            $0.lastUse = now
            $0.stamp = stamp
            $0.attempts = 0
            $0.flags.formIntersection([.floor, .encoded])
            // One that was late already counts as late, not as useful or wasted.
            if !load.isDemand, !load.wasLate { $0.flags.insert(.prefetched) }
        }
        if table[number].planEpoch == planEpoch { valued.append(number) }
    }

    /// Takes pixels that must not be drawn again out of their entry, whatever is being done with them. Who holds them
    /// keeps them.
    mutating func detachPixels(of number: Int32, cause: RemovalCause) {
        counters.removals[cause.rawValue] += 1
        noteUnseen(number)
        let entry = table[number]
        if entry.slot >= 0, entry.leaseCount > 0 {
            let slotClass = Int32(layers[entry.key.layer].slotClass)
            orphans[MemoryRange(slotClass: slotClass, number: entry.slot)] = entry.leaseCount
            layers[entry.key.layer].slotBytes -= slotBytes(ofLayer: entry.key.layer)
            table[number].slot = -1
            table[number].leaseCount = 0
        }
        // A block that a worker is reading or writing belongs to the worker's ticket from here on.
        if entry.residency == .storing || entry.residency == .promoting {
            table[number].blockBytes = 0
            if entry.residency == .promoting { table[number].leaseCount -= 1 }
        }
        table[number].work = 0
        releasePixels(of: number)
    }

    private mutating func note(_ result: LoadResult, _ load: Load, in number: Int32, now: Int64) {
        switch result {
        case .pixels: break
        case .absent:
            counters.loadsAbsent += 1
            // The tile is gone at its source.
            if table[number].residency.isResident { detachPixels(of: number, cause: .replaced) }
            table[number].flags.subtract(.remembered)
            table[number].flags.insert(.absent)
        case .failed(let isPermanent, let retryAfter):
            counters.loadsFailed += 1
            table[number].flags.insert(.failed)
            let retryAt = backOff(number, first: configuration.retryDelay, atLeast: retryAfter ?? 0, now: now)
            table[number].retryAt = isPermanent ? .max : retryAt
        case .cancelled:
            counters.loadsCancelled += 1
        case .refused: noteRefusal(of: load, in: number, now: now)
        }
    }

    /// Counts a load that did not land among those that are never drawn, and among the prefetches of its kind.
    private mutating func noteFruitless(_ load: Load, _ result: LoadResult) {
        if load.generation == 0 || result == .refused || result == .cancelled { counters.loadsUnseen += 1 }
        // A late one counts as late, whatever becomes of it.
        guard !load.isDemand, !load.wasLate else { return }
        switch result {
        case .pixels: counters.prefetchWasted += 1
        case .cancelled: counters.prefetchCancelled += 1
        case .absent, .failed, .refused: counters.prefetchEmpty += 1
        }
    }

    /// Whether no view and no plan wants a load any more.
    func isUnwanted(load id: Int32) -> Bool {
        guard let load = loads[Int(id)] else { return true }
        return table[load.entry].needCount == 0 && load.wantedEpoch != planEpoch
            && !table[load.entry].flags.contains(.floor)
    }
}
