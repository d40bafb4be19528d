/// The reports of some traces, each for itself and pooled.
public struct ReplayResult: Codable, Sendable, Hashable {
    /// The version of these fields.
    public var schema = 1
    /// One report for each trace, in the order given.
    public var traces: [ReplayReport]
    /// Sums of all of them; rates are of the sums.
    public var total: ReplayReport
    /// Traces pooled by the folder that they lie in, in the order of their first trace.
    public var sources: [ReplayReport]
    /// What pictures are drawn of, one for each trace where ``ReplayHooks/keepsSeries`` asks for it; else empty. No part
    /// of the JSON report.
    public var series: [ReplaySeries] = []
    /// Whether it was told to stop before the end.
    public var wasStopped = false

    private enum CodingKeys: String, CodingKey { case schema, traces, total, sources }
}

/// Replays traces through the cache.
public struct Replay: Sendable {
    /// Everything that a replay can be told.
    public let options: ReplayOptions
    private let loads: LoadClock

    /// Makes a replay.
    ///
    /// - Throws: ``ReplayError`` where options contradict each other, or a file of load times is wrong.
    public init(_ options: ReplayOptions) throws(ReplayError) {
        try self.init(options, loads: LoadClock(options))
    }

    /// Makes a replay with load times that have been read already.
    init(_ options: ReplayOptions, loads: LoadClock) throws(ReplayError) {
        guard (1...255).contains(options.workers) else {
            throw ReplayError("--workers takes 1 to 255, not \(options.workers)")
        }
        guard options.reservedWorkers >= 0, options.reservedWorkers < options.workers else {
            throw ReplayError(
                "--reserved-workers takes 0 to \(options.workers - 1), one less than the workers, "
                    + "not \(options.reservedWorkers)"
            )
        }
        guard options.compressionRatio >= 1, options.compressionRatio <= 1000 else {
            throw ReplayError("--compression-ratio takes 1 to 1000, not \(options.compressionRatio)")
        }
        guard options.speed > 0, options.speed <= 1000 else {
            throw ReplayError("--speed takes a number larger than 0, up to 1000, not \(options.speed)")
        }
        guard (0...1).contains(options.effort), (0...1).contains(options.compressedShare ?? 0) else {
            throw ReplayError("--effort and --compressed-share take 0 to 1")
        }
        if options.eviction == .belady || options.prefetch == .oracle {
            guard options.clock == .virtual else {
                throw ReplayError("only the virtual clock knows the future: the oracle needs --clock virtual")
            }
        }
        if options.clock == .real {
            guard loads.bandwidth == nil else {
                throw ReplayError("--load-times bandwidth needs --clock virtual")
            }
            guard options.loadLatency != nil || options.loadTimes == .constant else {
                throw ReplayError("--load-times \(options.loadTimes) needs a --load-latency under the real clock")
            }
            guard options.cost == .none else {
                throw ReplayError("--cost needs --clock virtual: the real clock charges what the codec really takes")
            }
        }
        self.options = options
        self.loads = loads
    }

    /// Replays traces one after the other.
    ///
    /// - Parameters:
    ///   - inputs: opened one at a time by calling each.
    ///   - hooks: ask whether to stop, and what to keep for pictures.
    ///   - progress: called after each trace with its report.
    /// - Throws: ``PanTraceError``, ``ReplayError`` or `TileCacheError`.
    public func run(
        _ inputs: [() throws -> ReplayInput],
        hooks: ReplayHooks = ReplayHooks(),
        progress: (ReplayReport) -> Void = { _ in }
    ) throws -> ReplayResult {
        if options.cost == .measured {
            // Once for all traces, and the report says with which figures.
            var options = options
            options.cost = try options.cost.resolved()
            return try Replay(options, loads: loads).run(inputs, hooks: hooks, progress: progress)
        }
        var reports: [ReplayReport] = []
        var pooled: [(source: String, traces: Int, tally: ReplayTally)] = []
        var total = ReplayTally()
        var series: [ReplaySeries] = []
        var wasStopped = false
        for open in inputs where !wasStopped {
            let input = try open()
            let outcome = try outcome(of: input, hooks)
            wasStopped = outcome.wasStopped
            if let own = outcome.series { series.append(own) }
            let report = outcome.tally.report(
                trace: outcome.trace,
                configuration: options.resolvedConfiguration(
                    scene: input.scene,
                    byteLimit: outcome.tally.memory.byteLimit
                )
            )
            reports.append(report)
            progress(report)
            total.add(outcome.tally)
            if let index = pooled.firstIndex(where: { $0.source == outcome.trace.source }) {
                pooled[index].tally.add(outcome.tally)
                pooled[index].traces += 1
            } else {
                pooled.append((outcome.trace.source, 1, outcome.tally))
            }
        }
        let configuration = options.resolvedConfiguration(scene: nil, byteLimit: nil)
        func pooledReport(_ tally: ReplayTally, name: String, source: String) -> ReplayReport {
            tally.report(
                trace: .init(name: name, source: source, hash: "", frames: tally.frames, seconds: tally.seconds),
                configuration: configuration
            )
        }
        return ReplayResult(
            traces: reports,
            total: pooledReport(total, name: "total", source: ""),
            sources: pooled.map { pooledReport($0.tally, name: "\($0.traces) traces", source: $0.source) },
            series: series,
            wasStopped: wasStopped || (reports.count < inputs.count)
        )
    }

    /// Replays one trace.
    func outcome(of input: ReplayInput, _ hooks: ReplayHooks = ReplayHooks()) throws -> ReplayOutcome {
        switch options.clock {
        case .virtual: try VirtualReplay(options: options, loads: loads, hooks: hooks).run(input)
        case .real: try RealReplay(options: options, loads: loads, hooks: hooks).run(input)
        }
    }
}
