/// Fallbacks, the order of needed tiles, and needed tiles not worth a load.
extension AdaptivePolicy {
    /// Number of levels from the view to its fallbacks. One tile covers 1024, so that a few cover a session. With 2, 3,
    /// 4 and 5, the blank area of `starcraft_view` at 4 screens is 3842, 3010, 1988 and 180 million pixel-milliseconds;
    /// no other figure depends on it.
    static let fallbackDelta = 5
    /// Worth of a fallback, above that of all probable tiles.
    static let fallbackWorth: Float = 1
    /// Maximum number of the last fallbacks that are kept for a view that jumps back.
    static let fallbacksKept = 8
    /// Tiles of memory for each of them. With 32, `immens_map` hits .004 less at 2 screens.
    static let tilesPerFallback = 50
    /// Minimum time in view after landing, in seconds, while loads cannot keep up. Loads of needed tiles that leave the
    /// view sooner are not started. At 0, 0.1 and 0.2, `trackpad_wheel` hit .128, .277 and .319 when this was chosen;
    /// no other source moves so fast.
    static let leastStay = 0.2

    /// Adds a fallback for missing tiles, and fallbacks along the motion. The first comes before the needed tiles, the
    /// others after them.
    ///
    /// One load each: the level is made coarser until one tile covers the whole gap. Four finer tiles delay the sharp
    /// ones: with one, `trackpad_wheel` has .02 more hits and `balabit_drag` 15 % less time with fallbacks.
    mutating func appendFallbacks(
        to wishes: inout Wishes,
        outlook: Outlook,
        missing numbers: [Int],
        residencies: [TileResidency],
        context: PlanContext
    ) {
        let target = outlook.target
        let level = max(target.level - Self.fallbackDelta, 0)
        guard level < target.level else { return }
        var known: [TileKey] = []
        known.reserveCapacity(2 * Self.fallbacksKept)
        outlook.forEachTile(at: level, in: outlook.view) { key, _ in
            if !known.contains(key) { known.append(key) }
        }
        let missing = numbers.map { target.needed[$0] }
        let ancestors = ResidentAncestors(of: missing, target: target, context: context)
        // Missing tiles without any fallback, and with a much coarser one: of that, a view shows hardly more than a colour.
        var (gap, coarse): ([TileCoordinate], [TileCoordinate]) = ([], [])
        var coarsest = level
        // One of a level that the source does not have takes the loads of all tiles under it.
        let first = context.firstLoadedLevel(ofLayer: target.layer)
        let canLoad = first < target.level
        for (place, number) in numbers.enumerated() {
            let ancestor = ancestors.nearest[place]
            // The present fallback stays until the tile has landed. Neighbours have the same.
            if let ancestor, place == 0 || ancestor != ancestors.nearest[place - 1], !known.contains(ancestor) {
                known.append(ancestor)
            }
            // All workers together load a few tiles as soon as a fallback, unless no load brings them.
            guard canLoad, (ancestor?.level ?? -1) < level,
                missing.count > context.workers || residencies[number].isUnavailable
            else { continue }
            if let ancestor {
                coarse.append(missing[place].coordinate)
                coarsest = min(coarsest, ancestor.level)
            } else {
                gap.append(missing[place].coordinate)
            }
        }
        let ofGap = Self.commonAncestor(of: gap, from: level, upTo: first, target, context)
        let ofCoarse = ofGap == nil ? Self.commonAncestor(of: coarse, from: level, upTo: first, target, context) : nil
        if let fallback = ofGap ?? ofCoarse.flatMap({ $0.level > coarsest ? $0 : nil }) {
            wishes.first.append(PlanEntry(key: fallback, value: .infinity, reason: .fallback))
        }
        if effects.contains(.coarser), missing.count > Self.turnsForCoarser * context.workers {
            let coarser = coarserTiles(outlook, missing: missing, ancestors: ancestors, context: context)
            for key in coarser where wishes.first.first?.key != key {
                wishes.first.append(PlanEntry(key: key, value: .infinity, reason: .fallback))
            }
        }
        let underWay = ancestors.loading.filter { key in
            key.level <= max(level, first) && !wishes.first.contains { $0.key == key }
                && zip(missing, ancestors.nearest).contains { tile, nearest in
                    (nearest?.level ?? -1) < key.level
                        && target.pyramid.ancestor(of: tile.coordinate, at: key.level) == key.coordinate
                }
        }
        if !ancestors.compressed.isEmpty {
            // Before the loads, which take longer.
            wishes.first.insert(
                contentsOf: ancestors.compressed.map {
                    PlanEntry(key: $0, value: .infinity, reason: .fallback, wantsDecoded: true)
                },
                at: 0
            )
        }
        for entry in wishes.first where !known.contains(entry.key) { known.append(entry.key) }
        if outlook.travel.isMoving, canLoad {
            for share in [0.5, 1.0] {
                let ahead = outlook.view.offsetBy(
                    x: (outlook.travel.left + outlook.travel.right) / 2 * share / outlook.scale,
                    y: (outlook.travel.top + outlook.travel.bottom) / 2 * share / outlook.scale
                )
                // Mostly, the tile under the view reaches that far. Around the world, the last one may end with the world.
                if first <= level, !target.pyramid.wrapsX, let own = known.first, own.level == level,
                    outlook.rectangle(of: own).encloses(ahead)
                {
                    continue
                }
                let tiles = fewTiles(under: ahead, from: max(level, first), upTo: first, outlook)
                for key in tiles where !known.contains(key) {
                    known.append(key)
                    guard context.residency(key) == .none else { continue }
                    wishes.entries.append(PlanEntry(key: key, value: Self.fallbackWorth, reason: .prefetch))
                }
            }
        }
        // Blank area after a jump back would last as long as a load.
        noteFallbacks(known, upTo: level, context)
        let most = context.capacityTiles / (Self.tilesPerFallback * context.policies)
        for key in fallbacks.prefix(most) where !known.contains(key) { known.append(key) }
        for key in known {
            wishes.keepValues.append(PlanEntry(key: key, value: Self.fallbackWorth, reason: .prefetch))
        }
        // If one were cancelled because few tiles are missing, it would begin again when more are.
        for key in underWay { wishes.first.append(PlanEntry(key: key, value: .infinity, reason: .fallback)) }
    }

    /// Moves resident fallbacks to the front of the last ones.
    private mutating func noteFallbacks(_ tiles: [TileKey], upTo level: Int, _ context: PlanContext) {
        func isCoarse(_ key: TileKey) -> Bool { key.level <= level }
        // Most plans have one, that of the plan before.
        guard tiles.count(where: isCoarse) > 1 || tiles.first(where: isCoarse) != fallbacks.first else { return }
        let coarse = tiles.filter(isCoarse)
        let found = context.residencies(of: coarse)
        var newest: [TileKey] = []
        for number in coarse.indices.reversed() where found[number].residency.isResident {
            if newest.count < Self.fallbacksKept { newest.append(coarse[number]) }
        }
        guard !fallbacks.starts(with: newest) else { return }
        fallbacks = Array((newest + fallbacks.filter { !newest.contains($0) }).prefix(Self.fallbacksKept))
    }

    /// Finest tile, from a level on, that covers all tiles. At the coarsest level the first one that covers some. Tiles that
    /// will not come are passed over.
    private static func commonAncestor(
        of tiles: [TileCoordinate],
        from level: Int,
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

    /// The tile that covers a rectangle at the finest level from the given one on. Up to four at the coarsest.
    private func fewTiles(
        under rectangle: PixelRect,
        from level: Int,
        upTo coarsest: Int,
        _ outlook: Outlook
    ) -> [TileKey] {
        var tiles: [TileKey] = []
        tiles.reserveCapacity(4)
        let level =
            stride(from: level, to: coarsest, by: -1).first { outlook.hasOneTile(at: $0, in: rectangle) } ?? coarsest
        outlook.forEachTile(at: level, in: rectangle) { key, _ in if tiles.count < 4 { tiles.append(key) } }
        return tiles
    }

    /// Orders missing tiles by the area they show, now and when they land. Leaves the hopeless ones out.
    ///
    /// - Parameters:
    ///   - missing: Numbers of the needed tiles that are not resident, in ascending order.
    ///   - hopeless: Numbers of those that are not worth a load, in ascending order.
    func appendNeeded(to wishes: inout Wishes, outlook: Outlook, missing: [Int], hopeless: [Int]) {
        // Otherwise the order of the screen will do.
        guard !missing.isEmpty else { return }
        let (needed, view, landing) = (outlook.target.needed, outlook.view, outlook.landing)
        var sides = TileSides<(view: Double, landing: Double), (view: Double, landing: Double)>()
        func area(_ width: Double, _ height: Double) -> Double { width > 0 && height > 0 ? width * height : 0 }
        var loads: [(area: Double, number: Int)] = []
        loads.reserveCapacity(missing.count)
        wishes.needed.reserveCapacity(needed.count)
        var (nextMissing, nextHopeless) = (0, 0)
        for number in needed.indices {
            let isMissing = nextMissing < missing.count && missing[nextMissing] == number
            if isMissing { nextMissing += 1 }
            if nextHopeless < hopeless.count, hopeless[nextHopeless] == number {
                nextHopeless += 1
                continue
            }
            let key = needed[number]
            guard isMissing else {
                wishes.needed.append(key)
                continue
            }
            var shown: PixelRect { outlook.rectangle(of: key).intersection(view) }
            var landed: PixelRect { outlook.rectangle(of: key).intersection(landing) }
            let (column, row) = sides.find(
                key.coordinate,
                column: (shown.width, landed.width),
                row: (shown.height, landed.height)
            )
            loads.append((area(column.view, row.view) + area(column.landing, row.landing), number))
        }
        // Stable: tiles with equal areas keep the order of the screen.
        loads.sort { ($1.area, $0.number) < ($0.area, $1.number) }
        for (_, number) in loads { wishes.needed.append(needed[number]) }
    }

    /// Numbers of the needed tiles that will be out of view before their load lands, in ascending order.
    func hopelessTiles(_ outlook: Outlook) -> [Int] {
        guard outlook.travel.isMoving else { return [] }
        let (target, travel) = (outlook.target, outlook.travel)
        let (across, down) = (travel.across, travel.down)
        let least = outlook.latency + (outlook.isSaturated ? Self.leastStay : 0)
        var sides = TileSides<Double, Double>()
        func isHopeless(_ key: TileKey) -> Bool {
            var tile: PixelRect { outlook.rectangle(of: key) }
            let (column, row) = sides.find(
                key.coordinate,
                column: across.exit(from: tile.minX, to: tile.maxX),
                row: down.exit(from: tile.minY, to: tile.maxY)
            )
            return travel.time(forShare: min(column, row)) < least
        }
        // Of a rectangle of tiles, the first or the last column or row leaves first. Two opposite corners are of all four.
        if shown?.count == target.needed.count, !target.pyramid.wrapsX, let first = target.needed.first,
            let last = target.needed.last, !isHopeless(first), !isHopeless(last)
        {
            return []
        }
        return target.needed.indices.filter { isHopeless(target.needed[$0]) }
    }
}
