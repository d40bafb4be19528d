import TileCache

/// Replays the same traces with several policies and budgets.
///
/// Each policy has its own eviction: reference policies LRU, the library's its own order, the oracle Belady's.
package struct Compare: Sendable {
    /// Policy whose number of loads all others match.
    package enum LoadTarget: Hashable, Sendable {
        /// The policy with the fewest loads, of those that prefetch.
        case smallest
        case policy(PrefetchKind)
    }

    /// Options of all replays. Policy, eviction and limit are replaced, and the effort if `efforts` is set.
    package var options: ReplayOptions
    /// The policies; `none` and `oracle` are also replayed, for the gap.
    package var policies: [PrefetchKind]
    package var budgets: [MemoryLimit]
    /// Efforts for each policy; empty for that of the options.
    package var efforts: [Double] = []
    /// Target for the loads of every policy, reached by changing its effort. Separately for each source and budget.
    /// Default: `nil`, unchanged. Not together with `efforts`.
    package var equalLoads: LoadTarget?

    /// Whether each trace starts with a profile learned from the other traces of its source.
    package var learnsFromOthers = false

    package init(options: ReplayOptions, policies: [PrefetchKind], budgets: [MemoryLimit]) {
        self.options = options
        self.policies = policies
        self.budgets = budgets
    }

    /// Replays everything, on all cores. With a codec charge in the options, once without and once with it.
    ///
    /// - Parameters:
    ///   - shouldStop: Called at each frame, on any thread. A stopped comparison reports the rows that are done, and
    ///     totals over the sources whose traces are all done.
    ///   - progress: Called after each replay of a trace, with the numbers done and known so far, on any thread. The
    ///     latter grows once the efforts to try are known.
    package func run(
        paths: [String],
        shouldStop: @escaping @Sendable () -> Bool = { false },
        progress: @escaping @Sendable (_ done: Int, _ of: Int) -> Void = { _, _ in }
    ) throws -> CompareReport {
        guard equalLoads == nil || efforts.isEmpty else {
            throw ReplayError("--equal-loads chooses the efforts: it cannot go with --efforts")
        }
        if case .policy(let kind)? = equalLoads, !kind.takesEffort || !policies.contains(kind) {
            throw ReplayError("--equal-loads takes one of the policies compared, other than none and oracle")
        }
        var profiles: [String: PrefetchProfile] = [:]
        if learnsFromOthers {
            var learning = options
            learning.cost = .none
            learning.memoryLimit = budgets.first ?? options.memoryLimit
            learning.limitFlag = "--budgets"
            let learned = try Learn(learning).leavingOneOut(of: paths, shouldStop: shouldStop, progress: progress)
            profiles = learned ?? [:]
        }
        func runner(_ options: ReplayOptions) throws -> CompareRunner {
            try CompareRunner(options, paths: paths, profiles: profiles, shouldStop: shouldStop, progress: progress)
        }
        var plain = options
        plain.cost = .none
        var report = CompareReport(rows: [], totals: [], configuration: shared(by: options))
        let replays = try runner(plain)
        (report.rows, report.totals) = try rows(replays)
        report.traces = replays.replayedTraces
        if options.cost != .none, !shouldStop() {
            var charged = options
            charged.cost = try options.cost.resolved()
            let (rows, totals) = try rows(runner(charged))
            report.cost = charged.cost.description
            report.configuration = shared(by: charged)
            report.chargedRows = rows
            report.chargedTotals = totals
        }
        report.interrupted = shouldStop()
        return report
    }

    /// Options common to the rows.
    func shared(by options: ReplayOptions) -> [String: ConfigurationValue] {
        var own: Set = ["memoryLimit", "byteLimit", "prefetch", "eviction"]
        // At equal loads it decides which loads are matched; otherwise `efforts` has it.
        if equalLoads == nil { own.insert("effort") }
        var values = options.resolvedConfiguration(scene: nil, byteLimit: nil).filter { !own.contains($0.key) }
        ReplayFlags.add(options.overrides, to: &values)
        func add(_ key: String, _ words: [String]) {
            values[key] = words.isEmpty ? ConfigurationValue.none : .text(words.joined(separator: ","))
        }
        if learnsFromOthers { values["learn"] = .text("leave-one-out") }
        add("budgets", budgets.map(\.description))
        add("policies", policies.map(\.rawValue))
        add("efforts", (efforts.isEmpty && equalLoads == nil ? [options.effort] : efforts).map { Figures.plain($0) })
        switch equalLoads {
        case .smallest?: add("equalLoads", ["smallest"])
        case .policy(let kind)?: add("equalLoads", [kind.rawValue])
        case nil: add("equalLoads", [])
        }
        return values
    }

    /// What is replayed, in this order, so that a comparison that is stopped has the rows that were asked for: the
    /// library's policy with all budgets, the others that were named, no prefetch, and at last the oracle, the slowest.
    var cellsInOrder: [CompareCell] {
        let tried = efforts.isEmpty ? [options.effort] : efforts
        let named = policies.unique.sorted { Self.rank($0) < Self.rank($1) }
        let bounds = [PrefetchKind.none, .oracle].filter { !policies.contains($0) }
        let all = named.flatMap { kind in
            budgets.flatMap { budget in tried.map { CompareCell(budget: budget, policy: kind, effort: $0) } }
        }
        return
            (all
            + bounds.flatMap { kind in
                budgets.map { CompareCell(budget: $0, policy: kind, effort: options.effort) }
            }).unique
    }

    private static func rank(_ kind: PrefetchKind) -> Int {
        switch kind {
        case .tilecache: 0
        case .none: 2
        case .oracle: 3
        default: 1
        }
    }

    private func rows(_ runner: CompareRunner) throws -> (rows: [CompareRow], totals: [CompareRow]) {
        let tried = efforts.isEmpty ? [options.effort] : efforts
        func cells(_ budget: MemoryLimit, _ policies: [PrefetchKind], _ efforts: [Double]) -> [CompareCell] {
            policies.flatMap { kind in efforts.map { CompareCell(budget: budget, policy: kind, effort: $0) } }.unique
        }
        try runner.run(cellsInOrder.map { ($0, nil) })
        let chosen = equalLoads == nil ? [:] : try EqualLoads(compare: self, runner: runner).choose()
        var rows: [CompareRow] = []
        var totals: [CompareRow] = []
        for asked in budgets.unique.flatMap({ cells($0, policies, tried) }) {
            for source in runner.sources {
                let match = chosen[EqualLoads.Group(budget: asked.budget, policy: asked.policy, source: source)]
                // The search was interrupted: a row with other loads would not be comparable.
                if runner.isStopped, equalLoads != nil, match == nil, asked.policy.takesEffort { continue }
                var cell = asked
                if let match { cell.effort = match.effort }
                rows += runner.traces(of: source).compactMap {
                    row(cell, trace: $0, source: source, runner, match)
                }
                if let total = row(cell, trace: nil, source: source, runner, match) { totals.append(total) }
            }
        }
        return (rows, totals)
    }

    private func row(
        _ cell: CompareCell,
        trace: Int?,
        source: String,
        _ runner: CompareRunner,
        _ match: EqualLoads.Match?
    ) -> CompareRow? {
        func report(_ kind: PrefetchKind, _ effort: Double) -> ReplayReport? {
            runner.report(CompareCell(budget: cell.budget, policy: kind, effort: effort), trace: trace, source: source)
        }
        guard let own = report(cell.policy, cell.effort) else { return nil }
        let (none, oracle) = (report(.none, options.effort), report(.oracle, options.effort))
        func closed(_ figure: (ReplayReport) -> Double?, atLeast least: Double) -> Double? {
            Self.gapClosed(figure(own), none: none.flatMap(figure), oracle: oracle.flatMap(figure), atLeast: least)
        }
        var screens: Double?
        if case .screens(let count) = cell.budget { screens = count }
        return CompareRow(
            source: source,
            trace: trace == nil ? nil : own.trace.name,
            hash: trace == nil ? nil : own.trace.hash,
            policy: cell.policy.rawValue,
            budget: cell.budget.description,
            screens: screens,
            byteLimit: own.memory.byteLimit,
            workers: options.workers,
            loadLatency: Double(options.loadLatency ?? 0) / 1e6,
            effort: cell.effort,
            demands: own.demands.total,
            hitRate: own.demands.hitRate,
            drawableHitRate: own.demands.drawableHitRate,
            panHitRate: own.demands.pan.hitRate,
            zoomHitRate: own.demands.zoom.hitRate,
            sharp: own.coverage.sharp,
            blankPixelMilliseconds: own.coverage.blankPixelMilliseconds,
            fallbackPixelMilliseconds: own.coverage.fallbackPixelMilliseconds,
            deficit: own.coverage.deficit,
            deficitGapClosed: closed({ $0.coverage.deficit.map(-) }, atLeast: 0.005),
            loads: own.loads.started,
            loadedBytes: own.loads.bytes,
            prefetchRequests: own.prefetch.requests,
            waste: own.loads.waste,
            gapClosed: closed(\.demands.hitRate, atLeast: 0.02),
            targetLoads: match?.target,
            reachesTarget: match?.isReached,
            screenBytes: own.memory.screenBytes,
            shortfallBytes: own.memory.shortfallBytes,
            imported: trace == nil ? nil : own.trace.imported
        )
    }

    /// (own - without prefetch) / (oracle - without prefetch). `nil` if that gap is below the least one.
    static func gapClosed(_ rate: Double?, none: Double?, oracle: Double?, atLeast least: Double = 0.02) -> Double? {
        guard let rate, let none, let oracle, oracle - none >= least else { return nil }
        return (rate - none) / (oracle - none)
    }
}
