/// Inputs of a plan's look-ahead.
struct Outlook {
    /// Fraction of the world's width or height from which on a view is an overview.
    static let overviewShare = 0.5

    let target: PlanTarget
    let travel: EdgeTravel
    /// Recent direction, of length 1; `nil` if there was none.
    let heading: WorldPoint?
    /// Context for zooming in. An overview counts as zoomed out, even at the start: people zoom into it.
    let inwardContext: MotionEstimate.ZoomContext
    /// Duration of a load, in seconds.
    let latency: Double
    /// Whether the view uncovers tiles faster than all workers can load them.
    let isSaturated: Bool

    var view: PixelRect { travel.view }
    var scale: Double { travel.scale }

    init(
        target: PlanTarget,
        travel: EdgeTravel,
        motion: MotionEstimate,
        seesHeading: Bool,
        latency: Double,
        workers: Int
    ) {
        self.target = target
        self.travel = travel
        self.latency = latency
        let isOverview =
            travel.view.width >= target.pyramid.worldWidth * Self.overviewShare
            || travel.view.height >= target.pyramid.worldHeight * Self.overviewShare
        inwardContext = motion.zoomContext == .never && isOverview ? .outward : motion.zoomContext
        let way = motion.heading
        let length = (way.x * way.x + way.y * way.y).squareRoot()
        heading =
            seesHeading && length > MotionEstimate.leastHeading ? WorldPoint(x: way.x / length, y: way.y / length) : nil
        let level = target.pyramid.levels[target.level]
        let columns = travel.view.width * travel.scale / Double(level.tileWidth) + 1
        let rows = travel.view.height * travel.scale / Double(level.tileHeight) + 1
        let uncovered =
            abs(motion.velocity.x) / Double(level.tileWidth) * rows
            + abs(motion.velocity.y) / Double(level.tileHeight) * columns
        isSaturated = travel.isMoving && uncovered * latency > Double(workers)
    }

    /// The view's rectangle when a load that begins now has landed.
    var landing: PixelRect { moved(by: latency / (latency + travel.decay)) }

    /// Upright bounds of the view's rectangles from then to the end of its motion.
    var way: PixelRect {
        let (first, last) = (landing, moved(by: 1))
        return PixelRect(
            minX: min(first.minX, last.minX),
            minY: min(first.minY, last.minY),
            maxX: max(first.maxX, last.maxX),
            maxY: max(first.maxY, last.maxY)
        )
    }

    /// The view's rectangle after a share of its travel.
    private func moved(by share: Double) -> PixelRect {
        guard travel.isMoving else { return view }
        let factor = share / scale
        return PixelRect(
            minX: view.minX + travel.left * factor,
            minY: view.minY + travel.top * factor,
            maxX: view.maxX + travel.right * factor,
            maxY: view.maxY + travel.bottom * factor
        )
    }

    /// Rectangle of a tile, in a wrapping world the copy nearest to the view's centre.
    func rectangle(of key: TileKey) -> PixelRect {
        let rectangle = target.pyramid.uncutRectangle(of: key.coordinate)
        return target.pyramid.nearestCopy(of: rectangle, to: target.viewport.center.x)
    }

    /// Calls `body` with the tiles of a level under a rectangle, and their rectangles on screen.
    @inline(__always)
    func forEachTile(at level: Int, in rectangle: PixelRect, _ body: (TileKey, PixelRect) -> Void) {
        let grid = target.pyramid.levels[level]
        var rectangle = rectangle
        if target.pyramid.wrapsX {
            // Once around: only the nearest copy of a tile counts.
            let middle = (view.minX + view.maxX) / 2
            rectangle.minX = max(rectangle.minX, middle - target.pyramid.worldWidth / 2)
            rectangle.maxX = min(rectangle.maxX, middle + target.pyramid.worldWidth / 2)
        }
        ViewportCover(pyramid: target.pyramid, rectangle: rectangle, levelIndex: level).forEach { column, row, offset in
            let x = grid.origin.x + Double(column) * grid.tileSpanX + offset
            let y = grid.origin.y + Double(row) * grid.tileSpanY
            body(
                TileKey(layer: target.layer, TileCoordinate(level: level, column: column, row: row)),
                PixelRect(minX: x, minY: y, maxX: x + grid.tileSpanX, maxY: y + grid.tileSpanY)
            )
            return true
        }
    }
}

/// Candidates: tiles around the view, and of other levels.
extension AdaptivePolicy {
    /// Reach around a view at rest, in screen pixels. At 512, `starcraft_view` loses .005 of its hits at 12 screens and
    /// gains .008 at 4; 2048 gains nothing.
    static let ringReach = 1024.0
    /// Maximum tiles around a view at rest, needed ones included.
    static let ringTiles = 400.0
    /// Reach along the motion, as a multiple of its travel, and maximum in screen pixels.
    static let travelReach = 1.5
    static let maximumTravel = 2048.0
    /// Maximum tiles of other levels, by step (-3, -2, -1, +1, +2).
    static let levelTiles = [40.0, 60, 120, 120, 60]
    /// Margins around the view after a zoom by one level, in screen pixels. People zoom about a pointer, not the
    /// centre.
    static let levelMargins = [0.0, 0, 128, 256, 0]

    // MARK: - Destination

    /// Maximum tiles of a declared destination.
    static let destinationTiles = 200
    /// Gain of a tile of the destination: nearly certain, but not needed yet.
    static let destinationGain = 0.9

    /// Considers the tiles of the declared destination.
    mutating func findDestination(_ outlook: Outlook, now: Int64) {
        let target = outlook.target
        guard let destination = target.destination, destination.time.nanoseconds > now,
            destination.viewport.isDrawable
        else { return }
        let level = target.selection.level(for: destination.viewport.scale, in: target.pyramid, previous: target.level)
        var count = 0
        ViewportCover(pyramid: target.pyramid, viewport: destination.viewport, levelIndex: level)
            .forEach { column, row, _ in
                let key = TileKey(layer: target.layer, TileCoordinate(level: level, column: column, row: row))
                let slot = seen.find(key)
                if slot.map({ seen.records[$0].neededAt != change }) ?? true {
                    consider(key, bin: -1, ProbabilityTable.Worth(gain: Self.destinationGain, loss: 1), slot: slot)
                    count += 1
                }
                return count < Self.destinationTiles
            }
    }

    // MARK: - Around the view

    /// Considers tiles of the view's level around it, farther in the direction of the motion.
    mutating func findNeighbours(_ outlook: Outlook) {
        let isMoving = outlook.travel.isMoving
        let first = candidates.list.count
        var walk = previous.walk(ofLevel: outlook.target.level)
        defer { end(walk, ofLevel: outlook.target.level, from: first) }
        let shown = shown
        outlook.forEachTile(at: outlook.target.level, in: Self.neighbourhood(outlook)) { key, tile in
            // Needed tiles, without looking each up.
            if let shown, shown.contains(key.coordinate) { return }
            let former = walk.find(key)
            let slot = visit(of: key, as: former)
            if let slot, seen.records[slot].neededAt == change { return }
            let view = outlook.view
            let isRight = tile.minX >= view.maxX
            let isBelow = tile.minY >= view.maxY
            // One pixel more than the gap: a tile that touches the view is not in it.
            let gapX =
                isRight
                ? (tile.minX - view.maxX) * outlook.scale + 1
                : tile.maxX <= view.minX ? (tile.maxX - view.minX) * outlook.scale - 1 : 0
            let gapY =
                isBelow
                ? (tile.minY - view.maxY) * outlook.scale + 1
                : tile.maxY <= view.minY ? (tile.maxY - view.minY) * outlook.scale - 1 : 0
            var direction = Self.direction(gapX, gapY, outlook)
            var reach = 0
            var isHopeless = false
            var entersAfter = Double.infinity
            if isMoving {
                if let entry = outlook.travel.entry(gapX: gapX, gapY: gapY) {
                    direction = .ahead
                    reach = entry <= 0.5 ? 0 : entry <= 1 ? 1 : entry <= 2 ? 2 : 3
                    let exit = outlook.travel.exit(of: tile)
                    isHopeless = outlook.travel.time(forShare: exit) < outlook.latency || (exit < entry && entry < 1)
                    entersAfter = outlook.travel.time(forShare: entry)
                    // While saturated, late tiles yield to those in time: `trackpad_wheel` hits .31 with it and .17
                    // without.
                    if entersAfter < outlook.latency, outlook.isSaturated { isHopeless = true }
                } else if direction == .ahead {
                    direction = .aside
                }
            }
            let distance = Self.distance(max(abs(gapX) - 1, 0), max(abs(gapY) - 1, 0))
            let bin = placed(
                CandidateBin.pan(
                    isMoving: isMoving,
                    direction,
                    reach: reach,
                    distance: CandidateBin.distance(max(distance, 1)),
                    isSeen: slot != nil
                ),
                key
            )
            var worth = probabilities.worth(bin)
            if isHopeless { worth.gain = -1 }
            consider(key, bin: bin, worth, slot: slot, as: former, entersAfter: entersAfter)
        }
    }

    private static func direction(_ x: Double, _ y: Double, _ outlook: Outlook) -> CandidateBin.Direction {
        guard let heading = outlook.heading else { return .unknown }
        // Within 60 degrees: the cosine exceeds 1/2, computed without root and division.
        let along = x * heading.x + y * heading.y
        guard along * along > 0.25 * (x * x + y * y) else { return .aside }
        return along > 0 ? .ahead : .behind
    }

    private static func neighbourhood(_ outlook: Outlook) -> PixelRect {
        let level = outlook.target.pyramid.levels[outlook.target.level]
        let tileWidth = level.tileSpanX * outlook.scale
        let tileHeight = level.tileSpanY * outlook.scale
        let columns = outlook.view.width / level.tileSpanX + 1
        let rows = outlook.view.height / level.tileSpanY + 1
        let (across, down) = (1 / tileWidth, 1 / tileHeight)
        func tiles(_ x: Double, _ y: Double) -> Double { (columns + x * across) * (rows + y * down) }
        var reach = ringReach
        let least = max(tileWidth, tileHeight)
        // At most a few hundred steps for tiny tiles.
        let step = max(least / 2, 4)
        while reach > least, tiles(2 * reach, 2 * reach) > ringTiles { reach -= step }
        var (left, right, top, bottom) = (reach, reach, reach, reach)
        if outlook.travel.isMoving {
            func along(_ way: Double) -> Double { min(max(reach, way * travelReach), maximumTravel) }
            left = along(-outlook.travel.left)
            right = along(outlook.travel.right)
            top = along(-outlook.travel.top)
            bottom = along(outlook.travel.bottom)
        }
        let most = ringTiles + columns * rows
        var steps = 0
        while steps < 32, tiles(left + right, top + bottom) > most {
            left *= 0.9
            right *= 0.9
            top *= 0.9
            bottom *= 0.9
            steps += 1
        }
        return PixelRect(
            minX: outlook.view.minX - left / outlook.scale,
            minY: outlook.view.minY - top / outlook.scale,
            maxX: outlook.view.maxX + right / outlook.scale,
            maxY: outlook.view.maxY + bottom / outlook.scale
        )
    }

    /// Longer side plus half of the shorter one: the distance within 12 %, without a root.
    private static func distance(_ x: Double, _ y: Double) -> Double { x > y ? x + 0.5 * y : y + 0.5 * x }

    // MARK: - Other levels

    /// Considers tiles of coarser and finer levels about the centre, for zooms.
    mutating func findParentsAndChildren(_ outlook: Outlook) {
        let levels = outlook.target.pyramid.levels
        let level = outlook.target.level
        for (step, offset) in CandidateBin.levelSteps.enumerated()
        where levels.indices.contains(level + offset) && effects.contains(offset < 0 ? .parents : .children) {
            let context = offset < 0 ? motion.zoomContext : outlook.inwardContext
            let other = levels[level + offset]
            let ratio = levels[level].worldPixelsPerPixel / other.worldPixelsPerPixel
            let scale = outlook.scale * ratio
            let center = outlook.target.viewport.center
            let tileWidth = other.tileSpanX * scale
            let tileHeight = other.tileSpanY * scale
            var width = outlook.view.width * outlook.scale
            var height = outlook.view.height * outlook.scale
            var margin = Self.levelMargins[step]
            // In pixels, with a tile more each way: no division, since every plan does this for each level.
            let mostPixels = Self.levelTiles[step] * tileWidth * tileHeight
            var steps = 0
            while steps < 64, (width + 2 * margin + tileWidth) * (height + 2 * margin + tileHeight) > mostPixels {
                width *= 0.9
                height *= 0.9
                margin *= 0.9
                steps += 1
            }
            let shown = PixelRect(
                minX: center.x - width / 2 / scale,
                minY: center.y - height / 2 / scale,
                maxX: center.x + width / 2 / scale,
                maxY: center.y + height / 2 / scale
            )
            let around = shown.grown(x: margin / scale, y: margin / scale)
            let first = candidates.list.count
            var walk = previous.walk(ofLevel: level + offset)
            defer { end(walk, ofLevel: level + offset, from: first) }
            outlook.forEachTile(at: level + offset, in: around) { key, tile in
                let x = max((tile.minX - shown.maxX) * scale, (shown.minX - tile.maxX) * scale)
                let y = max((tile.minY - shown.maxY) * scale, (shown.minY - tile.maxY) * scale)
                let distance = Self.distance(x >= 0 ? x + 1 : 0, y >= 0 ? y + 1 : 0)
                let former = walk.find(key)
                let slot = visit(of: key, as: former)
                let gap = CandidateBin.distance(distance)
                let bin = placed(CandidateBin.zoom(step: step, context, distance: gap, isSeen: slot != nil), key)
                consider(key, bin: bin, probabilities.worth(bin), slot: slot, as: former)
            }
        }
    }
}
