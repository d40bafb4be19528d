import ArgumentParser
import CacheBenchKit
import PanTraces

/// `cachebench compare`: policies side by side on the same traces.
struct CompareCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare",
        abstract: "Replay the same traces with several policies and memory limits, side by side.",
        discussion: """
            Each policy has its usual order of eviction: the library's policy its own, the oracle Belady's, the others \
            LRU. The column gap is the share of the way from the hit rate without prefetch to that of the oracle, with \
            the same limit, workers and latency.

            Examples:
              cachebench compare --compressed-tier off traces/
              cachebench compare --budgets 4screens --policies tilecache,skewport \\
                --format json traces/
              cachebench compare --equal-loads smallest \\
                --policies ring,skewport,tilecache traces/
              cachebench compare --policies tilecache --efforts 0.1,0.3,0.5,0.7,0.9 traces/
              cachebench compare --cost measured traces/
              cachebench compare --policies tilecache --learn leave-one-out traces/
              cachebench compare --policies none,skewport,tilecache --budgets 64MiB \\
                --picture blank.svg map.csv
            """
    )

    @Argument(help: "Trace files, or directories: all .csv files in them, sorted.", completion: .file())
    var traces: [String]

    @Option(
        "Memory limits, separated by commas.",
        .memoryLimits("2screens,64MiB"),
        default: "2screens,4screens,12screens"
    )
    var budgets: [MemoryLimit] = [.screens(2), .screens(4), .screens(12)]

    @Option("Policies to compare, separated by commas: \(PrefetchKind.names).", .policies, default: "all")
    var policies: [PrefetchKind] = PrefetchKind.allCases

    @Option(
        "Efforts to replay each policy with, 0 to 1, separated by commas.",
        .list("numbers from 0 to 1, or from 0% to 100%, separated by commas") { CacheBench.share($0) },
        default: "--effort"
    )
    var efforts: [Double] = []

    @Option(
        """
        Adjust each policy's effort, source by source, until all load as much as one: a policy's name, or smallest \
        for the policy that loads least.
        """,
        OptionValue("smallest or a policy (\(PrefetchKind.names))") { text in
            text == "smallest" ? .smallest : PrefetchKind(rawValue: text).map { .policy($0) }
        },
        as: "policy|smallest"
    )
    var equalLoads: Compare.LoadTarget?

    @Option(help: "What the policy 'tilecache' starts with: leave-one-out, all other traces of the same source.")
    var learn: LearningMode?

    @Option(
        """
        Instead of a report, draw the missing part of the screen over time as SVG: a strip for each policy, of one \
        trace with the first budget.
        """,
        .text,
        as: "file"
    )
    var picture: String?

    @OptionGroup var replay: ReplayArguments<VirtualLatency>
    @OptionGroup var checks: CheckArguments
    @OptionGroup var output: PageArguments

    func validate() throws {
        try replay.validate(replay.options(), policies: policies)
        if learn != nil, !policies.contains(.tilecache) {
            throw ValidationError("--learn is for the policy 'tilecache', which is not replayed")
        }
        if !policies.contains(where: \.takesEffort) {
            // The flags of a report have the usual effort.
            let isEffort = efforts.contains { $0 != ReplayOptions().effort }
            let flag = isEffort ? "--efforts" : equalLoads != nil ? "--equal-loads" : nil
            if let flag { throw ValidationError(effortless: flag) }
        }
        if !efforts.isEmpty, replay.effort != ReplayOptions().effort {
            throw ValidationError("--efforts are all that are replayed: they cannot go with --effort")
        }
        guard learn == nil || (replay.profile == nil && picture == nil) else {
            throw ValidationError("--learn makes the profiles: it cannot go with --profile or --picture")
        }
        let ofReports = [
            ("--check", !checks.conditions.isEmpty), ("--baseline", checks.baseline != nil),
            ("--efforts", !efforts.isEmpty), ("--equal-loads", equalLoads != nil),
            ("--format", (output.named ?? .table) != .table), ("--output", output.file.output != nil),
        ]
        if picture != nil, let flag = ofReports.first(where: \.1)?.0 {
            throw ValidationError("--picture writes a picture instead of a report: it cannot go with \(flag)")
        }
        try refusePipes(traces, since: "compare reads its traces many times")
        try checks.validate(against: .emptyComparison(comparison))
    }

    private var comparison: Compare {
        var comparison = Compare(options: replay.options(), policies: policies, budgets: budgets)
        comparison.efforts = efforts
        comparison.equalLoads = equalLoads
        comparison.learnsFromOthers = learn == .leaveOneOut
        return comparison
    }

    func run() throws {
        try Failure.reported {
            try replay.checkFiles()
            let paths = try tracePaths(traces)
            if let picture { return try draw(paths, to: picture) }
            let writer = try ReportWriter(path: output.file.output, sparing: paths + replay.files + checks.files)
            let baseline = try checks.readBaseline(against: .emptyComparison(comparison))
            let progress = Progress()
            Interruption.watch()
            defer { progress.end() }
            let report = try comparison.run(
                paths: paths,
                shouldStop: { Interruption.hasCome },
                progress: { progress.done($0, of: $1, "replays") }
            )
            progress.end()
            let table = CompareText.text(report, style: writer.style)
            try writer.write(report, as: output.format, table: table) { try ComparePage.text(report) }
            if report.interrupted { throw Interruption.end("these are the rows that were done") }
            try checks.check(JSONTree(encoding: report), baseline: baseline)
        }
    }
}

/// What is learned before a comparison.
enum LearningMode: String, CaseIterable, ExpressibleByArgument {
    case leaveOneOut = "leave-one-out"
}

extension CompareCommand {
    private func draw(_ paths: [String], to path: String) throws {
        let writer = try ReportWriter(path: path, flag: "--picture", sparing: paths + replay.files)
        guard let trace = paths.first, paths.count == 1, let budget = budgets.first else {
            throw Failure("--picture draws one trace with one budget, and there are \(paths.count) traces")
        }
        let picture = try BlankPicture(path: trace, policies: policies, budget: budget, options: replay.options())
        try writer.write(picture.text)
    }
}
