/// Next task of a worker.
enum Job: Hashable, Sendable {
    case load(LoadTicket)
    case demote(CodecTicket)
    case promote(CodecTicket)
}

/// A load that has begun.
struct LoadTicket: Hashable, Sendable {
    /// Number of the load until it ends.
    var load: LoadID
    /// Distinguishes loads that reuse the number.
    var serial: UInt32 = 0
    var key: TileKey
    /// Slot to write into; none if the source reserves it late.
    var slot: SlotID
    var isDemand: Bool
}

/// Result of a load. As an error, it ends the synthesis of a tile without pixels.
enum LoadResult: Error, Hashable {
    /// The pixels are in the reserved slot.
    case pixels
    /// The pixels that the pool has are still valid.
    case unchanged
    /// The tile does not exist.
    case absent
    /// The load failed; it is retried after a wait unless the failure is permanent.
    case failed(isPermanent: Bool, retryAfter: Int64?)
    /// The source could not try; it is retried after the wait.
    case postponed(wait: Int64)
    /// It was no longer wanted.
    case cancelled
    /// It was refused memory; it is retried after a wait if memory is available.
    case refused

    /// Whether the load was not tried.
    var isPutOff: Bool {
        switch self {
        case .postponed, .cancelled: true
        case .pixels, .unchanged, .absent, .failed, .refused: false
        }
    }

    /// Whether no load will bring the tile.
    var isUnavailable: Bool {
        switch self {
        case .absent, .failed(isPermanent: true, _): true
        case .pixels, .unchanged, .failed, .postponed, .cancelled, .refused: false
        }
    }
}

extension PoolState {
    /// Replaces the plan. Entries of the old plan that have not started never will.
    ///
    /// - Parameter now: Tiles whose retry is due after it count for `nextRetry`, and ancestors that expire after it.
    ///   Default: none.
    mutating func install(_ newPlan: consuming Plan, now: Int64 = .max) {
        shrinkValidators()
        let hasRoom = makeRoom(for: newPlan)
        // Room is being made in steps, of which this was one.
        if hold.isInterrupted { noteDemand() }
        queue.install(newPlan, hasRoom: hasRoom)
        for planned in queue.plan.keepValues {
            let number = table.find(planned.key)
            guard number != .none else { continue }
            setValue(planned.value, of: number)
            setHistory(planned, of: number)
        }
        let epoch = queue.epoch
        for planned in queue.plan.entries {
            let number = table.find(planned.key)
            guard number != .none else { continue }
            // It is drawn, though no view needs it.
            if planned.reason == .ancestor, now < .max { queue.noteRetry(at: expire([number], now: now)) }
            let load = table[number].load
            if load != .none {
                loads.change(load) { $0.wantedEpoch = epoch }
            } else if table[number].retryAt > now {
                // A prefetch that was refused memory does not cause a plan.
                let flags = table[number].flags
                let isReason = flags.contains(.failed) || (flags.contains(.refused) && !planned.reason.isPrefetch)
                if isReason { queue.noteRetry(at: table[number].retryAt) }
            }
            if planned.reason.isExtra { setValue(planned.value, of: number) }
        }
        notePeaks()
    }

    /// Restores a policy's record of a tile from before its last eviction.
    private mutating func setHistory(_ planned: PlanEntry, of number: EntryID) {
        guard planned.visits > table[number].visits else { return }
        let demand = demandClock &- UInt32(max(planned.age, 0))
        table.note(number) {
            if $0.visits == 0 { $0.lastDemand = demand }
            $0.visits = planned.visits
        }
    }

    /// Charges a plan, and the list of the tiles it values, to the ledger.
    private mutating func makeRoom(for newPlan: borrowing Plan) -> Bool {
        let count = newPlan.entries.count + newPlan.keepValues.count
        // An array grows to at most twice its elements. Its capacity depends on the allocator: by that, equal replays
        // would not always fit the same limit.
        let most = count * (2 * MemoryLayout<PlanEntry>.stride + MemoryLayout<PlanQueue.ValuedTile>.stride)
        // Rounded, so that a slowly growing plan seldom needs a charge.
        let bytes = configuration.paged(most)
        // Frees the memory of a much larger plan.
        if bytes < ledger[.plan] / 4 { dropPlan() }
        let growth = bytes - ledger[.plan]
        guard growth > 0 else { return true }
        guard configuration.grantsBookkeeping || makeBytes(growth) else { return false }
        note(growth, in: .plan)
        queue.reserve(count)
        return true
    }

    /// Drops the plan and its bytes.
    mutating func dropPlan() {
        queue.drop()
        ledger.add(-ledger[.plan], to: .plan)
    }

    /// Sets a tile's value in the current plan, the maximum of its entries.
    private mutating func setValue(_ value: Float, of number: EntryID) {
        let epoch = queue.epoch
        let (isNew, isResident) = table.note(number) {
            let isNew = $0.planEpoch != epoch
            $0.value = isNew ? value : max($0.value, value)
            $0.planEpoch = epoch
            return (isNew, $0.residency.isResident)
        }
        if isNew, isResident { queue.noteValued(number, value) }
    }

    func needsWork(_ number: EntryID, _ planned: PlanEntry, now: Int64) -> Bool {
        let entry = table[number]
        if entry.load != .none { return false }
        if entry.flags.contains(.absent), !entry.flags.contains(.stale) { return false }
        if !entry.flags.isDisjoint(with: [.failed, .refused]), now < entry.retryAt { return false }
        // An expired tile waits until it is needed.
        if entry.flags.contains(.stale) { return !entry.flags.contains(.expired) || !planned.reason.isPrefetch }
        switch entry.residency {
        case .none: return true
        case .compressed: return planned.wantsDecoded
        case .decoded, .demoting, .storing, .promoting: return false
        }
    }

    /// Worth below which tiles may be evicted for an entry.
    func worth(of planned: PlanEntry) -> Float { worth(of: planned.reason, value: planned.value) }

    /// Worth below which tiles may be evicted for a load in flight.
    func worth(of load: Load) -> Float {
        table[load.entry].needCount > 0 ? .infinity : worth(of: load.reason, value: load.value)
    }

    private func worth(of rank: Rank, value: Float) -> Float {
        if rank.isExtra { return value - queue.plan.margin }
        return rank == .fallback && queue.plan.isAtRest ? -.infinity : .infinity
    }

    mutating func beginLoad(_ planned: PlanEntry, now: Int64) -> Admission<LoadTicket> {
        let number = entry(for: planned.key, forgetsAbsences: planned.reason.isNeed)
        guard number != .none else { return .refused }
        var room = Admission.granted(SlotID.none)
        let worth = worth(of: planned)
        // Without room, no prefetch is requested, and a needed tile at most once.
        if !layers[planned.key.layer].reservesLate || worth < .infinity || table[number].flags.contains(.refused) {
            // Leased, so that making room does not evict the tile itself.
            table.stage(number) { $0.leaseCount += 1 }
            room = acquireSlot(for: number, worth: worth)
            table.stage(number) { $0.leaseCount -= 1 }
        }
        if !room.isGranted { forgetIfIdle(number) }
        return room.map { begin(planned, of: number, in: $0, now: now) }
    }

    private mutating func begin(_ planned: PlanEntry, of number: EntryID, in slot: SlotID, now: Int64) -> LoadTicket {
        let layer = planned.key.layer
        if slot != .none { ledger.noteInFlight(slotBytes(ofLayer: layer)) }
        noteTurn(ofLayer: layer, at: now)
        var load = Load(
            entry: number,
            generation: layers[layer].generation,
            slot: slot,
            started: now,
            reason: planned.reason,
            isNear: planned.isNear,
            wantedEpoch: queue.epoch,
            value: planned.value
        )
        load.isRevalidation = table[number].flags.contains(.expired)
        layers.change(layer) { load.flight = $0.window?.begin(at: now) }
        let ticket = loads.begin(load, of: planned.key)
        relist(number) { $0.load = ticket.load }
        setHistory(planned, of: number)
        // A tile that lands is not evicted before a plan has valued it.
        if planned.reason.isExtra || planned.reason == .fallback { setValue(.greatestFiniteMagnitude, of: number) }
        if load.isRevalidation { counters.revalidations.started += 1 } else { count(number) { $0.started += 1 } }
        if !load.isRevalidation, table[number].attempts > 0 { count(number) { $0.retried += 1 } }
        if planned.reason.isPrefetch { notePrefetch(planned.key, asksSource: !planned.isNear, now: now) }
        notePeaks()
        return ticket
    }

    /// Ends a load. Outdated pixels, and those without a slot, never land.
    ///
    /// - Parameter validity: Until when its answer is valid. Default: for ever.
    mutating func finishLoad(_ id: LoadID, _ answer: LoadResult, now: Int64, validity: Validity = .lasting) {
        guard let load = loads.end(id) else { return }
        let result = outcome(answer, of: load)
        let number = load.entry
        let layer = table[number].key.layer
        noteEnd()
        if let flight = load.flight {
            // What kept its worker came from a store, or at once.
            let isAnswer = !load.hasWorker && [.pixels, .unchanged, .absent].contains(answer)
            layers.change(layer) { $0.window?.end(flight, at: now, isAnswer: isAnswer) }
            queue.rewind()
        }
        noteWork(load, isOver: answer != .cancelled && answer != .refused, at: now)
        if load.slot != .none { ledger.noteInFlight(-slotBytes(ofLayer: layer)) }
        ledger.noteHeld(-load.heldBytes)

        let isOutdated = load.isOutdated
        if isOutdated, !load.isRevalidation { count(number) { $0.outdated += 1 } }
        if load.isRevalidation { count(revalidation: result, isOutdated: isOutdated) }
        if result == .pixels, !isOutdated {
            land(load, in: number, now: now)
            set(validity, of: number)
        } else {
            table.stage(number) { $0.load = .none }
            if load.slot != .none { release(slot: load.slot, ofLayer: layer) }
            free(load.encoded, ofLayer: layer)
            if !isOutdated {
                note(result, load, in: number, now: now)
                if result == .absent || result == .unchanged { set(validity, of: number) }
                if let time = retryTime(of: number, after: result) { effects.replanAt = min(effects.replanAt, time) }
            }
            // What the plan has left out because it was being loaded, or what takes its place.
            let isLost = answer == .cancelled || result.isUnavailable
            let isWanted = table[number].isKept || isPlanned(table[number].key, for: .fallback, .ancestor)
            if isOutdated || (isLost && isWanted) { noteDemand() }
            noteNotLanded(load, result)
            forgetIfIdle(number)
        }
        notePeaks()
        settleLimit()
        if load.isWrittenOff, load.hasWorker { effects.lateWorkers += 1 }
    }

    /// Releases the worker of a load that its source goes on with.
    mutating func releaseWorker(of ticket: LoadTicket, at now: Int64) {
        if let load = loads[ticket.load], load.serial == ticket.serial { noteWork(load, isOver: true, at: now) }
        if loads.releaseWorker(of: ticket) { effects.lateWorkers += 1 }
        // What was passed by since the layer's calls occupied all workers that it may have.
        noteBusyOver()
    }

    /// Whether the plan has a tile at one of some ranks. Its load may have begun for another reason.
    func isPlanned(_ key: TileKey, for ranks: Rank...) -> Bool {
        queue.plan.entries.contains { $0.key == key && ranks.contains($0.reason) }
    }

    private mutating func land(_ load: Load, in number: EntryID, now: Int64) {
        let hadPixels = table[number].residency.isResident
        // New pixels of a revalidation take the place of the old ones in all counts.
        let isExchange = load.isRevalidation && hadPixels
        let kept = isExchange ? table[number].flags.intersection([.pinned, .seen, .prefetched]) : .pinned
        if hadPixels { detachPixels(of: number, cause: isExchange ? nil : .replaced) }
        if !isExchange {
            let bytes = tileBytes(of: table[number].key)
            count(number) {
                if load.isRevalidation { $0.started += 1 }
                $0.finished += 1
                $0.byteTotal += bytes
            }
        }
        if load.encoded != .none { counters.tiers.encodedPayloads += 1 }
        let stamp = table.nextStamp()
        change(number) {
            // Not before: a tile between its old and its new pixels is not one that a plan has to see to.
            $0.load = .none
            $0.form = load.encoded
            $0.slot = load.slot
            $0.residency = .decoded
            $0.generation = load.generation
            $0.lastUse = now
            $0.stamp = stamp
            $0.attempts = 0
            $0.flags.formIntersection(.pinned)
            $0.flags.formUnion(kept.subtracting(.pinned))
            // A late prefetch counts as late, not as useful or wasted.
            if !load.isDemand, !load.wasLate { $0.flags.insert(.prefetched) }
        }
        if table[number].planEpoch == queue.epoch { queue.noteValued(number, table[number].value) }
    }

    /// Removes pixels that must not be drawn again, whatever their state. Leased ones stay valid until their release.
    ///
    /// - Parameter cause: `nil` if other pixels take their place in the counts.
    mutating func detachPixels(of number: EntryID, cause: TileCacheStatistics.RemovalCause?) {
        if let cause {
            counters.tiers.countRemoval(cause)
            noteUnseen(number)
        }
        let entry = table[number]
        if entry.slot != .none, entry.leaseCount > 0 {
            let slotClass = Int32(layers[entry.key.layer].slotClass)
            orphans.add(MemoryRange(slotClass: slotClass, number: entry.slot.number), holds: entry.leaseCount)
            let slotBytes = slotBytes(ofLayer: entry.key.layer)
            layers.change(entry.key.layer) { $0.slotBytes -= slotBytes }
            table.stage(number) { ($0.slot, $0.leaseCount) = (.none, 0) }
        }
        // A block being read or written belongs to the worker's ticket from now on.
        if entry.residency == .storing || entry.residency == .promoting {
            change(number) {
                if $0.form.block != nil { $0.form = .none }
                if entry.residency == .promoting { $0.leaseCount -= 1 }
            }
        }
        table.stage(number) { $0.work = 0 }
        releasePixels(of: number)
    }

    private mutating func note(_ result: LoadResult, _ load: Load, in number: EntryID, now: Int64) {
        switch result {
        case .pixels: break
        case .unchanged: renew(number)
        case .absent:
            if !load.isRevalidation { count(number) { $0.absent += 1 } }
            if table[number].residency.isResident { detachPixels(of: number, cause: .replaced) }
            change(number) {
                $0.flags.subtract(.remembered)
                $0.flags.subtract(EntryFlags.ofExpiry.union(.stale))
                $0.flags.insert(.absent)
            }
        case .failed(let isPermanent, let retryAfter):
            if !load.isRevalidation { count(number) { $0.failed += 1 } }
            let retryAt = backOff(number, first: configuration.retryDelay, atLeast: retryAfter ?? 0, now: now)
            change(number) {
                $0.flags.insert(.failed)
                $0.flags.remove(.expires)
                $0.retryAt = isPermanent ? .max : retryAt
            }
        case .postponed(let wait):
            if !load.isRevalidation { count(number) { $0.postponed += 1 } }
            let retryAt = later(now, by: max(wait, PoolConfiguration.leastPause))
            change(number) {
                $0.flags.insert(.failed)
                $0.flags.remove(.expires)
                $0.retryAt = retryAt
            }
        case .cancelled:
            if !load.isRevalidation { count(number) { $0.cancelled += 1 } }
        case .refused: noteRefusal(of: load, in: number, now: now)
        }
    }

    /// Counts a load that did not land: never drawn, and as a prefetch by its result.
    private mutating func noteNotLanded(_ load: Load, _ result: LoadResult) {
        guard !load.isRevalidation else { return }
        if load.isOutdated || result == .refused || result == .cancelled { count(load.entry) { $0.unseen += 1 } }
        // A late prefetch counts as late only.
        guard !load.isDemand, !load.wasLate else { return }
        switch result {
        case .pixels, .unchanged: counters.prefetches.wasted += 1
        case .cancelled: counters.prefetches.cancelled += 1
        case .absent, .failed, .postponed, .refused: counters.prefetches.empty += 1
        }
    }

    /// Whether a load serves neither a view, a pin nor the plan.
    func isUnwanted(load id: LoadID) -> Bool {
        // The pins of a removed layer are cleared in steps: some may still be set.
        guard let load = loads[id], !layers[table[load.entry].key.layer].isRemoved else { return true }
        return load.wantedEpoch != queue.epoch && !table[load.entry].isKept
    }
}
