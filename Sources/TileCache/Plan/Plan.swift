/// What a plan wants done for one tile.
package struct PlanEntry: Hashable, Sendable {
    /// Why a tile is in the plan.
    package enum Reason: UInt8, Sendable {
        /// A view needs it now.
        case demand
        /// It stands in for needed tiles where there is nothing to draw.
        case cover
        /// A floor pins it.
        case floor
        /// It may be needed soon.
        case prefetch
    }

    package var key: TileKey
    /// What having the tile is worth: for a needed one it is not looked at, for others the larger the better.
    /// Eviction gives up what is worth least, and nothing for a tile that is worth less.
    package var value: Float
    package var reason: Reason
    /// Whether the pixels should stand ready decoded, because they will be drawn very soon.
    var wantsDecoded: Bool
    /// How often the tile has been in view, as far as the policy knows; 0 says nothing.
    var visits: UInt8
    /// How many demands ago it was in view; counts where `visits` does.
    var age: Int32

    /// Wants something done for a tile.
    package init(
        key: TileKey,
        value: Float = 0,
        reason: Reason,
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

/// What keeping a tile is worth that no plan mentions, by how many demands ago it was needed and how often it was.
package struct RecencyWorth: Hashable, Sendable {
    /// By age, then by visit class as in `VisitClass`; empty makes every such tile worth nothing.
    var worths: [Float] = []

    /// - Parameter visits: 0 for tiles that nothing has needed yet: they count as the oldest.
    func worth(visits: Int, age: Int) -> Float {
        guard !worths.isEmpty else { return 0 }
        let known = visits > 0
        let row = known ? VisitClass.age(ofDemands: age) : VisitClass.ages - 1
        return worths[row * VisitClass.count + (known ? VisitClass.of(visits: visits) : 0)]
    }

    /// Takes the larger of two opinions on each.
    mutating func merge(_ other: RecencyWorth) {
        guard !worths.isEmpty else {
            worths = other.worths
            return
        }
        for (index, worth) in other.worths.enumerated() { worths[index] = max(worths[index], worth) }
    }
}

/// What one policy would like loaded and kept. Its entries are beyond the needed tiles, the most wanted first.
package struct Wishes: Sendable {
    package var entries: [PlanEntry] = []
    /// What goes before the needed tiles: fallbacks if there is nothing to draw.
    var first: [PlanEntry] = []
    /// The needed tiles in the order in which they should come; empty leaves them in the order of the screen.
    var needed: [TileKey] = []
    /// Needed tiles that are not worth a load: they will have left before it lands.
    package var hopeless: [TileKey] = []
    /// What keeping tiles is worth; it counts more than what loading them is.
    var keepValues: [PlanEntry] = []
    var recency = RecencyWorth()
    /// What a wish must be worth more than what it pushes out.
    var margin: Float = 0

    package init() {}
}

/// What is to be done, in order: needed tiles first, then what is worth most.
///
/// A plan may mention tiles that are resident already: then its value says what keeping them is worth.
struct Plan: Sendable {
    var entries: [PlanEntry] = []
    /// As the policies have them, the larger of two opinions.
    var keepValues: [PlanEntry] = []
    var recency = RecencyWorth()
    var margin: Float = 0
    /// Whether needed tiles were left out as hopeless: should the view stop they have to be planned after all.
    var leavesNeedsOut = false
    /// Whether all views have rested: then nothing is evicted for a stand-in, or stand-ins could go on evicting each other.
    var isAtRest = false
    /// When it was made, in nanoseconds.
    var time: Int64 = 0
    /// Whether what it calls needed is what views need: then what has gone out of view since is passed over.
    var followsNeeds = false
}
