import ArgumentParser
import CacheBenchKit
import PanTraces
import TileCache

/// The library's defaults, so that the two cannot differ.
private let usual = ReplayOptions()

/// The memory limit of commands that take a single one.
struct LimitArguments: ParsableArguments {
    @Option("Memory for everything: 64MiB, 1.5GB, 90tiles, 4screens.", .memoryLimit)
    var memoryLimit = usual.memoryLimit
}

/// Prefetching and eviction of commands that do not compare them.
struct PolicyArguments: ParsableArguments {
    @Option(help: "Policy that chooses the tiles to prefetch.")
    var prefetch = usual.prefetch

    @Option(help: "Order of eviction; belady is for the oracle.")
    var eviction = usual.eviction

    func apply(to options: inout ReplayOptions) {
        options.prefetch = prefetch
        options.eviction = eviction
    }
}

/// The clock of commands that run under either.
struct ClockArguments: ParsableArguments {
    @Option(
        name: .customLong("clock"),
        help: "virtual: discrete events; real: the cache on its workers. (default: virtual)"
    )
    var clockAsked: ReplayClock?

    @Option("Speed-up under the real clock; latencies are divided by it.", .rate)
    var speed = usual.speed

    /// The clock; the real one if it was not given and `needsReal` says so.
    func clock(needsReal: Bool) -> ReplayClock { clockAsked ?? (needsReal ? .real : usual.clock) }
}

/// The load latency of commands that replay.
protocol LatencyFlag: ParsableArguments {
    var loadLatency: LoadLatency { get }
}

/// Of commands that run under either clock.
struct ClockLatency: LatencyFlag {
    @Option(
        "Duration of a load: 40ms, 1.2s, at most 1h, 0, or none.",
        OptionValue("a time with its unit, at most 1h (40ms, 1.2s), 0 or none") { LoadLatency($0) },
        default: "40ms under the virtual clock; none under the real clock, which draws each tile of the built-in world",
        as: "duration|none"
    )
    var loadLatency = LoadLatency.unset
}

/// Of commands that run under the virtual clock alone, which draws nothing.
struct VirtualLatency: LatencyFlag {
    @Option(
        "Duration of a load: 40ms, 1.2s, at most 1h, or 0.",
        OptionValue("a time with its unit, at most 1h (40ms, 1.2s), or 0") { LoadLatency.time($0).map { .fixed($0) } },
        default: "40ms",
        as: "duration"
    )
    var loadLatency = LoadLatency.unset
}

/// The flags of all commands that replay.
struct ReplayArguments<Latency: LatencyFlag>: ParsableArguments {
    // MARK: The cache

    @Option(help: "Whether cold tiles are kept compressed.")
    var compressedTier = Switch(usual.compressedTier)

    @Option(
        "Fraction of the limit, 0 to 1, for compressed tiles if decoded ones need memory too; or adaptive, which follows the traffic.",
        OptionValue("a number from 0 to 1, or from 0% to 100%, or adaptive") { Share($0) }
    )
    var compressedShare = Share.adaptive

    @Option("Compression ratio of tiles under the virtual clock, 1 to 1000.", .number(1...1000))
    var compressionRatio = usual.compressionRatio

    @Option("Prefetch effort, 0 (needed tiles only) to 1 (all tiles that may be of use).", .share)
    var effort = usual.effort

    @OptionGroup var allowance: AllowanceArguments

    @Option(
        "Effects of the policy 'tilecache' to switch off, separated by commas: \(effectNames).",
        OptionValue { PolicyEffects(try effects.parse($0)) },
        default: "",
        as: "effects"
    )
    var without: PolicyEffects = []

    @Option(
        "Profile of earlier sessions, made by 'cachebench learn', for the policy 'tilecache'.",
        .text,
        default: "none",
        as: "file"
    )
    var profile: String?

    @Option("Concurrent loads, 1 to 255.", .whole(1...255))
    var workers = usual.workers

    @Option(
        """
        Loads in flight of an asynchronous source under the virtual clock, which occupy no worker: 1 to 255, auto, or \
        auto:LEAST-MOST.
        """,
        OptionValue("auto, auto:4-64, or 1 to 255") { LoadsInFlight($0) },
        default: "none: the source blocks, and each load occupies a worker"
    )
    var inFlight: LoadsInFlight?

    // MARK: Time

    @OptionGroup var latency: Latency

    @Option(
        """
        Duration of each load: constant (--load-latency), longtail or longtail:SIGMA (log-normal with that median, by \
        seed and tile), bandwidth:10MB (that latency, then decoded bytes a second that all loads share), or \
        file:PATH (lines of level,column,row,milliseconds; that latency for other tiles).
        """,
        OptionValue("constant, longtail, longtail:0.5, bandwidth:10MB or file:PATH") { LoadTimes($0) }
    )
    var loadTimes = usual.loadTimes

    @Option(
        """
        Time of the codec under the virtual clock: none, measured (on this machine, now), or decoded bytes a second \
        of one core, compress=900MB,decompress=2.5GB.
        """,
        OptionValue("none, measured, or compress=900MB,decompress=2.5GB") { CodecCharge($0) }
    )
    var cost = usual.cost

    @Option("Frames a second, 0.001 to 1000.", .rate)
    var frameRate = usual.frameRate

    @Option("Replay only the beginning of each trace: 180s, 3min.", .time("(180s, 3min)"))
    var duration: Int64?

    @Option("Seed of all that is random, such as the built-in session.", .seed)
    var seed = usual.seed

    // MARK: The world and the view

    @Option("Pixels a side of a tile.", .tileSide, default: "the trace's, or 256")
    var tileSize: Int?

    @OptionGroup var pixels: PixelArguments

    @Option("The view in screen pixels.", .viewport, default: "the trace's", as: "WxH")
    var viewport: PanTraceHeader.Size?

    @Option("The world in world pixels.", .world, default: "the trace's", as: "WxH")
    var world: PanTraceHeader.Size?

    @Flag(inversion: .prefixedNo, help: "Whether the world wraps. (default: the trace's)")
    var wrapX: Bool?

    // MARK: Levels

    @Option("Octaves that the scale may pass a level's bound before the level changes, 0 to 1.", .number(0...1))
    var hysteresis = usual.hysteresis

    @Option("Octaves coarser than 1:1 that are good enough, -8 to 8.", .number(-8...8))
    var levelBias = usual.levelBias

    /// Combines the flags to options, for a clock.
    func options(clock: ReplayClock = usual.clock) -> ReplayOptions {
        var options = ReplayOptions()
        options.compressedTier = compressedTier.isOn
        options.compressedShare = compressedShare.value
        options.compressionRatio = compressionRatio
        options.effort = effort
        options.allowance = allowance.allowance
        options.without = without
        options.profile = profile.map { .file($0) }
        options.workers = workers
        options.loadsInFlight = inFlight
        switch latency.loadLatency {
        case .unset: options.loadLatency = clock == .virtual ? usual.loadLatency : nil
        case .drawn: options.loadLatency = nil
        case .fixed(let nanoseconds): options.loadLatency = nanoseconds
        }
        options.loadTimes = loadTimes
        options.cost = cost
        options.clock = clock
        options.frameRate = frameRate
        options.duration = duration
        options.seed = seed
        options.pixelFormat = pixels.pixelFormat
        options.overrides = PanTraceOverrides(viewport: viewport, world: world, wrapsX: wrapX, tileSize: tileSize)
        options.hysteresis = hysteresis
        options.levelBias = levelBias
        return options
    }

    /// Files that a command reads beside its traces.
    var files: [String] {
        var files = [profile].compactMap { $0 }
        if case .file(let path) = loadTimes { files.append(path) }
        return files
    }

    /// - Parameter policies: All policies that are replayed. Default: that of the options.
    func validate(_ options: ReplayOptions, policies: [PrefetchKind]? = nil) throws {
        try refusePipes(files, since: "--profile and --load-times are read more than once")
        let replayed = policies ?? [options.prefetch]
        if !replayed.contains(.tilecache) {
            let flag = profile != nil ? "--profile" : without.isEmpty ? nil : "--without"
            if let flag { throw ValidationError("\(flag) is for the policy 'tilecache', which is not replayed") }
        }
        if !replayed.contains(where: \.takesEffort) {
            if effort != usual.effort { throw ValidationError(effortless: "--effort") }
        }
        if let flag = allowance.flag, !replayed.contains(where: { $0 != .none }) {
            throw ValidationError("\(flag) is for policies that prefetch, and no such policy is replayed")
        }
        if !compressedTier.isOn {
            let flags = [
                ("--compressed-share", compressedShare != .adaptive), ("--cost", cost != usual.cost),
                ("--compression-ratio", compressionRatio != usual.compressionRatio),
            ]
            if let flag = flags.first(where: \.1)?.0 {
                throw ValidationError("\(flag) is for the tier that --compressed-tier off leaves out")
            }
        }
        if latency.loadLatency == .drawn, options.clock == .virtual {
            throw ValidationError("--load-latency none needs --clock real: the virtual clock draws nothing")
        }
        do { try Replay.check(options) } catch { throw ValidationError(error.description) }
    }

    /// Reads the files of flags before a long run, which reads them again. Other policies may be replayed before the one
    /// that reads the profile.
    func checkFiles() throws {
        let options = options()
        _ = try options.profile?.resolved()
        try options.loadTimes.check()
    }
}

extension ValidationError {
    /// An error for a flag of the effort if no policy has one.
    init(effortless flag: String) {
        self.init("\(flag) is for policies with an effort, and no such policy is replayed")
    }
}

/// Load latency as requested.
enum LoadLatency: Hashable, Sendable {
    case unset
    case drawn
    case fixed(Int64)

    init?(_ text: String) {
        guard text != "none" else {
            self = .drawn
            return
        }
        guard let nanoseconds = Self.time(text) else { return nil }
        self = .fixed(nanoseconds)
    }

    /// Parses a time that the cache takes as its expected load latency.
    static func time(_ text: String) -> Int64? {
        QuantityText.duration(text).flatMap { $0 <= 3_600_000_000_000 ? $0 : nil }
    }
}

/// Division of the limit between the tiers.
struct Share: Hashable, Sendable, CustomStringConvertible {
    static let adaptive = Share(value: nil)

    /// The compressed tier's fraction; `nil` if it adapts.
    var value: Double?

    init?(_ text: String) {
        guard text != "adaptive" else {
            self = .adaptive
            return
        }
        guard let share = CacheBench.share(text) else { return nil }
        value = share
    }

    private init(value: Double?) { self.value = value }

    var description: String { value?.description ?? "adaptive" }
}

private let effectNames = PolicyEffects.named.map(\.name).joined(separator: ", ")
private let effects = OptionValue.list("effects separated by commas (\(effectNames))") { PolicyEffects(name: $0) }

/// `on` or `off`.
enum Switch: String, CaseIterable, ExpressibleByArgument {
    case on, off

    init(_ isOn: Bool) { self = isOn ? .on : .off }

    var isOn: Bool { self == .on }
}

extension PrefetchKind: ExpressibleByArgument {}
extension EvictionKind: ExpressibleByArgument {}
extension ReplayClock: ExpressibleByArgument {}
