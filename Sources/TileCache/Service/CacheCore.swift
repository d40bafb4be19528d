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
        stuckLoadTime = min(max(configuration.stuckLoadTime, 1_000_000), 1 << 61)
        slowCallbackTime = max(configuration.slowCallbackTime, 0)
        var state = CoreState(
            pool: pool,
            pageRegion: region,
            meanLatency: min(max(configuration.expectedLoadLatency, 0), 3_600_000_000_000)
        )
        // Spare ones cost an idle queue each. The system has threads for some 500 queues that block.
        let spares = min(3 * configuration.workers, 255 - configuration.workers)
        let allWorkers = configuration.workers + spares
        state.idleWorkers = Array((0..<configuration.workers).reversed())
        state.spareWorkers = Array((configuration.workers..<allWorkers).reversed())
        state.insideSince = [Int64](repeating: -1, count: allWorkers)
        lock = CoreLock(state)
        planner = Lock(Planner())
        // No common target: queues that share one starve when two of them block.
        workerQueues = (0..<allWorkers).map { DispatchQueue(label: "TileCache.worker.\($0)") }
    }

    private static func pageRegion(for settings: PoolConfiguration) -> MemoryRegion? {
        MemoryRegion(byteCount: PoolState.pageCapacity(for: settings) * PageAllocator.pageBytes)
    }

    /// Runs `body` under the lock, then decommits what it released, before any memory that it was granted is touched.
    func perform<Result: Sendable>(_ body: (inout CoreState) -> Result) -> Result {
        executor.interleave?()
        var leaving: [LeavingMemory] = []
        var regions: [CoreState.Region] = []
        let result = lock.withLock { state in
            let result = body(&state)
            leaving = state.pool.takePendingDecommits()
            if !leaving.isEmpty { regions = state.regions() }
            return result
        }
        if !leaving.isEmpty { letGo(leaving, of: regions) }
        return result
    }

    private func letGo(_ leaving: [LeavingMemory], of regions: [CoreState.Region]) {
        let ranges = leaving.map(\.range).sorted { ($0.slotClass, $0.number) < ($1.slotClass, $1.number) }
        // Neighbours go in one call.
        var first = 0
        while first < ranges.count {
            var last = first
            while last + 1 < ranges.count, ranges[last + 1].slotClass == ranges[first].slotClass,
                ranges[last + 1].number == ranges[last].number + 1
            {
                last += 1
            }
            let (memory, bytes) = regions[Int(ranges[first].slotClass - MemoryRange.firstKind)]
            memory.letGo(offset: Int(ranges[first].number) * bytes, byteCount: (last - first + 1) * bytes)
            first = last + 1
        }
        // Under a lowered limit nothing was taken until now.
        let isUnderLimit = lock.withLock { $0.pool.finishDecommits(leaving) }
        if isUnderLimit { requestPlan() }
    }

    // MARK: - Planning

    /// Asks for a plan soon; many requests before it is made are one.
    func requestPlan() {
        if lock.withLock({ $0.requestPlan() }) { queuePlan() }
    }

    func queuePlan() {
        guard !isForked else { return }
        executor.run(coordinator) { [weak self] in self?.makePlan() }
    }

    func setPolicies(_ policies: [any PrefetchPolicy]?, ofView id: Int) {
        planner.withLock { $0.policies[id] = policies }
    }

    private func makePlan() {
        let effort = configuration.effort
        let workers = configuration.workers
        let input = perform { state -> PlanInput? in
            state.isPlanQueued = false
            guard !state.isShutDown else { return nil }
            state.settledCounters = nil
            let now = clock()
            let isSettling = state.pool.settleLimit(now: now)
            let (refitted, goesOn) = state.enterMissing(now: now)
            var views: [(id: Int, snapshot: ViewSnapshot)] = []
            for place in state.views.indices {
                guard let serial = state.views[place]?.serial,
                    let snapshot = state.views[place]?.model.takeSnapshot()
                else { continue }
                views.append((serial, snapshot))
            }
            views.sort { $0.id < $1.id }
            let watched = state.views.indices.compactMap { place in
                state.isDiagnosed(view: place, now: now) ? state.views[place]?.serial : nil
            }
            let slotBytes = state.pool.slots.map(\.slotBytes).max() ?? 1
            return PlanInput(
                views: views,
                watched: Set(watched),
                floors: state.pool.pinsToLoad,
                haveRested: state.haveRested(at: now),
                wished: state.waits.wished,
                latency: state.meanLatency,
                isUnfinished: isSettling || goesOn,
                refitted: refitted,
                counters: state.pool.counters,
                capacityTiles: state.pool.configuration.byteLimit / slotBytes,
                byteLimit: state.pool.configuration.byteLimit
            )
        }
        guard let input else { return }
        if input.isUnfinished { requestPlan() }
        callBackViews(input.refitted)
        let context = PlanContext(
            now: clock(),
            workers: workers,
            loadLatency: input.latency,
            capacityTiles: input.capacityTiles,
            effort: effort,
            residency: { [self] key in lock.withLock { $0.pool.residency(of: key) } },
            manyStandings: { [self] keys in
                lock.withLock { state in keys.map { state.pool.standing(of: $0) } }
            }
        )
        let (plan, isSettled, expected, learned) = planner.withLock { planner in
            var plan = planner.makePlan(of: input.views, floors: input.floors, context: context)
            plan.isAtRest = input.haveRested
            let expected = planner.expectations(of: input.views, watched: input.watched, now: context.now)
            let learned = planner.trimPolicies(toBytes: Self.policyBytes(ofLimit: input.byteLimit), of: input.views)
            return (plan, planner.isSettled(on: input.views), expected, learned)
        }
        let wished = LoadWaits.Wishes(of: plan, after: input.wished, now: context.now)
        // In steps, so that a little growth is not asked for each time.
        let policyBytes = (learned + 16383) & ~16383
        let (woken, unwanted, isCounted) = perform { state -> ([Int], [TileRequest], Bool) in
            let isCounted = state.pool.charge(policyBytes - state.pool.policyBytes) { $0.policyBytes = policyBytes }
            state.pool.install(plan, now: clock())
            let settles = plan.leavesNeedsOut ? context.now + Int64(MotionEstimate.staleAfter * 1e9) : .max
            state.due.setPlan(at: min(settles, state.pool.nextRetry))
            state.settledCounters = isSettled ? input.counters : nil
            state.waits.wished = wished
            state.note(expected: expected)
            let unwanted = state.requests.filter { state.pool.isUnwanted(load: $0.key) }.compactMap(\.value.value)
            return (state.takeIdleWorkers(), unwanted, isCounted)
        }
        if !isCounted { resetPolicies() }
        tell(unwanted)
        wake(woken)
        setTimer()
    }

    /// Bytes that policies may learn: an eighth of the limit, but what one view needs if that is no more than a quarter.
    static func policyBytes(ofLimit limit: Int) -> Int { max(limit / 8, min(limit / 4, 384 << 10)) }

    /// Resets all policies: the limit has no room for what they have learned.
    private func resetPolicies() {
        let least = planner.withLock { $0.trimPolicies(toBytes: 0, of: []) }
        perform { $0.pool.policyBytes = min($0.pool.policyBytes, least) }
    }

    private struct PlanInput: Sendable {
        var views: [(id: Int, snapshot: ViewSnapshot)]
        /// Views whose diagnostics somebody looks at.
        var watched: Set<Int>
        var floors: [TileKey]
        var haveRested: Bool
        var wished: LoadWaits.Wishes
        var latency: Int64
        /// A lowered limit takes more steps to reach, or pins more steps to enter.
        var isUnfinished: Bool
        /// Views that need other tiles than their last frames drew.
        var refitted: Set<Int>
        var counters: PoolCounters
        var capacityTiles: Int
        var byteLimit: Int
    }

    /// Plans again at a time or soon after, even if no view is updated or drawn until then.
    func planAgain(at time: Int64) {
        if lock.withLock({ !$0.isShutDown && $0.due.askPlan(at: time) }) { queueTimer() }
    }

    func queueTimer() { executor.run(coordinator) { [weak self] in self?.setTimer() } }

    /// Sets the timer to what is due next.
    private func setTimer() {
        guard let time = lock.withLock({ $0.isShutDown ? nil : $0.due.takeTimer() }) else { return }
        // Clocks that are injected may go slower than the timer.
        let (wait, overflow) = time.subtractingReportingOverflow(clock())
        let hour: Int64 = 3_600_000_000_000
        timer.set(after: time == .max ? nil : Int(overflow ? hour : min(max(wait, 1_000_000), hour))) { [weak self] in
            self?.doWhatIsDue()
        }
    }

    private func doWhatIsDue() {
        let now = clock()
        let due = lock.withLock { $0.due.takeDue(now: now) }
        if due.watch { watch() }
        if due.plan { requestPlan() }
        setTimer()
    }

    func wake(_ workers: [Int]) {
        for worker in workers {
            executor.run(workerQueues[worker]) { [weak self] in self?.work(as: worker) }
        }
    }

    // MARK: - Telling renderers

    /// Tells the views that would draw a tile, or a part of it, that it is there: once for many tiles, on the view's own
    /// queue.
    ///
    /// - Parameter drawing: a view that needs no call. Default: nil.
    func notify(drawing key: TileKey, except drawing: Int? = nil) {
        callBackViews { place, view, pool in place != drawing && view.draws(key, pool: pool) }
    }

    /// Calls back some views, by their places.
    func callBackViews(_ places: Set<Int>) {
        if !places.isEmpty { callBackViews { place, _, _ in places.contains(place) } }
    }

    /// Calls back those of some views that have a handler and no call queued.
    func callBackViews(where isConcerned: (Int, borrowing ViewRecord, borrowing PoolState) -> Bool) {
        struct Call: Sendable {
            var place: Int
            var serial: Int
            var queue: DispatchQueue
        }
        let calls = lock.withLock { state -> [Call] in
            guard !state.isShutDown else { return [] }
            var calls: [Call] = []
            for place in state.views.indices {
                guard let view = state.views[place], view.callback != nil, !view.isCallbackQueued,
                    let queue = view.callbackQueue, isConcerned(place, view, state.pool)
                else { continue }
                state.views[place]?.isCallbackQueued = true
                calls.append(Call(place: place, serial: view.serial, queue: queue))
            }
            return calls
        }
        for call in calls {
            executor.run(call.queue) { [weak self] in self?.callBack(view: call.place, serial: call.serial) }
        }
    }

    private func callBack(view place: Int, serial: Int) {
        enterActivity()
        defer { leaveActivity() }
        let callback = lock.withLock { state -> (@Sendable () -> Void)? in
            // The view may be gone and its place another's.
            guard !state.isShutDown, state.views[place]?.serial == serial else { return nil }
            state.views[place]?.isCallbackQueued = false
            return state.views[place]?.callback
        }
        if let callback { time(callback) }
    }

    // MARK: - Ending

    /// Stops everything; whether all work had ended within the time.
    func shutDown(within nanoseconds: Int64) -> Bool {
        guard !isForked else { return false }
        // The sources are let go outside of the lock: what they do at their end is somebody else's code.
        let (requests, sources) = lock.withLock { state -> ([TileRequest], [LayerRecord]) in
            state.isShutDown = true
            state.due = DueTimes()
            state.idleWorkers.removeAll()
            let sources = state.layers
            for index in state.layers.indices {
                state.layers[index].source = nil
                state.layers[index].decoder = nil
            }
            return (state.requests.values.compactMap(\.value), sources)
        }
        defer { withExtendedLifetime(sources) {} }
        timer.cancel()
        tell(requests)
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

    func noteSecondAnswer() { lock.withLock { $0.secondAnswers += 1 } }
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
