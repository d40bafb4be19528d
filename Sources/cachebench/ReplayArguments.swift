import ArgumentParser
import CacheBenchKit
import PanTraces
import TileCache

/// The library's defaults, so that the two cannot differ.
private let usual = ReplayOptions()

/// The memory limit of commands that take a single one.
struct LimitArguments: ParsableArguments {
    @Option(
        help: "Memory for everything: 64MiB, 1.5GB, 90tiles, 4screens. (default: \(usual.memoryLimit))",
        transform: memoryLimitValue
    )
    var memoryLimit = usual.memoryLimit
}

/// Prefetching and eviction of commands that do not compare them.
struct PolicyArguments: ParsableArguments {
    @Option(help: "Policy that chooses the tiles to prefetch.")
    var prefetch = usual.prefetch

    @Option(help: "Order of eviction; belady is for the oracle.")
    var eviction = usual.eviction
}

/// The clock of commands that run under either.
struct ClockArguments: ParsableArguments {
    @Option(
        name: .customLong("clock"),
        help: "virtual: discrete events; real: the cache on its workers. (default: virtual)"
    )
    var clockAsked: ReplayClock?

    @Option(
        help:
            "Speed-up under the real clock; latencies are divided by it.\(standard(usual.speed))",
        transform: rate
    )
    var speed = usual.speed

    var clock: ReplayClock { clockAsked ?? usual.clock }
}

/// The flags of all commands that replay.
struct ReplayArguments: ParsableArguments {
    // MARK: The cache

    @Option(help: "Whether cold tiles are kept compressed.")
    var compressedTier = Switch(usual.compressedTier)

    @Option(
        help: ArgumentHelp(
            "Fraction of the limit, 0 to 1, for compressed tiles if decoded ones need memory too; or adaptive, which follows the traffic. (default: adaptive)",
            valueName: "compressed-share"
        ),
        transform: { text in
            text == "adaptive"
                ? .adaptive : .fixed(try parsed(number(text, 0...1), "a number from 0 to 1, or adaptive"))
        }
    )
    var compressedShare = Share.adaptive

    @Option(
        help: "Compression ratio of tiles under the virtual clock, 1 to 1000.\(standard(usual.compressionRatio))",
        transform: { try parsed(number($0, 1...1000), "a number from 1 to 1000") }
    )
    var compressionRatio = usual.compressionRatio

    @Option(
        help:
            "Prefetch effort, 0 (needed tiles only) to 1 (all tiles that may be of use).\(standard(usual.effort))",
        transform: shareValue
    )
    var effort = usual.effort

    @OptionGroup var allowance: AllowanceArguments

    @Option(
        help: ArgumentHelp(
            """
            Effects of the policy 'tilecache' to switch off, separated by commas: \
            \(PolicyEffects.named.map(\.name).joined(separator: ", ")).
            """,
            valueName: "effects"
        ),
        transform: { text in
            let names = PolicyEffects.named.map(\.name).joined(separator: ", ")
            return PolicyEffects(
                try list(text, "effects separated by commas (\(names))") { PolicyEffects(name: $0) }
            )
        }
    )
    var without: PolicyEffects = []

    @Option(
        help: ArgumentHelp(
            "Profile of earlier sessions, made by 'cachebench learn', for the policy 'tilecache'. (default: none)",
            valueName: "file"
        )
    )
    var profile: String?

    @Option(
        help: "Concurrent loads, 1 to 255.\(standard(usual.workers))",
        transform: { try parsed(whole($0, 1...255), "a whole number from 1 to 255") }
    )
    var workers = usual.workers

    @Option(
        help: "Workers reserved for needed tiles, 0 to one less than there are.\(standard(usual.reservedWorkers))",
        transform: { try parsed(whole($0, 0...254), "a whole number from 0 to 254") }
    )
    var reservedWorkers = usual.reservedWorkers

    // MARK: Time

    @Option(
        help: ArgumentHelp(
            """
            Duration of a load: 40ms, 1.2s, 0, or none. (default: 40ms under the virtual clock; none under the real \
            clock, where the built-in source draws each tile)
            """,
            valueName: "duration|none"
        ),
        transform: { text in
            if text == "none" { return .drawn }
            return .fixed(try parsed(QuantityText.duration(text), "a time with its unit (40ms, 1.2s), 0 or none"))
        }
    )
    var loadLatency = LoadLatency.unset

    @Option(
        help: ArgumentHelp(
            """
            Duration of each load: constant (--load-latency), longtail or longtail:SIGMA (log-normal with that median, by \
            seed and tile), bandwidth:10MB (that latency, then decoded bytes a second that all loads share), or \
            file:PATH (lines of level,column,row,milliseconds; that latency for other tiles). (default: \(usual.loadTimes))
            """,
            valueName: "load-times"
        ),
        transform: { text in
            try parsed(LoadTimes(text), "constant, longtail, longtail:0.5, bandwidth:10MB or file:PATH")
        }
    )
    var loadTimes = usual.loadTimes

    @Option(
        help: ArgumentHelp(
            """
            Time of the codec under the virtual clock: none, measured (on this machine, now), or decoded bytes a second \
            of one core, compress=900MB,decompress=2.5GB. (default: \(usual.cost))
            """,
            valueName: "cost"
        ),
        transform: { text in
            try parsed(CodecCharge(text), "none, measured, or compress=900MB,decompress=2.5GB")
        }
    )
    var cost = usual.cost

    @Option(
        help: "Frames a second, 0.001 to 1000.\(standard(usual.frameRate))",
        transform: rate
    )
    var frameRate = usual.frameRate

    @Option(
        help: ArgumentHelp("Replay only the beginning of each trace: 180s, 3min.", valueName: "duration"),
        transform: { try parsed(QuantityText.duration($0), "a time with its unit (180s, 3min)") }
    )
    var duration: Int64?

    @Option(
        help: "Seed of all that is random, such as the built-in session.\(standard(usual.seed))",
        transform: seedNumber
    )
    var seed = usual.seed

    // MARK: The world and the view

    @OptionGroup var scene: SceneArguments

    @Flag(inversion: .prefixedNo, help: "Whether the world wraps. (default: the trace's)")
    var wrapX: Bool?

    // MARK: Levels

    @Option(
        help: "Octaves that the scale may pass a level's bound before the level changes.\(standard(usual.hysteresis))",
        transform: { try parsed(number($0, 0...16), "a number from 0 to 16") }
    )
    var hysteresis = usual.hysteresis

    @Option(
        help: "Octaves coarser than 1:1 that are good enough.\(standard(usual.levelBias))",
        transform: { try parsed(number($0, -8...8), "a number from -8 to 8") }
    )
    var levelBias = usual.levelBias

    /// Combines the flags to options, for a clock.
    func options(clock: ReplayClock = usual.clock) -> ReplayOptions {
        var options = ReplayOptions()
        options.compressedTier = compressedTier.isOn
        if case .fixed(let share) = compressedShare { options.compressedShare = share }
        options.compressionRatio = compressionRatio
        options.effort = effort
        options.allowance = allowance.allowance
        options.without = without
        options.profile = profile.map { .file($0) }
        options.workers = workers
        options.reservedWorkers = reservedWorkers
        switch loadLatency {
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
        options.pixelFormat = scene.pixelFormat
        options.overrides = PanTraceOverrides(
            viewport: scene.viewport,
            world: scene.world,
            wrapsX: wrapX,
            tileSize: scene.tileSize
        )
        options.hysteresis = hysteresis
        options.levelBias = levelBias
        return options
    }

    func validate(_ options: ReplayOptions) throws {
        if loadLatency == .drawn, options.clock == .virtual {
            throw ValidationError("--load-latency none needs --clock real: the virtual clock draws nothing")
        }
        do {
            _ = try Replay(options)
        } catch {
            throw ValidationError(error.description)
        }
    }
}

/// Load latency as requested.
enum LoadLatency: Hashable, Sendable {
    case unset
    case drawn
    case fixed(Int64)
}

/// Division of the limit between the tiers.
enum Share: Hashable, Sendable {
    case adaptive
    case fixed(Double)
}

/// `on` or `off`.
enum Switch: String, CaseIterable, ExpressibleByArgument {
    case on, off

    init(_ isOn: Bool) { self = isOn ? .on : .off }

    var isOn: Bool { self == .on }
}

extension PrefetchKind: ExpressibleByArgument {}
extension EvictionKind: ExpressibleByArgument {}
extension ReplayClock: ExpressibleByArgument {}

/// Unwraps a flag's parsed value, or throws what was expected.
func parsed<Value>(_ value: Value?, _ expected: String) throws -> Value {
    guard let value else { throw ValidationError("Expected \(expected).") }
    return value
}

@Sendable func shareValue(_ text: String) throws -> Double { try parsed(number(text, 0...1), "a number from 0 to 1") }

@Sendable func memoryLimitValue(_ text: String) throws -> MemoryLimit {
    try parsed(MemoryLimit(text), "bytes with a unit (64MiB, 1.5GB), whole tiles (90tiles) or screens (4screens)")
}

@Sendable func viewportSize(_ text: String) throws -> PanTraceHeader.Size {
    try parsed(.init(viewport: text), "WIDTHxHEIGHT in screen pixels, larger than 0, at most a million")
}

@Sendable func worldSize(_ text: String) throws -> PanTraceHeader.Size {
    try parsed(.init(world: text), "WIDTHxHEIGHT in world pixels, whole numbers from 1 to 2^40")
}

@Sendable func tileSide(_ text: String) throws -> Int {
    try parsed(whole(text, 1...65_536), "a whole number from 1 to 65536")
}

@Sendable func pixelLayout(_ text: String) throws -> TilePixelFormat {
    try parsed(TilePixelFormat(name: text), "rgba8, bgra8, gray8, gray16, rgba16 or float32")
}

@Sendable func seedNumber(_ text: String) throws -> UInt64 {
    try parsed(UInt64(text), "a whole number from 0 to 18446744073709551615")
}

@Sendable func rate(_ text: String) throws -> Double {
    try parsed(number(text, 0.001...1000), "a number from 0.001 to 1000")
}

func number(_ text: String, _ range: ClosedRange<Double>) -> Double? {
    Double(text).flatMap { range.contains($0) ? $0 : nil }
}

func whole(_ text: String, _ range: ClosedRange<Int>) -> Int? {
    Int(text).flatMap { range.contains($0) ? $0 : nil }
}

/// A default for the help text. The parser does not show it for values parsed by a function.
func standard(_ value: some CustomStringConvertible) -> String {
    let text = value.description
    return " (default: \(text.hasSuffix(".0") ? String(text.dropLast(2)) : text))"
}
