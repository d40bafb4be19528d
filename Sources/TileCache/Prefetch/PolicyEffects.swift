/// Effects of the default policy. Each can be left out alone, to measure its worth:
/// `AdaptivePolicy(effects: PolicyEffects.all.subtracting(.parents))`.
package struct PolicyEffects: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Tiles of the view's level around it.
    package static let pan = PolicyEffects(rawValue: 1 << 0)
    /// Velocity, its decay and the zoom rate; without it every view counts as at rest.
    package static let motion = PolicyEffects(rawValue: 1 << 1)
    /// Direction from which a view came to rest.
    package static let heading = PolicyEffects(rawValue: 1 << 2)
    /// Coarser levels, for zooming out.
    package static let parents = PolicyEffects(rawValue: 1 << 3)
    /// Finer levels, for zooming in.
    package static let children = PolicyEffects(rawValue: 1 << 4)
    /// Fallbacks: coarse tiles if there is nothing to draw.
    package static let fallback = PolicyEffects(rawValue: 1 << 5)
    /// Skipping needed tiles that leave the view before they land.
    package static let abandonment = PolicyEffects(rawValue: 1 << 6)
    /// Learning from the session; without it the prior probabilities stay.
    package static let learning = PolicyEffects(rawValue: 1 << 7)
    /// Worth of keeping tiles; without it eviction is by recency, and any prefetch may evict.
    package static let worth = PolicyEffects(rawValue: 1 << 8)
    /// Declared destinations. The planner's own entries for them stay.
    package static let destination = PolicyEffects(rawValue: 1 << 9)
    /// Loading the missing tiles that show the most first.
    package static let order = PolicyEffects(rawValue: 1 << 10)

    /// Profiles of other sessions.
    package static let profile = PolicyEffects(rawValue: 1 << 11)

    /// A coarser level first, if sharp tiles take the workers several turns.
    package static let coarser = PolicyEffects(rawValue: 1 << 12)

    /// Prefetches with their last chance to land in time before needed tiles that are missing.
    package static let deadlines = PolicyEffects(rawValue: 1 << 13)

    /// Fewer prefetches around a view if loads are short.
    package static let caution = PolicyEffects(rawValue: 1 << 14)

    /// Zooms in progress and their fixed points. Without it, each zoom is expected about the centre.
    package static let zoom = PolicyEffects(rawValue: 1 << 15)

    /// Tiles further away if loads take long. Without it, the prior probabilities are those of short loads.
    package static let latency = PolicyEffects(rawValue: 1 << 16)

    /// Keeping a plan while the view goes on as before and nothing of it is left to load.
    package static let reuse = PolicyEffects(rawValue: 1 << 17)

    /// Every effect by its name on the command line. The names do not change: `cover` is older than the word fallback.
    package static let named: [(name: String, effect: PolicyEffects)] = [
        ("pan", .pan), ("motion", .motion), ("heading", .heading), ("parents", .parents), ("children", .children),
        ("cover", .fallback), ("abandonment", .abandonment), ("learning", .learning), ("worth", .worth),
        ("destination", .destination), ("order", .order), ("profile", .profile), ("coarser", .coarser),
        ("deadlines", .deadlines), ("caution", .caution), ("zoom", .zoom), ("latency", .latency),
        ("reuse", .reuse),
    ]

    /// All effects: the default.
    package static let all = PolicyEffects(named.map(\.effect))

    /// The effect of a name; `nil` if there is none.
    package init?(name: String) {
        guard let effect = Self.named.first(where: { $0.name == name })?.effect else { return nil }
        self = effect
    }
}
