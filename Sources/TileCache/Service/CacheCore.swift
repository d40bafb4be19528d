import Dispatch
import Synchronization

/// Shell around the decisions: one lock, one coordinating queue, a serial queue for each worker.
///
/// Nothing is queued ahead of time: a free worker takes the best job of the newest plan. The lock is never held during
/// I/O, compression, a copy or a call of foreign code.
final class CacheCore: Sendable {
    let lock: Lock<CoreState>
    let clock: @Sendable () -> Int64
    let executor: Executor
    let coordinator = DispatchQueue(label: "TileCache.coordinator")
    /// Queue of the sources' cancel handlers.
    let cancellations = DispatchQueue(label: "TileCache.cancellations")
    /// Queue of invalidations and limits of stores.
    let storeQueue = DispatchQueue(label: "TileCache.stores")
    /// Number of the cache in the process.
    let serial: UInt32
    let workerQueues: [DispatchQueue]
    let stuckLoadTime: Int64
    private let planner: Lock<Planner>
    /// Timer of the coordinating queue, set only on that queue.
    private let timer: any StepTimer
    /// Work and callbacks under way; shutdown waits for them.
    let activity = DispatchGroup()
    let callbacks: Lock<RunningCallbacks>
    /// Further answers to requests that had one.
    let secondAnswers = Atomic<Int>(0)
    let configuration: TileCache.Configuration
    /// Number of caches made by the process.
    private static let count = Atomic<UInt32>(0)

    /// Whether this is a forked child process, which has none of the cache's threads.
    var isForked: Bool { ProcessFork.count > 0 }

    init(configuration: TileCache.Configuration) throws(TileCacheError) {
        ProcessFork.watch()
        guard ProcessFork.count == 0 else { throw .forked }
        var settings = try configuration.poolConfiguration()
        var reserved = Self.pageRegion(for: settings)
        if reserved == nil, configuration.maximumByteLimit == nil {
            // Addresses are scarce: reserve them for the present limit only.
            settings.maximumByteLimit = settings.byteLimit
            reserved = Self.pageRegion(for: settings)
        }
        guard let region = reserved else { throw .outOfMemory(size: .bytes(settings.maximumByteLimit)) }
        let pool = PoolState(configuration: settings)
        self.configuration = configuration
        clock = configuration.clock
        executor = configuration.executor
        timer = executor.makeTimer(coordinator)
        stuckLoadTime = MonotonicTime.bounded(configuration.stuckLoadTime.nanoseconds)
        callbacks = Lock(RunningCallbacks(slowTime: configuration.slowCallbackTime.nanoseconds))
        let spares = settings.spareWorkers
        serial = Self.count.wrappingAdd(1, ordering: .relaxed).newValue
        let state = CoreState(
            serial: serial,
            pool: pool,
            pageRegion: region,
            workers: WorkerRoster(count: configuration.workers, spares: spares),
            meanLatency: configuration.expectedLoadLatency.nanoseconds
        )
        lock = Lock(state)
        planner = Lock(Planner())
        // Without a common target: queues that share one starve if two of them block.
        workerQueues = (0..<configuration.workers + spares).map { DispatchQueue(label: "TileCache.worker.\($0)") }
    }

    private static func pageRegion(for settings: PoolConfiguration) -> MemoryRegion? {
        MemoryRegion(byteCount: PoolState.pageCapacity(for: settings) * settings.pageBytes)
    }

    // MARK: - Planning

    /// Sets the policies of a view, one per layer. Existing ones stay, with what they have learned.
    func setPolicies(
        ofView id: Int,
        layers: [(id: LayerID, profile: PrefetchProfile?)],
        _ make: (PrefetchProfile?) -> any PrefetchPolicy
    ) {
        planner.withLock { planner in
            let former = planner.policies[id] ?? [:]
            let policies = layers.map { ($0.id, former[$0.id] ?? make($0.profile)) }
            planner.policies[id] = Dictionary(policies) { first, _ in first }
        }
    }

    /// What the policies of a layer have learned in all views. `nil` if no view shows it.
    func learnedProfile(of layer: LayerID) -> PrefetchProfile? {
        // Summed under the lock: an array that is read outside is a race to ThreadSanitizer, which sees no reference
        // counts. A few microseconds a view; the sketch, which takes longer, is made outside.
        let samples = planner.withLock { planner in
            SessionSamples(planner.policies.keys.sorted().compactMap { planner.policies[$0]?[layer]?.learned })
        }
        return samples.map(PrefetchProfile.init)
    }

    func removePolicies(ofView id: Int) { planner.withLock { $0.policies[id] = nil } }

    func removePolicies(ofLayer layer: LayerID) {
        planner.withLock { planner in
            for view in planner.policies.keys { planner.policies[view]?[layer] = nil }
        }
    }

    func makePlan() {
        let effort = configuration.effort
        let workers = configuration.workers
        let input = perform { state -> PlanInput? in
            guard !state.isShutDown else { return nil }
            let now = MonotonicTime.bounded(clock())
            let isReleasing = state.finishRemovals(now: now)
            state.planning.begin()
            let isSettling = state.pool.settleLimit()
            let isEntering = state.enterMissing(now: now)
            if !state.asked.isEmpty { state.pruneAsked() }
            state.enterFetches()
            var views: [(id: Int, snapshot: ViewSnapshot)] = []
            let nextExpiry = state.expireNeeded(now: now)
            for place in state.views.indices {
                guard let serial = state.views[place]?.serial,
                    let snapshot = state.views[place]?.model.takeSnapshot(at: now, state.pool)
                else { continue }
                views.append((serial, snapshot))
            }
            views.sort { $0.id < $1.id }
            // The plan being made uses all that there is by now. It may be one step of many.
            _ = (state.pool.takeDemand(), state.pool.takeSupply())
            if isReleasing || isSettling || isEntering { state.pool.noteDemand() }
            let watched = state.views.compactMap { $0?.isDiagnosed(at: now) == true ? $0?.serial : nil }
            return PlanInput(
                views: views,
                watched: Set(watched),
                pins: state.pool.pinsToLoad,
                asked: state.asked,
                requested: state.fetches.pending,
                haveRested: state.haveRested(at: now),
                nextExpiry: nextExpiry,
                wished: state.times.wished,
                latency: state.times.mean,
                counters: state.pool.counters,
                capacities: state.pool.capacities,
                byteLimit: state.pool.ledger.limit,
                tiers: state.stores.isEmpty ? [] : state.layers.map(\.tiers),
                allowances: state.pool.layers.haveAllowances ? state.pool.layers.map(\.allowance) : [],
                synthesizedLevels: state.pool.layers.haveSynthesizedLevels
                    ? state.pool.layers.map(\.synthesizedLevels) : []
            )
        }
        guard let input else { return }
        var context = PlanContext(
            now: clock(),
            workers: workers,
            loadLatency: input.latency,
            capacityTiles: input.capacities.max() ?? 0,
            effort: effort,
            residency: { [self] key in read { $0.pool.residency(of: key) } },
            lookUpMany: { [self] keys in read { $0.pool.knownResidencies(of: keys) } },
            changedTiles: { [self] version in read { $0.pool.table.changes.take(since: &version) } }
        )
        if !input.tiers.isEmpty {
            context.nearness = { key in input.tiers[key.layer]?.nearness(key.coordinate) ?? 1 }
            context.isNear = { key in input.tiers[key.layer]?.nearest(key.coordinate) != nil }
        }
        context.allowances = input.allowances
        context.synthesizedLevels = input.synthesizedLevels
        context.capacities = input.capacities
        let (plan, made, expected, learned) = planner.withLock { planner in
            var plan = planner.makePlan(
                of: input.views,
                pins: input.pins,
                asked: input.asked,
                requested: Fetches.tiles(of: input.requested),
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
            let growth = policyBytes - state.pool.ledger[.policies]
            let isCounted = state.pool.charge(growth, to: .policies, inSteps: true)
            state.pool.install(plan, now: clock())
            // What has no entry of the table yet is not in the plan.
            if state.hasMissingEntries { state.pool.queue.noteUnmet() }
            _ = state.pool.takeSupply()
            // Drops the plan, whose entries name the layers by their indices.
            if hasWaitingRemoval { state.freeRemovedLayers(now: context.now) }
            // Without room for its entries no worker would.
            state.settleLack(now: context.now)
            let settles = plan.leavesNeedsOut ? context.now + Int64(MotionEstimate.staleAfter * 1e9) : .max
            let next = min(settles, state.pool.queue.plan.nextRetry, input.nextExpiry)
            if state.due.setPlan(at: next) { state.effects.setsTimer = true }
            state.watchStarvedLayers(at: clock(), lendingAfter: stuckLoadTime / Self.lendingShare)
            state.times.set(wished: wished)
            state.note(expected: expected)
            state.effects.unwanted += state.requests.all { state.pool.isUnwanted(load: $0) }
            state.effects.wakes = .max
            // If room for them is being made, the next plan charges them.
            return isCounted || state.pool.hold.isInterrupted
        }
        if !isCounted { resetPolicies() }
        noteHeldMemory(now: context.now)
    }

    /// Maximum bytes of policies. An eighth of the limit, or what one view needs if that is at most a quarter.
    static func policyBytes(ofLimit limit: Int) -> Int { max(limit / 8, min(limit / 4, 384 << 10)) }

    /// Resets all policies, since the limit has no room for them.
    private func resetPolicies() {
        let least = planner.withLock { $0.trimPolicies(toBytes: 0, of: []) }
        perform { state in
            let change = min(least - state.pool.ledger[.policies], 0)
            state.pool.note(change, in: .policies)
        }
    }

    private struct PlanInput: Sendable {
        var views: [(id: Int, snapshot: ViewSnapshot)]
        /// Serial numbers of views whose diagnostics are being read.
        var watched: Set<Int>
        var pins: [TileKey]
        /// Tiles to prefetch once.
        var asked: [AskedTile]
        /// Pending requests of hosts.
        var requested: [FetchID: Fetches.Record]
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
        /// Levels that are made of finer ones, by the layer's index; empty if there are none.
        var synthesizedLevels: [Int]
    }

    /// Sets the timer to the earliest due time.
    func setTimer() {
        guard let time = perform({ $0.isShutDown ? nil : $0.due.takeTimer() }) else { return }
        // Injected clocks may be slower than the timer.
        let (wait, overflow) = time.subtractingReportingOverflow(clock())
        let hour: Int64 = 3_600_000_000_000
        timer.set(after: time == .max ? nil : Int(overflow ? hour : min(max(wait, 1_000_000), hour))) { [weak self] in
            self?.doWhatIsDue()
        }
    }

    private func doWhatIsDue() {
        let now = clock()
        let due = perform { state in
            let due = state.due.takeDue(now: now)
            if due.plan { state.pool.noteDemand() }
            return due
        }
        if due.watch { watch() }
        if due.limit { changePressure { $0.advance(now: now) } }
        setTimer()
    }

    // MARK: - Ending

    /// Stops everything; returns whether all work ended in time.
    func shutDown(within nanoseconds: Int64) -> Bool {
        guard !isForked else { return false }
        let end = DispatchTime.now() + .nanoseconds(Int(clamping: nanoseconds))
        if nanoseconds > 0 { saveAll(until: end) }
        // All but those that come meanwhile.
        while perform({ $0.endFetches(atMost: PoolState.stepsAtOnce) { _ in true } }) {}
        // Sources are released outside of the lock: their deinitializers run foreign code.
        let sources = perform { state -> [LayerRecord] in
            state.shutDown()
            state.endFetches { _ in true }
            state.loseSaves { _ in true }
            for layer in state.layers { if let tiers = layer.tiers { state.stores.close(tiers) } }
            state.effects.unwanted += state.requests.all { _ in true }
            defer { for index in state.layers.indices { state.layers[index].forgetSource() } }
            return Array(state.layers)
        }
        defer { for layer in sources { if let tiers = layer.tiers { releaseStores(tiers.stores) } } }
        timer.cancel()
        // Called from a callback, a cancel handler or a source, it cannot wait for that call.
        let isWithin = callbacks.withLock { $0.isWithin(currentThreadNumber()) }
        guard !isWithin else { return true }
        return activity.wait(timeout: end) == .success
    }

    /// Begins work that `shutDown` waits for, unless called within.
    func enterActivity() {
        activity.enter()
        callbacks.withLock { $0.enter(currentThreadNumber()) }
    }

    /// Ends such work, on the same thread.
    func leaveActivity() {
        callbacks.withLock { $0.leave(currentThreadNumber()) }
        activity.leave()
    }

    func noteSecondAnswer() { secondAnswers.add(1, ordering: .relaxed) }
}
