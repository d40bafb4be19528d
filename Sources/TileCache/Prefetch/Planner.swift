/// A view at one moment, as a planner sees it.
struct ViewSnapshot: Sendable {
    struct Layer: Sendable {
        var id: LayerID
        var layer: Int { id.index }
        var pyramid: TilePyramid
        var level: Int
        var needed: [TileKey]
        /// The renderer handed over its own list: nobody can say what it needs next.
        var hasOwnList: Bool
        /// How much each needed tile matters, where the renderer says so; else empty.
        var importance: [Float] = []
        var observations: [FrameObservation]
    }

    var viewport: TileViewport?
    var destination: ViewportDestination?
    var selection: TileLevelSelection
    var layers: [Layer]
}

/// Turns what the views see into one plan. What is needed goes before what is expected, whoever it is that needs it.
struct Planner: Sendable {
    /// For each view, one policy for each of its layers.
    var policies: [Int: [LayerID: any PrefetchPolicy]] = [:]

    /// Learns from the frames since the last plan and orders everything that the views would like.
    ///
    /// - Parameters:
    ///   - views: by their number, in the order in which they were made.
    ///   - pins: pinned tiles; they come first.
    ///   - asked: tiles that the renderer has asked for once; they come before all guesses.
    mutating func makePlan(
        of views: [(id: Int, snapshot: ViewSnapshot)],
        pins: [TileKey] = [],
        asked: [TileKey] = [],
        context: PlanContext
    ) -> Plan {
        var plan = Plan()
        plan.time = context.now
        plan.followsNeeds = true
        for view in views {
            for layer in view.snapshot.layers {
                for observation in layer.observations { policies[view.id]?[layer.id]?.observe(observation) }
            }
        }
        let early = wishes(of: views, goingFirst: true, context: context)
        let late = wishes(of: views, goingFirst: false, context: context)
        plan.take(early)
        for key in pins { plan.entries.append(PlanEntry(key: key, value: .infinity, reason: .floor)) }
        for opinion in late { plan.entries += opinion.wishes.first }
        for view in views {
            let firstNeed = plan.entries.count
            defer { orderByImportance(view.snapshot, from: firstNeed, in: &plan) }
            for (index, layer) in view.snapshot.layers.enumerated() {
                let opinion = late.first { $0.view == view.id && $0.index == index }
                var hopeless = TileIndex()
                for key in opinion?.wishes.hopeless ?? [] { hopeless.set(key, 0) }
                plan.leavesNeedsOut = plan.leavesNeedsOut || hopeless.count > 0
                let order = opinion?.wishes.needed ?? []
                for key in order.isEmpty ? layer.needed : order where hopeless.count == 0 || hopeless.find(key) == nil {
                    plan.entries.append(PlanEntry(key: key, value: .infinity, reason: .demand, wantsDecoded: true))
                }
            }
        }
        for view in views { appendDestination(of: view.snapshot, to: &plan, context: context) }
        for key in asked {
            plan.entries.append(PlanEntry(key: key, value: Self.destinationValue, reason: .prefetch))
        }
        let firstGuess = plan.entries.count
        plan.take(late)
        // One policy has ordered its own wishes; the wishes of several are merged by what they are worth.
        if views.reduce(0, { $0 + $1.snapshot.layers.count }) > 1 {
            let merged = plan.entries[firstGuess...].enumerated()
                .sorted { ($1.element.value, $0.offset) < ($0.element.value, $1.offset) }
            plan.entries.replaceSubrange(firstGuess..., with: merged.map(\.element))
        }
        return plan
    }

    /// Resets policies until they hold no more than some bytes, those of views that have not moved since the last plan
    /// first.
    ///
    /// - Returns: the bytes that they hold then.
    mutating func trimPolicies(toBytes bytes: Int, of views: [(id: Int, snapshot: ViewSnapshot)]) -> Int {
        var held = policies.values.reduce(0) { $0 + $1.values.reduce(0) { $0 + $1.byteCount } }
        guard held > bytes else { return held }
        let moved = Set(views.filter { $0.snapshot.layers.contains { $0.observations.count > 0 } }.map(\.id))
        let order = policies.keys.sorted { (moved.contains($0) ? 1 : 0, $0) < (moved.contains($1) ? 1 : 0, $1) }
        for id in order {
            for layer in policies[id, default: [:]].keys.sorted() where held > bytes {
                held -= policies[id]?[layer]?.byteCount ?? 0
                policies[id]?[layer]?.reset()
                held += policies[id]?[layer]?.byteCount ?? 0
            }
        }
        return held
    }

    /// Whether another plan for the same views, which stand still, would say what the last one said.
    func isSettled(on views: [(id: Int, snapshot: ViewSnapshot)]) -> Bool {
        views.allSatisfy { view in
            guard view.snapshot.viewport != nil else { return true }
            guard view.snapshot.destination == nil else { return false }
            return view.snapshot.layers.allSatisfy { layer in
                !layer.hasOwnList && policies[view.id]?[layer.id]?.isSettled ?? true
            }
        }
    }

    /// A renderer's own list says what matters most whichever layer it is of.
    private func orderByImportance(_ view: ViewSnapshot, from first: Int, in plan: inout Plan) {
        guard view.layers.count > 1, view.layers.contains(where: { $0.hasOwnList }) else { return }
        let importance = view.layers.flatMap { $0.hasOwnList ? $0.importance : $0.needed.map { _ in 1 } }
        guard importance.count == plan.entries.count - first else { return }
        let order = importance.indices.sorted {
            (importance[$1], $0) < (importance[$0], $1)
        }
        let entries = plan.entries
        for (place, index) in order.enumerated() { plan.entries[first + place] = entries[first + index] }
    }

    /// Where the renderer has said that a view will be is no guess: its tiles come before all guesses, the coarser level
    /// first, which blurs what cannot be sharp in time.
    private func appendDestination(of view: ViewSnapshot, to plan: inout Plan, context: PlanContext) {
        guard let destination = view.destination, destination.viewport.isDrawable,
            destination.time.nanoseconds > context.now
        else { return }
        for layer in view.layers where !layer.hasOwnList {
            let level = view.selection.level(for: destination.viewport.scale, in: layer.pyramid)
            for level in level > 1 ? [level - 2, level] : [level] {
                for tile in layer.pyramid.neededTiles(under: destination.viewport, at: level) {
                    plan.entries.append(
                        PlanEntry(
                            key: TileKey(layer: layer.layer, tile),
                            value: Self.destinationValue,
                            reason: .prefetch,
                            wantsDecoded: true
                        )
                    )
                }
            }
        }
    }

    /// More than any guess is worth, less than what is needed now.
    static let destinationValue: Float = 1000

    /// What the policy of one layer in one view would like.
    fileprivate typealias Opinion = (view: Int, index: Int, wishes: Wishes)

    private mutating func wishes(
        of views: [(id: Int, snapshot: ViewSnapshot)],
        goingFirst: Bool,
        context: PlanContext
    ) -> [Opinion] {
        var all: [Opinion] = []
        for (id, view) in views {
            guard let viewport = view.viewport else { continue }
            for (index, layer) in view.layers.enumerated() where layer.level >= 0 && !layer.hasOwnList {
                guard policies[id]?[layer.id]?.goesFirst == goingFirst else { continue }
                var wishes = Wishes()
                policies[id]?[layer.id]?.appendWishes(
                    to: &wishes,
                    target: PlanTarget(
                        layer: layer.layer,
                        pyramid: layer.pyramid,
                        viewport: viewport,
                        level: layer.level,
                        needed: layer.needed,
                        destination: view.destination,
                        selection: view.selection
                    ),
                    context: context
                )
                all.append((id, index, wishes))
            }
        }
        return all
    }
}

extension Plan {
    /// Takes over what policies would like loaded and kept.
    fileprivate mutating func take(_ opinions: [Planner.Opinion]) {
        for (_, _, wishes) in opinions {
            entries += wishes.entries
            keepValues += wishes.keepValues
            recency.merge(wishes.recency)
            margin = max(margin, wishes.margin)
        }
    }
}
