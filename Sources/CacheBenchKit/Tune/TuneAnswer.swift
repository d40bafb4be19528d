import PanTraces
import TileCache

/// What came of a search: the answer, and its report.
extension Tune {
    struct Outcome {
        var finished: [Job: Finding] = [:]
        var searches: [Search] = []
        /// Changes of the nearest limit's options, if no limit is suggested for the target.
        var alternatives: [(change: TuneChange, finding: Finding)] = []

        func finding(_ choice: Choice) -> Finding? { finished[Job(options: choice.variant, budget: choice.budget)] }
    }

    struct Choice {
        /// `target`, the smallest that meets it as all larger ones do; `knee` without a target; `best`, the nearest to a
        /// target that none meets so.
        enum Reason: String { case target, knee, best }

        var variant: ReplayOptions
        var budget: Int
        var reason: Reason
    }

    /// Chooses a variant and a budget: the smallest budget that meets the target.
    ///
    /// Without a target, the knee with the highest hit rate; if none meets the target, the nearest one. Of equals the
    /// first variant counts. A limit that does not hold one screen is never chosen.
    func choose(_ outcome: Outcome) -> Choice? {
        if options.target != nil {
            let answers = outcome.searches.compactMap { search in search.search.answer.map { (search.variant, $0) } }
            if let smallest = answers.enumerated().min(by: { ($0.element.1, $0.offset) < ($1.element.1, $1.offset) }) {
                return Choice(variant: smallest.element.0, budget: smallest.element.1, reason: .target)
            }
        }
        let finished = outcome.finished.mapValues(\.report)
        var candidates: [(variant: ReplayOptions, budget: Int, score: Double)] = []
        for search in outcome.searches {
            let points = search.search.sweep.compactMap { budget in
                finished[Job(options: search.variant, budget: budget)].map { (budget, $0) }
            }
            let holdsScreen = { (report: ReplayReport) in report.memory.shortfallBytes == 0 }
            let tried = finished.filter { $0.key.options == search.variant && holdsScreen($0.value) }
            if let target = options.target {
                candidates += tried.sorted { $0.key.budget < $1.key.budget }
                    .map { (search.variant, $0.key.budget, target.score($0.value)) }
            } else if let index = Knee.index(
                of: points.map { (Double($0.0), $0.1.demands.hitRate ?? 1) },
                where: { holdsScreen(points[$0].1) }
            ) {
                candidates.append((search.variant, points[index].0, points[index].1.demands.hitRate ?? 1))
            } else if let first = points.first(where: { holdsScreen($0.1) }) {
                // A curve that never rises: the smallest budget.
                candidates.append((search.variant, first.0, first.1.demands.hitRate ?? 1))
            }
        }
        guard var best = candidates.first else { return nil }
        for candidate in candidates where candidate.score > best.score { best = candidate }
        return Choice(variant: best.variant, budget: best.budget, reason: options.target == nil ? .knee : .best)
    }

    /// Replays the nearest limit with one option changed at a time.
    func tryChanges(
        of nearest: Choice,
        _ finished: [Job: Finding],
        _ loads: LoadClock,
        done: inout Int,
        known: inout Int
    ) throws -> [(change: TuneChange, finding: Finding)] {
        guard let finding = finished[Job(options: nearest.variant, budget: nearest.budget)] else { return [] }
        let changes = TuneChange.all(of: nearest.variant, effort: finding.effort, options)
        // The oracle may have been replayed beside the sweep.
        var reports = finished.filter { $0.key.options.effort == $0.value.effort }.mapValues(\.report)
        // Changes that load as before share the file of load times.
        for (isFaster, some) in changes.grouped(by: \.isFaster) {
            let clock = isFaster ? try some.first.map { try LoadClock($0.options) } ?? loads : loads
            let jobs = some.map { Job(options: $0.options, budget: nearest.budget) }.filter { reports[$0] == nil }
            known += jobs.count
            reports.merge(try replay(jobs, clock, done: &done, known: known)) { first, _ in first }
        }
        return changes.compactMap { change in
            reports[Job(options: change.options, budget: nearest.budget)].map {
                (change, Finding(effort: change.options.effort, report: $0))
            }
        }
    }

    // MARK: - The report

    func makeReport(_ outcome: Outcome, _ curve: ReuseCurve, step: Int, traces: [ReplayReport.Trace]) -> TuneReport {
        let variants = options.variants
        let best = choose(outcome)
        let chosen = best.flatMap { suggestion($0, outcome) }
        let isMissed = best?.reason == .best
        let shown = best?.variant ?? variants.first ?? options.replay
        let shownRows = rows(of: shown, outcome)
        // By policy, then by variant in their order.
        let others = options.policies.unique.flatMap { policy in
            variants.flatMap { variant in
                let other = variant.with(policy)
                return variants.contains(other) ? [] : rows(of: other, outcome)
            }
        }
        return TuneReport(
            rows: variants.flatMap { rows(of: $0, outcome) },
            policies: others,
            lruCurve: curve.points(at: options.lruSizes.isEmpty ? curve.sizes : options.lruSizes),
            lruAccesses: curve.accesses,
            knee: knee(shownRows, sweep: outcome.searches.first { $0.variant == shown }?.search.sweep ?? []),
            suggested: isMissed ? nil : chosen,
            nearest: isMissed ? chosen : nil,
            steps: isMissed ? steps(shownRows) : [],
            alternatives: alternatives(outcome, budget: best?.budget ?? 0),
            oneStepSmaller: best.flatMap { best in
                best.reason == .target ? shownRows.last { $0.byteLimit < best.budget } : nil
            },
            target: options.target.map {
                switch $0 {
                case .hitRate(let value): TuneReport.Target(field: "hitRate", value: value)
                case .blank(let value): TuneReport.Target(field: "blank", value: value)
                }
            },
            maximumWaste: options.maximumWaste,
            slotBytes: (try? largestSlot(variants[0])) ?? 1,
            stepBytes: step,
            interrupted: hooks.shouldStop(),
            configuration: options.configuration,
            traces: traces
        )
    }

    private func row(_ job: Job, _ finding: Finding) -> TuneReport.Row {
        let report = finding.report
        return TuneReport.Row(
            byteLimit: job.budget,
            hitRate: report.demands.hitRate,
            blank: report.coverage.blank,
            waste: report.loads.waste,
            sharp: report.coverage.sharp,
            peakBytes: report.memory.peakBytes,
            policy: job.options.prefetch.rawValue,
            workers: job.options.workers,
            tileSize: job.options.overrides.tileSize,
            compressedShare: job.options.compressedShare,
            storeLimit: job.options.tiers.first?.byteLimit,
            sourceLoads: report.tiers.last?.misses,
            effort: options.maximumWaste == nil ? nil : finding.effort,
            meetsTarget: options.target.map { $0.isMet(by: report) },
            screenBytes: report.memory.screenBytes,
            shortfallBytes: report.memory.shortfallBytes
        )
    }

    private func rows(of variant: ReplayOptions, _ outcome: Outcome) -> [TuneReport.Row] {
        outcome.finished.filter { $0.key.options == variant }.sorted { $0.key.budget < $1.key.budget }
            .map { row($0.key, $0.value) }
    }

    private func suggestion(_ choice: Choice, _ outcome: Outcome) -> TuneReport.Suggestion? {
        outcome.finding(choice).map { finding in
            var own = choice.variant
            own.effort = finding.effort
            let flags = ReplayFlags.pasted(own, byteLimit: choice.budget)
            let row = row(Job(options: choice.variant, budget: choice.budget), finding)
            return TuneReport.Suggestion(row, flags: flags, reason: choice.reason.rawValue)
        }
    }

    private func knee(_ rows: [TuneReport.Row], sweep: [Int]) -> TuneReport.Knee? {
        let points = rows.filter { sweep.contains($0.byteLimit) }
        return Knee.index(of: points.map { (Double($0.byteLimit), $0.hitRate ?? 1) }) { points[$0].shortfallBytes == 0 }
            .map { TuneReport.Knee(byteLimit: points[$0].byteLimit, hitRate: points[$0].hitRate) }
    }

    /// What each larger limit brings of what the target is about.
    private func steps(_ rows: [TuneReport.Row]) -> [TuneReport.Step] {
        guard let target = options.target else { return [] }
        var before: Double?
        return rows.filter { $0.shortfallBytes == 0 }.map { row in
            let score = target.score(hitRate: row.hitRate, blank: row.blank)
            defer { before = score }
            return TuneReport.Step(
                byteLimit: row.byteLimit,
                hitRate: row.hitRate,
                blank: row.blank,
                gain: before.map { score - $0 }
            )
        }
    }

    private func alternatives(_ outcome: Outcome, budget: Int) -> [TuneReport.Alternative] {
        outcome.alternatives.map { change, finding in
            TuneReport.Alternative(
                change: change.text,
                flags: ReplayFlags.pasted(change.options, byteLimit: budget),
                hitRate: finding.report.demands.hitRate,
                blank: finding.report.coverage.blank,
                waste: finding.report.loads.waste,
                meetsTarget: options.target?.isMet(by: finding.report) ?? false
                    && finding.report.memory.shortfallBytes == 0,
                isBound: change.isBound
            )
        }
    }
}

extension Tune {
    /// Replays the suggested limit, or the nearest one, by itself, for pictures of the most interesting trace.
    package static func shown(
        _ report: TuneReport,
        options: TuneOptions,
        inputs: [@Sendable () throws -> ReplayInput]
    ) throws -> TunePage.Shown? {
        let longest = report.traces.indices.max { report.traces[$0].seconds < report.traces[$1].seconds }
        guard let answer = report.answer, let longest, inputs.indices.contains(longest) else { return nil }
        var replay =
            options.variants.map { variant in
                var own = variant
                own.effort = answer.effort ?? variant.effort
                return own
            }
            .first { ReplayFlags.pasted($0, byteLimit: answer.byteLimit) == answer.flags } ?? options.replay
        replay.memoryLimit = .bytes(answer.byteLimit)
        let input = try Self.open(inputs[longest], for: replay)
        let result = try Replay(replay).run(input, hooks: ReplayHooks(keepsSeries: true))
        return TunePage.Shown(report: result.traces[0], series: result.series[0])
    }
}
