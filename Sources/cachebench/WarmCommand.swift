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

            Exit code 1 if a tile could not be loaded.

            Examples:
              cachebench warm --source mbtiles:map.mbtiles --disk tiles/ --disk-limit 2GiB
              cachebench warm --source https://tiles.example/{z}/{x}/{y}.png --disk tiles/ \\
                --levels 0..6 --region 0,0,4096,4096 --rate 10
            """
    )

    @OptionGroup var sourced: SourceArguments
    @OptionGroup var stores: StoreArguments

    @Option(
        help: ArgumentHelp("Levels, 0 the coarsest: 3 or 0..5. (default: all)", valueName: "levels"),
        transform: { try parsed(levelRange($0), "a level or a range of levels (3, 0..5)") }
    )
    var levels: ClosedRange<Int>?

    @Option(
        help: ArgumentHelp(
            "Part of the world, in world pixels: LEFT,TOP,WIDTH,HEIGHT. (default: all)",
            valueName: "region"
        ),
        transform: { try parsed(worldRegion($0), "LEFT,TOP,WIDTH,HEIGHT in world pixels") }
    )
    var region: PixelRect?

    @Option(
        help: "Maximum number of tiles a second to request from the source. (default: no maximum)",
        transform: { try parsed(number($0, 0.001...1e6), "a number from 0.001 to 1000000") }
    )
    var rate: Double?

    @Option(
        help: "Concurrent loads, 1 to 255. (default: 4)",
        transform: { try parsed(whole($0, 1...255), "a whole number from 1 to 255") }
    )
    var workers = 4

    @OptionGroup var replay: WarmPixels
    @OptionGroup var output: OutputArguments

    func validate() throws {
        guard sourced.source != nil else { throw ValidationError("--source says which tiles to store") }
        guard stores.isAny else { throw ValidationError("--disk or --shared says where to store them") }
        if sourced.fit { throw ValidationError("--fit stretches traces, and there are none") }
        try sourced.validate(clock: .real, latency: .unset)
        try stores.validate(clock: .real)
    }

    func run() throws {
        try Failure.reported {
            let writer = try ReportWriter(path: output.output)
            Interruption.watch()
            guard let source = try sourced.open(tileSize: replay.tileSize, format: replay.pixelFormat, encoded: true)
            else { return }
            let stores = try stores.open()
            defer { for store in stores { store.close() } }
            let pyramid = source.pyramid
            let tileBytes = pyramid.levels.map {
                replay.pixelFormat.byteCount(width: $0.pixelWidth, height: $0.pixelHeight) ?? 0
            }
            let limit = ByteCount.bytes(Warm.byteLimit(tileBytes: tileBytes.max() ?? 0)) + stores.memorySize
            let cache = try TileCache(byteLimit: limit, workers: workers)
            var options = WarmOptions()
            (options.levels, options.region, options.rate) = (levels, region, rate)
            let layer = try source.addLayer(cache, pyramid, stores)
            let warm = try Warm(options, cache: cache, layer: layer, pyramid: pyramid)
            let progress = Progress()
            let report = warm.run(
                shouldStop: { Interruption.hasCome },
                progress: { progress.done($0, of: $1, "tiles") }
            )
            cache.shutdown()
            progress.end()
            switch output.format {
            case .table: try writer.write(report.text)
            case .json: try writer.write(JSONText.of(report))
            }
            if report.wasStopped { throw Interruption.end("the same command continues") }
            if report.failed > 0 { throw ExitCode(1) }
        }
    }
}

/// Pixels of the tiles to store.
struct WarmPixels: ParsableArguments {
    @Option(help: "Pixels a side of a tile. (default: the source's)", transform: tileSide)
    var tileSize: Int?

    @Option(help: TilePixelFormat.help, transform: pixelLayout)
    var pixelFormat = TilePixelFormat.rgba8
}

/// Parses `3` or `0..5`.
private func levelRange(_ text: String) -> ClosedRange<Int>? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard let first = parts.first.flatMap({ whole(String($0), 0...255) }) else { return nil }
    if parts.count == 1 { return first...first }
    guard parts.count == 3, parts[1].isEmpty, let last = whole(String(parts[2]), 0...255), first <= last else {
        return nil
    }
    return first...last
}

/// Parses `LEFT,TOP,WIDTH,HEIGHT`.
private func worldRegion(_ text: String) -> PixelRect? {
    let numbers = text.split(separator: ",", omittingEmptySubsequences: false).compactMap {
        number(String($0), -1e15...1e15)
    }
    guard numbers.count == 4, numbers[2] > 0, numbers[3] > 0 else { return nil }
    return PixelRect(minX: numbers[0], minY: numbers[1], maxX: numbers[0] + numbers[2], maxY: numbers[1] + numbers[3])
}
