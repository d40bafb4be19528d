/// Assigns the tiles of a level to bins. What depends only on a column or a row is computed once for each.
protocol CandidateRule {
    /// What is known of the tiles of a column or row with these bounds, in world pixels.
    func column(from low: Double, to high: Double) -> CandidateSide
    func row(from low: Double, to high: Double) -> CandidateSide

    /// The judgement of a tile by its column and row.
    func judgement(_ column: CandidateSide, _ row: CandidateSide) -> CandidateJudgement
}

/// What follows from the place of a column or row of tiles.
struct CandidateSide {
    /// Distance from the view, in screen pixels.
    var distance: Double
    /// Signed distance from the view along the heading, and square of the distance.
    var along = 0.0
    var square = 0.0
    /// Fractions of the travel after which the tiles are reached, and out of view.
    var entry = 0.0
    var exit = 0.0
    /// Seconds until the tiles are reached; infinite if the level ends before a load would have paid.
    var entersAfter = Float.infinity
    /// Class of the entry, as in `CandidateBin`.
    var reach: UInt8 = 0
    var traits: Traits = []

    struct Traits: OptionSet {
        let rawValue: UInt8
        /// The motion reaches the tiles.
        static let onTheWay = Traits(rawValue: 1)
        /// The tiles are out of view before a load lands.
        static let leavesEarly = Traits(rawValue: 2)
        /// The tiles are reached before a load lands, while the workers cannot keep up.
        static let entersLate = Traits(rawValue: 4)
        /// The next zoom shows the tiles in passing, before or after the level changes.
        static let inChange = Traits(rawValue: 8)
    }
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
    /// Maximum class of the distance of tiles that a gradual zoom shows at a change of the level. Above the class of
    /// tiles that stay in view: those are loaded first.
    static var changeDistance: Int { 1 }

    /// Longer side plus half of the shorter one: the distance within 12 %, without a root.
    @inline(__always)
    static func distance(_ x: Double, _ y: Double) -> Double { x > y ? x + 0.5 * y : y + 0.5 * x }
}

/// Tiles of the view's level around it.
struct PanRule: CandidateRule {
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
    func column(from low: Double, to high: Double) -> CandidateSide {
        side(across.place(from: low, to: high), heading?.x ?? 0, isInChange: change.meetsX(low, high))
    }

    @inline(__always)
    func row(from low: Double, to high: Double) -> CandidateSide {
        side(down.place(from: low, to: high), heading?.y ?? 0, isInChange: change.meetsY(low, high))
    }

    @inline(__always)
    private func side(_ place: AxisTravel.Place, _ heading: Double, isInChange: Bool) -> CandidateSide {
        let entersAfter = travel.time(forShare: place.entry)
        var traits: CandidateSide.Traits = isInChange ? .inChange : []
        if travel.isMoving, place.entry >= 0 { traits.insert(.onTheWay) }
        if travel.time(forShare: place.exit) < latency { traits.insert(.leavesEarly) }
        if entersAfter < latency, isSaturated { traits.insert(.entersLate) }
        return CandidateSide(
            distance: place.distance,
            along: place.gap * heading,
            square: place.gap * place.gap,
            entry: place.entry,
            exit: place.exit,
            entersAfter: entersAfter > latestEntry ? .infinity : Float(entersAfter),
            reach: place.entry <= 0.5 ? 0 : place.entry <= 1 ? 1 : place.entry <= 2 ? 2 : 3,
            traits: traits
        )
    }

    @inline(__always)
    func judgement(_ column: CandidateSide, _ row: CandidateSide) -> CandidateJudgement {
        let both = column.traits.intersection(row.traits)
        if both.contains(.inChange) {
            let bin = CandidateBin.zoom(
                step: CandidateBin.nextCoarser,
                .outward,
                distance: Self.changeDistance,
                isSeen: false
            )
            return CandidateJudgement(bin: bin)
        }
        let distance = CandidateBin.distance(max(Self.distance(column.distance, row.distance), 1))
        guard both.contains(.onTheWay) else {
            var direction = heading == nil ? .unknown : Self.direction(column, row)
            if travel.isMoving, direction == .ahead { direction = .aside }
            return CandidateJudgement(
                bin: CandidateBin.pan(isMoving: travel.isMoving, direction, reach: 0, distance: distance, isSeen: false)
            )
        }
        let entry = column.entry > row.entry ? column.entry : row.entry
        let exit = column.exit < row.exit ? column.exit : row.exit
        return CandidateJudgement(
            bin: CandidateBin.pan(
                isMoving: true,
                .ahead,
                reach: Int(max(column.reach, row.reach)),
                distance: distance,
                isSeen: false
            ),
            entersAfter: column.entersAfter > row.entersAfter ? column.entersAfter : row.entersAfter,
            isHopeless: column.traits.union(row.traits).contains(.leavesEarly) || (exit < entry && entry < 1)
                // While saturated, a load that lands late takes the turn of one that would be in time.
                || both.contains(.entersLate)
        )
    }

    @inline(__always)
    private static func direction(_ column: CandidateSide, _ row: CandidateSide) -> CandidateBin.Direction {
        // Within 60 degrees: the cosine exceeds 1/2, computed without root and division.
        let along = column.along + row.along
        guard along * along > 0.25 * (column.square + row.square) else { return .aside }
        return along > 0 ? .ahead : .behind
    }
}

/// Tiles of another level around the view after a zoom.
struct ZoomRule: CandidateRule {
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
    func column(from low: Double, to high: Double) -> CandidateSide {
        side(max((low - shown.maxX) * scale, (shown.minX - high) * scale), isInChange: change.meetsX(low, high))
    }

    @inline(__always)
    func row(from low: Double, to high: Double) -> CandidateSide {
        side(max((low - shown.maxY) * scale, (shown.minY - high) * scale), isInChange: change.meetsY(low, high))
    }

    /// - Parameter gap: Distance from the view after the zoom, in screen pixels; less than 0 in the view.
    @inline(__always)
    private func side(_ gap: Double, isInChange: Bool) -> CandidateSide {
        // One pixel more: a tile that touches the view is not in it.
        CandidateSide(distance: gap >= 0 ? gap + 1 : 0, traits: isInChange ? .inChange : [])
    }

    @inline(__always)
    func judgement(_ column: CandidateSide, _ row: CandidateSide) -> CandidateJudgement {
        var distance = CandidateBin.distance(Self.distance(column.distance, row.distance))
        if column.traits.intersection(row.traits).contains(.inChange) {
            distance = min(distance, Self.changeDistance)
        }
        return CandidateJudgement(
            bin: first + 2 * distance,
            entersAfter: column.distance == 0 && row.distance == 0 ? entersAfter : .infinity
        )
    }
}

extension PixelRect? {
    /// Whether a column of tiles with these bounds lies partly in the rectangle; not if there is none.
    fileprivate func meetsX(_ low: Double, _ high: Double) -> Bool {
        self.map { low < $0.maxX && high > $0.minX } ?? false
    }
    /// Whether a row of tiles with these bounds lies partly in the rectangle; not if there is none.
    fileprivate func meetsY(_ low: Double, _ high: Double) -> Bool {
        self.map { low < $0.maxY && high > $0.minY } ?? false
    }
}
