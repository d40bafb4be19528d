/// What a plan wants done for one tile.
package struct PlanEntry: Hashable, Sendable {
    /// Why a tile is in the plan.
    enum Reason: UInt8, Sendable {
        /// A view needs it now.
        case demand
        /// A floor pins it.
        case floor
        /// It may be needed soon.
        case prefetch
    }

    var key: TileKey
    /// What having the tile is worth: for a needed one it is not looked at, for others the larger the better.
    /// Eviction gives up what is worth least, and nothing for a tile that is worth less.
    var value: Float = 0
    var reason: Reason
    /// Whether the pixels should stand ready decoded, because they will be drawn very soon.
    var wantsDecoded = false
}

/// What keeping a tile that no plan mentions is worth, from the time since it was last used.
package struct RecencyWorth: Hashable, Sendable {
    /// The worth of a tile used just now; 0 makes every unmentioned tile worth nothing.
    var scale: Float = 0
    /// The age, in nanoseconds, at which the worth has fallen to a half of `scale`; it goes on falling as 1 / (1 + age).
    var halfAge: Float = 1e9

    func worth(age: Int64) -> Float { scale / (1 + Float(max(age, 0)) / halfAge) }
}

/// The ordered wishes of one moment: needed tiles first, then what is worth most.
///
/// A plan may mention tiles that are resident already: then its value says what keeping them is worth.
package struct Plan: Sendable {
    var entries: [PlanEntry] = []
    /// What keeping tiles is worth that are not to be loaded for it.
    var keepValues: [PlanEntry] = []
    var recency = RecencyWorth()
    /// The planner's view of when it was made, in nanoseconds.
    var time: Int64 = 0
}
