/// What is drawn in place of missing tiles: coarse tiles that are loaded before the missing ones, and the last
/// fallbacks, kept for a view that jumps back.
struct Fallbacks: Sendable {
    /// Number of levels from the view to its fallbacks. One tile covers 1024, so that a few cover a session, and a
    /// view that jumps is seldom blank.
    static let levels = 5
    /// Worth of a fallback, above the worth of all probable tiles.
    static let worth: Float = 1
    /// Maximum number of the last fallbacks that are kept for a view that jumps back.
    static let fallbacksKept = 8
    /// Tiles of memory for each kept fallback: together at most a fiftieth of the memory.
    static let tilesPerFallback = 50

    /// The last fallbacks, newest first.
    private var last: [TileKey] = []
    private let loadsCoarser: Bool

    /// - Parameter loadsCoarser: Whether a coarser level comes first, if sharp tiles come late.
    init(loadsCoarser: Bool) { self.loadsCoarser = loadsCoarser }

    var byteCount: Int { last.count * MemoryLayout<TileKey>.stride }

    /// Adds a fallback for missing tiles, and fallbacks along the motion. The first comes before the needed tiles, the
    /// others after them.
    ///
    /// Each takes one load: the level is made coarser until one tile covers the whole gap. Four finer tiles would delay
    /// the sharp ones.
    ///
    /// - Parameters:
    ///   - numbers: Numbers of the needed tiles that are not resident, in ascending order.
    ///   - residencies: Those of the needed tiles.
    mutating func append(
        to wishes: inout Wishes,
        _ outlook: Outlook,
        missing numbers: [Int],
        residencies: [TileResidency],
        _ context: PlanContext
    ) {
        let target = outlook.target
        let level = max(target.level - Self.levels, 0)
        guard level < target.level else { return }
        let missing = numbers.map { target.needed[$0] }
        let ancestors = ResidentAncestors(of: missing, target: target, context: context)
        var known = Self.present(outlook, at: level, ancestors)
        // A fallback of a level that the source does not have takes the loads of all tiles under it.
        let first = context.firstLoadedLevel(ofLayer: target.layer)
        let canLoad = first < target.level
        if canLoad {
            let workers = context.workers
            let uncovered = UncoveredTiles(missing, numbers, ancestors, residencies, from: level, workers: workers)
            if let fallback = uncovered.fallback(upTo: first, target, context) {
                wishes.first.append(PlanEntry(key: fallback, value: .infinity, reason: .fallback))
            }
        }
        if loadsCoarser, missing.count > Self.turnsForCoarser * context.workers {
            let coarser = Self.coarserTiles(outlook, missing: missing, ancestors: ancestors, context: context)
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
            Self.appendAhead(to: &wishes, &known, outlook, from: level, upTo: first, context)
        }
        // Blank area after a jump back would last as long as a load.
        note(known, upTo: level, context)
        let most = context.capacityTiles / (Self.tilesPerFallback * context.policies)
        for key in last.prefix(most) where !known.contains(key) { known.append(key) }
        for key in known {
            wishes.keepValues.append(PlanEntry(key: key, value: Self.worth, reason: .prefetch))
        }
        // If a load under way were cancelled because few tiles are missing, it would begin again when more are missing.
        for key in underWay { wishes.first.append(PlanEntry(key: key, value: .infinity, reason: .fallback)) }
    }

    /// Fallbacks of the view, resident or not, and those that missing tiles have.
    private static func present(_ outlook: Outlook, at level: Int, _ ancestors: ResidentAncestors) -> [TileKey] {
        var known: [TileKey] = []
        known.reserveCapacity(2 * Self.fallbacksKept)
        outlook.forEachTile(at: level, in: outlook.view) { key, _ in
            if !known.contains(key) { known.append(key) }
        }
        for (place, ancestor) in ancestors.nearest.enumerated() {
            // The present fallback stays until the tile has landed. Neighbours have the same fallback.
            if let ancestor, place == 0 || ancestor != ancestors.nearest[place - 1], !known.contains(ancestor) {
                known.append(ancestor)
            }
        }
        return known
    }

    /// Adds fallbacks half way along the motion, and at its end, to the wishes and to the known ones.
    private static func appendAhead(
        to wishes: inout Wishes,
        _ known: inout [TileKey],
        _ outlook: Outlook,
        from level: Int,
        upTo first: Int,
        _ context: PlanContext
    ) {
        let (target, travel) = (outlook.target, outlook.travel)
        for share in [0.5, 1.0] {
            let ahead = outlook.view.offsetBy(
                x: (travel.left + travel.right) / 2 * share / outlook.scale,
                y: (travel.top + travel.bottom) / 2 * share / outlook.scale
            )
            // Mostly the fallback under the view covers that place too. In a world that wraps, it may end with the
            // world.
            if first <= level, !target.pyramid.wrapsX, let own = known.first, own.level == level,
                outlook.rectangle(of: own).encloses(ahead)
            {
                continue
            }
            let tiles = fewTiles(under: ahead, from: max(level, first), upTo: first, outlook)
            for key in tiles where !known.contains(key) {
                known.append(key)
                guard context.residency(key) == .none else { continue }
                wishes.entries.append(PlanEntry(key: key, value: Self.worth, reason: .prefetch))
            }
        }
    }

    /// Moves resident fallbacks to the front of the last ones.
    private mutating func note(_ tiles: [TileKey], upTo level: Int, _ context: PlanContext) {
        func isCoarse(_ key: TileKey) -> Bool { key.level <= level }
        // Most plans have one fallback, that of the plan before.
        guard tiles.count(where: isCoarse) > 1 || tiles.first(where: isCoarse) != last.first else { return }
        let coarse = tiles.filter(isCoarse)
        let found = context.residencies(of: coarse)
        var newest: [TileKey] = []
        for number in coarse.indices.reversed() where found[number].residency.isResident {
            if newest.count < Self.fallbacksKept { newest.append(coarse[number]) }
        }
        guard !last.starts(with: newest) else { return }
        last = Array((newest + last.filter { !newest.contains($0) }).prefix(Self.fallbacksKept))
    }

    /// The tile that covers a rectangle, at the finest level that has one, from the given level on. Up to four tiles at
    /// the coarsest level.
    private static func fewTiles(
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
}
