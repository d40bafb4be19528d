import PanTraces
import TileCache

/// Finds the smallest memory limit that meets a target. Replays traces across budgets on all cores.
package struct Tune: Sendable {
    private static let usualScreens = [1, 1.5, 2, 3, 4, 6, 9, 14]

    let options: TuneOptions
    private let open: [@Sendable () throws -> ReplayInput]
    let hooks: ReplayHooks
    private let report: @Sendable (_ done: Int, _ of: Int) -> Void

    /// - Parameters:
    ///   - inputs: Open a trace each; called repeatedly, on any thread.
    ///   - progress: Called after each replay with the numbers done and known so far, on any thread.
    package init(
        _ options: TuneOptions,
        inputs: [@Sendable () throws -> ReplayInput],
        hooks: ReplayHooks = ReplayHooks(),
        progress: @escaping @Sendable (_ done: Int, _ of: Int) -> Void = { _, _ in }
    ) {
        self.options = options
        open = inputs
        self.hooks = hooks
        report = progress
    }

    /// One replay configuration: a variant, or another policy beside it.
    struct Job: Hashable {
        var options: ReplayOptions
        var budget: Int
    }

    /// Result of a job, with the effort that the maximum of waste allowed.
    struct Finding {
        var effort: Double
        var report: ReplayReport
    }

    struct Search {
        var variant: ReplayOptions
        var search: BudgetSearch
    }

    package func run() throws -> TuneReport {
        if let problem = options.wasteProblem { throw problem }
        // Once for all: reading a file of load times is slow, and variants share it.
        let loads = try LoadClock(options.replay)
        for variant in options.variants { _ = try Replay(variant, loads: loads) }
        let (curve, step, traces) = try readTraces()
        // A curve of parts of the traces would be a wrong one.
        if hooks.shouldStop() { return makeReport(Outcome(), ReuseCurve(), step: step, traces: []) }
        // Each tile size has its own number of tiles, which the largest limit must hold.
        var distinct = [options.variants[0].overrides.tileSize: curve.distinctTiles]
        for variant in options.variants where options.target != nil && distinct[variant.overrides.tileSize] == nil {
            distinct[variant.overrides.tileSize] = try readCurve(variant).distinctTiles
        }
        var searches = try options.variants.map { variant in
            let slot = try largestSlot(variant)
            return Search(
                variant: variant,
                search: BudgetSearch(
                    sweep: try sweep(of: variant, step: step),
                    step: step,
                    ceiling: options.target == nil
                        ? 0 : min(distinct[variant.overrides.tileSize, default: 0] + 64, 1 << 30) * slot / 4 * 5
                )
            )
        }
        var finished: [Job: Finding] = [:]
        var wanted: [Job] = beside(searches)
        var done = 0
        var known = wanted.count
        while !hooks.shouldStop() {
            let round = Self.round(of: searches, beside: wanted)
            guard !round.isEmpty else { break }
            known += round.count - wanted.count
            wanted = []
            for (job, result) in try find(round, loads, done: &done, known: &known) { finished[job] = result }
            for index in searches.indices {
                for job in round where job.options == searches[index].variant {
                    guard let result = finished[job]?.report else { continue }
                    // Without a target none meets it, and the search ends with its sweep.
                    let isMet = options.target?.isMet(by: result) ?? false
                    searches[index].search.record(job.budget, does: isMet && result.memory.shortfallBytes == 0)
                }
            }
        }
        var outcome = Outcome(finished: finished, searches: searches)
        if let best = choose(outcome), best.reason == .best {
            outcome.alternatives = try tryChanges(of: best, finished, loads, done: &done, known: &known)
        }
        return makeReport(outcome, curve, step: step, traces: traces)
    }

    // MARK: - What is tried

    /// The next limits of the searches, then replays of other policies, which run together for better use of the cores.
    /// A search that is stopped meanwhile has limits of its own to choose from.
    static func round(of searches: [Search], beside others: [Job]) -> [Job] {
        searches.flatMap { search in search.search.next.map { Job(options: search.variant, budget: $0) } } + others
    }

    private func readTraces() throws -> (ReuseCurve, step: Int, [ReplayReport.Trace]) {
        guard !open.isEmpty else { throw ReplayError("a trace to tune for is expected, none was given") }
        let first = options.variants[0]
        let read = try concurrently(open.count) { index -> (ReuseCurve, ReplayReport.Trace) in
            let input = try Self.open(open[index], for: first)
            let hashing = HashingCursor(input.samples, viewport: input.scene.viewport)
            var counted = input
            counted.samples = hashing
            let curve = try ReuseCurve(counted, options: first, shouldStop: hooks.shouldStop)
            let gaps = hashing.gaps.sum(upTo: curve.lastTime)
            let trace = ReplayReport.Trace(
                name: input.name,
                source: input.source,
                hash: hashing.hashText,
                frames: curve.frames,
                seconds: Double(curve.lastTime) / 1e9,
                path: input.path,
                imported: input.imported,
                samples: gaps.samples,
                glidedSeconds: Double(gaps.glided) / 1e9,
                longestGlide: Double(gaps.longest) / 1e9
            )
            return (curve, trace)
        }
        let curve = read.reduce(into: ReuseCurve()) { $0.add($1.0) }
        let slot = try options.variants.map { try largestSlot($0) }.max() ?? 1
        return (curve, max(1 << 20, slot), read.map(\.1))
    }

    /// The curve of all traces with the tile size of a variant.
    private func readCurve(_ variant: ReplayOptions) throws -> ReuseCurve {
        try concurrently(open.count) {
            try ReuseCurve(Self.open(open[$0], for: variant), options: variant, shouldStop: hooks.shouldStop)
        }
        .reduce(into: ReuseCurve()) { $0.add($1) }
    }

    /// Opens a trace with the tile size of a variant. It was not known when the scene was made.
    static func open(_ open: () throws -> ReplayInput, for variant: ReplayOptions) throws -> ReplayInput {
        var input = try open()
        input.scene.tileSize = variant.overrides.tileSize ?? input.scene.tileSize
        return input
    }

    /// Size of the largest slot of any trace's tiles.
    func largestSlot(_ variant: ReplayOptions) throws -> Int {
        try open.map { open in
            let input = try Self.open(open, for: variant)
            return VirtualCache.slotBytes(ofTile: try input.naming { try variant.tileBytes(in: input.scene) })
        }
        .max() ?? 1
    }

    /// Budgets of the coarse sweep, perhaps with repetitions.
    private func sweep(of variant: ReplayOptions, step: Int) throws -> [Int] {
        let limits = options.budgets.isEmpty ? Self.usualScreens.map { MemoryLimit.screens($0) } : options.budgets
        let scenes = try open.map { try Self.open($0, for: variant).scene }
        return try limits.map { limit in
            var own = variant
            own.memoryLimit = limit
            own.limitFlag = "--budgets"
            let bytes = try scenes.map { try own.byteLimit(in: $0, tileBytes: own.tileBytes(in: $0)).bytes }
            let largest = bytes.max() ?? 0
            // Bytes as requested; limits in tiles or screens are rounded.
            if case .bytes = limit { return largest }
            return (largest + step - 1) / step * step
        }
    }

    private func beside(_ searches: [Search]) -> [Job] {
        options.policies.unique.filter { $0 != options.replay.prefetch }.flatMap { policy in
            searches.flatMap { search in
                // Every second budget is enough for the curve: the oracle is slower than all others together.
                search.search.sweep.enumerated().filter { $0.offset % 2 == 0 }.map { _, budget in
                    Job(options: search.variant.with(policy), budget: budget)
                }
            }
        }
    }

    // MARK: - Replaying

    /// Replays jobs, with lower efforts until the waste is within the maximum.
    private func find(_ jobs: [Job], _ loads: LoadClock, done: inout Int, known: inout Int) throws -> [Job: Finding] {
        var searches = jobs.map { job in
            EffortSearch(
                start: job.options.effort,
                maximumWaste: job.options.prefetch.takesEffort ? options.maximumWaste : nil
            )
        }
        var tried = [[Double: ReplayReport]](repeating: [:], count: jobs.count)
        var open = Array(jobs.indices)
        while !open.isEmpty, !hooks.shouldStop() {
            let round = open.map { index -> Job in
                var job = jobs[index]
                if let effort = searches[index].next { job.options.effort = effort }
                return job
            }
            let reports = try replay(round, loads, done: &done, known: known)
            for (index, job) in zip(open, round) {
                guard let report = reports[job] else { continue }
                tried[index][job.options.effort] = report
                searches[index].record(waste: report.loads.waste)
            }
            open = open.filter { searches[$0].next != nil }
            known += open.count
        }
        var findings: [Job: Finding] = [:]
        for (index, job) in jobs.enumerated() {
            // A search that was interrupted has no answer.
            guard let effort = searches[index].answer, let report = tried[index][effort] else { continue }
            findings[job] = Finding(effort: effort, report: report)
        }
        return findings
    }

    func replay(_ jobs: [Job], _ loads: LoadClock, done: inout Int, known: Int) throws -> [Job: ReplayReport] {
        // Traces whose stores stay as the one before left them follow each other.
        let tasks = jobs.flatMap { job in
            job.options.keepsTiers
                ? [(job: job, traces: open.indices)] : open.indices.map { (job: job, traces: $0..<$0 + 1) }
        }
        let tallies = Lock<[Job: [Int: ReplayTally]]>([:])
        let before = done
        let total = known
        try concurrently(tasks.count) { index in
            guard !hooks.shouldStop() else { return }
            let task = tasks[index]
            var options = task.job.options
            options.memoryLimit = .bytes(task.job.budget)
            options.limitFlag = "--budgets"
            let tiers = options.tiers.isEmpty ? nil : VirtualTiers(options.tiers)
            for trace in task.traces {
                tiers?.resetCounts()
                let outcome = try VirtualReplay(options: options, loads: loads, tiers: tiers, hooks: hooks)
                    .run(Self.open(open[trace], for: options))
                let count = tallies.withLock { tallies in
                    tallies[task.job, default: [:]][trace] = outcome.wasStopped ? nil : outcome.tally
                    return tallies.values.count { $0.count == open.count }
                }
                report(before + count, total)
            }
        }
        // A budget counts once all of its traces have been replayed.
        let finished = tallies.withLock { $0 }.filter { $0.value.count == open.count }
        let reports = finished.mapValues { own in
            ReplayTally(pooling: open.indices.compactMap { own[$0] }).pooledReport(name: "total")
        }
        done += reports.count
        return reports
    }
}
