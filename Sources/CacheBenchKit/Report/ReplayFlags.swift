import PanTraces
import TileCache

/// Options of a report in the form of flags that reproduce it.
enum ReplayFlags {
    /// A word for each flag and its value, in the order of the program's help.
    static func words(_ configuration: [String: ConfigurationValue]) -> [String] {
        var words: [String] = []
        func add(_ flag: String, _ key: String, unit: String = "") {
            guard let value = configuration[key]?.flagText else { return }
            words.append("--\(flag) \(value)\(unit)")
        }
        add("target-hit-rate", "targetHitRate")
        add("target-blank", "targetBlank")
        for list in ["budgets", "policies", "efforts", "factors"] { add(list, list) }
        add("workers-list", "workersList")
        add("tile-sizes", "tileSizes")
        add("compressed-shares", "compressedShares")
        add("lru-sizes", "lruSizes")
        add("equal-loads", "equalLoads")
        if configuration["fullResolutionOnly"] == .flag(true) { words.append("--full-resolution-only") }
        if configuration["downsampling"] == .text("sRGB") { words.append("--gamma-correct") }
        add("memory-limit", "memoryLimit")
        if case .flag(let isOn)? = configuration["compressedTier"] {
            words.append("--compressed-tier \(isOn ? "on" : "off")")
            if isOn {
                add("compressed-share", "compressedShare")
                if configuration["clock"] == .text("virtual") { add("compression-ratio", "compressionRatio") }
            }
        }
        add("prefetch", "prefetch")
        add("eviction", "eviction")
        add("effort", "effort")
        if configuration["without"] != .text("") { add("without", "without") }
        add("workers", "workers")
        add("reserved-workers", "reservedWorkers")
        add("load-latency", "loadLatencyMilliseconds", unit: "ms")
        if configuration["loadTimes"] != .text("constant") { add("load-times", "loadTimes") }
        if configuration["cost"] != .text("none") { add("cost", "cost") }
        add("source", "source")
        add("maximum-zoom", "maximumZoom")
        add("image-memory-limit", "imageMemoryLimit", unit: "B")
        if configuration["fit"] == .flag(true) { words.append("--fit") }
        // `compare` has no other clock.
        if configuration["budgets"] == nil { add("clock", "clock") }
        if configuration["clock"] != .text("virtual") { add("speed", "speed") }
        add("frame-rate", "frameRate")
        add("tile-size", "tileSize")
        add("pixel-format", "pixelFormat")
        add("viewport", "viewport")
        // A source determines its world; the trace's world is stretched over it.
        let hasSource = configuration["source"]?.flagText != nil
        add("world", hasSource ? "recordedWorld" : "world")
        if case .flag(let wraps)? = configuration["wrapsX"] { words.append(wraps ? "--wrap-x" : "--no-wrap-x") }
        add("duration", "durationSeconds", unit: "s")
        add("seed", "seed")
        add("hysteresis", "hysteresis")
        add("level-bias", "levelBias")
        return words
    }

    /// Flags that differ from the defaults, on one line, to use a suggested limit.
    static func pasted(_ options: ReplayOptions, byteLimit: Int) -> String {
        var options = options
        options.memoryLimit = .bytes(byteLimit)
        var configuration = options.resolvedConfiguration(scene: nil, byteLimit: byteLimit)
        add(options.overrides, to: &configuration)
        let usual = Set(words(ReplayOptions().resolvedConfiguration(scene: nil, byteLimit: nil)))
        return words(configuration).filter { $0.hasPrefix("--memory-limit ") || !usual.contains($0) }
            .joined(separator: " ")
    }

    /// Adds flags of the scene to a configuration without a trace's.
    static func add(_ overrides: PanTraceOverrides, to configuration: inout [String: ConfigurationValue]) {
        configuration["tileSize"] = overrides.tileSize.map { .integer($0) } ?? ConfigurationValue.none
        configuration["viewport"] = overrides.viewport.map { .text("\($0.width)x\($0.height)") }
        configuration["world"] = overrides.world.map { .text("\(Int($0.width))x\(Int($0.height))") }
        configuration["wrapsX"] = overrides.wrapsX.map { .flag($0) }
    }

    /// Versions that the figures depend on besides the flags.
    static func versions(_ configuration: [String: ConfigurationValue]) -> String {
        let program = configuration["program"]?.flagText ?? "?"
        let definitions = configuration["definitions"]?.flagText ?? "?"
        return "cachebench \(program), definitions \(definitions)"
    }
}

extension ConfigurationValue {
    /// The value as a flag's argument; `nil` if it is not set.
    fileprivate var flagText: String? {
        switch self {
        case .integer(let value): String(value)
        case .unsigned(let value): String(value)
        case .number(let value): Figures.plain(value)
        case .text(let value): value.contains(" ") ? "'\(value.printable)'" : value.printable
        case .flag(let value): String(value)
        case .none: nil
        }
    }
}
