import ArgumentParser
import CacheBenchKit
import Foundation
import PanTraces
import TileCache
import TileSources

/// `cachebench replay`: replays traces, or the built-in session, through the cache.
struct ReplayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Replay pan traces, or a built-in map session if there are none.",
        discussion: """
            Under the virtual clock a replay simulates discrete events: far faster than real time, with identical results \
            on every run and every machine. Under the real clock the cache runs on its workers.

            Examples:
              cachebench replay --memory-limit 32MiB
              cachebench replay --prefetch none --memory-limit 4screens traces/
              cachebench replay --format json --output figures.json first.csv
              cachebench replay --source mbtiles:map.mbtiles --workers 8
              cachebench replay --disk tiles/ --disk-limit 512MiB first.csv
              cachebench replay --texture-slots 128 --upload-budget 4MB
              cachebench replay --store disk=2ms:256MiB --warm monday.csv tuesday.csv
            """
    )

    @Argument(
        help: "Trace files, '-' for standard input, or directories: all .csv files in them, sorted.",
        completion: .file()
    )
    var traces: [String] = []

    @Option(
        """
        Write every needed tile of every frame of one trace to a file for cache simulators: lines of \
        level/column/row, row by row.
        """,
        .text,
        as: "file"
    )
    var exportKeys: String?

    @Option("Write the tiles requested from the built-in world to a file, under the real clock.", .text, as: "file")
    var exportLoads: String?

    @OptionGroup var limit: LimitArguments
    @OptionGroup var policy: PolicyArguments
    @OptionGroup var replay: ReplayArguments<ClockLatency>
    @OptionGroup var clock: ClockArguments
    @OptionGroup var sourced: SourceArguments

    @Flag(help: "Stretch traces of another world over the source's tiles; the built-in session always is.")
    var fit = false

    @OptionGroup var tiers: TierArguments
    @OptionGroup var textures: TextureArguments
    @OptionGroup var stores: StoreArguments
    @OptionGroup var checks: CheckArguments
    @OptionGroup var output: PageArguments

    func validate() throws {
        try sourced.validate(clock: clock.clockAsked, latency: replay.latency.loadLatency)
        if fit, sourced.source == nil {
            throw ValidationError("--fit stretches traces over the world of a --source")
        }
        try stores.validate(clock: clock.clockAsked)
        if exportLoads != nil, options.clock == .virtual || sourced.source != nil {
            throw ValidationError("--export-loads is for the built-in world under --clock real")
        }
        if exportKeys != nil, sourced.source != nil {
            throw ValidationError("--export-keys is for the built-in world: a --source has other tiles")
        }
        if exportKeys != nil { try refusePipes(traces, since: "--export-keys reads the trace once more") }
        if [exportKeys, exportLoads, output.file.output ?? "-"].count(where: { $0 == "-" }) > 1 {
            throw ValidationError(
                "standard output takes the keys, the loads or the report: --export-keys, --export-loads and --output "
                    + "name files for the others"
            )
        }
        try replay.validate(options)
        try checks.validate(against: emptyReport)
    }

    private var emptyReport: JSONTree? {
        let stores = [stores.disk, stores.shared].count { $0 != nil }
        return .emptyReplay(options, hasSource: sourced.source != nil, storeCount: stores)
    }

    private var options: ReplayOptions {
        var options = replay.options(clock: clock.clock(needsReal: sourced.source != nil || stores.isAny))
        tiers.apply(to: &options)
        stores.apply(to: &options)
        options.textures = textures.textures
        options.memoryLimit = limit.memoryLimit
        policy.apply(to: &options)
        options.speed = clock.speed
        options.fitsWorld = fit
        return options
    }

    func run() throws {
        try Failure.reported {
            let options = options
            try replay.checkFiles()
            let files =
                try PanTraceList.paths(traces) + replay.files + checks.files + sourced.files + self.stores.files
            let keyWriter = try exportKeys.map { try ReportWriter(path: $0, flag: "--export-keys", sparing: files) }
            let loadWriter = try exportLoads.map {
                try ReportWriter(path: $0, flag: "--export-loads", sparing: files + [exportKeys].compactMap { $0 })
            }
            let writer = try ReportWriter(
                path: output.file.output,
                sparing: files + [exportKeys, exportLoads].compactMap { $0 }
            )
            let baseline = try checks.readBaseline(against: emptyReport)
            let inputs = try namedInputs(traces, options)
            let source = try sourced.open(
                tileSize: replay.tileSize,
                format: replay.pixels.pixelFormat,
                encoded: replay.compressedTier.isOn
            )
            Interruption.watch()
            if let keyWriter { try export(inputs, options, keyWriter) }
            let stores = try stores.open()
            defer { for store in stores { store.close() } }
            let progress = Progress(total: inputs.count)
            let loads = Lock<[TileCoordinate]>([])
            do {
                defer { progress.end() }
                let result = try Replay(options, source: source, stores: stores).run(
                    inputs.map(\.open),
                    hooks: hooks(progress) { tile in loads.withLock { $0.append(tile) } },
                    progress: { progress.finished($0) }
                )
                progress.end()
                // One tile to a line.
                try loadWriter?.write(loads.withLock { $0.map { "\($0)\n" } }.joined())
                let isTerminal = writer.style == .ansi
                let table = ReplayText.text(result, style: writer.style, endsWithVerdict: isTerminal)
                try writer.write(result, as: output.format, table: table) { try ReplayPage.text(result) }
                if result.wasStopped {
                    let done = "\(result.traces.count) of \(inputs.count) \(inputs.count == 1 ? "trace" : "traces")"
                    throw Interruption.end("these are the figures so far, \(done) begun")
                }
                try checks.check(JSONTree(encoding: result), baseline: baseline)
                if let blank = BlankWarning.text(result) {
                    writeToStandardError("cachebench: \(blank)\n")
                    throw ExitCode(1)
                }
            } catch let failure as TraceFailure {
                // A trace's errors contain the file and the line already.
                if failure.error is PanTraceError { throw failure.error }
                throw Failure("\(inputs[failure.index].name): \(failure.error)")
            }
        }
    }

    private func hooks(_ progress: Progress, _ noteLoad: @escaping @Sendable (TileCoordinate) -> Void) -> ReplayHooks {
        var hooks = ReplayHooks(
            keepsSeries: output.format == .html,
            shouldStop: { Interruption.hasCome },
            progress: { progress.reached($0, part: $1, seconds: $2) },
            noteLoad: exportLoads == nil ? nil : noteLoad
        )
        hooks.warn = { writeToStandardError("cachebench: \($0)\n") }
        return hooks
    }

    private func export(_ inputs: [NamedInput], _ options: ReplayOptions, _ writer: ReportWriter) throws {
        guard inputs.count == 1 else {
            throw Failure("--export-keys writes the keys of one trace, and there are \(inputs.count)")
        }
        try writer.write(blocks: { put in
            try KeyExport.run(inputs[0].open(), options: options) { keys in
                if Interruption.hasCome { throw Interruption.end("not all keys were written") }
                try put(keys)
            }
        })
    }
}

/// A trace's name for messages, and how to open it.
typealias NamedInput = (name: String, open: @Sendable () throws -> ReplayInput)

/// Refuses standard input and other pipes for what is read more than once.
func refusePipes(_ paths: [String], since reason: String) throws {
    if paths.contains("-") { throw ValidationError("\(reason): it takes files, not standard input") }
    if let pipe = paths.first(where: { ReportWriter.kind(of: $0) == S_IFIFO }) {
        throw ValidationError("\(reason): files are expected, and \(pipe) is a pipe")
    }
}

/// The traces that arguments name. Mentions what is left out.
func tracePaths(_ arguments: [String]) throws -> [String] {
    func note(_ path: String, _ reason: String) {
        writeToStandardError("cachebench: \(path.printable): left out, \(reason)\n")
    }
    return try PanTraceList.paths(
        arguments,
        unnamed: { note($0, "its name is not UTF-8") },
        other: { note($0, "it does not begin as a pan trace") }
    )
}

/// The traces of some paths, or the built-in session if there are none.
func namedInputs(_ paths: [String], _ options: ReplayOptions) throws -> [NamedInput] {
    guard !paths.isEmpty else { return [("built-in", { try ReplayInput(builtIn: options) })] }
    let paths = try tracePaths(paths)
    return zip(paths, ReplayInput.sources(ofPaths: paths)).map { path, source -> NamedInput in
        (path == "-" ? "standard input" : path, { try ReplayInput(path: path, source: source, options: options) })
    }
}
