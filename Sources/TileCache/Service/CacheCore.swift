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
    let planner: Lock<Planner>
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
        let due = perform { $0.takeDue(now: now) }
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
