/// Selects the next job.
extension PoolState {
    /// Begins the best job that may start now; `nil` if there is none. The caller does it and calls the matching
    /// `finish`. If `hold.isInterrupted`, room for it is being made: it is its turn again in another hold.
    mutating func nextJob(now: Int64) -> Job? {
        guard loads.workerCount < configuration.workers, !queue.hasEnded else { return nil }
        orderTurns(at: now)
        var behindPrefetch = false
        while let planned = queue.next(behindPrefetch: behindPrefetch) {
            switch attempt(planned, now: now) {
            case .granted(let job)?:
                queue.advance(behindPrefetch: behindPrefetch)
                queue.noteBegun(planned)
                return job
            // First the victim is compressed; then it is the entry's turn again.
            case .demote(let victim)?: return .demote(beginDemotion(victim))
            case nil: queue.advance(behindPrefetch: behindPrefetch)
            case .refused?:
                guard planned.reason.isPrefetch, !hold.isInterrupted else { return nil }
                behindPrefetch = true
            }
        }
        // All pinned tiles of the plan have had their turn. Those under way are on neither list.
        if queue.takeCutPins(), table.lists.count(of: .missingPin) + table.lists.count(of: .stalePin) > 0 {
            noteDemand()
        }
        return nil
    }

    /// Begins the work for an entry. Refused if it has to wait, `nil` if this plan has nothing to do for it.
    private mutating func attempt(_ planned: PlanEntry, now: Int64) -> Admission<Job>? {
        let (layer, number) = (planned.key.layer, table.find(planned.key))
        guard hasWork(planned, number, now: now), mayFit(planned, number) else { return nil }
        if planned.reason.isExtra {
            // While a needed tile waits for room, each end of a load makes a plan: prefetches would evict each other for as
            // long as the views are at rest.
            if queue.plan.isAtRest, planned.reason.isPrefetch, queue.unmet.isOfNeeds { return .refused }
            // They leave the room to needed tiles that lack it. Otherwise each would land, make way in vain, and be loaded
            // again.
            if queue.lack.concerns(layer) { return nil }
            guard !queue.prefetchHasEnded else { return .refused }
        }
        if number != .none, table[number].residency == .compressed, !configuration.compressedTier {
            // The limit has become too small for a codec.
            drop(number, cause: .trimmed)
            return attempt(planned, now: now)
        }
        let beside = refusedBytes(of: number)
        guard let begun = begin(planned, number, now: now) else { return nil }
        return begun == .refused ? refusal(of: planned, beside: beside) : begun
    }

    /// Whether there is something to do for an entry that the plan may have been made for too early.
    private mutating func hasWork(_ planned: PlanEntry, _ number: EntryID, now: Int64) -> Bool {
        let layer = planned.key.layer
        // The plan was made before the layer was removed, or has tiles that its source is known not to have.
        guard !layers[layer].isRemoved, !layers[layer].lacks(planned.key) else { return false }
        if number != .none, !needsWork(number, planned, now: now) { return false }
        if planned.isPromotion {
            // A load of it would come no sooner than the missing tiles.
            guard number != .none, table[number].residency == .compressed, !table[number].flags.contains(.stale),
                configuration.compressedTier
            else { return false }
        }
        if queue.plan.followsNeeds, planned.reason.isNeed, number == .none || table[number].needCount == 0 {
            // Out of view since the plan was made, or the table has had no room for it.
            if number == .none { if hasRoomForEntry { queue.noteUnmet() } else { queue.noteLack() } }
            return false
        }
        return true
    }

    /// Whether this plan may have room and a load for an entry.
    private mutating func mayFit(_ planned: PlanEntry, _ number: EntryID) -> Bool {
        let layer = planned.key.layer
        guard fitsLimit(layer: layer, beside: refusedBytes(of: number)) else {
            // It does not fit an empty pool, and must not delay the rest of the plan.
            counters.refusals += 1
            ledger.noteRefusal()
            if !planned.reason.isExtra { queue.noteUnmet() }
            return false
        }
        if hasAllItsLoads(layer: layer) {
            queue.noteBusy()
            if !planned.reason.isExtra { supersedeLoads(ofLayer: layer) }
            return false
        }
        // One search for a victim is enough for all tiles of the same size: they are as many as a view needs.
        if !planned.reason.isExtra, slotBytes(ofLayer: layer) >= queue.unmet.leastSlot { return false }
        // At rest, needed tiles that lack room evict a fallback, are refused, and leave room for it: it would be loaded
        // for ever.
        return planned.reason != .fallback || !queue.formerLack.concerns(layer)
    }

    /// Begins to decompress or to load the tile of an entry. `nil` if its layer or its allowance forbids that.
    private mutating func begin(_ planned: PlanEntry, _ number: EntryID, now: Int64) -> Admission<Job>? {
        let layer = planned.key.layer
        if number != .none, table[number].residency.isCompressed, !table[number].flags.contains(.stale) {
            // As with stuck loads: hanging decoders of a layer do not take all spare workers.
            if table[number].form.isEncoded, layers[layer].stuckDecodes >= configuration.mostOfHangingLayer {
                queue.noteBusy()
                return nil
            }
            // The worker that has the codec continues here.
            guard codecJobs.count < configuration.maximumCodecJobs else { return .refused }
            return beginPromotion(number, worth: worth(of: planned)).map(Job.promote)
        }
        if layers[layer].window?.isFull == true {
            queue.park()
            return nil
        }
        if planned.reason.isPrefetch, !planned.isNear, !isWithinCeilings(planned.key, now: now) { return nil }
        return beginLoad(planned, now: now).map(Job.load)
    }

    /// What follows from a refusal of room: whether the plan goes on behind an entry.
    ///
    /// - Parameter beside: Bytes that it requires in addition to its slot.
    private mutating func refusal(of planned: PlanEntry, beside: Int) -> Admission<Job>? {
        let layer = planned.key.layer
        if hold.isInterrupted { return .refused }
        // A running codec may make room, and its worker continues with this plan.
        guard codecJobs.count == 0 else { return .refused }
        // A needed tile may evict more than a fallback, and does not wait for one that is only decompressed.
        if planned.reason == .fallback, queue.plan.isAtRest || planned.isPromotion { return nil }
        if planned.isUrgent { return nil }
        let isFull = isFull(layer: layer, beside: beside)
        let hadSlot = beside > 0 && slots[layers[layer].slotClass].unusedCount > 0
        let slotBytes = slotBytes(ofLayer: layer)
        let goesOn = queue.passForRoom(
            planned,
            hasShares: layers.haveShares,
            isFull: isFull,
            leavesRoom: hadSlot || slots.contains { $0.layers > 0 && $0.slotBytes < slotBytes }
        )
        // A fallback may evict less.
        let isNeeded = !planned.reason.isExtra && planned.reason != .fallback
        if goesOn, isNeeded, !layers.haveShares, !hadSlot { queue.noteRefused(slotBytes: slotBytes) }
        return goesOn ? nil : .refused
    }
}
