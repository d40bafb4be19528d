import Dispatch
import Synchronization

/// The shell around the decisions: one lock, one coordinating queue, a serial queue for each worker.
///
/// Nothing is queued ahead of time: a worker that is free asks for the best job of the newest plan, so what has left the
/// plan never starts. The lock is never held during I/O, compression, a copy or a call of anybody else's code.
final class CacheCore: Sendable {
    let lock: CoreLock
    let clock: @Sendable () -> Int64
    let executor: Executor
    let coordinator = DispatchQueue(label: "TileCache.coordinator")
    /// Where sources hear that nobody wants a tile any more.
    let cancellations = DispatchQueue(label: "TileCache.cancellations")
    let workerQueues: [DispatchQueue]
    let stuckLoadTime: Int64
    let slowCallbackTime: Int64
    private let planner: Lock<Planner>
    /// Runs on the coordinating queue when something is due; only that queue sets it.
    private let timer: any StepTimer
    /// Work and callbacks that are under way; shutting down waits for them.
    let activity = DispatchGroup()
    let callbacks = Lock(RunningCallbacks())
    let configuration: TileCache.Configuration
    /// Caches that the process has made.
    private static let count = Atomic<UInt32>(0)

    /// Whether this is a child process that has the cache of its parent, and none of its threads.
    var isForked: Bool { ProcessFork.count > 0 }

    init(configuration: TileCache.Configuration) throws(TileCacheError) {
        ProcessFork.watch()
        guard ProcessFork.count == 0 else { throw .forked }
        var settings = try configuration.poolConfiguration()
        var reserved = Self.pageRegion(for: settings)
        if reserved == nil, configuration.maximumByteLimit == nil {
            // Where addresses are scarce the limit itself will have to do.
            settings.maximumByteLimit = settings.byteLimit
            reserved = Self.pageRegion(for: settings)
        }
        guard let region = reserved else { throw .outOfMemory(bytes: settings.maximumByteLimit) }
        let pool = PoolState(configuration: settings)
        self.configuration = configuration
        clock = configuration.clock
        executor = configuration.executor
        timer = executor.makeTimer(coordinator)
        stuckLoadTime = MonotonicTime.bounded(configuration.stuckLoadTime.nanoseconds)
        slowCallbackTime = configuration.slowCallbackTime.nanoseconds
        // Spare ones cost an idle queue each. The system has threads for some 500 queues that block.
        let spares = min(3 * configuration.workers, 255 - configuration.workers)
        let state = CoreState(
            serial: Self.count.wrappingAdd(1, ordering: .relaxed).newValue,
            pool: pool,
            pageRegion: region,
            workers: WorkerRoster(count: configuration.workers, spares: spares),
            meanLatency: configuration.expectedLoadLatency.nanoseconds
        )
        lock = CoreLock(state)
        planner = Lock(Planner())
        // No common target: queues that share one starve when two of them block.
        workerQueues = (0..<configuration.workers + spares).map { DispatchQueue(label: "TileCache.worker.\($0)") }
    }

    private static func pageRegion(for settings: PoolConfiguration) -> MemoryRegion? {
        MemoryRegion(byteCount: PoolState.pageCapacity(for: settings) * settings.pageBytes)
    }

    // MARK: - Planning

    /// Gives a view a policy for each of its layers; those that have one keep it, and what it has learned.
    func setPolicies(ofView id: Int, layers: [LayerID], _ make: () -> any PrefetchPolicy) {
        planner.withLock { planner in
            let former = planner.policies[id] ?? [:]
            planner.policies[id] = Dictionary(layers.map { ($0, former[$0] ?? make()) }) { first, _ in first }
        }
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
            state.isPlanQueued = false
            guard !state.isShutDown else { return nil }
            state.settledCounters = nil
            let now = clock()
            if state.finishRemovals() { state.effects.plans = true }
            state.isPlanning = true
            let isSettling = state.pool.settleLimit(now: now)
            // A lowered limit may take more steps to reach, or pins more steps to enter.
            if state.enterMissing(now: now) || isSettling { state.effects.plans = true }
            state.pruneAsked()
            var views: [(id: Int, snapshot: ViewSnapshot)] = []
            for place in state.views.indices {
                guard let serial = state.views[place]?.serial,
                    let snapshot = state.views[place]?.model.takeSnapshot()
                else { continue }
                views.append((serial, snapshot))
            }
            views.sort { $0.id < $1.id }
            let watched = state.views.compactMap { $0?.isDiagnosed(at: now) == true ? $0?.serial : nil }
            let slotBytes = state.pool.slots.map(\.slotBytes).max() ?? 1
            return PlanInput(
                views: views,
                watched: Set(watched),
                pins: state.pool.pinsToLoad,
                asked: state.asked,
                haveRested: state.haveRested(at: now),
                wished: state.waits.wished,
                latency: state.meanLatency,
                counters: state.pool.counters,
                capacityTiles: state.pool.ledger.limit / slotBytes,
                byteLimit: state.pool.ledger.limit
            )
        }
        guard let input else { return }
        let context = PlanContext(
            now: clock(),
            workers: workers,
            loadLatency: input.latency,
            capacityTiles: input.capacityTiles,
            effort: effort,
            residency: { [self] key in read { $0.pool.residency(of: key) } },
            manyStandings: { [self] keys in
                read { state in keys.map { state.pool.standing(of: $0) } }
            }
        )
        let (plan, isSettled, expected, learned) = planner.withLock { planner in
            var plan = planner.makePlan(of: input.views, pins: input.pins, asked: input.asked, context: context)
            plan.isAtRest = input.haveRested
            let expected = planner.expectations(of: input.views, watched: input.watched, now: context.now)
            let learned = planner.trimPolicies(toBytes: Self.policyBytes(ofLimit: input.byteLimit), of: input.views)
            return (plan, planner.isSettled(on: input.views), expected, learned)
        }
        let wished = LoadWaits.Watched(of: plan, after: input.wished, now: context.now)
        // In steps, so that a little growth is not asked for each time.
        let policyBytes = (learned + 16383) & ~16383
        let isCounted = perform { state -> Bool in
            state.isPlanning = false
            if state.hasWaitingRemoval { state.effects.plans = true }
            state.hasWaitingRemoval = false
            let isCounted = state.pool.charge(policyBytes - state.pool.ledger[.policies], to: .policies)
            state.pool.install(plan, now: clock())
            let settles = plan.leavesNeedsOut ? context.now + Int64(MotionEstimate.staleAfter * 1e9) : .max
            if state.due.setPlan(at: min(settles, state.pool.queue.nextRetry)) { state.effects.setsTimer = true }
            state.settledCounters = isSettled ? input.counters : nil
            state.waits.wished = wished
            state.note(expected: expected)
            for (load, request) in state.requests where state.pool.isUnwanted(load: load) {
                if let request = request.value { state.effects.unwanted.append(request) }
            }
            state.effects.wakes = .max
            return isCounted
        }
        if !isCounted { resetPolicies() }
    }

    /// Bytes that policies may learn: an eighth of the limit, but what one view needs if that is no more than a quarter.
    static func policyBytes(ofLimit limit: Int) -> Int { max(limit / 8, min(limit / 4, 384 << 10)) }

    /// Resets all policies: the limit has no room for what they have learned.
    private func resetPolicies() {
        let least = planner.withLock { $0.trimPolicies(toBytes: 0, of: []) }
        perform { state in
            let change = min(least - state.pool.ledger[.policies], 0)
            state.pool.note(change, in: .policies)
        }
    }

    private struct PlanInput: Sendable {
        var views: [(id: Int, snapshot: ViewSnapshot)]
        /// Views whose diagnostics somebody looks at.
        var watched: Set<Int>
        var pins: [TileKey]
        /// Tiles that were asked for once.
        var asked: [TileKey]
        var haveRested: Bool
        var wished: LoadWaits.Watched
        var latency: Int64
        var counters: PoolCounters
        var capacityTiles: Int
        var byteLimit: Int
    }

    /// Sets the timer to what is due next.
    func setTimer() {
        guard let time = perform({ $0.isShutDown ? nil : $0.due.takeTimer() }) else { return }
        // Clocks that are injected may go slower than the timer.
        let (wait, overflow) = time.subtractingReportingOverflow(clock())
        let hour: Int64 = 3_600_000_000_000
        timer.set(after: time == .max ? nil : Int(overflow ? hour : min(max(wait, 1_000_000), hour))) { [weak self] in
            self?.doWhatIsDue()
        }
    }

    private func doWhatIsDue() {
        let now = clock()
        let watches = perform { state -> Bool in
            let due = state.due.takeDue(now: now)
            if due.plan { state.effects.plans = true }
            return due.watch
        }
        if watches { watch() }
        setTimer()
    }

    // MARK: - Ending

    /// Stops everything; whether all work had ended within the time.
    func shutDown(within nanoseconds: Int64) -> Bool {
        guard !isForked else { return false }
        // The sources are let go outside of the lock: what they do at their end is somebody else's code.
        let sources = perform { state -> [LayerRecord] in
            state.isShutDown = true
            state.due = DueTimes()
            state.effects.unwanted += state.requests.values.compactMap(\.value)
            defer { for index in state.layers.indices { state.layers[index].forgetSource() } }
            return state.layers
        }
        defer { withExtendedLifetime(sources) {} }
        timer.cancel()
        // Called from a callback, a cancel handler or a source, it cannot wait for that very call.
        let isWithin = callbacks.withLock { $0.isWithin(currentThreadNumber()) }
        guard !isWithin else { return true }
        return activity.wait(timeout: .now() + .nanoseconds(Int(clamping: nanoseconds))) == .success
    }

    /// Begins work that `shutDown` waits for, unless it is called within.
    func enterActivity() {
        activity.enter()
        callbacks.withLock { $0.enter(currentThreadNumber()) }
    }

    /// Ends such work, on the same thread.
    func leaveActivity() {
        callbacks.withLock { $0.leave(currentThreadNumber()) }
        activity.leave()
    }

    func noteSecondAnswer() { perform { $0.secondAnswers += 1 } }
}

/// The lock of a cache's state. It counts its acquisitions; tests read the count.
struct CoreLock: ~Copyable, Sendable {
    private let lock: Lock<CoreState>

    init(_ state: consuming sending CoreState) { lock = Lock(state) }

    @inline(__always)
    borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending CoreState) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try lock.withLock { state throws(Failure) in
            state.acquisitions &+= 1
            return try body(&state)
        }
    }
}
