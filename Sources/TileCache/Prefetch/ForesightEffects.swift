/// What the default policy looks at. Each effect can be left out alone, so that its worth can be measured:
/// `AdaptivePolicy(effects: ForesightEffects.all.subtracting(.returns))`.
package struct ForesightEffects: OptionSet, Hashable, Sendable {
    package let rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Tiles of the view's level around it.
    package static let pan = ForesightEffects(rawValue: 1 << 0)
    /// Velocity, its decay and zoom rate; without it every view counts as at rest.
    package static let motion = ForesightEffects(rawValue: 1 << 1)
    /// The direction that a view at rest came in.
    package static let heading = ForesightEffects(rawValue: 1 << 2)
    /// Coarser levels, which zooming out needs.
    package static let parents = ForesightEffects(rawValue: 1 << 3)
    /// Finer levels, which zooming in needs.
    package static let children = ForesightEffects(rawValue: 1 << 4)
    /// Loading again what was in view before.
    package static let returns = ForesightEffects(rawValue: 1 << 5)
    /// Coarse tiles where there would be nothing to draw.
    package static let cover = ForesightEffects(rawValue: 1 << 6)
    /// Needed tiles that will have left before they land are not started.
    package static let abandonment = ForesightEffects(rawValue: 1 << 7)
    /// What the session teaches; without it the odds stay what they are at the start.
    package static let learning = ForesightEffects(rawValue: 1 << 8)
    /// What keeping a tile is worth; without it the least recently used one goes, and any wish may push it out.
    package static let worth = ForesightEffects(rawValue: 1 << 9)
    /// Places that the renderer has declared. The planner's own wishes for them stay.
    package static let destination = ForesightEffects(rawValue: 1 << 10)
    /// Of the needed tiles that are missing, those that show the most come first.
    package static let order = ForesightEffects(rawValue: 1 << 11)

    /// Every effect by the name that a command line gives it.
    package static let named: [(name: String, effect: ForesightEffects)] = [
        ("pan", .pan), ("motion", .motion), ("heading", .heading), ("parents", .parents), ("children", .children),
        ("returns", .returns), ("cover", .cover), ("abandonment", .abandonment), ("learning", .learning),
        ("worth", .worth), ("destination", .destination), ("order", .order),
    ]

    /// All that the policy can do: the default.
    package static let all = ForesightEffects(named.map(\.effect))

    /// The effect of a name; `nil` where no effect is called so.
    package init?(name: String) {
        guard let effect = Self.named.first(where: { $0.name == name })?.effect else { return nil }
        self = effect
    }
}
