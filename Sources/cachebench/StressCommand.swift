import ArgumentParser
import CacheBenchKit
import PanTraces

/// `cachebench stress`: many threads and misbehaving sources; checks every drawn tile.
struct StressCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stress",
        abstract: "Use one cache from many threads with sources that misbehave, and check every visible tile.",
        discussion: """
            Continuous checks, byte for byte: pixels are those that the tile's source wrote, of a version that was current \
            between request and answer; tiles lie where they are drawn; the memory stays within the limit; nothing \
            changes while it is held. Checks at the end: every view gets its tiles, nothing stays pinned, shutdown \
            returns in time, and the heap does not grow.

            The same seed gives the same decisions on each thread. Exit code 0 for PASS, 1 for FAIL, 130 if Ctrl-C \
            ended the run before a failure.

            Faults: \(StressFault.names(separator: ", ")); all; none.

            Features: \(StressFeature.names(separator: ", ")); all; none.

            Examples:
              cachebench stress --duration 30min
              cachebench stress --duration 10s --threads 2 --seed 7 --faults stall,twice
            """
    )

    // 104 days: 2^53 nanoseconds are a little more.
    @Option("Duration: 30s, 30min.", .time("(30s, 30min)", hours: 2496), default: "30s")
    var duration = usual.duration

    @Option("Concurrent threads that use the cache, 1 to 64.", .whole(1...64))
    var threads = usual.threads

    @Option("Faults of sources: all, none, or names separated by commas.", .choices(), default: "all", as: "list")
    var faults = usual.faults

    @Option(
        "Features of layers and cache: all, none, or names separated by commas.",
        .choices(),
        default: "all",
        as: "list"
    )
    var features = usual.features

    @Flag(help: "After a FAIL, search for a simpler one: 20 s for each feature, fault and number of threads.")
    var shrink = false

    @Option("Seed of the decisions of threads and sources.", .seed)
    var seed = usual.seed

    @Option(
        "Highest memory limit of the run, 1MiB to 1TiB.",
        .bytes("bytes (8MiB, 64MiB)"),
        default: "8MiB",
        as: "bytes"
    )
    var memoryLimit = usual.byteLimit

    @Option("Concurrent loads, 1 to 64.", .whole(1...64), default: "1 to 9, by the seed")
    var workers: Int?

    @OptionGroup var output: OutputArguments

    private var options: StressOptions {
        var options = StressOptions()
        options.duration = duration
        options.threads = threads
        options.faults = faults
        options.features = features
        options.seed = seed
        options.byteLimit = memoryLimit
        options.workers = workers
        return options
    }

    private func flags(of options: StressOptions) -> String {
        func list<Choice: StressChoice>(_ choices: Set<Choice>) -> String {
            choices.isEmpty ? "none" : choices.map(\.rawValue).sorted().joined(separator: ",")
        }
        return "--seed \(options.seed) --threads \(options.threads) --faults \(list(options.faults)) "
            + "--features \(list(options.features)) --memory-limit \(MemoryLimit.bytes(options.byteLimit))"
            + (options.workers.map { " --workers \($0)" } ?? "")
    }

    func validate() throws {
        if let problem = options.problem { throw ValidationError(problem) }
    }

    func run() throws {
        try Failure.reported {
            let writer = try ReportWriter(path: output.file.output)
            Interruption.watch()
            let line = Progress()
            defer { line.end() }
            let report = try Stress(options).run(interruption: { Interruption.hasCome }) {
                line.show("\(Int($0)) s, \($1) operations, \($2) violations")
            }
            line.end()
            try writer.write(report, as: output.format, table: StressText.text(report))
            if report.interrupted {
                writeToStandardError("cachebench: interrupted: this is what was found so far\n")
            }
            if shrink, let rule = report.violations.first?.rule {
                let simplest = try Stress(options).shrunk(rule: rule, interruption: { Interruption.hasCome })
                writeToStandardError("cachebench: the simplest run that breaks \(rule): \(flags(of: simplest))\n")
            }
            // A violation counts in spite of the interruption.
            if !report.passed { throw ExitCode(1) }
            if report.interrupted { throw ExitCode(Interruption.exitCode) }
        }
    }
}

/// The library's defaults, so that the two cannot differ.
private let usual = StressOptions()

extension OptionValue {
    fileprivate static func choices<Choice: StressChoice>() -> Self where Value == Set<Choice> {
        Self("all, none, or some of \(Choice.names(separator: ","))") { Choice.list($0) }
    }
}
