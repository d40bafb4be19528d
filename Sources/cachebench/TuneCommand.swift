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

            If no limit meets the target with all larger ones, none is suggested: the report then says what each larger \
            limit brings, and what one change of the other options does at the limit that comes nearest. Exit code 1 if so.

            Examples:
              cachebench tune traces/ --target-hit-rate 95%
              cachebench tune --output tune.html traces/
              cachebench tune --store disk=2ms --store-limits 16MiB,64MiB --warm \\
                first.csv second.csv
              cachebench tune --target-hit-rate 0.8 --maximum-waste 0.4 \\
                --requests-per-minute 120 traces/
              cachebench tune --target-blank 0.001 --workers-list 2,4,8 first.csv second.csv
            """
    )

    @Argument(
        help: "Trace files, or directories: all .csv files in them, sorted. (default: the built-in session)",
        completion: .file()
    )
    var traces: [String] = []

    @Option("Target: minimum share of demands that are hits, 0 to 1, or 0% to 100%.", .share)
    var targetHitRate: Double?

    @Option("Target: maximum share of the area that is blank, 0 to 1, or 0% to 100%.", .share)
    var targetBlank: Double?

    @Option(
        """
        Maximum share of loads that are never drawn, 0 to 1; each limit is tried with an effort lowered from --effort \
        until its waste is at most that, in at most 6 replays.
        """,
        .share,
        default: "none"
    )
    var maximumWaste: Double?

    @Option(
        "Memory limits of the coarse sweep, separated by commas.",
        .memoryLimits("8MiB,64MiB"),
        default: "1 to 14 screens"
    )
    var budgets: [MemoryLimit] = []

    @Option("Numbers of workers to try, separated by commas.", .wholes(1...255), default: "")
    var workersList: [Int] = []

    @Option("Tile sizes to try, in pixels a side, separated by commas.", .wholes(1...65_536), default: "")
    var tileSizes: [Int] = []

    @Option(
        "Compressed shares to try, 0 to 1 or adaptive, separated by commas.",
        .list("numbers from 0 to 1, from 0% to 100%, or adaptive, separated by commas") { Share($0) },
        default: ""
    )
    var compressedShares: [Share] = []

    @Option(
        "Limits of the first --store to try, separated by commas (64MiB,256MiB).",
        .list("bytes with a unit, separated by commas (64MiB,256MiB)") {
            QuantityText.bytes($0).flatMap { $0 > 0 ? $0 : nil }
        },
        default: ""
    )
    var storeLimits: [Int] = []

    @Option("Policies to draw besides that of --prefetch, separated by commas.", .policies, default: "none,oracle")
    var policies: [PrefetchKind] = [.none, .oracle]

    @Option("Sizes of the LRU curve in tiles, separated by commas.", .wholes(1...1 << 30), default: "", as: "tiles")
    var lruSizes: [Int] = []

    @OptionGroup var policy: PolicyArguments
    @OptionGroup var replay: ReplayArguments<VirtualLatency>
    @OptionGroup var tiers: TierArguments
    @OptionGroup var checks: CheckArguments
    @OptionGroup var output: PageArguments

    func validate() throws {
        let options = replayOptions
        try replay.validate(options, policies: policies + [options.prefetch])
        guard targetHitRate == nil || targetBlank == nil else {
            throw ValidationError("--target-hit-rate and --target-blank are two targets: give one")
        }
        guard compressedShares.isEmpty || options.compressedTier else {
            throw ValidationError("--compressed-shares needs the tier that --compressed-tier off leaves out")
        }
        let usual = ReplayOptions()
        let replaced = [
            ("--workers-list", "--workers", !workersList.isEmpty && replay.workers != usual.workers),
            ("--tile-sizes", "--tile-size", !tileSizes.isEmpty && replay.tileSize != nil),
            (
                "--compressed-shares", "--compressed-share",
                !compressedShares.isEmpty && replay.compressedShare != .adaptive
            ),
        ]
        if let (list, flag, _) = replaced.first(where: \.2) {
            throw ValidationError("\(list) has all that are tried: it cannot go with \(flag)")
        }
        guard storeLimits.isEmpty || !options.tiers.isEmpty else {
            throw ValidationError("--store-limits are limits of a --store")
        }
        try refusePipes(traces, since: "tune reads its traces many times")
        try checks.validate(against: .emptySearch(tuneOptions))
    }

    func run() throws {
        try Failure.reported {
            let options = tuneOptions
            try replay.checkFiles()
            let writer = try ReportWriter(
                path: output.file.output,
                sparing: PanTraceList.paths(traces) + replay.files + checks.files
            )
            let baseline = try checks.readBaseline(against: .emptySearch(options))
            let inputs = try namedInputs(traces, replayOptions).map(\.open)
            let progress = Progress(total: inputs.count)
            Interruption.watch()
            let hooks = ReplayHooks(shouldStop: { Interruption.hasCome })
            defer { progress.end() }
            let report = try Tune(
                options,
                inputs: inputs,
                hooks: hooks,
                progress: { progress.done($0, of: $1, "budgets") }
            ).run()
            progress.end()
            try writer.write(report, as: output.format, table: TuneText.text(report, style: writer.style)) {
                // The limit of the answer is replayed again by itself, for the pictures.
                try TunePage.text(report, shown: Tune.shown(report, options: options, inputs: inputs))
            }
            if report.interrupted { throw Interruption.end("this is what has been found so far") }
            try checks.check(JSONTree(encoding: report), baseline: baseline)
            if report.target != nil, report.suggested == nil {
                writeToStandardError("cachebench: no limit is suggested\n")
                throw ExitCode(1)
            }
        }
    }

    private var replayOptions: ReplayOptions {
        var options = replay.options()
        policy.apply(to: &options)
        tiers.apply(to: &options)
        return options
    }

    private var tuneOptions: TuneOptions {
        var options = TuneOptions(replay: replayOptions, target: target)
        options.maximumWaste = maximumWaste
        options.budgets = budgets
        options.workers = workersList
        options.tileSizes = tileSizes
        options.compressedShares = compressedShares.map(\.value)
        options.storeLimits = storeLimits
        options.policies = policies
        options.lruSizes = lruSizes
        return options
    }

    private var target: TuneTarget? {
        if let targetHitRate { return .hitRate(targetHitRate) }
        return targetBlank.map { .blank($0) }
    }
}
