/// Missing tiles whose fallback is to be loaded.
struct UncoveredTiles {
    /// Tiles without any fallback, and with a much coarser one: of that, a view shows hardly more than a colour.
    private var bare: [TileCoordinate] = []
    private var coarse: [TileCoordinate] = []
    /// The finest level of fallbacks, and the coarsest one that a tile has.
    private let level: Int
    private var coarsest: Int

    /// - Parameters:
    ///   - missing: Needed tiles that are not resident.
    ///   - numbers: Their numbers among the needed ones.
    ///   - ancestors: Their nearest resident ancestors.
    ///   - residencies: Those of the needed tiles.
    ///   - level: The finest level of fallbacks.
    init(
        _ missing: [TileKey],
        _ numbers: [Int],
        _ ancestors: ResidentAncestors,
        _ residencies: [TileResidency],
        from level: Int,
        workers: Int
    ) {
        (self.level, coarsest) = (level, level)
        for (place, number) in numbers.enumerated() {
            let ancestor = ancestors.nearest[place]
            // All workers together load a few tiles as soon as a fallback, unless no load brings them.
            guard (ancestor?.level ?? -1) < level, missing.count > workers || residencies[number].isUnavailable else {
                continue
            }
            if let ancestor {
                coarse.append(missing[place].coordinate)
                coarsest = min(coarsest, ancestor.level)
            } else {
                bare.append(missing[place].coordinate)
            }
        }
    }

    /// The one fallback to load; `nil` if there is none, or none that is finer than what is there.
    ///
    /// - Parameter first: The coarsest level that the source has.
    func fallback(upTo first: Int, _ target: PlanTarget, _ context: PlanContext) -> TileKey? {
        if let fallback = commonAncestor(of: bare, upTo: first, target, context) { return fallback }
        guard let fallback = commonAncestor(of: coarse, upTo: first, target, context) else { return nil }
        return fallback.level > coarsest ? fallback : nil
    }

    /// Finest tile, from the level on, that covers all tiles. At the coarsest level the first one that covers some. Tiles
    /// that will not come are passed over.
    private func commonAncestor(
        of tiles: [TileCoordinate],
        upTo coarsest: Int,
        _ target: PlanTarget,
        _ context: PlanContext
    ) -> TileKey? {
        guard let worst = tiles.first else { return nil }
        var (first, last) = (worst, worst)
        // Column and row of an ancestor are independent, so two corners suffice.
        for tile in tiles {
            first.column = min(first.column, tile.column)
            first.row = min(first.row, tile.row)
            last.column = max(last.column, tile.column)
            last.row = max(last.row, tile.row)
        }
        var covers: [TileKey] = []
        for level in stride(from: level, to: coarsest, by: -1) {
            guard let ancestor = target.pyramid.ancestor(of: first, at: level),
                target.pyramid.ancestor(of: last, at: level) == ancestor, target.pyramid.hasTile(ancestor)
            else { continue }
            covers.append(TileKey(layer: target.layer, ancestor))
        }
        // Several tiles of that level may cover the world.
        for tile in tiles {
            guard let root = target.pyramid.ancestor(of: tile, at: coarsest), target.pyramid.hasTile(root) else {
                continue
            }
            let key = TileKey(layer: target.layer, root)
            if !covers.contains(key) { covers.append(key) }
        }
        return zip(covers, context.residencies(of: covers)).first { !$1.isUnavailable }?.0
    }
}
