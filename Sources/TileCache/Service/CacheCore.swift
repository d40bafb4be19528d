import Dispatch
import Synchronization

/// The shell around the decisions: one lock, one coordinating queue, a serial queue for each worker.
///
/// Nothing is queued ahead of time: a worker that is free asks for the best job of the newest plan, so what has left the
/// plan never starts. The lock is never held during I/O, compression, a copy or a call of anybody else's code.
final class CacheCore: Sendable {
    let lock: Lock<CoreState>
    let clock: @Sendable () -> Int64
    private let coordinator = DispatchQueue(label: "TileCache.coordinator")
    let workerQueues: [DispatchQueue]
    private let planner: Lock<Planner>
    /// Work and callbacks that are under way; shutting down waits for them.
    let activity = DispatchGroup()
    private let callbackThreads = Lock<[UInt64: Int]>([:])
    private let configuration: TileCache.Configuration

    init(configuration: TileCache.Configuration) throws(TileCacheError) {
        let pool = PoolState(configuration: try configuration.poolConfiguration())
        let pageBytes = pool.pages.capacity * PageAllocator.pageBytes
        guard let region = MemoryRegion(byteCount: pageBytes) else { throw .outOfMemory(bytes: pageBytes) }
        self.configuration = configuration
        clock = configuration.clock
        var state = CoreState(
            pool: pool,
            pageRegion: region,
            meanLatency: min(max(configuration.expectedLoadLatency, 0), 3_600_000_000_000)
        )
        state.idleWorkers = Array((0..<configuration.workers).reversed())
        lock = Lock(state)
        planner = Lock(Planner())
        // No common target: queues that share one starve when two of them block.
        workerQueues = (0..<configuration.workers).map { DispatchQueue(label: "TileCache.worker.\($0)") }
    }

    /// Runs `body` under the lock, then returns the memory that it let go before anybody touches what it was given.
    func perform<Result: Sendable>(_ body: (inout CoreState) -> Result) -> Result {
        var leaving: [LeavingMemory] = []
        let result = lock.withLock { state in
            let result = body(&state)
            leaving = state.pool.takePendingDecommits()
            return result
        }
        if !leaving.isEmpty { letGo(leaving) }
        return result
    }

    private func letGo(_ leaving: [LeavingMemory]) {
        let ranges = leaving.map(\.range)
        let (slotRegions, pageRegion, slotBytes) = lock.withLock { state in
            (state.slotRegions, state.pageRegion, state.pool.slots.map(\.slotBytes))
        }
        for range in ranges where range.slotClass >= 0 {
            let bytes = slotBytes[Int(range.slotClass)]
            slotRegions[Int(range.slotClass)].letGo(offset: Int(range.number) * bytes, byteCount: bytes)
        }
        // Neighbouring pages go in one call.
        let pages = ranges.filter { $0.slotClass < 0 }.map { Int($0.number) }.sorted()
        var first = 0
        while first < pages.count {
            var last = first
            while last + 1 < pages.count, pages[last + 1] == pages[last] + 1 { last += 1 }
            pageRegion.letGo(
                offset: pages[first] * PageAllocator.pageBytes,
                byteCount: (last - first + 1) * PageAllocator.pageBytes
            )
            first = last + 1
        }
        // Under a lowered limit nobody took memory until now.
        let isUnderLimit = lock.withLock { $0.pool.finishDecommits(leaving) }
        if isUnderLimit { requestPlan() }
    }

    // MARK: - Planning

    /// Asks for a plan soon; many requests before it is made are one.
    func requestPlan() {
        if lock.withLock({ $0.requestPlan() }) { queuePlan() }
    }

    func queuePlan() { coordinator.async { [weak self] in self?.makePlan() } }

    func setPolicies(_ policies: [any PrefetchPolicy]?, ofView id: Int) {
        planner.withLock { $0.policies[id] = policies }
    }

    private func makePlan() {
        let effort = configuration.effort
        let workers = configuration.workers
        let input = lock.withLock { state -> PlanInput? in
            state.isPlanQueued = false
            guard !state.isShutDown else { return nil }
            state.pool.settleLimit(now: clock())
            var views: [(id: Int, snapshot: ViewSnapshot)] = []
            for id in state.views.indices {
                if let snapshot = state.views[id]?.model.takeSnapshot() { views.append((id, snapshot)) }
            }
            let slotBytes = state.pool.slots.map(\.slotBytes).max() ?? 1
            return PlanInput(
                views: views,
                floors: state.floors,
                latency: state.meanLatency,
                capacityTiles: state.pool.configuration.byteLimit / slotBytes
            )
        }
        guard let input else { return }
        let context = PlanContext(
            now: clock(),
            workers: workers,
            loadLatency: input.latency,
            capacityTiles: input.capacityTiles,
            effort: effort,
            residency: { [self] key in lock.withLock { $0.pool.residency(of: key) } },
            manyResidencies: { [self] keys in
                lock.withLock { state in keys.map { state.pool.residency(of: $0) } }
            }
        )
        let plan = planner.withLock { $0.makePlan(of: input.views, floors: input.floors, context: context) }
        let (woken, unwanted) = perform { state -> ([Int], [TileRequest]) in
            state.pool.install(plan)
            let unwanted = state.requests.filter { state.pool.isUnwanted(load: $0.key) }.compactMap(\.value.value)
            return (state.takeIdleWorkers(), unwanted)
        }
        for request in unwanted { request.noteUnwanted() }
        wake(woken)
    }

    private struct PlanInput: Sendable {
        var views: [(id: Int, snapshot: ViewSnapshot)]
        var floors: [TileKey]
        var latency: Int64
        var capacityTiles: Int
    }

    /// Plans again when a failed tile may be tried again, whether or not anybody draws until then.
    func planAgain(at time: Int64) {
        let now = clock()
        // One timer for each twentieth of a second at most.
        let slot = time / 50_000_000
        guard lock.withLock({ !$0.isShutDown && $0.retrySlots.insert(slot).inserted }) else { return }
        let wait = Int(min(max(time - now, 0), 3_600_000_000_000))
        coordinator.asyncAfter(deadline: .now() + .nanoseconds(wait)) { [weak self] in
            guard let self else { return }
            lock.withLock { _ = $0.retrySlots.remove(slot) }
            if clock() < time { planAgain(at: time) } else { requestPlan() }
        }
    }

    func wake(_ workers: [Int]) {
        for worker in workers {
            workerQueues[worker].async { [weak self] in self?.work(as: worker) }
        }
    }

    // MARK: - Telling renderers

    /// Tells the views that need a tile that sharper pixels are there: once for many tiles, on the view's own queue.
    func notify(needing key: TileKey) {
        let queues = lock.withLock { state -> [(Int, DispatchQueue)] in
            guard !state.isShutDown else { return [] }
            var queues: [(Int, DispatchQueue)] = []
            for id in state.views.indices {
                guard let view = state.views[id], view.callback != nil, !view.isCallbackQueued,
                    let queue = view.callbackQueue,
                    view.model.layers.contains(where: { $0.needs.tiles.contains(key) })
                else { continue }
                state.views[id]?.isCallbackQueued = true
                queues.append((id, queue))
            }
            return queues
        }
        for (id, queue) in queues {
            queue.async { [weak self] in self?.callBack(view: id) }
        }
    }

    private func callBack(view id: Int) {
        activity.enter()
        defer { activity.leave() }
        let callback = lock.withLock { state -> (@Sendable () -> Void)? in
            guard !state.isShutDown, state.views[id] != nil else { return nil }
            state.views[id]?.isCallbackQueued = false
            return state.views[id]?.callback
        }
        guard let callback else { return }
        let thread = currentThreadNumber()
        callbackThreads.withLock { $0[thread, default: 0] += 1 }
        callback()
        callbackThreads.withLock { $0[thread] = $0[thread]! > 1 ? $0[thread]! - 1 : nil }
    }

    // MARK: - Ending

    /// Stops everything; whether all work had ended within the time.
    func shutDown(within nanoseconds: Int64) -> Bool {
        // The sources are let go outside of the lock: what they do at their end is somebody else's code.
        let (requests, sources) = lock.withLock { state -> ([TileRequest], [LayerRecord]) in
            state.isShutDown = true
            state.idleWorkers.removeAll()
            let sources = state.layers
            for index in state.layers.indices {
                state.layers[index].source = nil
                state.layers[index].decoder = nil
            }
            return (state.requests.values.compactMap(\.value), sources)
        }
        defer { withExtendedLifetime(sources) {} }
        for request in requests { request.noteUnwanted() }
        // Called from a callback it cannot wait for that very callback.
        let isInCallback = callbackThreads.withLock { $0[currentThreadNumber()] != nil }
        guard !isInCallback else { return true }
        return activity.wait(timeout: .now() + .nanoseconds(Int(clamping: nanoseconds))) == .success
    }

    func noteSecondAnswer() { lock.withLock { $0.secondAnswers += 1 } }
}
