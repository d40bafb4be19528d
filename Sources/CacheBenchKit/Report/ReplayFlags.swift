import PanTraces
import TileCache

/// Options of a report in the form of flags that reproduce it.
enum ReplayFlags {
    /// Values that need no flag, beside those that are not set.
    private static let unsaid: [String: ConfigurationValue] = [
        "without": .text(""), "loadTimes": .text("constant"), "cost": .text("none"),
    ]

    /// A word for each flag and its value, in the order of the program's help.
    static func words(_ configuration: [String: ConfigurationValue]) -> [String] {
        var words: [String] = []
        func add(_ keys: String..., flag: String? = nil, unit: String = "") {
            for key in keys where configuration[key] != unsaid[key] {
                guard let value = configuration[key], let text = value.flagText else { continue }
                var shown = text + unit
                if case .number(let time) = value, !unit.isEmpty { shown = Figures.time(time, unit: unit) }
                words.append("--\(flag ?? name(ofKey: key)) \(shown)")
            }
        }
        add("targetHitRate", "targetBlank", "maximumWaste")
        add("budgets", "policies", "efforts", "factors", "workersList", "tileSizes")
        add("compressedShares", "storeLimits", "lruSizes", "equalLoads")
        if configuration["fullResolutionOnly"] == .flag(true) { words.append("--full-resolution-only") }
        if configuration["downsampling"] == .text("sRGB") { words.append("--gamma-correct") }
        add("memoryLimit")
        if case .flag(let isOn)? = configuration["compressedTier"] {
            words.append("--compressed-tier \(isOn ? "on" : "off")")
            if isOn {
                add("compressedShare")
                if configuration["clock"] == .text("virtual") { add("compressionRatio") }
            }
        }
        add("prefetch", "eviction", "effort", "prefetchAllowance", "requestsPerMinute", "bytesPerMinute")
        add("without", "profile", "learn", "workers", "inFlight")
        add("loadLatencyMilliseconds", flag: "load-latency", unit: "ms")
        add("loadTimes", "cost", "source", "maximumZoom")
        add("imageMemoryLimit", unit: "B")
        add("store", "disk", "shared")
        add("diskLimit", unit: "B")
        if configuration["warm"] == .flag(true) { words.append("--warm") }
        if configuration["fit"] == .flag(true) { words.append("--fit") }
        // `compare` has no other clock.
        if configuration["budgets"] == nil { add("clock") }
        if configuration["clock"] != .text("virtual") { add("speed") }
        add("frameRate", "tileSize", "pixelFormat", "viewport")
        // A source determines its world; the trace's world is stretched over it.
        let hasSource = configuration["source"]?.flagText != nil
        add(hasSource ? "recordedWorld" : "world", flag: "world")
        if case .flag(let wraps)? = configuration["wrapsX"] { words.append(wraps ? "--wrap-x" : "--no-wrap-x") }
        add("durationSeconds", flag: "duration", unit: "s")
        add("seed", "hysteresis", "levelBias", "textureSlots")
        add("uploadBudget", unit: "B")
        return words
    }

    /// `memory-limit` of `memoryLimit`.
    private static func name(ofKey key: String) -> String {
        key.reduce(into: "") { $0 += $1.isUppercase ? "-" + $1.lowercased() : String($1) }
    }

    /// Flags that differ from the defaults, on one line, to use a suggested limit.
    static func pasted(_ options: ReplayOptions, byteLimit: Int) -> String {
        var options = options
        options.memoryLimit = .bytes(byteLimit)
        // `replay` refuses flags of a policy that it does not replay; `tune` may have it beside its own.
        if options.prefetch != .tilecache { (options.without, options.profile) = ([], nil) }
        if !options.prefetch.takesEffort { options.effort = ReplayOptions().effort }
        if options.prefetch == .none { options.allowance = .standard }
        var configuration = options.resolvedConfiguration(scene: nil, byteLimit: byteLimit)
        add(options.overrides, to: &configuration)
        let usual = Set(words(ReplayOptions().resolvedConfiguration(scene: nil, byteLimit: nil)))
        return words(configuration).filter { $0.hasPrefix("--memory-limit ") || !usual.contains($0) }
            .joined(separator: " ")
    }

    /// Adds flags of the scene to a configuration without a trace's.
    static func add(_ overrides: PanTraceOverrides, to configuration: inout [String: ConfigurationValue]) {
        configuration["tileSize"] = overrides.tileSize.map { .integer($0) }
        configuration["viewport"] = overrides.viewport.map { .text(Figures.size($0)) }
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
        case .text(let value): value.printable.quotedForShells
        case .flag(let value): String(value)
        case .none: nil
        }
    }
}

extension String {
    /// The text as one word of a shell: in quotes if it has other characters than those of usual values.
    package var quotedForShells: String {
        let isPlain = !isEmpty && allSatisfy { $0.isLetter || $0.isNumber || "-_.,:/=+@%".contains($0) }
        return isPlain ? self : "'" + replacing("'", with: #"'\''"#) + "'"
    }
}
