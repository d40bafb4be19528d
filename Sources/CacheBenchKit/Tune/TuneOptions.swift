import PanTraces

/// What a budget has to reach.
package enum TuneTarget: Sendable, Hashable {
    /// At least this share of demands, 0 to 1.
    case hitRate(Double)
    /// At most this share of the area, 0 to 1.
    case blank(Double)

    func isMet(by report: ReplayReport) -> Bool {
        switch self {
        // Nothing demanded is nothing missed.
        case .hitRate(let least): (report.demands.hitRate ?? 1) >= least
        case .blank(let most): (report.coverage.blank ?? 0) <= most
        }
    }

    /// How near a report comes, larger is better.
    func score(_ report: ReplayReport) -> Double {
        switch self {
        case .hitRate: report.demands.hitRate ?? 1
        case .blank: -(report.coverage.blank ?? 0)
        }
    }
}

/// What a search for a memory limit may try.
package struct TuneOptions: Sendable {
    /// What all replays share; limits and whatever the lists below name are replaced.
    package var replay: ReplayOptions
    /// The target; `nil` suggests the knee of the curve.
    package var target: TuneTarget?
    /// The budgets of the coarse sweep; empty for 1 to 14 screens.
    package var budgets: [MemoryLimit] = []
    /// Numbers of workers to try; empty for the one of `replay`.
    package var workers: [Int] = []
    /// Tile sizes to try; empty for those of the traces.
    package var tileSizes: [Int] = []
    /// Compressed shares to try, `nil` for the adaptive one; empty for the one of `replay`.
    package var compressedShares: [Double?] = []
    /// Other policies to draw beside the one of `replay`, at every second budget of the sweep, each with the eviction that
    /// it is meant for.
    package var policies: [PrefetchKind] = [.none, .oracle]
    /// Sizes of the LRU curve in tiles; empty for all that change it, thinned.
    package var lruSizes: [Int] = []

    /// Makes options.
    package init(replay: ReplayOptions, target: TuneTarget? = nil) {
        self.replay = replay
        self.target = target
    }

    /// Every option as resolved, with the target and the lists.
    var configuration: [String: ConfigurationValue] {
        var values = replay.resolvedConfiguration(scene: nil, byteLimit: nil)
        ReplayFlags.add(replay.overrides, to: &values)
        switch target {
        case .hitRate(let value)?: values["targetHitRate"] = .number(value)
        case .blank(let value)?: values["targetBlank"] = .number(value)
        case nil: break
        }
        func add(_ key: String, _ words: [String]) {
            if !words.isEmpty { values[key] = .text(words.joined(separator: ",")) }
        }
        add("budgets", budgets.map(\.description))
        add("workersList", workers.map(\.description))
        add("tileSizes", tileSizes.map(\.description))
        add("compressedShares", compressedShares.map { $0.map { Figures.plain($0) } ?? "adaptive" })
        add("policies", policies.map(\.rawValue))
        add("lruSizes", lruSizes.map(\.description))
        return values
    }

    /// Every combination of the lists, each once.
    var variants: [ReplayOptions] {
        let shares: [Double?] = compressedShares.isEmpty ? [replay.compressedShare] : compressedShares
        let all = (workers.isEmpty ? [replay.workers] : workers).flatMap { workers in
            (tileSizes.isEmpty ? [replay.overrides.tileSize] : tileSizes.map { $0 }).flatMap { size in
                shares.map { share in
                    var variant = replay
                    variant.workers = workers
                    variant.reservedWorkers = min(replay.reservedWorkers, max(workers - 1, 0))
                    variant.overrides.tileSize = size
                    variant.compressedShare = share
                    return variant
                }
            }
        }
        var seen: Set<ReplayOptions> = []
        return all.filter { seen.insert($0).inserted }
    }
}
