import TileCache

/// One change of a replay's options, for a target for which no limit is suggested.
///
/// Each change is replayed, so that a report names what helped in these traces, not what might.
struct TuneChange {
    /// The change for display: flags, or words where no flag says it.
    var text: String
    var options: ReplayOptions
    /// Whether loads take less time.
    var isFaster = false
    /// Whether it only bounds what a better prediction can bring.
    var isBound = false

    /// All changes that have an effect, each of the same options.
    ///
    /// - Parameters:
    ///   - variant: Options of the nearest limit.
    ///   - effort: Its effort, lowered for a maximum of waste.
    static func all(of variant: ReplayOptions, effort: Double, _ tuning: TuneOptions) -> [TuneChange] {
        var base = variant
        base.effort = effort
        let changes = [
            moreWorkers(base), fasterLoads(base), noMaximum(base, variant.effort), moreEffort(base, tuning),
            anyAllowance(base), coarserLevel(base), oracle(base, tuning),
        ]
        return changes.compactMap { $0 }
    }

    private static func moreWorkers(_ base: ReplayOptions) -> TuneChange? {
        guard base.workers < 255 else { return nil }
        var options = base
        options.workers = min(2 * base.workers, 255)
        return TuneChange(text: "--workers \(options.workers)", options: options)
    }

    /// Half the latency, twice the bandwidth. Recorded times stay as they are.
    private static func fasterLoads(_ base: ReplayOptions) -> TuneChange? {
        guard let latency = base.loadLatency else { return nil }
        var options = base
        options.loadLatency = latency / 2
        var text = latency > 0 ? "--load-latency \(Figures.time(Double(latency / 2) / 1e6, unit: "ms"))" : ""
        switch base.loadTimes {
        case .constant, .longTail: break
        case .bandwidth(let bytes):
            options.loadTimes = .bandwidth(2 * bytes)
            text += (text.isEmpty ? "" : " ") + "--load-times \(options.loadTimes)"
        case .file: return nil
        }
        return text.isEmpty ? nil : TuneChange(text: text, options: options, isFaster: true)
    }

    /// The effort that a maximum of waste has lowered.
    private static func noMaximum(_ base: ReplayOptions, _ effort: Double) -> TuneChange? {
        guard base.effort < effort else { return nil }
        var options = base
        options.effort = effort
        return TuneChange(text: "no --maximum-waste", options: options)
    }

    private static func moreEffort(_ base: ReplayOptions, _ tuning: TuneOptions) -> TuneChange? {
        guard base.prefetch.takesEffort, base.effort < 1, tuning.maximumWaste == nil, case .priced = base.allowance
        else { return nil }
        var options = base
        options.effort = 1
        return TuneChange(text: "--effort 1", options: options)
    }

    /// Without an allowance.
    private static func anyAllowance(_ base: ReplayOptions) -> TuneChange? {
        guard base.prefetch != .none, base.allowance != .standard else { return nil }
        var options = base
        options.allowance = .standard
        return TuneChange(text: "no ceiling of prefetches", options: options)
    }

    private static func coarserLevel(_ base: ReplayOptions) -> TuneChange? {
        guard base.levelBias <= 7 else { return nil }
        var options = base
        options.levelBias += 1
        return TuneChange(text: "--level-bias \(Figures.plain(options.levelBias)) (coarser)", options: options)
    }

    /// Bounds what a better prediction can bring: destinations, profiles. It plans for hits: of the blank area it is no
    /// bound. Slow, so only if it is drawn anyway.
    private static func oracle(_ base: ReplayOptions, _ tuning: TuneOptions) -> TuneChange? {
        guard case .hitRate? = tuning.target, tuning.policies.contains(.oracle), base.prefetch != .oracle else {
            return nil
        }
        return TuneChange(text: "a prefetch that knows the future", options: base.with(.oracle), isBound: true)
    }
}
