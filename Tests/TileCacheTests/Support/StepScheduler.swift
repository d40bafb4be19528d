import Dispatch
import Synchronization

@testable import TileCache

/// Runs a cache's steps on the calling thread, in an order from a seed. Its clock is its own.
///
/// When a step takes the cache's lock again, other steps may interrupt it. They end before it continues.
final class StepScheduler: @unchecked Sendable {
    // Used by one thread only.
    private final class Lane {
        let isWorker: Bool
        var steps: [Executor.Step] = []
        var isRunning = false

        init(_ queue: DispatchQueue) { isWorker = queue.label.hasPrefix("TileCache.worker") }
    }

    /// A cache's timer.
    private final class Timer: StepTimer, @unchecked Sendable {
        let lane: Lane
        var due: Int64?
        var step: Executor.Step?
        var isCancelled = false
        unowned let scheduler: StepScheduler

        init(_ lane: Lane, _ scheduler: StepScheduler) {
            self.lane = lane
            self.scheduler = scheduler
        }

        func set(after nanoseconds: Int?, _ step: @escaping Executor.Step) {
            guard !isCancelled else { return }
            due = nanoseconds.map { scheduler.now + Int64($0) }
            self.step = due == nil ? nil : step
        }

        func cancel() {
            (isCancelled, due, step) = (true, nil, nil)
        }
    }

    private(set) var now: Int64 {
        get { time.load(ordering: .relaxed) }
        set { time.store(newValue, ordering: .relaxed) }
    }
    // Threads that are none of the cache's read its clock too, such as that of a memory pressure monitor.
    private let time = Atomic<Int64>(1_000_000_000)
    /// Number of steps that have run.
    private(set) var count = 0
    /// Whether workers may interrupt other steps; not if they wait for these.
    var nestsWorkers = true
    /// Whether steps may be interrupted at all.
    var interrupts = true
    /// Whether steps take time.
    var takesTime = true
    /// Called sometimes while a step waits in vain.
    var whenWaiting: Executor.Step?
    var random: SplitMix64
    private var lanes: [ObjectIdentifier: Lane] = [:]
    /// In the order of their first step, so that a seed repeats a run.
    private var order: [Lane] = []
    private var timers: [Timer] = []
    private var depth = 0

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    /// A scheduler of steps that none other interrupts.
    static func calm() -> StepScheduler {
        let scheduler = StepScheduler(seed: 1)
        scheduler.interrupts = false
        return scheduler
    }

    /// A cache on this scheduler.
    func cache(byteLimit: ByteCount, workers: Int? = nil) throws -> TileCache {
        var configuration = TileCache.Configuration(byteLimit: byteLimit)
        if let workers { configuration.workers = workers }
        adopt(&configuration)
        return try TileCache(configuration)
    }

    /// Makes a cache run on this scheduler.
    func adopt(_ configuration: inout TileCache.Configuration) {
        configuration.clock = { self.now }
        configuration.executor = Executor(
            run: { self.post($1, on: $0) },
            makeTimer: { queue in
                let timer = Timer(self.lane(of: queue), self)
                self.timers.append(timer)
                return timer
            },
            wait: { self.wait(for: $0, atMost: Int64($1)) },
            interleave: { self.interleave() }
        )
    }

    func below(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
    func chance(_ percent: Int) -> Bool { below(100) < percent }

    func post(_ step: @escaping Executor.Step, on queue: DispatchQueue) { lane(of: queue).steps.append(step) }

    var pendingSteps: Int { order.reduce(0) { $0 + $1.steps.count } }
    /// Time of the next timer; `nil` if there is none.
    var nextTimer: Int64? { timers.compactMap(\.due).min() }
    var pendingTimers: Int { timers.count { $0.due != nil } }

    // MARK: - Running

    /// Runs one step that may run now, if there is any.
    @discardableResult
    func runOne() -> Bool {
        let runsWorkers = nestsWorkers || depth == 0
        let ready = order.filter { !$0.steps.isEmpty && !$0.isRunning && (runsWorkers || !$0.isWorker) }
        let due = timers.filter { !$0.lane.isRunning && $0.due ?? .max <= now }
        guard ready.count + due.count > 0 else { return false }
        let choice = below(ready.count + due.count)
        if choice < ready.count {
            run(ready[choice].steps.removeFirst(), on: ready[choice])
        } else if let step = due[choice - ready.count].step {
            due[choice - ready.count].due = nil
            run(step, on: due[choice - ready.count].lane)
        }
        return true
    }

    /// Runs steps until nothing is left. Advances time to the next timer if there is no step. Returns whether that
    /// happened within a number of steps.
    func settle(atMost limit: Int) -> Bool {
        for _ in 0..<limit where !runOne() && !passTime() { return true }
        return false
    }

    /// Runs steps until a condition holds, time included. Returns false if nothing is left to run before.
    func reaches(_ condition: () -> Bool) -> Bool {
        for _ in 0..<1_000_000 {
            if condition() { return true }
            if !runOne() && !passTime() { break }
        }
        return condition()
    }

    /// Runs steps without advancing time. Returns whether none is left after a number of steps.
    func runAll(atMost limit: Int = 20_000) -> Bool {
        for _ in 0..<limit where !runOne() { return true }
        return false
    }

    /// Advances time; timers that are due by then run with the next steps.
    func spend(nanoseconds: Int64) { now += nanoseconds }

    /// Advances time to the next timer; false if there is none.
    func passTime() -> Bool {
        guard let next = timers.compactMap(\.due).min() else { return false }
        now = max(now, next)
        return true
    }

    /// Other steps may run here.
    func interleave() {
        while interrupts, depth < 5, chance(30), runOne() {}
    }

    private func run(_ step: Executor.Step, on lane: Lane) {
        lane.isRunning = true
        depth += 1
        count += 1
        if takesTime { now += Int64(below(400_000)) }
        step()
        depth -= 1
        lane.isRunning = false
    }

    private func wait(for semaphore: DispatchSemaphore, atMost nanoseconds: Int64) -> DispatchTimeoutResult {
        let end = now + nanoseconds
        while semaphore.wait(timeout: .now()) == .timedOut {
            if runOne(), now < end { continue }
            now = max(now, min(end, timers.compactMap(\.due).min() ?? end))
            guard now >= end else { continue }
            if chance(20) { whenWaiting?() }
            return semaphore.wait(timeout: .now())
        }
        return .success
    }

    private func lane(of queue: DispatchQueue) -> Lane {
        if let lane = lanes[ObjectIdentifier(queue)] { return lane }
        let lane = Lane(queue)
        lanes[ObjectIdentifier(queue)] = lane
        order.append(lane)
        queues.append(queue)
        return lane
    }

    /// Kept, so that no other queue gets the identity of one of them.
    private var queues: [DispatchQueue] = []
}
