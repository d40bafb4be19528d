import ArgumentParser
import CacheBenchKit
import PanTraces
import TileCache
import TileSources

/// `cachebench warm`: fills stores with the tiles of a region.
struct WarmCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "warm",
        abstract: "Fill a store with the tiles of a region, coarse levels first.",
        discussion: """
            Tiles in the store are not loaded again: after Ctrl-C or a failure the same command continues. Observe the \
            server's rules: many forbid bulk loading.

            Exit code 1 if a tile could not be loaded or stored.

            Examples:
              cachebench warm --source mbtiles:map.mbtiles --disk tiles/ --disk-limit 2GiB
              cachebench warm --source https://tiles.example/{z}/{x}/{y}.png \\
                --disk tiles/ --levels 0..6 --region 0,0,4096,4096 --rate 10
            """
    )

    @OptionGroup var sourced: SourceArguments
    @OptionGroup var stores: StoreArguments

    @Option(
        "Levels, 0 the coarsest: 3 or 0..5.",
        OptionValue("a level or a range of levels (3, 0..5)") { levelRange($0) },
        default: "all"
    )
    var levels: ClosedRange<Int>?

    @Option(
        "Part of the world, in world pixels: LEFT,TOP,WIDTH,HEIGHT.",
        OptionValue("LEFT,TOP,WIDTH,HEIGHT in world pixels") { worldRegion($0) },
        default: "all"
    )
    var region: PixelRect?

    @Option("Maximum number of tiles a second to request from the source.", .number(0.001...1e6), default: "no maximum")
    var rate: Double?

    @Option("Concurrent loads, 1 to 255.", .whole(1...255))
    var workers = 4

    @Option("Pixels a side of a tile.", .tileSide, default: "the source's")
    var tileSize: Int?

    @OptionGroup var pixels: PixelArguments
    @OptionGroup var output: OutputArguments

    func validate() throws {
        guard sourced.source != nil else { throw ValidationError("--source says which tiles to store") }
        guard stores.isAny else { throw ValidationError("--disk or --shared says where to store them") }
        try sourced.validate(clock: .real, latency: .unset)
        try stores.validate(clock: .real)
    }

    func run() throws {
        try Failure.reported {
            let writer = try ReportWriter(path: output.file.output, sparing: sourced.files + self.stores.files)
            guard let source = try sourced.open(tileSize: tileSize, format: pixels.pixelFormat, encoded: true)
            else { return }
            let known = source.warning()
            Interruption.watch()
            let pyramid = source.pyramid
            let tileBytes =
                pyramid.levels.map {
                    pixels.pixelFormat.byteCount(width: $0.pixelWidth, height: $0.pixelHeight) ?? 0
                }
                .max() ?? 0
            let buffer = ByteCount.bytes(Warm.bufferBytes(tileBytes: tileBytes))
            let stores = try stores.open(writeBuffer: buffer)
            defer { for store in stores { store.close() } }
            let limit = ByteCount.bytes(Warm.byteLimit(tileBytes: tileBytes)) + stores.memorySize + buffer
            var configuration = TileCache.Configuration(byteLimit: limit, workers: workers)
            configuration.limitsStores = false
            let cache = try TileCache(configuration)
            var options = WarmOptions()
            (options.levels, options.region, options.rate) = (levels, region, rate)
            let layer = try source.addLayer(cache, pyramid, stores)
            let warm = try Warm(options, cache: cache, layer: layer, pyramid: pyramid)
            let progress = Progress()
            var report = warm.run(
                shouldStop: { Interruption.hasCome },
                flush: { stores.flush() },
                progress: { progress.done($0, of: $1, "tiles") }
            )
            cache.shutdown()
            for store in stores { store.close() }
            warm.note(stores, in: &report)
            if report.failed > 0 { report.lastFailure = source.counts().lastFailure }
            if report.unstored > 0 { report.lastStoreFailure = stores.lastFailure }
            progress.end()
            try writer.write(report, as: output.format, table: report.text)
            if let warning = source.warning(), warning != known { writeToStandardError("cachebench: \(warning)\n") }
            if report.wasStopped { throw Interruption.end("the same command continues") }
            if report.failed + report.unstored > 0 { throw ExitCode(1) }
        }
    }
}

/// Parses `3` or `0..5`.
private func levelRange(_ text: String) -> ClosedRange<Int>? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard let first: Int = parts.first.flatMap({ ranged(String($0), 0...255) }) else { return nil }
    if parts.count == 1 { return first...first }
    guard parts.count == 3, parts[1].isEmpty, let last = ranged(String(parts[2]), 0...255), first <= last else {
        return nil
    }
    return first...last
}

/// Parses `LEFT,TOP,WIDTH,HEIGHT`.
private func worldRegion(_ text: String) -> PixelRect? {
    let numbers = text.split(separator: ",", omittingEmptySubsequences: false).compactMap {
        ranged(String($0), -1e15...1e15)
    }
    guard numbers.count == 4, numbers[2] > 0, numbers[3] > 0 else { return nil }
    return PixelRect(minX: numbers[0], minY: numbers[1], maxX: numbers[0] + numbers[2], maxY: numbers[1] + numbers[3])
}
