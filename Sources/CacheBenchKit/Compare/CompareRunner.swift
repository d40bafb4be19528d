import TileCache

/// A combination to replay over all traces: a policy, a budget and an effort.
struct CompareCell: Hashable, Sendable {
    var budget: MemoryLimit
    var policy: PrefetchKind
    var effort: Double

    /// Equates efforts that make no difference to the policy, so that nothing is replayed twice.
    init(budget: MemoryLimit, policy: PrefetchKind, effort: Double) {
        self.budget = budget
        self.policy = policy
        self.effort = policy.takesEffort ? effort : 1
    }
}

/// Replays traces for cells on all cores, each pair once, and stores the sums.
final class CompareRunner: Sendable {
    private struct Key: Hashable {
        var cell: CompareCell
        var trace: Int
    }

    private struct State {
        var outcomes: [Key: ReplayOutcome] = [:]
        var done = 0
        var total = 0
    }

    private let options: ReplayOptions
    private let loads: LoadClock
    private let paths: [String]
    /// What the library's policy starts with, by path.
    private let profiles: [String: PrefetchProfile]
    /// Folders of the traces, in the order of their first trace.
    let sources: [String]
    private let tracesOfSource: [String: [Int]]
    private let state = Lock(State())
    private let hooks: ReplayHooks
    private let progress: @Sendable (_ done: Int, _ of: Int) -> Void

    init(
        _ options: ReplayOptions,
        paths: [String],
        profiles: [String: PrefetchProfile],
        shouldStop: @escaping @Sendable () -> Bool,
        progress: @escaping @Sendable (_ done: Int, _ of: Int) -> Void
    ) throws {
        self.options = options
        self.paths = paths
        self.profiles = profiles
        self.progress = progress
        hooks = ReplayHooks(shouldStop: shouldStop)
        loads = try LoadClock(options)
        let names = ReplayInput.sources(ofPaths: paths)
        let groups = paths.indices.grouped { names[$0] }
        sources = groups.map(\.key)
        tracesOfSource = Dictionary(uniqueKeysWithValues: groups.map { ($0.key, $0.elements) })
    }

    func traces(of source: String) -> [Int] { tracesOfSource[source] ?? [] }

    /// Whether it was stopped; unfinished replays are dropped.
    var isStopped: Bool { hooks.shouldStop() }

    /// Replays the missing pairs of a cell and a source until it is stopped. The source `nil` is all traces.
    func run(_ wanted: [(cell: CompareCell, source: String?)]) throws {
        let keys = wanted.flatMap { cell, source in
            (source.map { traces(of: $0) } ?? Array(paths.indices)).map { Key(cell: cell, trace: $0) }
        }
        let have = state.withLock { Set($0.outcomes.keys) }
        let tasks = keys.unique.filter { !have.contains($0) }
        state.withLock { $0.total += tasks.count }
        try concurrently(tasks.count) { index in
            if isStopped { return }
            let key = tasks[index]
            var options = options(for: key.cell)
            if let profile = profiles[paths[key.trace]] { options.profile = .learned(profile) }
            let input = try ReplayInput(path: paths[key.trace], options: options)
            let outcome = try input.naming { try Replay(options, loads: loads).outcome(of: input, hooks) }
            if outcome.wasStopped { return }
            let (done, total) = state.withLock { state in
                state.outcomes[key] = outcome
                state.done += 1
                return (state.done, state.total)
            }
            progress(done, total)
        }
    }

    /// Figures of a cell for one of the source's traces. `nil` if it was not finished. For the trace `nil`, all of them
    /// pooled.
    func report(_ cell: CompareCell, trace: Int?, source: String) -> ReplayReport? {
        state.withLock { state in
            let keys = (trace.map { [$0] } ?? traces(of: source)).map { Key(cell: cell, trace: $0) }
            let outcomes = keys.compactMap { state.outcomes[$0] }
            guard outcomes.count == keys.count else { return nil }
            var report = ReplayTally(pooling: outcomes.map(\.tally))
                .pooledReport(name: outcomes.last?.trace.name ?? "", source: source)
            if trace != nil { report.trace = outcomes[0].trace }
            return report
        }
    }

    /// The traces of which a replay is done, in their order.
    var replayedTraces: [ReplayReport.Trace] {
        let outcomes = state.withLock { $0.outcomes }
        let traces = Dictionary(outcomes.map { ($0.key.trace, $0.value.trace) }) { first, _ in first }
        return traces.sorted { $0.key < $1.key }.map(\.value)
    }

    private func options(for cell: CompareCell) -> ReplayOptions {
        var options = options.with(cell.policy)
        options.memoryLimit = cell.budget
        options.limitFlag = "--budgets"
        options.effort = cell.effort
        return options
    }
}
