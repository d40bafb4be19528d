/// Coarse tiles where there would be nothing to draw, and needed tiles that are not worth a load any more.
extension AdaptivePolicy {
    /// Levels between the view's and the one that stands in where nothing is resident: one tile covers 1024, so that a few
    /// of them cover all that a session sees. Of 2, 3, 4 and 5 the blank of `starcraft_view` at 4 screens falls from 3842
    /// over 3010 and 1988 to 180 million pixel-milliseconds; no other figure depends on it.
    static let coverDelta = 5
    /// What a stand-in is worth, over all that is only likely.
    static let coverWorth: Float = 1
    /// Loads of needed tiles that will leave the view sooner than this many seconds after they land are not started,
    /// while loads cannot keep up. At 0, 0.1 and 0.2 `trackpad_wheel` hits .128, .277 and .319; no other source has views
    /// so fast.
    static let leastStay = 0.2

    /// A stand-in for what is missing now goes before the needed tiles, those for where the view is going after them.
    ///
    /// One load each time: levels are passed until one tile covers the whole gap. Four tiles of the finer level kept the
    /// sharp ones waiting: with one, `trackpad_wheel` has .02 more hits and `balabit_drag` 15 % less stand-in time.
    mutating func appendCover(
        to wishes: inout Wishes,
        outlook: Outlook,
        standings: [TileStanding],
        context: PlanContext
    ) {
        let target = outlook.target
        let level = max(target.level - Self.coverDelta, 0)
        guard level < target.level else { return }
        var known: [TileKey] = []
        outlook.forEachTile(at: level, in: outlook.view) { key, _ in
            if !known.contains(key) { known.append(key) }
        }
        let absent = zip(target.needed, standings).filter { $1.residency == .none }.map(\.0.coordinate)
        var ancestors = ResidentAncestors(of: absent, target: target, context: context)
        var gap: [TileCoordinate] = []
        var missing = 0
        for (key, standing) in zip(target.needed, standings) where standing.residency == .none {
            missing += 1
            guard let ancestor = ancestors.nearest(of: key.coordinate) else {
                gap.append(key.coordinate)
                continue
            }
            // What stands in now stays until what it stands in for has come.
            if !known.contains(ancestor) { known.append(ancestor) }
        }
        // What all workers together bring in one turn is there as soon as its stand-in would be.
        if missing > context.workers, let cover = commonAncestor(of: gap, from: level, target) {
            wishes.first.append(PlanEntry(key: cover, value: .infinity, reason: .cover))
            if !known.contains(cover) { known.append(cover) }
        }
        if outlook.travel.isMoving {
            for share in [0.5, 1] {
                let ahead = outlook.view.offsetBy(
                    x: (outlook.travel.left + outlook.travel.right) / 2 * share / outlook.scale,
                    y: (outlook.travel.top + outlook.travel.bottom) / 2 * share / outlook.scale
                )
                for key in fewTiles(under: ahead, from: level, outlook) where !known.contains(key) {
                    known.append(key)
                    guard context.residency(key) == .none, ancestors.nearest(of: key.coordinate) == nil else {
                        continue
                    }
                    wishes.entries.append(PlanEntry(key: key, value: Self.coverWorth, reason: .prefetch))
                }
            }
        }
        for key in known {
            wishes.keepValues.append(PlanEntry(key: key, value: Self.coverWorth, reason: .prefetch))
        }
    }

    /// The finest tile from a level on that covers all of some tiles; of several at level 0, the first one's.
    private func commonAncestor(of tiles: [TileCoordinate], from level: Int, _ target: PlanTarget) -> TileKey? {
        guard var first = tiles.first else { return nil }
        var last = first
        // An ancestor's column depends on the column alone and its row on the row, so two corners speak for all.
        for tile in tiles {
            first.column = min(first.column, tile.column)
            first.row = min(first.row, tile.row)
            last.column = max(last.column, tile.column)
            last.row = max(last.row, tile.row)
        }
        for level in stride(from: level, through: 0, by: -1) {
            guard let ancestor = target.pyramid.ancestor(of: first, at: level) else { continue }
            if level == 0 || target.pyramid.ancestor(of: last, at: level) == ancestor {
                return TileKey(layer: target.layer, ancestor)
            }
        }
        return nil
    }

    /// The one tile that covers a rectangle at the finest level from the given one on; a few at level 0.
    private func fewTiles(under rectangle: PixelRect, from level: Int, _ outlook: Outlook) -> [TileKey] {
        var tiles: [TileKey] = []
        for level in stride(from: level, through: 0, by: -1) {
            tiles.removeAll(keepingCapacity: true)
            outlook.forEachTile(at: level, in: rectangle) { key, _ in if tiles.count < 4 { tiles.append(key) } }
            if tiles.count <= 1 { break }
        }
        return tiles
    }

    /// Of the missing tiles the one that shows the most comes first: a corner of a tile can wait.
    ///
    /// What it shows now and what it will show when it lands count alike.
    func appendNeeded(to wishes: inout Wishes, outlook: Outlook, standings: [TileStanding]) {
        var landing = outlook.view
        if outlook.travel.isMoving {
            let share = outlook.latency / (outlook.latency + outlook.travel.decay) / outlook.scale
            landing.minX += outlook.travel.left * share
            landing.maxX += outlook.travel.right * share
            landing.minY += outlook.travel.top * share
            landing.maxY += outlook.travel.bottom * share
        }
        var missing: [(area: Double, number: Int)] = []
        for (number, key) in outlook.target.needed.enumerated() {
            guard standings[number].residency == .none else {
                wishes.needed.append(key)
                continue
            }
            let tile = outlook.rectangle(of: key)
            missing.append((tile.intersection(outlook.view).area + tile.intersection(landing).area, number))
        }
        // Stable: tiles that show as much keep the order of the screen.
        missing.sort { ($1.area, $0.number) < ($0.area, $1.number) }
        for (_, number) in missing { wishes.needed.append(outlook.target.needed[number]) }
    }

    /// Needed tiles that will have left before a load could land.
    func appendHopeless(to wishes: inout Wishes, outlook: Outlook) {
        guard outlook.travel.isMoving else { return }
        let target = outlook.target
        let least = outlook.latency + (outlook.isSaturated ? Self.leastStay : 0)
        for key in target.needed {
            let exit = outlook.travel.exit(of: outlook.rectangle(of: key))
            if outlook.travel.time(forShare: exit) < least { wishes.hopeless.append(key) }
        }
    }
}

/// The nearest resident ancestors of many tiles: neighbours share theirs, so each parent is looked up once.
private struct ResidentAncestors {
    let target: PlanTarget
    let context: PlanContext
    private var parents = TileIndex()
    private var answers: [TileKey?] = []

    /// Which ancestors have been asked about, and what the answers were.
    private var asked = TileIndex()
    private var standings: [TileStanding] = []

    /// - Parameter tiles: whose ancestors are asked about at once; others are asked about one by one.
    init(of tiles: [TileCoordinate], target: PlanTarget, context: PlanContext) {
        self.target = target
        self.context = context
        var keys: [TileKey] = []
        for tile in tiles {
            var child = tile
            while let parent = target.pyramid.parent(of: child) {
                let key = TileKey(layer: target.layer, parent)
                guard asked.insert(key, keys.count) else { break }
                keys.append(key)
                child = parent
            }
        }
        standings = context.standings(keys)
    }

    private func isResident(_ key: TileKey) -> Bool {
        (asked.find(key).map { standings[$0].residency } ?? context.residency(key)).isResident
    }

    mutating func nearest(of tile: TileCoordinate) -> TileKey? {
        guard let parent = target.pyramid.parent(of: tile) else { return nil }
        let key = TileKey(layer: target.layer, parent)
        if let known = parents.find(key) { return answers[known] }
        let answer = isResident(key) ? key : nearest(of: parent)
        parents.set(key, answers.count)
        answers.append(answer)
        return answer
    }
}
