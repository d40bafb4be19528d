import ArgumentParser
import CacheBenchKit
import PanTraces
import TileCache

/// `cachebench zoomout`: memory of zooming out with one bitmap, full-resolution tiles and the cache.
struct ZoomoutCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "zoomout",
        abstract: "Pinch out and back in over the built-in world, and compare the memory with one scaled bitmap.",
        discussion: """
            Each factor is a session with a new cache: pinches of half a second that double the visible area's sides. \
            Under the virtual clock the results are identical on every run and every machine. Under the real clock the \
            pinches run through the service in real time, and hits, sharp and blank depend on the machine's speed. The \
            memory limit includes tables and scratch memory.

            Checked at every step: the needed tiles against (ceil(2w/T)+1)(ceil(2h/T)+1), the memory against the limit, \
            and over eight factors or more that the peak stays within 1.1 of its median, which takes a limit that they \
            fill. Exit code 1 if a check fails.

            Examples:
              cachebench zoomout --viewport 320x460 --factors 16
              cachebench zoomout --viewport 3840x2160 --clock real --speed 2
              cachebench zoomout --full-resolution-only --factors 1..16
            """
    )

    @Option("Memory for everything: 64MiB, 1.5GB, 90tiles, 4screens.", .memoryLimit)
    var memoryLimit = usual.replay.memoryLimit

    @Option(
        "Zoom factors: 1..1024 (powers of two), or numbers separated by commas.",
        OptionValue("1..1024, or numbers from 1 to 1048576 (1,16,1024)") { ZoomoutOptions.factors($0) },
        default: "1..1024, or 1..16"
    )
    var factors: [Double]?

    @Flag(help: "The source has only the finest level; the cache makes the coarser ones from it.")
    var fullResolutionOnly = false

    @Flag(help: "Average pixels in linear light (sRGB) for the levels that the cache makes; under the real clock.")
    var gammaCorrect = false

    @Option("Concurrent loads, 1 to 255.", .whole(1...255))
    var workers = usual.replay.workers

    @Option(help: "Whether cold tiles are kept compressed.")
    var compressedTier = Switch(usual.replay.compressedTier)

    @Option(
        "Duration of a load: 40ms, 1.2s, 0.",
        .loadLatency,
        default: "40ms; under the real clock the built-in world draws each tile",
        as: "duration"
    )
    var loadLatency: Int64?

    @OptionGroup var clock: ClockArguments

    @Option("Seed of the built-in world, under the real clock.", .seed)
    var seed = usual.replay.seed

    @Option("Pixels a side of a tile.", .tileSide)
    var tileSize = usualSide

    @OptionGroup var pixels: PixelArguments

    @Option("The view in screen pixels.", .viewport, default: "1280x720", as: "WxH")
    var viewport = BuiltInSession.viewport

    @Option("The world in world pixels.", .world, default: "large enough for the farthest view", as: "WxH")
    var world: PanTraceHeader.Size?

    @OptionGroup var stores: StoreArguments
    @OptionGroup var output: PageArguments

    private var options: ZoomoutOptions {
        var options = ZoomoutOptions()
        options.replay.pixelFormat = pixels.pixelFormat
        options.replay.memoryLimit = memoryLimit
        options.factors = factors ?? ZoomoutOptions.powers(upTo: fullResolutionOnly ? 16 : 1024)
        options.isFullResolutionOnly = fullResolutionOnly
        options.downsampling = gammaCorrect ? .sRGB : .linear
        options.replay.overrides = PanTraceOverrides(viewport: viewport, world: world, tileSize: tileSize)
        options.replay.workers = workers
        options.replay.compressedTier = compressedTier.isOn
        options.replay.clock = clock.clock(needsReal: stores.isAny)
        options.replay.loadLatency = loadLatency ?? (options.replay.clock == .virtual ? usual.replay.loadLatency : nil)
        options.replay.speed = clock.speed
        options.replay.seed = seed
        stores.apply(to: &options.replay)
        return options
    }

    func validate() throws {
        try stores.validate(clock: clock.clockAsked)
        do {
            _ = try Zoomout(options)
        } catch {
            throw ValidationError("\(error)")
        }
    }

    func run() throws {
        try Failure.reported {
            let writer = try ReportWriter(path: output.file.output, sparing: self.stores.files)
            let progress = Progress()
            defer { progress.end() }
            Interruption.watch()
            let stores = try stores.open()
            defer { for store in stores { store.close() } }
            let report = try Zoomout(options, stores: stores).run(
                shouldStop: { Interruption.hasCome },
                progress: { progress.show("factor \($0) of \($1)") }
            )
            progress.end()
            try writer.write(report, as: output.format, table: ZoomoutText.text(report)) {
                try ZoomOutPage.text(report)
            }
            if report.interrupted {
                let done = "\(report.rows.count) of \(options.factors.count)"
                throw Interruption.end("\(done) factors were done")
            }
            if !report.checks.passed { throw ExitCode(1) }
        }
    }
}

/// The library's defaults, so that the two cannot differ.
private let usual = ZoomoutOptions()
private let usualSide = usual.replay.overrides.tileSize ?? 256
