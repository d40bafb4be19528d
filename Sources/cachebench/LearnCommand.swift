import ArgumentParser
import CacheBenchKit
import PanTraces
import TileCache

/// `cachebench learn`: makes a profile of traces.
struct LearnCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "learn",
        abstract: "Learn a profile of recorded sessions, for --profile and for applications.",
        discussion: """
            Replays the traces in order, each with the profile of those before it. A profile has the probabilities of \
            tiles, by motion and distance, and the number of sessions in which each place was viewed. It changes \
            prefetching from three sessions on. Without places it changes nothing. Learn traces of one world together.

            Examples:
              cachebench learn traces/ --output app.profile
              cachebench learn traces/ --output app.profile --without-places
              cachebench replay --profile app.profile session.csv
            """
    )

    @Argument(help: "Trace files, or directories: all .csv files in them, sorted.", completion: .file())
    var traces: [String]

    @Option(help: ArgumentHelp("File of the profile.", valueName: "file"), completion: .file())
    var output: String

    @Flag(help: "Leave out which places were viewed. The profile then changes no prefetch.")
    var withoutPlaces = false

    @OptionGroup var limit: LimitArguments
    @OptionGroup var replay: ReplayArguments<VirtualLatency>

    private var options: ReplayOptions {
        var options = replay.options()
        options.memoryLimit = limit.memoryLimit
        return options
    }

    func validate() throws {
        guard replay.profile == nil else {
            throw ValidationError("--profile replays with a profile; learn starts without one")
        }
        try replay.validate(options)
    }

    func run() throws {
        try Failure.reported {
            try replay.checkFiles()
            let paths = try tracePaths(traces)
            let writer = try ReportWriter(path: output, sparing: paths + replay.files)
            Interruption.watch()
            let progress = Progress()
            defer { progress.end() }
            let learned = try Learn(options).profile(of: paths, shouldStop: { Interruption.hasCome }) {
                progress.done($0, of: paths.count, "traces")
            }
            progress.end()
            guard let learned else { throw Interruption.end("nothing was written") }
            let bytes = (withoutPlaces ? learned.withoutPlaces : learned).bytes
            try writer.write(blocks: { put in try bytes.withUnsafeBytes { try put($0) } })
        }
    }
}
