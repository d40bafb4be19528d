/// Statistics of a cache: counts, which only grow, present sizes, and rates derived from both.
///
/// A demand is a tile that a frame needs and the previous frame did not: a view at rest has none. Each view's first
/// frame is a cold start and is left out. A rate is `nil` if its denominator is 0. The difference of two statistics has
/// the counts in between.
public struct TileCacheStatistics: Sendable, Hashable, CustomStringConvertible {
    /// Demands at the level of the previous frame.
    public internal(set) var pan = DemandCounts()
    /// Demands at another level than the previous frame's.
    public internal(set) var zoom = DemandCounts()
    /// Loads by their outcome.
    public internal(set) var loads = LoadCounts()
    /// Loads of expired tiles, which ``loads`` does not contain.
    public internal(set) var revalidations = RevalidationCounts()
    /// Prefetches by their outcome; each is one of the loads.
    public internal(set) var prefetches = PrefetchCounts()
    /// Moves between tiers, and removals.
    public internal(set) var tiers = TierCounts()
    /// Tiles made of finer ones.
    public internal(set) var synthesis = SynthesisCounts()
    /// Look-ups in stores, by store, in the order in which layers first named them.
    public internal(set) var stores: [StoreCounts] = []
    /// Viewports that could not be drawn (``TileViewport/isDrawable``) and were ignored.
    public internal(set) var refusedViewports = 0
    /// Calls of ``TileView/onTilesReady``, including running ones, that took longer than
    /// ``TileCache/Configuration/slowCallbackTime``.
    public internal(set) var slowCallbacks = 0

    /// Present and peak sizes.
    public internal(set) var memory = MemoryUse()
    /// Loads in flight now, without revalidations.
    public internal(set) var loadsInFlight = 0
    /// Revalidations in flight now.
    public internal(set) var revalidationsInFlight = 0
    /// Prefetches in flight that are not demanded yet.
    public internal(set) var prefetchesInFlight = 0
    /// Loads in flight for longer than ``TileCache/Configuration/stuckLoadTime``.
    public internal(set) var stuckLoads = 0
    /// Workers blocked in a source's code for longer than ``TileCache/Configuration/stuckLoadTime``.
    public internal(set) var blockedWorkers = 0
    /// Age of the oldest load in flight; 0 if there is none.
    public internal(set) var oldestLoad = Duration.zero
    /// Mean duration of a load, exponentially weighted.
    public internal(set) var meanLoadTime = Duration.zero
    /// Longest call of ``TileView/onTilesReady``.
    public internal(set) var longestCallback = Duration.zero
    /// Waits of demand loads for a worker, from the first need, without retries.
    public internal(set) var demandWaits = DurationSummary()
    /// Waits of prefetches for a worker. They start at the first of the consecutive plans that contain the tile.
    public internal(set) var prefetchWaits = DurationSummary()

    /// All counts are 0.
    public init() {}

    /// Pan and zoom demands together.
    public var demands: DemandCounts { pan + zoom }
    /// Hits over demands, 0...1; `nil` if there are none.
    public var hitRate: Double? { demands.hitRate }
    /// Loads never drawn over all loads; `nil` if there are none. Loads in flight and tiles not drawn yet are included.
    ///
    /// In a difference, tiles that were loaded before count too, so that it may exceed 1.
    public var waste: Double? {
        loads.started == 0
            ? nil : Double(loads.unseen + memory.unseenTiles + loadsInFlight) / Double(loads.started)
    }

    /// Subtracts the counts of an earlier moment of the same cache. All else (memory, loads in flight, ages, waits) is
    /// that of the later moment.
    public static func - (later: Self, earlier: Self) -> Self {
        var result = later
        result.pan = later.pan - earlier.pan
        result.zoom = later.zoom - earlier.zoom
        result.loads = later.loads - earlier.loads
        result.revalidations = later.revalidations - earlier.revalidations
        result.prefetches = later.prefetches - earlier.prefetches
        result.tiers = later.tiers - earlier.tiers
        result.synthesis = later.synthesis - earlier.synthesis
        for (index, counts) in earlier.stores.enumerated() where later.stores.indices.contains(index) {
            result.stores[index] = later.stores[index] - counts
        }
        result.refusedViewports -= earlier.refusedViewports
        result.slowCallbacks -= earlier.slowCallbacks
        return result
    }

    /// One line for a log: first the shortfall, then failures, then rates.
    ///
    /// Loads that were refused memory are retried, and are named only beside a shortfall.
    public var description: String {
        let troubles = [
            (loads.failed, "failed"), (loads.postponed, "put off"), (loads.absent, "absent"),
            (memory.shortfall.bytes > 0 ? loads.refused : 0, "refused memory"), (loads.retried, "retried"),
        ]
        let list = troubles.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
        return shortfall + (list.isEmpty ? "" : "loads: \(list); ")
            + "hit rate \(Wording.percent(hitRate)) (pan \(Wording.percent(pan.hitRate)), "
            + "zoom \(Wording.percent(zoom.hitRate))), \(memory.used) of \(memory.limit), waste \(Wording.percent(waste))"
    }

    private var shortfall: String {
        guard memory.shortfall.bytes > 0 else { return "" }
        let missing =
            memory.shortfall.bytes + memory.bookkeeping.bytes + memory.pinned.bytes - memory.limit.bytes
        return "limit too small: one screen needs \(memory.shortfall) of tiles"
            + (missing > 0 ? ", \(ByteCount.bytes(missing)) more than there is" : "")
            + (memory.stores.bytes > 0 ? ", where stores take \(memory.stores)" : "") + "; "
    }
}
