import ArgumentParser
import CacheBenchKit
import PanTraces
import TileCache

/// `cachebench tune`: finds the smallest memory limit that meets a target.
struct TuneCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tune",
        abstract: "Find the smallest memory limit that meets a target, and the knee of the curve.",
        discussion: """
            Replays all traces with each memory limit, on all cores: first a coarse sweep, then finer steps around the \
            target. Without a target it suggests the knee: the limit above which more memory gains less than the average \
            of the sweep. The report ends with the flags to use. It also shows the hit rate of plain LRU at any size if \
            loads took no time. With --store and --store-limits it suggests the limit of the first store as well: the \
            smallest store among results of equal memory limit. With --maximum-waste it suggests an effort as well.

            Exit code 1 if no limit meets the target.

            Examples:
              cachebench tune traces/ --target-hit-rate 0.95
              cachebench tune --format html --output tune.html traces/
              cachebench tune --store disk=2ms --store-limits 16MiB,64MiB --warm first.csv second.csv
              cachebench tune --target-hit-rate 0.8 --maximum-waste 0.4 --requests-per-minute 120 traces/
              cachebench tune --target-blank 0.001 --workers-list 2,4,8 first.csv second.csv
            """
    )

    @Argument(help: "Trace files, or directories: all .csv files in them, sorted. (default: the built-in session)")
    var traces: [String] = []

    @Option(
        help: "Target: minimum share of demands that are hits, 0 to 1.",
        transform: shareValue
    )
    var targetHitRate: Double?

    @Option(
        help: "Target: maximum share of the area that is blank, 0 to 1.",
        transform: shareValue
    )
    var targetBlank: Double?

    @Option(
        help: """
            Maximum share of loads that are never drawn, 0 to 1; each limit is tried with an effort lowered from --effort \
            until its waste is at most that, in at most 6 replays. (default: none)
            """,
        transform: shareValue
    )
    var maximumWaste: Double?

    @Option(
        help: "Memory limits of the coarse sweep, separated by commas. (default: 1 to 14 screens)",
        transform: { try list($0, "memory limits separated by commas (8MiB,64MiB)") { MemoryLimit($0) } }
    )
    var budgets: [MemoryLimit] = []

    @Option(
        help: "Numbers of workers to try, separated by commas.",
        transform: { try wholes($0, 1...255) }
    )
    var workersList: [Int] = []

    @Option(
        help: "Tile sizes to try, in pixels a side, separated by commas.",
        transform: { try wholes($0, 1...65_536) }
    )
    var tileSizes: [Int] = []

    @Option(
        help: "Compressed shares to try, 0 to 1 or adaptive, separated by commas.",
        transform: { text in
            try list(text, "numbers from 0 to 1, or adaptive, separated by commas") { word -> Share? in
                word == "adaptive" ? .adaptive : number(word, 0...1).map { .fixed($0) }
            }
        }
    )
    var compressedShares: [Share] = []

    @Option(
        help: "Limits of the first --store to try, separated by commas (64MiB,256MiB).",
        transform: { text in
            try list(text, "bytes with a unit, separated by commas (64MiB,256MiB)") {
                QuantityText.bytes($0).flatMap { $0 > 0 ? $0 : nil }
            }
        }
    )
    var storeLimits: [Int] = []

    @Option(
        help: ArgumentHelp(
            "Policies to draw besides that of --prefetch, separated by commas. (default: none,oracle)",
            valueName: "policies"
        ),
        transform: policyList
    )
    var policies: [PrefetchKind] = [.none, .oracle]

    @Option(
        help: ArgumentHelp("Sizes of the LRU curve in tiles, separated by commas.", valueName: "tiles"),
        transform: { try wholes($0, 1...1 << 30) }
    )
    var lruSizes: [Int] = []

    @OptionGroup var policy: PolicyArguments
    @OptionGroup var replay: ReplayArguments
    @OptionGroup var tiers: TierArguments
    @OptionGroup var checks: CheckArguments
    @OptionGroup var output: PageArguments

    func validate() throws {
        let options = replayOptions
        try replay.validate(options)
        guard targetHitRate == nil || targetBlank == nil else {
            throw ValidationError("--target-hit-rate and --target-blank are two targets: give one")
        }
        guard compressedShares.isEmpty || options.compressedTier else {
            throw ValidationError("--compressed-shares needs the tier that --compressed-tier off leaves out")
        }
        guard storeLimits.isEmpty || !options.tiers.isEmpty else {
            throw ValidationError("--store-limits are limits of a --store")
        }
        guard !traces.contains("-") else {
            throw ValidationError("tune reads its traces many times: it takes files, not standard input")
        }
        try checks.validate(against: nil)
    }

    func run() throws {
        try Failure.reported {
            let writer = try ReportWriter(path: output.output)
            let baseline = try checks.readBaseline()
            let inputs = try namedInputs(traces, replayOptions).map(\.open)
            let progress = Progress(total: inputs.count)
            Interruption.watch()
            let hooks = ReplayHooks(shouldStop: { Interruption.hasCome })
            defer { progress.end() }
            var options = TuneOptions(replay: replayOptions, target: target)
            options.maximumWaste = maximumWaste
            options.budgets = budgets
            options.workers = workersList
            options.tileSizes = tileSizes
            options.compressedShares = compressedShares.map(\.value)
            options.storeLimits = storeLimits
            options.policies = policies
            options.lruSizes = lruSizes
            let report = try Tune(
                options,
                inputs: inputs,
                hooks: hooks,
                progress: { progress.done($0, of: $1, "budgets") }
            ).run()
            progress.end()
            switch output.format {
            case .table: try writer.write(TuneText.text(report, style: writer.style))
            case .json: try writer.write(JSONText.of(report))
            case .html:
                // The suggested limit is replayed again by itself, for the pictures.
                let shown = try report.suggested.flatMap { suggested in
                    try Tune.shown(suggested, options: options, report: report, inputs: inputs)
                }
                try writer.write(TunePage.text(report, shown: shown))
            }
            if report.interrupted { throw Interruption.end("this is what has been found so far") }
            try checks.check(JSONTree(encoding: report), baseline: baseline)
            if report.suggested?.reason == "best" {
                writeToStandardError("cachebench: no budget meets the target\n")
                throw ExitCode(1)
            }
        }
    }

    private var replayOptions: ReplayOptions {
        var options = replay.options()
        options.prefetch = policy.prefetch
        options.eviction = policy.eviction
        tiers.apply(to: &options)
        return options
    }

    private var target: TuneTarget? {
        if let targetHitRate { return .hitRate(targetHitRate) }
        return targetBlank.map { .blank($0) }
    }
}

extension Share {
    /// The share; `nil` if it adapts.
    fileprivate var value: Double? {
        if case .fixed(let share) = self { share } else { nil }
    }
}
