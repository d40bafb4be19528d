/// An entry of a plan: a tile to load, decode or keep.
package struct PlanEntry: Hashable, Sendable {
    package var key: TileKey
    /// Worth of the tile; ignored for needed ones. Eviction takes the least worth first, and never for a lesser worth.
    package var value: Float
    package var reason: Rank
    /// Whether the tile should be decoded because it will be drawn very soon.
    var wantsDecoded: Bool
    /// Whether it is a fallback that is only to be decompressed.
    var isPromotion: Bool { reason == .fallback && wantsDecoded }
    /// Number of visits known to the policy; 0 if unknown.
    var visits: UInt8
    /// Number of demands since it was in view; ignored if `visits` is 0.
    var age: Int32
    /// Whether a tier on this machine is known to have the tile. Its load then needs no source.
    var isNear = false
    /// Whether it is a prefetch before needed tiles. Without room it is passed over, since it is not worth the most.
    var isUrgent = false

    package init(
        key: TileKey,
        value: Float = 0,
        reason: Rank,
        wantsDecoded: Bool = false,
        visits: UInt8 = 0,
        age: Int32 = 0
    ) {
        self.key = key
        self.value = value
        self.reason = reason
        self.wantsDecoded = wantsDecoded
        self.visits = visits
        self.age = age
    }
}

/// Worth of keeping unplanned tiles, by demands since they were needed and number of visits.
package struct RecencyWorth: Hashable, Sendable {
    /// By age, then by visit class as in `VisitClass`; empty means 0. Does not rise with age.
    var worths: [Float] = []

    /// Falls with age and rises with visits. A tenth of the worth of a tile that is needed at once.
    ///
    /// Not learned: learned worths were no better.
    static let standard = RecencyWorth(worths: (0..<VisitClass.ages * VisitClass.count).map(standardWorth))

    private static func standardWorth(_ place: Int) -> Float {
        let age = Double(place / VisitClass.count)
        let visits = Double(place % VisitClass.count)
        return Float(0.09 * (1 + 0.4 * visits) / (1 + 0.5 * age))
    }

    /// The least worth of a tile outside of some classes; infinite if these are all.
    ///
    /// - Parameter classes: Bits of the classes of `VisitClass`.
    func least(outside classes: Int) -> Float {
        guard !worths.isEmpty else { return classes == (1 << VisitClass.count) - 1 ? .infinity : 0 }
        // Each class is worth least when it is oldest.
        let oldest = (VisitClass.ages - 1) * VisitClass.count
        var least = Float.infinity
        for visitClass in 0..<VisitClass.count where classes & (1 << visitClass) == 0 {
            least = min(least, worths[oldest + visitClass])
        }
        return least
    }

    /// - Parameter visits: 0 for tiles that were never needed; they count as the oldest.
    func worth(visits: Int, age: Int) -> Float {
        guard !worths.isEmpty else { return 0 }
        let known = visits > 0
        let row = known ? VisitClass.age(ofDemands: age) : VisitClass.ages - 1
        return worths[row * VisitClass.count + (known ? VisitClass.of(visits: visits) : 0)]
    }
}

/// Wishes of one policy beyond the needed tiles, the most wanted first.
package struct Wishes: Sendable {
    package var entries: [PlanEntry] = []
    /// Entries before the needed tiles: fallbacks if there is nothing to draw.
    var first: [PlanEntry] = []
    /// Prefetches before the needed tiles: their last chance to land in time.
    var urgent: [PlanEntry] = []
    /// The needed tiles in order of loading, without the hopeless ones; empty for screen order.
    var needed: [TileKey] = []
    /// Needed tiles not worth a load: they will be out of view before it lands. In screen order: the
    /// planner relies on it.
    package var hopeless: [TileKey] = []
    /// Worth of keeping tiles; takes precedence over the worth of loading tiles.
    var keepValues: [PlanEntry] = []
    var recency = RecencyWorth()
    /// Minimum difference in worth between an entry and its victim.
    var margin: Float = 0

    package init() {}
}

/// Tiles to load, in order: urgent ones, needed ones, then by worth.
///
/// For a tile that is resident already, the value is the worth of keeping it.
struct Plan: Sendable {
    var entries: [PlanEntry] = []
    /// Worth of keeping tiles; of several values the maximum counts.
    var keepValues: [PlanEntry] = []
    var recency = RecencyWorth()
    var margin: Float = 0
    /// Whether hopeless needed tiles were left out. If the view stops, they have to be planned.
    var leavesNeedsOut = false
    /// Whether all views are at rest. Nothing is then evicted for a fallback, or fallbacks would evict each other.
    var isAtRest = false
    /// Time of the plan, in nanoseconds.
    var time: Int64 = 0
    /// Whether its demands are needs of views: those out of view since are skipped.
    var followsNeeds = false
    /// Whether it has the maximum of pinned tiles: there may be more.
    var cutsPins = false
    /// Earliest retry of its failed tiles, or expiry of its ancestors, when it was installed, in nanoseconds; `.max` for
    /// none.
    var nextRetry = Int64.max
    /// Layers that share the workers' time, and the ends of their entries, which come one layer after the other. All
    /// other entries come behind them. Empty unless several layers need tiles.
    private(set) var lanes: [(layer: Int, end: Int)] = []

    /// Puts the entries up to the last needed tile in lanes, if they are of several layers. Those of a layer keep their
    /// order.
    mutating func divide() {
        lanes = []
        guard let last = entries.lastIndex(where: { !$0.reason.isExtra }) else { return }
        let first = entries[0].key.layer
        guard entries[...last].contains(where: { $0.key.layer != first }) else { return }
        var numbers: [Int: Int] = [:]
        var parts: [[PlanEntry]] = []
        for entry in entries[...last] {
            let number = numbers[entry.key.layer] ?? parts.count
            if number == parts.count {
                numbers[entry.key.layer] = number
                parts.append([])
            }
            parts[number].append(entry)
        }
        var end = 0
        for part in parts {
            for entry in part {
                entries[end] = entry
                end += 1
            }
            lanes.append((part[0].key.layer, end))
        }
    }
}
