/// What a plan is made of: copies, so that the lock is free meanwhile.
struct PlanInput: Sendable {
    var views: [(id: Int, snapshot: ViewSnapshot)]
    /// Serial numbers of views whose diagnostics are being read.
    var watched: Set<Int>
    var pins: [TileKey]
    var interests: [InterestID: Interests.Interest]
    var haveRested: Bool
    /// When the next needed tile expires.
    var nextExpiry: Int64
    var wished: LoadWaits.Watched
    var latency: Int64
    var counters: PoolCounters
    /// Tiles that fit the limit, by the layer's index.
    var capacities: [Int]
    var byteLimit: Int
    /// Stores by the layer's index; empty if there are none.
    var tiers: [LayerTiers?]
    /// Allowances by the layer's index; empty if all are standard.
    var allowances: [PrefetchAllowance]
    /// Loads that may be in flight, by the layer's index; empty if all occupy workers.
    var loadsInFlight: [Int]
    /// Levels that are made of finer ones, by the layer's index; empty if there are none.
    var synthesizedLevels: [Int]
}

/// Plans: a snapshot under the lock, the plan without it, its installation under it again.
extension CacheCore {
    func makePlan() {
        let input = perform { state in
            state.isShutDown ? nil : state.beginPlan(now: MonotonicTime.bounded(clock()))
        }
        guard let input else { return }
        let context = context(for: input)
        let (plan, made, expected, learned) = planner.withLock { planner in
            var plan = planner.makePlan(
                of: input.views,
                wanted: input.pins.map { WantedTile(key: $0, rank: .pin) } + Interests.tiles(of: input.interests),
                context: context
            )
            plan.isAtRest = input.haveRested
            let expected = planner.expectations(of: input.views, watched: input.watched, now: context.now)
            let learned = planner.trimPolicies(toBytes: Self.policyBytes(ofLimit: input.byteLimit), of: input.views)
            let made = FinishedPlan(
                counters: input.counters,
                validity: planner.validity(of: plan, on: input.views)
            )
            return (plan, made, expected, learned)
        }
        let wished = LoadWaits.Watched(of: plan, after: input.wished, now: context.now)
        // Rounded, so that slow growth seldom needs a charge.
        let policyBytes = (learned + 16383) & ~16383
        let isCounted = perform { state -> Bool in
            let hasWaitingRemoval = state.planning.end(made)
            let isCounted = state.charge(policies: policyBytes)
            state.install(plan, madeAt: context.now, now: clock(), nextExpiry: input.nextExpiry, hasWaitingRemoval)
            state.watchStarvedLayers(at: clock(), lendingAfter: stuckLoadTime / Self.lendingShare)
            state.times.set(wished: wished)
            state.note(expected: expected)
            return isCounted
        }
        if !isCounted { resetPolicies() }
        noteHeldMemory(now: context.now)
    }

    private func context(for input: PlanInput) -> PlanContext {
        var context = PlanContext(
            now: clock(),
            workers: configuration.workers,
            loadLatency: input.latency,
            capacityTiles: input.capacities.max() ?? 0,
            effort: configuration.effort,
            residency: { [self] key in read { $0.pool.residency(of: key) } },
            lookUpMany: { [self] keys in read { $0.pool.knownResidencies(of: keys) } },
            changedTiles: { [self] version in read { $0.pool.table.changes.take(since: &version) } }
        )
        if !input.tiers.isEmpty {
            context.nearness = { key in input.tiers[key.layer]?.nearness(key.coordinate) ?? 1 }
            context.isNear = { key in input.tiers[key.layer]?.nearest(key.coordinate) != nil }
        }
        context.allowances = input.allowances
        context.loadsInFlight = input.loadsInFlight
        context.synthesizedLevels = input.synthesizedLevels
        context.capacities = input.capacities
        return context
    }

    /// Maximum bytes of policies. An eighth of the limit, or what one view needs if that is at most a quarter.
    static func policyBytes(ofLimit limit: Int) -> Int { max(limit / 8, min(limit / 4, 384 << 10)) }

    /// Resets all policies, since the limit has no room for them.
    private func resetPolicies() {
        let least = planner.withLock { $0.trimPolicies(toBytes: 0, of: []) }
        perform { _ = $0.pool.setCharge(min(least, $0.pool.ledger[.policies]), of: .policies) }
    }
}

extension CoreState {
    /// Enters and releases what waits for a plan, and takes what a plan is made of.
    fileprivate mutating func beginPlan(now: Int64) -> PlanInput {
        let isReleasing = finishRemovals(now: now)
        planning.begin()
        let isSettling = pool.settleLimit()
        dropAsked { !$1.wantsLoad($0) }
        let isEntering = enterMissing(now: now)
        var snapshots: [(id: Int, snapshot: ViewSnapshot)] = []
        let nextExpiry = expireNeeded(now: now)
        for place in views.indices {
            guard let serial = views[place]?.serial, let snapshot = views[place]?.model.takeSnapshot(at: now, pool)
            else { continue }
            snapshots.append((serial, snapshot))
        }
        snapshots.sort { $0.id < $1.id }
        // The plan being made uses all that there is by now. It may be one step of many.
        _ = (pool.takeDemand(), pool.takeSupply())
        if isReleasing || isSettling || isEntering { pool.noteDemand() }
        let watched = views.compactMap { $0?.isDiagnosed(at: now) == true ? $0?.serial : nil }
        return PlanInput(
            views: snapshots,
            watched: Set(watched),
            pins: pool.pinsToLoad,
            interests: interests.pending,
            haveRested: haveRested(at: now),
            nextExpiry: nextExpiry,
            wished: times.wished,
            latency: times.mean,
            counters: pool.counters,
            capacities: pool.capacities,
            byteLimit: pool.ledger.limit,
            tiers: stores.isEmpty ? [] : layers.map(\.tiers),
            allowances: pool.layers.haveAllowances ? pool.layers.map(\.allowance) : [],
            loadsInFlight: pool.loadsInFlight,
            synthesizedLevels: pool.layers.haveSynthesizedLevels ? pool.layers.map(\.synthesizedLevels) : []
        )
    }

    /// Charges what policies have learned; returns whether there is room for it. If room is being made, the next plan charges
    /// it.
    fileprivate mutating func charge(policies bytes: Int) -> Bool {
        pool.setCharge(bytes, of: .policies, inSteps: true) || pool.hold.isInterrupted
    }

    /// Installs a plan, cancels the loads that it does not want, and wakes the workers.
    ///
    /// - Parameter hasWaitingRemoval: Whether removed layers have waited for the plan.
    fileprivate mutating func install(
        _ plan: Plan,
        madeAt time: Int64,
        now: Int64,
        nextExpiry: Int64,
        _ hasWaitingRemoval: Bool
    ) {
        pool.install(plan, now: now)
        // What has no entry of the table yet is not in the plan.
        if hasMissingEntries { pool.noteUnmet() }
        _ = pool.takeSupply()
        // Drops the plan, whose entries name the layers by their indices.
        if hasWaitingRemoval { freeRemovedLayers(now: time) }
        // Without room for its entries no worker would.
        settleLack(now: time)
        let settles = plan.leavesNeedsOut ? time + Int64(MotionEstimate.staleAfter * 1e9) : .max
        let next = min(settles, pool.queue.plan.nextRetry, nextExpiry)
        if due.setPlan(at: next) { effects.setsTimer = true }
        effects.unwanted += requests.all { pool.isUnwanted(load: $0) }
        effects.wakes = .max
    }
}
