/// Inputs of a plan's look-ahead.
struct Outlook {
    /// Fraction of the contents' width or height from which on a view is an overview.
    static let overviewShare = 0.5
    /// Duration that people take for immediate, in seconds: Miller, "Response time in man-computer conversational
    /// transactions", 1968. Shorter loads that come late are hardly noticed, so fewer needless ones are worth it.
    static let noticedSeconds = 0.1

    let target: PlanTarget
    let travel: EdgeTravel
    let zoom: ZoomEstimate
    /// Number of levels by which the view is coarser than its scale says, for lack of room. Only while a zoom is in
    /// progress.
    private let shortfall: Int
    /// Recent direction, of length 1; `nil` if there was none.
    let heading: WorldPoint?
    /// The last zoom.
    let zoomContext: MotionEstimate.ZoomContext
    /// Context for zooming in. An overview counts as zoomed out, even at the start: people zoom into it.
    let inwardContext: MotionEstimate.ZoomContext
    /// Duration of a load, in seconds.
    let latency: Double
    /// How long before its demand a load has to begin, in seconds.
    let lead: Double
    /// Number of concurrent loads.
    let workers: Int
    /// Whether the view uncovers tiles faster than all workers can load them.
    let isSaturated: Bool
    /// Seconds until a zoom out in progress shows the next coarser level. Infinite unless it does so within half of its
    /// travel.
    private(set) var coarserAfter = Double.infinity

    var view: PixelRect { travel.view }
    var scale: Double { travel.scale }
    /// Whether people notice how long a load takes.
    var isNoticed: Bool { latency >= Self.noticedSeconds }

    init(
        target: PlanTarget,
        travel: EdgeTravel,
        motion: MotionEstimate,
        seesHeading: Bool,
        latency: Double,
        lead: Double,
        workers: Int
    ) {
        self.target = target
        self.travel = travel
        (self.latency, self.lead, self.workers) = (latency, lead, workers)
        (zoom, zoomContext) = (motion.zoom, motion.zoomContext)
        shortfall =
            travel.isMoving && zoom.speed != 0
            ? target.selection.level(for: target.viewport.scale, in: target.pyramid, previous: target.level)
                - target.level : 0
        let contents = target.pyramid.contents
        let isOverview =
            travel.view.width >= contents.width * Self.overviewShare
            || travel.view.height >= contents.height * Self.overviewShare
        inwardContext = zoomContext == .never && isOverview ? .outward : zoomContext
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
        coarserAfter = timeToCoarser()
    }

    private func timeToCoarser() -> Double {
        guard zoom.speed < 0, travel.isMoving, target.level > 0 else { return .infinity }
        let bound = bound(above: target.level - 1, zoomsIn: false)
        let share = PortableMath.log2(bound / scale) / (zoom.speed * travel.decay)
        return share <= 0.5 ? travel.time(forShare: max(share, 0)) : .infinity
    }

    /// When a zoom in progress reaches a level; `nil` if it does not. Its speed decays as the motion does.
    func zoomReach(of level: Int) -> MotionEstimate.ZoomContext? {
        guard travel.isMoving, zoom.speed != 0, (zoom.speed > 0) == (level > target.level) else { return nil }
        func isReached(after travels: Double) -> Bool {
            let end = scaled(by: travels * zoom.speed * travel.decay)
            let reached =
                target.selection.level(for: end, in: target.pyramid, previous: target.level + shortfall) - shortfall
            return zoom.speed > 0 ? reached >= level : reached <= level
        }
        guard isReached(after: 2) else { return nil }
        return isReached(after: 0.5) ? .imminent : isReached(after: 1) ? .expected : .possible
    }

    /// The scale at which a zoom in progress shows a level: the level's bound, or the scale after a lead if that is
    /// further on.
    func scale(at level: Int) -> Double {
        let landing = scaled(by: zoom.speed * travel.decay * lead / (lead + travel.decay))
        let zoomsIn = zoom.speed > 0
        let bound = bound(above: zoomsIn ? level - 1 : level, zoomsIn: zoomsIn)
        return zoomsIn ? max(landing, bound) : min(landing, bound)
    }

    /// The scale at which a zoom changes between a level that the view shows and the next finer one.
    private func bound(above level: Int, zoomsIn: Bool) -> Double {
        let selected = min(max(level + shortfall, 0), target.pyramid.maximumLevel)
        return target.selection.bound(above: selected, zoomsIn: zoomsIn, in: target.pyramid)
    }

    /// What the view shows of the finer of two levels when the next zoom passes from one to the other, in world pixels.
    ///
    /// A gradual zoom shows all of it for a moment: before the coarser level on the way out, and from the first frame of
    /// the way in. A zoom by steps does not.
    ///
    /// - Parameters:
    ///   - rectangle: What is considered of the finer level anyway.
    ///   - capacity: Tiles that memory holds.
    ///   - most: Maximum tiles of both. A walk ends there, at any row.
    /// - Returns: `nil` unless the view rests after a gradual zoom; also if the change is more than an octave away, if its
    ///   tiles take more than two thirds of the memory, or if both have more than `most`.
    func viewAtChange(zoomsIn: Bool, beside rectangle: PixelRect, capacity: Int, most: Double) -> PixelRect? {
        guard zoom.isGradual, !travel.isMoving else { return nil }
        let coarser = zoomsIn ? target.level : target.level - 1
        guard coarser >= 0, coarser < target.pyramid.maximumLevel else { return nil }
        let bound = bound(above: coarser, zoomsIn: zoomsIn)
        let center = center(scaledTo: bound, about: zoom.nextOffset)
        let share = scale / bound
        // Further away, the view is often coarser than its scale says, for lack of room.
        guard share >= 0.5, share <= 2 else { return nil }
        let (width, height) = (view.width * share, view.height * share)
        let shown = PixelRect(
            minX: center.x - width / 2,
            minY: center.y - height / 2,
            maxX: center.x + width / 2,
            maxY: center.y + height / 2
        )
        let (pyramid, finer) = (target.pyramid, target.pyramid.levels[coarser + 1])
        var world = pyramid.contents
        if pyramid.wrapsX { (world.minX, world.maxX) = (-.infinity, .infinity) }
        // Beside the contents there are no tiles, and around the world each tile comes once.
        func tiles(_ area: PixelRect) -> Double {
            let inside = area.intersection(world)
            guard !inside.isEmpty else { return 0 }
            return (min(inside.width, pyramid.worldWidth) / finer.tileSpanX + 1) * (inside.height / finer.tileSpanY + 1)
        }
        guard tiles(shown) * 1.5 <= Double(capacity), tiles(shown.union(rectangle)) <= most else { return nil }
        return shown
    }

    /// The scale after a number of octaves.
    private func scaled(by octaves: Double) -> Double { scale * PortableMath.exp2(min(max(octaves, -64), 64)) }

    /// The view's centre after a zoom about a point of the screen.
    ///
    /// - Parameter offset: Offset of the point from the centre, in screen pixels along the world's axes.
    func center(scaledTo other: Double, about offset: WorldPoint) -> WorldPoint {
        let share = 1 / scale - 1 / other
        let center = target.viewport.center
        let moved = WorldPoint(x: center.x + offset.x * share, y: center.y + offset.y * share)
        return moved.x.isFinite && moved.y.isFinite ? moved : center
    }

    /// The view's rectangle when a load that begins now has landed.
    var landing: PixelRect { moved(by: latency / (latency + travel.decay)) }

    /// Upright bounds of the view's rectangles from that landing to the end of the motion.
    var way: PixelRect { landing.union(moved(by: 1)) }

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

    /// Calls `body` with the tiles of a level under a rectangle, and their rectangles in world pixels.
    ///
    /// - Parameter goesOn: Whether to go on with the next tile. Default: always.
    @inline(__always)
    func forEachTile(
        at level: Int,
        in rectangle: PixelRect,
        while goesOn: () -> Bool = { true },
        _ body: (TileKey, PixelRect) -> Void
    ) {
        let grid = grid(at: level, in: rectangle, column: { ($0, $1) })
        for number in grid.rows {
            let row = grid.bounds(ofRow: number)
            for (column, side) in grid.columns {
                guard goesOn() else { return }
                let key = TileKey(layer: target.layer, TileCoordinate(level: level, column: column, row: number))
                body(key, PixelRect(minX: side.0, minY: row.low, maxX: side.1, maxY: row.high))
            }
        }
    }

    /// Whether a level has at most one tile under a rectangle.
    func hasOneTile(at level: Int, in rectangle: PixelRect) -> Bool {
        let cover = cover(at: level, in: rectangle)
        guard cover.rows.count == 1 else { return cover.rows.isEmpty }
        var columns = 0
        cover.forEachColumn { _, _ in columns += 1 }
        return columns <= 1
    }

    private func cover(at level: Int, in rectangle: PixelRect) -> ViewportCover {
        var rectangle = rectangle
        if target.pyramid.wrapsX {
            // Once around: only the nearest copy of a tile counts.
            let middle = (view.minX + view.maxX) / 2
            rectangle.minX = max(rectangle.minX, middle - target.pyramid.worldWidth / 2)
            rectangle.maxX = min(rectangle.maxX, middle + target.pyramid.worldWidth / 2)
        }
        return ViewportCover(pyramid: target.pyramid, rectangle: rectangle, levelIndex: level)
    }

    /// The tiles of a level under a rectangle.
    ///
    /// - Parameters:
    ///   - memory: An array whose memory the columns take. Default: none.
    ///   - column: Returns what depends only on the left and right bounds of a column of tiles, in world pixels. Called
    ///     once for each column, not for each tile.
    @inline(__always)
    func grid<Column>(
        at level: Int,
        in rectangle: PixelRect,
        reusing memory: consuming [(column: Int, place: Column)] = [],
        column: (Double, Double) -> Column
    ) -> TileGrid<Column> {
        let grid = target.pyramid.levels[level]
        let cover = cover(at: level, in: rectangle)
        let rows = cover.rows
        var columns = memory
        columns.removeAll(keepingCapacity: true)
        if !rows.isEmpty {
            columns.reserveCapacity(32)
            cover.forEachColumn { number, offset in
                let x = grid.origin.x + Double(number) * grid.tileSpanX + offset
                columns.append((number, column(x, x + grid.tileSpanX)))
            }
        }
        return TileGrid(
            layer: target.layer,
            level: level,
            columns: columns,
            rows: rows.prefix(ViewportCover.maximumTileCount / max(columns.count, 1)),
            top: grid.origin.y,
            height: grid.tileSpanY
        )
    }
}

/// Tiles of a level under a rectangle, with what depends only on their column.
struct TileGrid<Column> {
    let layer: Int
    let level: Int
    let columns: [(column: Int, place: Column)]
    let rows: Range<Int>
    /// Upper bound of row 0, and height of a row, in world pixels.
    let top: Double
    let height: Double

    var count: Int { columns.count * rows.count }

    /// Upper and lower bound of a row, in world pixels.
    func bounds(ofRow number: Int) -> (low: Double, high: Double) {
        let y = top + Double(number) * height
        return (y, y + height)
    }
}

extension PixelRect {
    /// Whether another rectangle lies in this one, and touches no edge.
    func encloses(_ other: PixelRect) -> Bool {
        minX < other.minX && other.maxX < maxX && minY < other.minY && other.maxY < maxY
    }
}
