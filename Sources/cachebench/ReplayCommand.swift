import ArgumentParser
import CacheBenchKit
import TileCache

/// `cachebench replay`: one or more traces, or the built-in session, through the cache.
struct ReplayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Replay pan traces, or a built-in map session where none is given.",
        discussion: """
            Under the virtual clock a replay is made of discrete events: far faster than real time, and equal to the bit \
            on every run and every machine. Under the real clock the cache runs on its real workers.

            Examples:
              cachebench replay --memory-limit 32MiB
              cachebench replay --prefetch none --memory-limit 4screens traces/
              cachebench replay --format json --output figures.json first.csv
            """
    )

    @Argument(help: "Trace files, '-' for standard input, or directories: all .csv files in them, sorted.")
    var traces: [String] = []

    @OptionGroup var replay: ReplayArguments
    @OptionGroup var output: OutputArguments

    func validate() throws {
        try replay.validateTogether()
    }

    func run() throws {
        try Failure.reported {
            let options = replay.options
            let writer = try ReportWriter(output)
            let inputs = try self.inputs(options)
            var progress = Progress(total: inputs.count)
            var current = ""
            progress.begin()
            do {
                let result = try Replay(options).run(
                    inputs.map { input in
                        {
                            current = input.name
                            return try input.open()
                        }
                    },
                    progress: { progress.advance($0) }
                )
                progress.end()
                switch output.format {
                case .table: try writer.write(ReplayText(style: writer.style).text(result))
                case .json: try writer.write(ReplayJSON.text(result))
                }
            } catch let error where !(error is PanTraceError || error is Failure || error is ExitCode) {
                progress.end()
                throw Failure("\(current): \(Failure.sentence(error))")
            } catch {
                progress.end()
                throw error
            }
        }
    }

    private func inputs(_ options: ReplayOptions) throws -> [(name: String, open: () throws -> ReplayInput)] {
        guard !traces.isEmpty else { return [("built-in", { try builtIn(options) })] }
        return try TraceList.paths(traces).map { path in
            let name = path == "-" ? "standard input" : path
            return (
                name,
                {
                    var input = try ReplayInput(path: path, options: options)
                    if path == "-" { input.name = name }
                    return input
                }
            )
        }
    }

    private func builtIn(_ options: ReplayOptions) throws -> ReplayInput {
        let session = BuiltInSession(seed: options.seed)
        return ReplayInput(
            name: "built-in",
            source: ".",
            scene: try PanTraceScene(session.header, overrides: options.overrides, name: "built-in"),
            samples: session.stream
        )
    }
}
