/// Which wish of the plan is next.
///
/// The plan's order counts, with one exception: where a prefetch has to wait, for a worker that may do it, a codec or
/// room, the needed tiles behind it do not wait with it.
extension PoolState {
    /// What became of a wish that was next.
    private enum Attempt {
        /// It has begun.
        case begun(Job)
        /// This has to be done first; then it is the wish's turn again.
        case preparing(Job)
        /// There is nothing to do for it in this plan.
        case passed
        /// It cannot begin now.
        case waits
    }

    /// Starts over: nothing of the plan has been looked at.
    mutating func beginPlan() {
        planCursor = 0
        demandCursor = 0
        planHasEnded = false
        prefetchHasEnded = false
        hasPassedForRoom = false
        hasPassedForLoads = false
    }

    /// Whether the plan holds what there was no room for: room that comes later is worth a new plan.
    var isShortOfRoom: Bool { planHasEnded || prefetchHasEnded || hasPassedForRoom }

    /// The plan is done, and not all pinned tiles were in it.
    var hasMorePins: Bool {
        planCutsPins && planCursor >= plan.entries.count
            && lists.count(of: .missingPin) + lists.count(of: .stalePin) > 0
    }

    /// The best job that may start now, or `nil`. The caller does it and calls the matching `finish`.
    mutating func nextJob(now: Int64) -> Job? {
        guard loadCount - writtenOffCount < configuration.workers, !planHasEnded else { return nil }
        while planCursor < plan.entries.count {
            let reason = plan.entries[planCursor].reason
            let count = plan.entries.count
            let outcome = attempt(planCursor, now: now)
            // Coming under a lowered limit may have dropped the plan.
            let isDropped = plan.entries.count != count
            switch outcome {
            case .begun(let job):
                if !isDropped { planCursor += 1 }
                return job
            case .preparing(let job): return job
            case .passed: if !isDropped { planCursor += 1 }
            case .waits: return reason == .prefetch ? nextDemand(now: now) : nil
            }
        }
        return nil
    }

    /// The best job for what is needed behind a prefetch that waits.
    private mutating func nextDemand(now: Int64) -> Job? {
        demandCursor = max(demandCursor, planCursor)
        while demandCursor < plan.entries.count {
            guard plan.entries[demandCursor].reason != .prefetch else {
                demandCursor += 1
                continue
            }
            switch attempt(demandCursor, now: now) {
            case .begun(let job):
                demandCursor += 1
                return job
            case .preparing(let job): return job
            case .passed: demandCursor += 1
            case .waits: return nil
            }
        }
        return nil
    }

    private mutating func attempt(_ index: Int, now: Int64) -> Attempt {
        let wish = plan.entries[index]
        let isPrefetch = wish.reason == .prefetch
        // The plan was made before the layer was removed.
        guard !layers[wish.key.layer].isRemoved else { return .passed }
        // What is needed has had its turn where the other cursor has gone ahead of this one.
        guard isPrefetch || index >= demandCursor else { return .passed }
        let number = table.find(wish.key)
        if number >= 0, !needsWork(number, wish, now: now) { return .passed }
        if plan.followsNeeds, wish.reason == .demand, number < 0 || table[number].needCount == 0 {
            // It has gone out of view since the plan was made, or the table has no room for it.
            if number < 0 { lacksRoomForNeeds = true }
            return .passed
        }
        guard fitsLimit(layer: wish.key.layer) else {
            // It never will, and the rest of the plan must not wait for it.
            counters.refusals += 1
            return .passed
        }
        if hasAllItsLoads(layer: wish.key.layer) {
            hasPassedForLoads = true
            return .passed
        }
        // A needed tile without room makes each end of a load a reason for a plan: prefetches that evict each other would
        // go on for as long as the views rest.
        if isPrefetch, plan.isAtRest, lacksRoomForNeeds { return .waits }
        if isPrefetch {
            let isAllowed = prefetchLoadCount < configuration.workers - configuration.reservedWorkers
            guard isAllowed, !prefetchHasEnded else { return .waits }
        }
        if number >= 0, table[number].residency == .compressed, !configuration.compressedTier {
            // The limit has become too small for a codec.
            drop(number, cause: .trimmed)
            return attempt(index, now: now)
        }
        if number >= 0, table[number].residency.isCompressed, !table[number].flags.contains(.stale) {
            // As with stuck loads: a source whose decoder hangs takes no more than the workers' number of spare ones.
            if table[number].flags.contains(.encoded), layers[wish.key.layer].stuckDecodes >= configuration.workers {
                return .passed
            }
            // Whoever has the codec goes on here when it is done.
            guard codecJobs < configuration.maximumCodecJobs else { return .waits }
            switch beginPromotion(number, worth: worth(of: wish), now: now) {
            case .ticket(let ticket): return .begun(.promote(ticket))
            case .demote(let victim): return .preparing(.demote(beginDemotion(victim)))
            case .none: return noRoom(for: wish)
            }
        }
        switch beginLoad(wish, now: now) {
        case .ticket(let ticket): return .begun(.load(ticket))
        case .demote(let victim): return .preparing(.demote(beginDemotion(victim)))
        case .none: return noRoom(for: wish)
        }
    }

    /// Nothing may be given up for what is next: the rest of its kind is worth less, so nothing of it starts. The next
    /// plan may find room again. While a codec is at work room may come of it, and its worker goes on with this plan.
    private mutating func noRoom(for wish: PlanEntry) -> Attempt {
        guard codecJobs == 0 else { return .waits }
        // What is needed may evict more than a stand-in may.
        if wish.reason == .cover, plan.isAtRest { return .passed }
        if wish.reason != .prefetch { lacksRoomForNeeds = true }
        if hasShares {
            // Another layer may have room left.
            hasPassedForRoom = true
            return .passed
        }
        if wish.reason == .prefetch { prefetchHasEnded = true } else { planHasEnded = true }
        return .waits
    }
}
