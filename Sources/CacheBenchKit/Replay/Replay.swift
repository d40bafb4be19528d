import PanTraces
package import TileCache

/// Reports of some traces, separate and pooled.
package struct ReplayResult: Encodable, Sendable, Hashable {
    /// Version of these fields.
    package var schema = 2
    package var traces: [ReplayReport]
    /// Sums of all of them; rates are of the sums.
    package var total: ReplayReport
    /// Traces pooled by their folder, in the order of their first trace.
    package var sources: [ReplayReport]
    /// Data of pictures, one for each trace if ``ReplayHooks/keepsSeries`` is set; otherwise empty. Not part of the
    /// JSON report.
    package var series: [ReplaySeries] = []
    package var wasStopped = false

    private enum CodingKeys: String, CodingKey { case schema, traces, total, sources }

    /// Encodes the reports, each trace's with its name.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(schema, forKey: .schema)
        try container.encode(traces.map { NamedReport(report: $0) }, forKey: .traces)
        try container.encode(total, forKey: .total)
        try container.encode(sources, forKey: .sources)
    }

    private struct NamedReport: Encodable {
        var report: ReplayReport

        private enum CodingKeys: String, CodingKey { case name }

        func encode(to encoder: any Encoder) throws {
            try report.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(report.trace.name, forKey: .name)
        }
    }
}

/// Error of one of several traces.
package struct TraceFailure: Error {
    package var index: Int
    /// ``PanTraceError``, ``ReplayError`` or `TileCacheError`.
    package var error: any Error
}

package struct Replay: Sendable {
    package let options: ReplayOptions
    private let loads: LoadClock
    private let source: ReplaySource?
    private let stores: [any TileStore]

    /// - Parameters:
    ///   - source: Source of tiles under the real clock; `nil` for the built-in world.
    ///   - stores: Tiers below memory under the real clock, nearest first. Default: none.
    package init(
        _ options: ReplayOptions,
        source: ReplaySource? = nil,
        stores: [any TileStore] = []
    ) throws(ReplayError) {
        try self.init(options, loads: LoadClock(options), source: source, stores: stores)
    }

    /// Checks options without the files that they name.
    package static func check(_ options: ReplayOptions) throws(ReplayError) {
        _ = try Replay(options, loads: LoadClock(latency: 0))
    }

    /// Creates a replay with load times that were read already.
    init(
        _ options: ReplayOptions,
        loads: LoadClock,
        source: ReplaySource? = nil,
        stores: [any TileStore] = []
    ) throws(ReplayError) {
        try Self.checkRanges(options)
        try Self.checkClock(options)
        let isReal = options.clock == .real
        if source != nil {
            try require(isReal, "--source needs --clock real: under the virtual clock nothing is loaded")
            try require(
                options.loadLatency == nil && options.loadTimes == .constant,
                "--load-latency and --load-times are for the built-in world: a --source takes its own time"
            )
        }
        try require(isReal || stores.isEmpty, "--disk and --shared need --clock real: the virtual clock has --store")
        try require(
            !isReal || options.tiers.isEmpty,
            "--store needs --clock virtual: the real clock has --disk and --shared"
        )
        if let slots = options.textures?.slots {
            try require(!isReal, "--texture-slots needs --clock virtual: under the real clock nothing is drawn")
            try require((1...65_536).contains(slots), "--texture-slots of 1 to 65536 are expected, not \(slots)")
        }
        try require(!options.keepsTiers || !options.tiers.isEmpty, "--warm needs a --store")
        self.options = options
        self.loads = loads
        self.source = source
        self.stores = stores
    }

    private static func checkRanges(_ options: ReplayOptions) throws(ReplayError) {
        try require((1...255).contains(options.workers), "--workers takes 1 to 255, not \(options.workers)")
        try require(
            (1...1000).contains(options.compressionRatio),
            "--compression-ratio takes 1 to 1000, not \(options.compressionRatio)"
        )
        try require(
            options.speed > 0 && options.speed <= 1000,
            "--speed takes a number larger than 0, up to 1000, not \(options.speed)"
        )
        try require(
            (0...1).contains(options.effort) && (0...1).contains(options.compressedShare ?? 0),
            "--effort and --compressed-share take 0 to 1"
        )
    }

    /// Checks what only one of the clocks has.
    private static func checkClock(_ options: ReplayOptions) throws(ReplayError) {
        let isReal = options.clock == .real
        try require(
            !isReal || !options.needsFuture,
            "only the virtual clock knows the future: the oracle needs --clock virtual"
        )
        guard isReal || options.speed == 1 else { throw .speedWithoutRealClock }
        if isReal {
            if case .bandwidth = options.loadTimes {
                throw ReplayError("--load-times bandwidth needs --clock virtual")
            }
            try require(
                options.loadLatency != nil || options.loadTimes == .constant,
                "--load-times \(options.loadTimes) needs a --load-latency under the real clock"
            )
            try require(
                options.cost == .none,
                "--cost needs --clock virtual: the real clock charges what the codec really takes"
            )
            try require(
                options.compressionRatio == ReplayOptions().compressionRatio,
                "--compression-ratio needs --clock virtual: the real clock has the ratio of the tiles"
            )
        }
    }

    /// Replays traces: in parallel under the virtual clock, otherwise one after the other.
    ///
    /// - Parameters:
    ///   - inputs: Called to open each trace when its turn comes.
    ///   - hooks: Checked for stopping, and for data to keep for pictures.
    ///   - progress: Called at the end of each trace with its report, in any order and on any thread.
    /// - Throws: ``TraceFailure`` for the first trace that cannot be replayed; ``ReplayError`` if the codec cannot be
    ///   measured.
    package func run(
        _ inputs: [@Sendable () throws -> ReplayInput],
        hooks: ReplayHooks = ReplayHooks(),
        progress: @escaping @Sendable (ReplayReport) -> Void = { _ in }
    ) throws -> ReplayResult {
        let replay = try withMeasuredCost()
        let run = { @Sendable (index: Int, tiers: VirtualTiers?) throws -> Finished? in
            guard !hooks.shouldStop() else { return nil }
            do {
                let one = try replay.finish(inputs[index](), hooks, tiers)
                progress(one.report)
                return one
            } catch {
                throw TraceFailure(index: index, error: error)
            }
        }
        let finished: [Finished?]
        if options.clock == .virtual, !options.keepsTiers {
            finished = try concurrently(inputs.count) { try run($0, nil) }
        } else {
            // One trace after the other, each with the tiers that the one before left.
            let tiers = options.keepsTiers ? VirtualTiers(options.tiers) : nil
            finished = try inputs.indices.map { index in
                tiers?.resetCounts()
                return try run(index, tiers)
            }
        }
        return replay.pooled(finished.compactMap { $0 }, of: inputs.count)
    }

    /// Replays one trace.
    package func run(_ input: ReplayInput, hooks: ReplayHooks = ReplayHooks()) throws -> ReplayResult {
        let replay = try withMeasuredCost()
        return try replay.pooled([replay.finish(input, hooks)], of: 1)
    }

    private struct Finished: Sendable {
        var outcome: ReplayOutcome
        var report: ReplayReport
    }

    /// Measures the codec once for all traces; the report contains its rates.
    private func withMeasuredCost() throws -> Replay {
        guard options.cost == .measured else { return self }
        var options = options
        options.cost = try options.cost.resolved()
        return try Replay(options, loads: loads, source: source, stores: stores)
    }

    private func finish(_ opened: ReplayInput, _ hooks: ReplayHooks, _ tiers: VirtualTiers? = nil) throws -> Finished {
        let input = try source?.fit(opened, options) ?? opened
        let outcome = try outcome(of: input, hooks, tiers)
        let configuration = options.resolvedConfiguration(
            scene: input.scene,
            byteLimit: outcome.tally.memory.byteLimit,
            source: source,
            recordedWorld: source == nil ? nil : "\(opened.scene.worldWidth)x\(opened.scene.worldHeight)"
        )
        return Finished(
            outcome: outcome,
            report: outcome.tally.report(trace: outcome.trace, configuration: configuration)
        )
    }

    /// Reports of traces, with the sums over all and over each source.
    private func pooled(_ finished: [Finished], of count: Int) -> ReplayResult {
        let outcomes = finished.map(\.outcome)
        // The options of a single trace, its viewport and world included, are those of the total too.
        var configuration =
            finished.first?.report.configuration
            ?? options.resolvedConfiguration(scene: nil, byteLimit: nil, source: source)
        if finished.count > 1 {
            let world = source == nil ? nil : options.overrides.world.map { Figures.size($0) }
            configuration = options.resolvedConfiguration(
                scene: nil,
                byteLimit: nil,
                source: source,
                recordedWorld: world
            )
            ReplayFlags.add(options.overrides, to: &configuration)
        }
        func pooled(_ outcomes: [ReplayOutcome], name: String, source: String) -> ReplayReport {
            ReplayTally(pooling: outcomes.map(\.tally))
                .pooledReport(name: name, source: source, configuration: configuration)
        }
        return ReplayResult(
            traces: finished.map(\.report),
            total: pooled(outcomes, name: "total", source: ""),
            sources: outcomes.grouped(by: \.trace.source).map { source, own in
                pooled(own, name: own.count == 1 ? "1 trace" : "\(own.count) traces", source: source)
            },
            series: outcomes.compactMap(\.series),
            wasStopped: finished.count < count || outcomes.contains { $0.wasStopped }
        )
    }

    /// - Parameter tiers: Tiers as another trace left them. Default: nil, empty ones.
    func outcome(
        of input: ReplayInput,
        _ hooks: ReplayHooks = ReplayHooks(),
        _ tiers: VirtualTiers? = nil
    ) throws -> ReplayOutcome {
        switch options.clock {
        case .virtual:
            let own = tiers ?? (options.tiers.isEmpty ? nil : VirtualTiers(options.tiers))
            return try VirtualReplay(options: options, loads: loads, tiers: own, hooks: hooks).run(input)
        case .real:
            return try RealReplay(options: options, loads: loads, source: source, stores: stores, hooks: hooks)
                .run(input)
        }
    }
}
