/// Assigns the tiles of a level to bins. What depends only on a column or a row is computed once for each.
protocol CandidateRule {
    associatedtype Side

    /// What is known of the tiles of a column or row with these bounds, in world pixels.
    func column(from low: Double, to high: Double) -> Side
    func row(from low: Double, to high: Double) -> Side

    /// The judgement of a tile by its column and row.
    func judgement(_ column: Side, _ row: Side) -> CandidateJudgement
}

/// What follows from the place of a tile.
struct CandidateJudgement {
    /// Bin of a tile that was not visited, without the popularity of its place. The next one is that of a visited tile.
    var bin: Int
    /// Seconds until the motion brings it into view. Default: infinite, it does not.
    var entersAfter = Float.infinity
    /// Whether a load would come too late, or for too short a time. Default: false.
    var isHopeless = false
}

extension CandidateRule {
    /// Maximum class of the distance of tiles that a gradual zoom shows at a change of the level. Above that of tiles
    /// which stay, so that these are loaded first.
    static var changeDistance: Int { 1 }

    /// Longer side plus half of the shorter one: the distance within 12 %, without a root.
    @inline(__always)
    static func distance(_ x: Double, _ y: Double) -> Double { x > y ? x + 0.5 * y : y + 0.5 * x }
}

/// Tiles of the view's level around it.
struct PanRule: CandidateRule {
    /// What follows from the place of a column or row of tiles.
    struct Side {
        /// Distance from the view, in screen pixels.
        let distance: Double
        /// Signed distance from the view along the heading, and square of the distance.
        let along: Double
        let square: Double
        /// Fractions of the travel after which it is reached, and out of view.
        let entry: Double
        let exit: Double
        /// The same in seconds.
        let entersAfter: Double
        let leavesAfter: Double
        /// Class of its entry, as in `CandidateBin`.
        let reach: Int
        /// Whether the next zoom out shows it before the level changes.
        let isInChange: Bool

        init(_ place: AxisTravel.Place, _ heading: Double, _ travel: EdgeTravel, isInChange: Bool) {
            distance = place.distance
            (entry, exit) = (place.entry, place.exit)
            entersAfter = travel.time(forShare: entry)
            leavesAfter = travel.time(forShare: exit)
            reach = entry <= 0.5 ? 0 : entry <= 1 ? 1 : entry <= 2 ? 2 : 3
            along = place.gap * heading
            square = place.gap * place.gap
            self.isInChange = isInChange
        }
    }

    private let travel: EdgeTravel
    private let across: AxisTravel
    private let down: AxisTravel
    private let heading: WorldPoint?
    private let latency: Double
    private let isSaturated: Bool
    /// Latest entry that pays, in seconds: then the level ends before a load would have paid.
    private let latestEntry: Double
    /// What the next zoom out shows before the level changes.
    private let change: PixelRect?

    init(_ outlook: Outlook, change: PixelRect?) {
        travel = outlook.travel
        (across, down) = (travel.across, travel.down)
        heading = outlook.heading
        (latency, isSaturated) = (outlook.latency, outlook.isSaturated)
        latestEntry = outlook.coarserAfter - latency
        self.change = change
    }

    @inline(__always)
    func column(from low: Double, to high: Double) -> Side {
        let isInChange = change.meetsX(low, high)
        return Side(across.place(from: low, to: high), heading?.x ?? 0, travel, isInChange: isInChange)
    }

    @inline(__always)
    func row(from low: Double, to high: Double) -> Side {
        let isInChange = change.meetsY(low, high)
        return Side(down.place(from: low, to: high), heading?.y ?? 0, travel, isInChange: isInChange)
    }

    @inline(__always)
    func judgement(_ column: Side, _ row: Side) -> CandidateJudgement {
        if column.isInChange, row.isInChange {
            let bin = CandidateBin.zoom(
                step: CandidateBin.nextCoarser,
                .outward,
                distance: Self.changeDistance,
                isSeen: false
            )
            return CandidateJudgement(bin: bin)
        }
        var direction = CandidateBin.Direction.ahead
        var reach = 0
        var isHopeless = false
        var entersAfter = Double.infinity
        if travel.isMoving, column.entry >= 0, row.entry >= 0 {
            reach = max(column.reach, row.reach)
            let (entry, exit) = (max(column.entry, row.entry), min(column.exit, row.exit))
            entersAfter = max(column.entersAfter, row.entersAfter)
            isHopeless =
                min(column.leavesAfter, row.leavesAfter) < latency || (exit < entry && entry < 1)
                // While saturated, late tiles yield to those in time: `trackpad_wheel` hits .31 with it and .17 without.
                || (entersAfter < latency && isSaturated)
            if entersAfter > latestEntry { entersAfter = .infinity }
        } else {
            direction = heading == nil ? .unknown : Self.direction(column, row)
            if travel.isMoving, direction == .ahead { direction = .aside }
        }
        let distance = CandidateBin.distance(max(Self.distance(column.distance, row.distance), 1))
        return CandidateJudgement(
            bin: CandidateBin.pan(
                isMoving: travel.isMoving,
                direction,
                reach: reach,
                distance: distance,
                isSeen: false
            ),
            entersAfter: Float(entersAfter),
            isHopeless: isHopeless
        )
    }

    @inline(__always)
    private static func direction(_ column: Side, _ row: Side) -> CandidateBin.Direction {
        // Within 60 degrees: the cosine exceeds 1/2, computed without root and division.
        let along = column.along + row.along
        guard along * along > 0.25 * (column.square + row.square) else { return .aside }
        return along > 0 ? .ahead : .behind
    }
}

/// Tiles of another level around the view after a zoom.
struct ZoomRule: CandidateRule {
    struct Side {
        /// Distance from the view after the zoom in screen pixels, and one more: a tile that touches it is not in it. 0
        /// in the view.
        let gap: Double
        /// Whether the zoom shows it in passing.
        let isInChange: Bool

        init(_ pixels: Double, isInChange: Bool) {
            gap = pixels >= 0 ? pixels + 1 : 0
            self.isInChange = isInChange
        }
    }

    /// Bin of the tiles in the view that were not visited.
    private let first: Int
    /// The view after the zoom, in world pixels.
    private let shown: PixelRect
    private let scale: Double
    /// What the zoom shows in passing.
    private let change: PixelRect?
    /// Seconds until the zoom in progress shows the level.
    private let entersAfter: Float

    init(
        step: Int,
        _ context: MotionEstimate.ZoomContext,
        shown: PixelRect,
        scale: Double,
        change: PixelRect?,
        entersAfter: Double
    ) {
        first = CandidateBin.zoom(step: step, context, distance: 0, isSeen: false)
        self.shown = shown
        self.scale = scale
        self.change = change
        self.entersAfter = Float(entersAfter)
    }

    @inline(__always)
    func column(from low: Double, to high: Double) -> Side {
        let gap = max((low - shown.maxX) * scale, (shown.minX - high) * scale)
        return Side(gap, isInChange: change.meetsX(low, high))
    }

    @inline(__always)
    func row(from low: Double, to high: Double) -> Side {
        let gap = max((low - shown.maxY) * scale, (shown.minY - high) * scale)
        return Side(gap, isInChange: change.meetsY(low, high))
    }

    @inline(__always)
    func judgement(_ column: Side, _ row: Side) -> CandidateJudgement {
        var distance = CandidateBin.distance(Self.distance(column.gap, row.gap))
        if column.isInChange, row.isInChange { distance = min(distance, Self.changeDistance) }
        return CandidateJudgement(
            bin: first + 2 * distance,
            entersAfter: column.gap == 0 && row.gap == 0 ? entersAfter : .infinity
        )
    }
}

extension PixelRect? {
    /// Whether a column of tiles with these bounds lies partly in it, if there is one.
    fileprivate func meetsX(_ low: Double, _ high: Double) -> Bool {
        self.map { low < $0.maxX && high > $0.minX } ?? false
    }
    /// Whether a row of tiles with these bounds lies partly in it, if there is one.
    fileprivate func meetsY(_ low: Double, _ high: Double) -> Bool {
        self.map { low < $0.maxY && high > $0.minY } ?? false
    }
}
