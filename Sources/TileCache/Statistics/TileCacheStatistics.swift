/// A cache's statistics: counts that only grow, what it holds now, and rates derived from both.
///
/// Only tiles that a frame needs and the frame before did not are demands: a view at rest has none. Each view's first
/// frame is a cold start and is left out. A rate over nothing is `nil`. The difference of two statistics tells what
/// happened in between.
public struct TileCacheStatistics: Sendable, Hashable, CustomStringConvertible {
    /// Demands at the level of the frame before.
    public internal(set) var pan = DemandCounts()
    /// Demands at another level than the frame before.
    public internal(set) var zoom = DemandCounts()
    /// Loads by their outcome.
    public internal(set) var loads = LoadCounts()
    /// Prefetches by their outcome; each is one of the loads.
    public internal(set) var prefetches = PrefetchCounts()
    /// Moves between tiers, and out of the cache.
    public internal(set) var tiers = TierCounts()
    /// Tiles that were made of finer ones.
    public internal(set) var synthesis = SynthesisCounts()
    /// Viewports that could not be drawn (``TileViewport/isDrawable``) and were ignored.
    public internal(set) var refusedViewports = 0
    /// Calls of ``TileView/onTilesReady`` that took longer than ``TileCache/Configuration/slowCallbackTime``, running
    /// ones included.
    public internal(set) var slowCallbacks = 0

    /// Bytes and tiles held now, and their peaks.
    public internal(set) var memory = MemoryUse()
    /// Loads in flight now.
    public internal(set) var loadsInFlight = 0
    /// Of those, prefetches that are not demanded yet.
    public internal(set) var prefetchesInFlight = 0
    /// Loads in flight for longer than ``TileCache/Configuration/stuckLoadTime``: their source does not answer.
    public internal(set) var stuckLoads = 0
    /// Workers that are within a source's code for longer than that.
    public internal(set) var blockedWorkers = 0
    /// The age of the oldest load in flight; 0 if there is none.
    public internal(set) var oldestLoad = Duration.zero
    /// The time that a load takes, as an exponential mean.
    public internal(set) var meanLoadTime = Duration.zero
    /// The longest call of ``TileView/onTilesReady``.
    public internal(set) var longestCallback = Duration.zero
    /// The times that loads of needed tiles waited for a worker, from when a view first needed the tile. Retries are left
    /// out.
    public internal(set) var demandWaits = DurationSummary()
    /// The times that prefetches waited for a worker, from the first of the plans in a row that contained the tile.
    public internal(set) var prefetchWaits = DurationSummary()

    /// Nothing has happened.
    public init() {}

    /// Pan and zoom demands together.
    public var demands: DemandCounts { pan + zoom }
    /// Hits over demands, 0...1; `nil` if there was none.
    public var hitRate: Double? { demands.hitRate }
    /// Loads never drawn, those in flight and those still unseen included, over loads; `nil` if there was none. In a
    /// difference, tiles that were loaded before count too, so that it may exceed 1.
    public var waste: Double? {
        loads.started == 0
            ? nil : Double(loads.unseen + memory.unseenTiles + loadsInFlight) / Double(loads.started)
    }

    /// The counts since an earlier moment of the same cache. What is no count (memory, loads in flight, ages, waits) is
    /// that of the later moment.
    public static func - (later: Self, earlier: Self) -> Self {
        var result = later
        result.pan = later.pan - earlier.pan
        result.zoom = later.zoom - earlier.zoom
        result.loads = later.loads - earlier.loads
        result.prefetches = later.prefetches - earlier.prefetches
        result.tiers = later.tiers - earlier.tiers
        result.synthesis = later.synthesis - earlier.synthesis
        result.refusedViewports -= earlier.refusedViewports
        result.slowCallbacks -= earlier.slowCallbacks
        return result
    }

    /// One line for a log: first the bytes that the limit is short of, then failures, then rates.
    public var description: String {
        func percent(_ rate: Double?) -> String {
            guard let rate else { return "none" }
            let tenths = Int((rate * 1000).rounded())
            return "\(tenths / 10).\(tenths % 10) %"
        }
        let troubles = [
            (loads.failed, "failed"), (loads.absent, "absent"), (loads.refused, "refused memory"),
            (loads.retried, "retried"),
        ]
        let list = troubles.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
        return shortfall + (list.isEmpty ? "" : "loads: \(list); ")
            + "hit rate \(percent(hitRate)) (pan \(percent(pan.hitRate)), zoom \(percent(zoom.hitRate))), "
            + "\(memory.used) of \(memory.limit), waste \(percent(waste))"
    }

    private var shortfall: String {
        guard memory.shortfall.bytes > 0 else { return "" }
        let missing = memory.shortfall.bytes + memory.bookkeeping.bytes - memory.limit.bytes
        return "limit too small: one screen needs \(memory.shortfall) of tiles"
            + (missing > 0 ? ", \(ByteCount.bytes(missing)) more than there is" : "") + "; "
    }
}
