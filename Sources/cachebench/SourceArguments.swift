import ArgumentParser
import CacheBenchKit
import TileCache
import TileSources

/// The flags that say where a replay's tiles come from.
struct SourceArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Load tiles from here, in real time: \(TileSourceAddress.forms). The world is the source's.
            """,
            valueName: "source"
        ),
        transform: { try parsed(TileSourceAddress($0), TileSourceAddress.forms) }
    )
    var source: TileSourceAddress?

    @Option(
        help: "The deepest zoom of an http: source; others know it themselves.\(standard(9))",
        transform: { try parsed(whole($0, 0...30), "a whole number from 0 to 30") }
    )
    var maximumZoom = 9

    @Flag(help: "Stretch traces of another world over the source's tiles; the built-in session always is.")
    var fit = false

    /// What the flags say together with those of the replay.
    func options(_ replay: ReplayArguments) -> ReplayOptions {
        var options = replay.options(clock: replay.clockAsked ?? (source == nil ? replay.clock : .real))
        options.fitsWorld = fit
        return options
    }

    /// Checks what no flag can check alone.
    func validate(with replay: ReplayArguments) throws {
        guard source != nil else {
            if fit { throw ValidationError("--fit stretches traces over the world of a --source") }
            return
        }
        if replay.clockAsked == .virtual {
            throw ValidationError("--source needs --clock real: under the virtual clock nothing is loaded")
        }
        if case .fixed = replay.loadLatency {
            throw ValidationError("--load-latency is for the built-in world: a --source takes its own time")
        }
        do {
            _ = try Replay(options(replay))
        } catch {
            throw ValidationError(error.description)
        }
    }

    /// Opens the source; `nil` for the built-in world.
    func open(_ replay: ReplayArguments) throws -> ReplaySource? {
        guard let source else { return nil }
        let opened = try source.open(
            SourceOptions(
                format: replay.scene.pixelFormat,
                keepsEncoded: replay.compressedTier.isOn,
                tileSize: replay.scene.tileSize
            ),
            http: HTTPOptions(zooms: 0...maximumZoom)
        )
        return ReplaySource(
            address: source.description,
            maximumZoom: opened is HTTPTileSource ? maximumZoom : nil,
            pyramid: opened.pyramid,
            contents: opened.contents,
            addLayer: { try opened.addLayer(to: $0, pyramid: $1) },
            counts: { ReplaySourceCounts(opened.statistics) }
        )
    }
}

extension ReplaySourceCounts {
    /// The source's own counts, in the words of the report.
    init(_ statistics: SourceStatistics) {
        self.init()
        loads = statistics.loads
        absent = statistics.absent
        failures = Dictionary(uniqueKeysWithValues: statistics.failures.map { ($0.key.rawValue, $0.value) })
        lastFailure = statistics.lastFailure
        attempts = statistics.attempts
        retries = statistics.retries
        notModified = statistics.notModified
        cancelled = statistics.cancelled
    }
}
