/// Snapshot of a view for a planner.
struct ViewSnapshot: Sendable {
    struct Layer: Sendable {
        var id: LayerID
        var layer: Int { id.index }
        var pyramid: TilePyramid
        /// How the view chooses the layer's levels, with their bias.
        var selection = TileLevelSelection()
        var level: Int
        var needed: [TileKey]
        /// Whether the renderer lists the needed tiles itself, so that nothing can be predicted.
        var hasOwnList: Bool
        /// Needed tiles that are absent or have failed for good.
        var gaps: [TileCoordinate] = []
        /// Importance of each needed tile, if the renderer sets it; otherwise empty.
        var importance: [Float] = []
        var observations: [FrameObservation]
        /// Level whose tiles have room at the view's destination; `nil` for the one that the selection chooses.
        var destinationLevel: Int?
    }

    var viewport: TileViewport?
    var destination: ViewportDestination?
    /// Rings of tiles around what shows that the host wants too.
    var margin = 0
    var layers: [Layer]
}

/// Makes one plan for all views: needed tiles, then prefetches. Only urgent prefetches come first. If several layers need
/// tiles, each has a lane of its own, and the pool divides the workers' time among them (`LayerTurns`).
struct Planner: Sendable {
    /// Policies by view and layer.
    var policies: [Int: [LayerID: any PrefetchPolicy]] = [:]

    /// Passes frames to the policies, and makes a plan of their wishes. The frames are those since the last plan.
    ///
    /// - Parameters:
    ///   - views: Snapshots by serial number, in that order.
    ///   - wanted: Tiles that are wanted by themselves, by rank.
    mutating func makePlan(
        of views: [(id: Int, snapshot: ViewSnapshot)],
        wanted: [WantedTile] = [],
        context: PlanContext
    ) -> Plan {
        var plan = Plan()
        plan.time = context.now
        plan.followsNeeds = true
        let (early, late) = wishes(of: views, context: context)
        plan.take(early)
        plan.reserve(for: late, and: views)
        var rest = wanted[...]
        for rank in Rank.allCases {
            while let tile = rest.first, tile.rank == rank {
                plan.append(rest.removeFirst(), context)
            }
            switch rank {
            case .pin, .fetch, .asked: break
            // By index: an element as a whole would be copied.
            case .fallback: for opinion in late.indices { plan.entries += late[opinion].wishes.first }
            case .demand: plan.appendNeeds(of: views, late)
            case .ancestor: for view in views.indices { plan.appendAncestors(in: views[view].snapshot, context) }
            case .margin:
                for view in views.indices where views[view].snapshot.margin > 0 {
                    for key in views[view].snapshot.marginTiles {
                        plan.append(WantedTile(key: key, rank: rank), context)
                    }
                }
            case .destination:
                for view in views.indices where views[view].snapshot.destination != nil {
                    plan.appendDestination(of: views[view].snapshot, context)
                }
            case .prefetch: plan.appendGuesses(late, areMerged: views.reduce(0) { $0 + $1.snapshot.layers.count } > 1)
            }
        }
        assert(rest.isEmpty, "tiles that are wanted by themselves come by rank")
        plan.divide()
        return plan
    }

    /// Resets policies until they hold at most `bytes`. Starts with views that have not moved since the last plan.
    ///
    /// - Returns: Bytes held afterwards.
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

    /// How long a plan holds: as long as the wishes of all policies. It does not if a view has a destination, nor while
    /// views go on if it leaves needed tiles out: these are loaded once the view slows down.
    func validity(of plan: borrowing Plan, on views: [(id: Int, snapshot: ViewSnapshot)]) -> WishValidity {
        var validity: WishValidity = [.onceRested, .whileStill, .whileGoingOn]
        for (id, view) in views where view.viewport != nil {
            guard view.destination == nil, !view.layers.contains(where: { $0.hasOwnList }) else { return [] }
            for layer in view.layers {
                if let policy = policies[id]?[layer.id] { validity.formIntersection(policy.validity) }
            }
        }
        return plan.leavesNeedsOut ? validity.subtracting(.whileGoingOn) : validity
    }

    /// Wishes of the policy of one layer in one view.
    fileprivate typealias Opinion = (view: Int, index: Int, wishes: Wishes)

    /// Passes frames to the policies, and collects their wishes. The frames are those since the last plan. Returns the
    /// wishes that come first, and the others.
    private mutating func wishes(
        of views: [(id: Int, snapshot: ViewSnapshot)],
        context: PlanContext
    ) -> (early: [Opinion], late: [Opinion]) {
        var (early, late) = ([Opinion](), [Opinion]())
        // Of a list of the renderer's own no policy is asked.
        let policies = views.indices.reduce(0) { count, view in
            views[view].snapshot.viewport == nil ? count : count + views[view].snapshot.layers.count
        }
        for view in views.indices {
            for index in views[view].snapshot.layers.indices {
                var wishes = Wishes()
                let goesFirst = ask(
                    on: index,
                    of: views[view].snapshot,
                    id: views[view].id,
                    policies: policies,
                    context: context,
                    wishes: &wishes
                )
                guard let goesFirst else { continue }
                let opinion: Opinion = (views[view].id, index, consume wishes)
                if goesFirst { early.append(opinion) } else { late.append(opinion) }
            }
        }
        return (early, late)
    }

    /// Passes the frames to the policy of one layer, and takes its wishes. Returns whether they come first; `nil` if the
    /// policy is not asked.
    private mutating func ask(
        on index: Int,
        of view: ViewSnapshot,
        id: Int,
        policies count: Int,
        context: PlanContext,
        wishes: inout Wishes
    ) -> Bool? {
        let layer = view.layers[index]
        let allowance = context.allowance(ofLayer: layer.layer)
        var target: PlanTarget?
        if let viewport = view.viewport, layer.level >= 0, !layer.hasOwnList {
            target = PlanTarget(
                layer: layer.layer,
                pyramid: layer.pyramid,
                viewport: viewport,
                level: layer.level,
                needed: layer.needed,
                destination: view.destination,
                destinationLevel: layer.destinationLevel,
                selection: layer.selection
            )
        }
        let layerContext = context.with(allowance, ofLayer: layer.layer, policies: count)
        // One access to the policy, by indexes: a change by keys takes memory six times.
        guard let place = policies.index(forKey: id), let own = policies.values[place].index(forKey: layer.id) else {
            return nil
        }
        let goesFirst = policies.values[place].values[own].answer(layer.observations, target, layerContext, &wishes)
        context.admit(&wishes.entries, by: allowance)
        context.admit(&wishes.first, by: allowance)
        context.admit(&wishes.urgent, by: allowance)
        return goesFirst
    }
}

extension PrefetchPolicy {
    /// Learns from frames, and adds the wishes for a target. Returns whether they come first; `nil` without a target.
    fileprivate mutating func answer(
        _ observations: [FrameObservation],
        _ target: PlanTarget?,
        _ context: PlanContext,
        _ wishes: inout Wishes
    ) -> Bool? {
        for observation in observations { observe(observation) }
        guard let target else { return nil }
        appendWishes(to: &wishes, target: target, context: context)
        return goesFirst
    }
}

extension ViewSnapshot {
    /// Tiles around the upright bounds of what shows, ring by ring.
    fileprivate var marginTiles: [TileKey] {
        guard margin > 0, let viewport else { return [] }
        var tiles: [TileKey] = []
        for layer in layers where layer.level >= 0 && !layer.hasOwnList {
            let level = layer.pyramid.levels[layer.level]
            let (width, height) = (level.tileSpanX, level.tileSpanY)
            let box = ViewportCover(pyramid: layer.pyramid, viewport: viewport, levelIndex: layer.level).inner
            let around = box.grown(x: Double(margin) * width, y: Double(margin) * height)
            var known = Set(layer.needed)
            var rings = [[TileKey]](repeating: [], count: margin)
            ViewportCover(pyramid: layer.pyramid, rectangle: around, levelIndex: layer.level)
                .forEach { column, row, offset in
                    let tile = TileCoordinate(level: layer.level, column: column, row: row)
                    let key = TileKey(layer: layer.layer, tile)
                    guard known.insert(key).inserted else { return true }
                    let (x, y) = (
                        level.origin.x + Double(column) * width + offset, level.origin.y + Double(row) * height
                    )
                    let gaps = [
                        (box.minX - x - width) / width, (x - box.maxX) / width,
                        (box.minY - y - height) / height, (y - box.maxY) / height,
                    ]
                    // Far from the origin rounding makes a gap as wide as a step between two numbers.
                    rings[clampedInteger(gaps.max() ?? 0, below: margin)].append(key)
                    return true
                }
            tiles += rings.joined()
        }
        return tiles
    }
}

extension [TileKey] {
    /// The tiles without some of them, which come in the same order.
    fileprivate func without(_ others: [TileKey]) -> [TileKey] {
        guard !others.isEmpty else { return self }
        var rest = others[...]
        return filter { key in
            let isOther = key == rest.first
            if isOther { rest.removeFirst() }
            return !isOther
        }
    }
}

extension Plan {
    /// Appends a tile by its rank alone.
    fileprivate mutating func append(_ tile: WantedTile, _ context: PlanContext) {
        let rank = tile.rank
        let isForDrawing = rank != .pin && rank != .asked
        var entry = PlanEntry(key: tile.key, value: rank.value, reason: rank, wantsDecoded: isForDrawing)
        if rank == .asked { entry.isNear = !tile.needsSource && (context.isNear?(tile.key) ?? false) }
        entries.append(entry)
    }

    /// Appends the needed tiles of each view, after the urgent prefetches of its policies.
    fileprivate mutating func appendNeeds(
        of views: [(id: Int, snapshot: ViewSnapshot)],
        _ opinions: [Planner.Opinion]
    ) {
        for view in views.indices {
            let id = views[view].id
            for opinion in opinions.indices where opinions[opinion].view == id {
                entries += opinions[opinion].wishes.urgent
            }
            let firstNeed = entries.count
            for index in views[view].snapshot.layers.indices {
                let opinion = opinions.indices.first { opinions[$0].view == id && opinions[$0].index == index }
                let (order, hopeless) =
                    opinion.map { (opinions[$0].wishes.needed, opinions[$0].wishes.hopeless) } ?? ([], [])
                leavesNeedsOut = leavesNeedsOut || !hopeless.isEmpty
                let needed = views[view].snapshot.layers[index].needed
                entries += (order.isEmpty ? needed.without(hopeless) : order).lazy.map {
                    PlanEntry(key: $0, value: .infinity, reason: .demand, wantsDecoded: true)
                }
            }
            if views[view].snapshot.layers.count > 1 { orderByImportance(views[view].snapshot, from: firstNeed) }
        }
    }

    /// Orders the needed tiles of all layers by the importance that the renderer sets.
    private mutating func orderByImportance(_ view: ViewSnapshot, from first: Int) {
        guard view.layers.contains(where: { $0.hasOwnList }) else { return }
        let importance = view.layers.flatMap { $0.hasOwnList ? $0.importance : $0.needed.map { _ in 1 } }
        guard importance.count == entries.count - first else { return }
        let order = importance.indices.sorted {
            (importance[$1], $0) < (importance[$0], $1)
        }
        let former = entries
        for (place, index) in order.enumerated() { entries[first + place] = former[first + index] }
    }

    /// Appends the tiles of the declared destination, a coarser level first as fallback.
    fileprivate mutating func appendDestination(of view: ViewSnapshot, _ context: PlanContext) {
        guard let destination = view.destination, destination.isAhead(at: context.now) else { return }
        for layer in view.layers where !layer.hasOwnList {
            var own = Plan()
            // Within the hysteresis the view keeps its level.
            let scale = destination.viewport.scale
            let level =
                layer.destinationLevel
                ?? layer.selection.level(for: scale, in: layer.pyramid, previous: layer.level)
            let hasFallback = level - 2 >= context.firstLoadedLevel(ofLayer: layer.layer)
            for level in hasFallback ? [level - 2, level] : [level] {
                for tile in layer.pyramid.neededTiles(under: destination.viewport, at: level) {
                    own.append(WantedTile(key: TileKey(layer: layer.layer, tile), rank: .destination), context)
                }
            }
            context.admit(&own.entries, by: context.allowance(ofLayer: layer.layer))
            entries += own.entries
        }
    }

    /// Appends the wishes of policies. One policy orders its own; those of several are merged by worth.
    fileprivate mutating func appendGuesses(_ opinions: [Planner.Opinion], areMerged: Bool) {
        let first = entries.count
        take(opinions)
        guard areMerged else { return }
        let merged = entries[first...].enumerated()
            .sorted { ($1.element.value, $0.offset) < ($0.element.value, $1.offset) }
        entries.replaceSubrange(first..., with: merged.map(\.element))
    }

    /// Appends what is drawn for good in place of needed tiles that will not come. Under any effort and allowance, since
    /// it is no guess.
    fileprivate mutating func appendAncestors(in view: ViewSnapshot, _ context: PlanContext) {
        for layer in view.layers where !layer.gaps.isEmpty {
            let ancestors = GapAncestors(
                of: layer.gaps,
                layer: layer.layer,
                in: layer.pyramid,
                from: context.firstLoadedLevel(ofLayer: layer.layer),
                lookUp: context.residencies
            )
            for key in ancestors.tiles { append(WantedTile(key: key, rank: .ancestor), context) }
        }
    }

    /// Reserves memory for the needed tiles and the wishes of policies.
    fileprivate mutating func reserve(
        for opinions: [Planner.Opinion],
        and views: [(id: Int, snapshot: ViewSnapshot)]
    ) {
        let needed = views.indices.reduce(0) { count, view in
            views[view].snapshot.layers.indices.reduce(count) { $0 + views[view].snapshot.layers[$1].needed.count }
        }
        let wished = opinions.indices.reduce(0) { $0 + opinions[$1].wishes.entries.count }
        entries.reserveCapacity(entries.count + needed + wished)
    }

    /// Appends the wishes of policies.
    fileprivate mutating func take(_ opinions: [Planner.Opinion]) {
        for opinion in opinions.indices {
            entries += opinions[opinion].wishes.entries
            // One policy's are not copied.
            if keepValues.isEmpty {
                keepValues = opinions[opinion].wishes.keepValues
            } else {
                keepValues += opinions[opinion].wishes.keepValues
            }
            // All policies with a table have the same.
            if recency.worths.isEmpty { recency = opinions[opinion].wishes.recency }
            margin = max(margin, opinions[opinion].wishes.margin)
        }
    }
}
