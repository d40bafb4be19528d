import PanTraces
import TileCache

package enum TuneTarget: Sendable, Hashable {
    /// Minimum fraction of demands, 0 to 1.
    case hitRate(Double)
    /// Maximum fraction of the area, 0 to 1.
    case blank(Double)

    func isMet(by report: ReplayReport) -> Bool {
        switch self {
        // Without demands nothing is missed.
        case .hitRate(let least): (report.demands.hitRate ?? 1) >= least
        case .blank(let most): (report.coverage.blank ?? 0) <= most
        }
    }

    /// Score of a report, larger is nearer to the target.
    func score(_ report: ReplayReport) -> Double {
        score(hitRate: report.demands.hitRate, blank: report.coverage.blank)
    }

    func score(hitRate: Double?, blank: Double?) -> Double {
        switch self {
        case .hitRate: hitRate ?? 1
        case .blank: -(blank ?? 0)
        }
    }
}

package struct TuneOptions: Sendable {
    /// Options of all replays; limits and the lists below replace theirs.
    package var replay: ReplayOptions
    /// Target; `nil` suggests the knee of the curve.
    package var target: TuneTarget?
    /// Maximum of `loads.waste`, 0 to 1, for which the effort is lowered at each limit. Default: `nil`, none.
    package var maximumWaste: Double?
    /// Budgets of the coarse sweep; empty for 1 to 14 screens.
    package var budgets: [MemoryLimit] = []
    /// Numbers of workers to try; empty for that of `replay`.
    package var workers: [Int] = []
    /// Tile sizes to try; empty for those of the traces.
    package var tileSizes: [Int] = []
    /// Compressed shares to try, `nil` for the adaptive one; empty for that of `replay`.
    package var compressedShares: [Double?] = []
    /// Limits of the first store to try, in bytes; empty for its own. Needs a store in `replay`.
    package var storeLimits: [Int] = []
    /// Further policies for comparison, at every second budget. Each has its usual eviction.
    package var policies: [PrefetchKind] = [.none, .oracle]
    /// Sizes of the LRU curve in tiles; empty for all that change it, thinned.
    package var lruSizes: [Int] = []

    package init(replay: ReplayOptions, target: TuneTarget? = nil) {
        self.replay = replay
        self.target = target
    }

    /// All options as resolved, with the target and the lists.
    var configuration: [String: ConfigurationValue] {
        var values = replay.resolvedConfiguration(scene: nil, byteLimit: nil)
        ReplayFlags.add(replay.overrides, to: &values)
        if replay.overrides.tileSize == nil { values["tileSize"] = ConfigurationValue.none }
        switch target {
        case .hitRate(let value)?: values["targetHitRate"] = .number(value)
        case .blank(let value)?: values["targetBlank"] = .number(value)
        case nil: break
        }
        if let maximumWaste { values["maximumWaste"] = .number(maximumWaste) }
        func add(_ key: String, _ words: [String]) {
            if !words.isEmpty { values[key] = .text(words.joined(separator: ",")) }
        }
        add("budgets", budgets.map(\.description))
        add("workersList", workers.map(\.description))
        add("tileSizes", tileSizes.map(\.description))
        add("compressedShares", compressedShares.map { $0.map { Figures.plain($0) } ?? "adaptive" })
        add("storeLimits", storeLimits.map { MemoryLimit.bytes($0).description })
        add("policies", policies.map(\.rawValue))
        add("lruSizes", lruSizes.map(\.description))
        return values
    }

    /// Reason why the effort cannot be lowered, although a maximum of waste needs it. `nil` if there is none.
    var wasteProblem: ReplayError? {
        guard maximumWaste != nil else { return nil }
        if !replay.prefetch.takesEffort {
            return ReplayError("--maximum-waste lowers the effort, which --prefetch \(replay.prefetch) does not have")
        }
        return nil
    }

    /// Every combination of the lists, each once. Smaller stores come first: of equal limits the first is suggested.
    var variants: [ReplayOptions] {
        guard !replay.tiers.isEmpty, !storeLimits.isEmpty else { return variants(of: replay) }
        return storeLimits.sorted().flatMap { limit in
            var own = replay
            own.tiers[0].byteLimit = limit
            return variants(of: own)
        }
        .unique
    }

    private func variants(of replay: ReplayOptions) -> [ReplayOptions] {
        let shares: [Double?] = compressedShares.isEmpty ? [replay.compressedShare] : compressedShares
        let all = (workers.isEmpty ? [replay.workers] : workers).flatMap { workers in
            (tileSizes.isEmpty ? [replay.overrides.tileSize] : tileSizes.map { $0 }).flatMap { size in
                shares.map { share in
                    var variant = replay
                    variant.workers = workers
                    variant.overrides.tileSize = size
                    variant.compressedShare = share
                    return variant
                }
            }
        }
        return all.unique
    }
}
