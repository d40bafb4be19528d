/// Which job is next.
extension PoolState {
    /// What became of a plan entry whose turn it was.
    private enum Attempt {
        /// It has begun.
        case begun(Job)
        /// This has to be done first; then it is the entry's turn again.
        case preparing(Job)
        /// There is nothing to do for it in this plan.
        case passed
        /// It cannot begin now.
        case waits
    }

    /// The plan is done, and not all pinned tiles were in it.
    var hasMorePins: Bool { queue.leavesPins && lists.count(of: .missingPin) + lists.count(of: .stalePin) > 0 }

    /// The best job that may start now, or `nil`. The caller does it and calls the matching `finish`.
    mutating func nextJob(now: Int64) -> Job? {
        guard loads.busyCount < configuration.workers, !queue.hasEnded else { return nil }
        var behindPrefetch = false
        while let wish = queue.next(behindPrefetch: behindPrefetch) {
            switch attempt(wish, now: now) {
            case .begun(let job):
                queue.advance(behindPrefetch: behindPrefetch)
                return job
            case .preparing(let job): return job
            case .passed: queue.advance(behindPrefetch: behindPrefetch)
            case .waits:
                guard wish.reason == .prefetch else { return nil }
                behindPrefetch = true
            }
        }
        return nil
    }

    private mutating func attempt(_ wish: PlanEntry, now: Int64) -> Attempt {
        let isPrefetch = wish.reason == .prefetch
        let layer = wish.key.layer
        // The plan was made before the layer was removed.
        guard !layers[layer].isRemoved else { return .passed }
        let number = table.find(wish.key)
        if number != .none, !needsWork(number, wish, now: now) { return .passed }
        if queue.plan.followsNeeds, wish.reason == .demand, number == .none || table[number].needCount == 0 {
            // It has gone out of view since the plan was made, or the table has no room for it.
            if number == .none { queue.noteLack() }
            return .passed
        }
        guard fitsLimit(layer: layer) else {
            // It never will, and the rest of the plan must not wait for it.
            counters.refusals += 1
            return .passed
        }
        if hasAllItsLoads(layer: layer) {
            queue.passForLoads()
            return .passed
        }
        if isPrefetch {
            // A needed tile without room makes each end of a load a reason for a plan: prefetches that evict each other
            // would go on for as long as the views rest.
            if queue.plan.isAtRest, queue.lacksRoomForNeeds { return .waits }
            let isAllowed = loads.prefetchCount < configuration.workers - configuration.reservedWorkers
            guard isAllowed, !queue.prefetchHasEnded else { return .waits }
        }
        if number != .none, table[number].residency == .compressed, !configuration.compressedTier {
            // The limit has become too small for a codec.
            drop(number, cause: .trimmed)
            return attempt(wish, now: now)
        }
        let begun: Admission<Job>
        if number != .none, table[number].residency.isCompressed, !table[number].flags.contains(.stale) {
            // As with stuck loads: a source whose decoder hangs takes no more than the workers' number of spare ones.
            if table[number].form.isEncoded, layers[layer].stuckDecodes >= configuration.workers { return .passed }
            // The worker that has the codec goes on here when it is done.
            guard codecJobs < configuration.maximumCodecJobs else { return .waits }
            begun = beginPromotion(number, worth: worth(of: wish), now: now).map(Job.promote)
        } else {
            begun = beginLoad(wish, now: now).map(Job.load)
        }
        switch begun {
        case .granted(let job): return .begun(job)
        case .demote(let victim): return .preparing(.demote(beginDemotion(victim)))
        case .refused: break
        }
        // While a codec is at work room may come of it, and its worker goes on with this plan.
        guard codecJobs == 0 else { return .waits }
        // What is needed may evict more than a fallback may.
        if wish.reason == .cover, queue.plan.isAtRest { return .passed }
        return queue.passForRoom(wish, hasShares: hasShares) ? .passed : .waits
    }
}
