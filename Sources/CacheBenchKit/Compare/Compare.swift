import Dispatch
import Synchronization

/// Replays the same traces with several policies and budgets, each as it is meant: reference policies with LRU, the
/// library's own with its own order, the oracle with Belady's.
public struct Compare: Sendable {
    /// What all replays share; its policy, eviction and limit are replaced.
    public var options: ReplayOptions
    /// The policies; `none` and `oracle` are replayed too, for the gap.
    public var policies: [PrefetchKind]
    /// The budgets.
    public var budgets: [MemoryLimit]

    /// Makes a comparison.
    public init(options: ReplayOptions, policies: [PrefetchKind], budgets: [MemoryLimit]) {
        self.options = options
        self.policies = policies
        self.budgets = budgets
    }

    private struct Task {
        var budget: MemoryLimit
        var policy: PrefetchKind
    }

    /// Replays everything, on all cores.
    ///
    /// - Parameters:
    ///   - paths: the traces.
    ///   - progress: called after each replay of all traces, with how many of how many are done; from any thread.
    /// - Throws: what a replay throws.
    public func run(
        paths: [String],
        progress: @escaping @Sendable (_ done: Int, _ of: Int) -> Void = { _, _ in }
    ) throws -> CompareReport {
        var wanted = policies
        for needed in [PrefetchKind.none, .oracle] where !wanted.contains(needed) { wanted.append(needed) }
        let tasks = budgets.flatMap { budget in wanted.map { Task(budget: budget, policy: $0) } }
        let results = Mutex<[Int: Result<ReplayResult, any Error>]>([:])
        DispatchQueue.concurrentPerform(iterations: tasks.count) { index in
            let task = tasks[index]
            let result = Result { try Replay(options(for: task)).run(paths.map { path in input(path, task) }) }
            let done = results.withLock { results in
                results[index] = result
                return results.count
            }
            progress(done, tasks.count)
        }
        let finished = try results.withLock { results in try tasks.indices.map { try results[$0]!.get() } }
        var report = CompareReport(rows: [], totals: [])
        for budget in budgets {
            let indices = tasks.indices.filter { tasks[$0].budget == budget }
            let none = finished[indices.first { tasks[$0].policy == .none }!]
            let oracle = finished[indices.first { tasks[$0].policy == .oracle }!]
            for index in indices where policies.contains(tasks[index].policy) {
                let result = finished[index]
                for (position, own) in result.traces.enumerated() {
                    report.rows.append(
                        row(
                            own,
                            tasks[index],
                            isTotal: false,
                            none: none.traces[position],
                            oracle: oracle.traces[position]
                        )
                    )
                }
                for (position, own) in result.sources.enumerated() {
                    report.totals.append(
                        row(
                            own,
                            tasks[index],
                            isTotal: true,
                            none: none.sources[position],
                            oracle: oracle.sources[position]
                        )
                    )
                }
            }
        }
        return report
    }

    private func input(_ path: String, _ task: Task) -> () throws -> ReplayInput {
        { try ReplayInput(path: path, options: options(for: task)) }
    }

    private func options(for task: Task) -> ReplayOptions {
        var options = options
        options.memoryLimit = task.budget
        options.prefetch = task.policy
        switch task.policy {
        case .tilecache: options.eviction = .tilecache
        case .oracle: options.eviction = .belady
        default: options.eviction = .lru
        }
        return options
    }

    private func row(
        _ report: ReplayReport,
        _ task: Task,
        isTotal: Bool,
        none: ReplayReport,
        oracle: ReplayReport
    ) -> CompareRow {
        var screens: Double?
        if case .screens(let count) = task.budget { screens = count }
        return CompareRow(
            source: report.trace.source,
            trace: isTotal ? nil : report.trace.name,
            policy: task.policy.rawValue,
            screens: screens,
            byteLimit: report.memory.byteLimit,
            workers: options.workers,
            loadLatency: Double(options.loadLatency ?? 0) / 1e6,
            demands: report.demands.total,
            hitRate: report.demands.hitRate,
            panHitRate: report.demands.pan.hitRate,
            zoomHitRate: report.demands.zoom.hitRate,
            sharp: report.coverage.sharp,
            blankPixelMilliseconds: report.coverage.blankPixelMilliseconds,
            fallbackPixelMilliseconds: report.coverage.fallbackPixelMilliseconds,
            loadedBytes: report.loads.bytes,
            waste: report.loads.waste,
            gapClosed: Self.gapClosed(
                report.demands.hitRate,
                none: none.demands.hitRate,
                oracle: oracle.demands.hitRate
            )
        )
    }

    /// (hit rate - without prefetch) / (oracle - without prefetch); `nil` where that gap is below 0.02.
    static func gapClosed(_ rate: Double?, none: Double?, oracle: Double?) -> Double? {
        guard let rate, let none, let oracle, oracle - none >= 0.02 else { return nil }
        return (rate - none) / (oracle - none)
    }
}
