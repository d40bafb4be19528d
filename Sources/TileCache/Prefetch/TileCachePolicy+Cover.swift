/// Coarse tiles where there would be nothing to draw, and needed tiles that are not worth a load any more.
extension TileCachePolicy {
    /// Levels between the view's and the one that stands in where nothing is resident: one tile covers 256, so that a
    /// view is covered by a load or two. MapLibre's figure, and the best of 2, 3, 4 and 5 on `trackpad_wheel`.
    static let coverDelta = 4
    /// What a stand-in is worth, over all that is only likely.
    static let coverWorth: Float = 1
    /// Loads of needed tiles that will leave the view sooner than this many seconds after they land are not started,
    /// while loads cannot keep up.
    static let leastStay = 0.1

    /// Stand-ins for what is missing now go before the needed tiles, those for where the view is going after them.
    mutating func appendCover(to plan: inout Plan, outlook: Outlook, context: PlanContext) {
        let target = outlook.target
        let level = max(target.level - Self.coverDelta, 0)
        guard level < target.level else { return }
        var known: [TileKey] = []
        outlook.forEachTile(at: level, in: outlook.view) { key, _ in
            if !known.contains(key) { known.append(key) }
        }
        for (key, residency) in zip(target.needed, context.residencies(target.needed)) where residency == .none {
            guard let ancestor = target.pyramid.ancestor(of: key.coordinate, at: level),
                !hasResidentAncestor(key.coordinate, target, context)
            else { continue }
            let cover = TileKey(layer: target.layer, ancestor)
            if !plan.first.contains(where: { $0.key == cover }) {
                plan.first.append(PlanEntry(key: cover, value: .infinity, reason: .cover))
            }
        }
        if outlook.travel.isMoving {
            for share in [0.5, 1] {
                let ahead = outlook.view.offsetBy(
                    x: (outlook.travel.left + outlook.travel.right) / 2 * share / outlook.scale,
                    y: (outlook.travel.top + outlook.travel.bottom) / 2 * share / outlook.scale
                )
                outlook.forEachTile(at: level, in: ahead) { key, _ in
                    guard !known.contains(key) else { return }
                    known.append(key)
                    guard context.residency(key) == .none, !hasResidentAncestor(key.coordinate, target, context) else {
                        return
                    }
                    plan.entries.append(PlanEntry(key: key, value: Self.coverWorth, reason: .prefetch))
                }
            }
        }
        for key in known {
            plan.keepValues.append(PlanEntry(key: key, value: Self.coverWorth, reason: .prefetch))
        }
    }

    private func hasResidentAncestor(_ tile: TileCoordinate, _ target: PlanTarget, _ context: PlanContext) -> Bool {
        for level in stride(from: tile.level - 1, through: 0, by: -1) {
            guard let ancestor = target.pyramid.ancestor(of: tile, at: level) else { return false }
            if context.residency(TileKey(layer: target.layer, ancestor)).isResident { return true }
        }
        return false
    }

    /// Needed tiles that will have left before a load could land.
    func appendHopeless(to plan: inout Plan, outlook: Outlook) {
        guard outlook.travel.isMoving else { return }
        let target = outlook.target
        let least = outlook.latency + (outlook.isSaturated ? Self.leastStay : 0)
        for key in target.needed {
            var tile = target.pyramid.uncutRectangle(of: key.coordinate)
            if target.pyramid.wrapsX {
                let period = target.pyramid.worldWidth
                let copies = ((target.viewport.center.x - (tile.minX + tile.maxX) / 2) / period).rounded()
                tile = tile.offsetBy(x: copies * period, y: 0)
            }
            if EdgeTravel.time(forShare: outlook.travel.exit(of: tile)) < least { plan.hopeless.append(key) }
        }
    }
}
