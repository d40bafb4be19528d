/// A view at one moment, as a planner sees it.
struct ViewSnapshot: Sendable {
    struct Layer: Sendable {
        var layer: Int
        var pyramid: TilePyramid
        var level: Int
        var needed: [TileKey]
        /// The renderer handed over its own list: nobody can say what it needs next.
        var hasOwnList: Bool
        var observations: [FrameObservation]
    }

    var viewport: Viewport?
    var destination: Destination?
    var selection: LevelSelection
    var layers: [Layer]
}

/// Turns what a view sees into wishes: needed tiles, then what its policies expect. One for each view.
struct ViewPlanner: Sendable {
    /// One policy for each of the view's layers.
    var policies: [any PrefetchPolicy]

    /// Learns from the frames since the last plan and appends everything that the view would like.
    mutating func appendWishes(of view: ViewSnapshot, to plan: inout Plan, context: PlanContext) {
        for (index, layer) in view.layers.enumerated() {
            for observation in layer.observations { policies[index].observe(observation) }
        }
        appendPolicyWishes(of: view, goingFirst: true, to: &plan, context: context)
        for layer in view.layers {
            for key in layer.needed {
                plan.entries.append(PlanEntry(key: key, value: .infinity, reason: .demand, wantsDecoded: true))
            }
        }
        appendPolicyWishes(of: view, goingFirst: false, to: &plan, context: context)
    }

    private mutating func appendPolicyWishes(
        of view: ViewSnapshot, goingFirst: Bool, to plan: inout Plan, context: PlanContext
    ) {
        guard let viewport = view.viewport else { return }
        for (index, layer) in view.layers.enumerated()
        where layer.level >= 0 && !layer.hasOwnList && policies[index].goesFirst == goingFirst {
            policies[index].appendWishes(
                to: &plan,
                target: PlanTarget(
                    layer: layer.layer, pyramid: layer.pyramid, viewport: viewport, level: layer.level,
                    needed: layer.needed, destination: view.destination, selection: view.selection),
                context: context)
        }
    }
}
