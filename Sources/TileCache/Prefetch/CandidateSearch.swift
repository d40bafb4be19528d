/// Which tiles a view may need next: around it, of other levels, at its destination, and popular ones.
struct CandidateSearch: Sendable {
    /// Maximum tiles of a declared destination.
    static let destinationTiles = 200
    /// Gain of a tile of the destination: nearly certain, but not needed yet.
    static let destinationGain = 0.9
    /// Screens of the limit that stay free of popular tiles, for the tiles around the view, which are needed sooner.
    static let screensBesidePopular = 3.0

    private let effects: PolicyEffects
    private var table = CandidateTable()
    private var popular: PopularTiles?
    /// Change of the needed tiles that popular tiles were sampled at.
    private var popularChange = 0
    private var lastStand: CandidateStand?

    /// - Parameter places: How many other sessions viewed each place, if that is known.
    init(effects: PolicyEffects, places: PlaceSketch? = nil) {
        self.effects = effects
        popular = places.map { PopularTiles($0) }
    }

    /// The candidates, each tile once, in order.
    var list: ArraySlice<Candidates.Candidate> { table.list }
    var count: Int { table.count }
    var byteCount: Int { table.byteCount + (popular?.byteCount ?? 0) }

    /// Finds the candidates of a plan, and whether they are in memory. While the view rests, or nearly does, the
    /// candidates stay the same, and so do their worths unless a price or the load time changes.
    ///
    /// - Returns: Whether the candidates are other ones than those of the last plan.
    mutating func find(_ outlook: Outlook, _ bins: inout LearnedBins, in context: PlanContext) -> Bool {
        let stand = CandidateStand(outlook, change: bins.visits.change, in: context)
        let hasSameWorths = table.valuation == bins.valuation
        let isNew = !hasSameWorths || !(lastStand.map { stand.hasCandidates(of: $0) } ?? false)
        if isNew {
            // Elsewhere a tile comes up once: the levels differ, and a walk has each tile once.
            let mayRepeat = stand.destination != nil || popular != nil || outlook.target.pyramid.wrapsX
            table.begin(mayRepeat: mayRepeat, bins)
            findAll(outlook, &bins, in: context)
            table.end(&bins)
            lastStand = stand
        }
        table.lookUp(in: context)
        return isNew
    }

    /// Forgets which tiles were walked: the next plan takes no candidates over.
    mutating func forgetGrids() { table.forgetGrids() }

    private mutating func findAll(_ outlook: Outlook, _ bins: inout LearnedBins, in context: PlanContext) {
        let (level, capacity) = (outlook.target.level, context.capacityTiles)
        if effects.contains(.destination) { findDestination(outlook, bins.visits, now: context.now) }
        if effects.contains(.pan) {
            let (around, rule) = outlook.neighbourhood(capacity: capacity)
            table.consider(level: level, in: around, outlook, rule, &bins)
        }
        for (step, offset) in CandidateBin.levelSteps.enumerated()
        where outlook.target.pyramid.levels.indices.contains(level + offset)
            && effects.contains(offset < 0 ? .parents : .children)
        {
            let (around, rule) = outlook.surroundings(ofStep: step, capacity: capacity, most: Double(table.room))
            table.consider(level: level + offset, in: around, outlook, rule, &bins)
        }
        findPopular(outlook, &bins, capacity: capacity)
    }

    /// Considers the tiles of the declared destination.
    private mutating func findDestination(_ outlook: Outlook, _ visits: Visits, now: Int64) {
        let target = outlook.target
        guard let destination = target.destination, destination.isAhead(at: now) else { return }
        let scale = destination.viewport.scale
        let level =
            target.destinationLevel
            ?? target.selection.level(for: scale, in: target.pyramid, previous: target.level)
        let worth = ProbabilityTable.Worth(gain: Self.destinationGain, loss: 1)
        var count = 0
        ViewportCover(pyramid: target.pyramid, viewport: destination.viewport, levelIndex: level)
            .forEach { column, row, _ in
                let key = TileKey(layer: target.layer, TileCoordinate(level: level, column: column, row: row))
                let slot = visits.slot(of: key)
                if !visits.isNeeded(slot) {
                    table.consider(key, bin: -1, worth, slot: slot)
                    count += 1
                }
                return count < Self.destinationTiles
            }
    }

    /// Considers as many popular tiles of the view's level as fit beside some screens, the most popular first, wherever
    /// they are.
    ///
    /// Loaded at rest only, since they are never urgent. In motion they keep their worth: otherwise each pan
    /// would evict them, and the rest after it would load them again.
    ///
    /// After each change of the needed tiles all popular tiles are sampled, so that what is learned does not depend on
    /// the limit. Popular tiles that are candidates because of their distance are sampled in bins of their own.
    ///
    /// - Parameter capacity: Tiles that memory holds.
    private mutating func findPopular(_ outlook: Outlook, _ bins: inout LearnedBins, capacity: Int) {
        let (target, change, places) = (outlook.target, bins.visits.change, bins.places)
        guard let tiles = popular?.tiles(of: target.level, in: target.pyramid, layer: target.layer) else { return }
        let isNew = popularChange != change
        popularChange = change
        let room = Double(capacity) - Self.screensBesidePopular * outlook.screenTiles
        for (number, key) in tiles.enumerated() {
            let hasRoom = Double(number) < room
            guard hasRoom || isNew else { return }
            let slot = bins.visits.slot(of: key)
            if bins.visits.isNeeded(slot) { continue }
            let bin = places.placed(CandidateBin.popular(isSeen: slot >= 0), key)
            if isNew, !table.isClaimed(key) { bins.samplePopular(key, bin) }
            if hasRoom {
                table.consider(key, bin: bin, bins.worth(bin), slot: slot, isHopeless: outlook.travel.isMoving)
            }
        }
    }
}

/// State that the candidates depend on: completely at rest, nearly so in motion.
private struct CandidateStand {
    /// Screen pixels of panning before candidates are recomputed, if the needed tiles are the same. A view that follows
    /// a slow motion pans by less in most frames.
    static let leastWay = 2.0
    /// Change of the expected travel, in screen pixels, from which on candidates are recomputed. At the end of a stroke
    /// the travel changes while the view hardly does.
    static let leastTravel = 4.0

    let viewport: TileViewport
    let destination: ViewportDestination?
    let destinationLevel: Int?
    let change: Int
    /// Tiles that memory holds.
    let capacity: Int
    let travel: EdgeTravel
    var isMoving: Bool { travel.isMoving }

    /// - Parameter change: Number of changes of the needed tiles.
    init(_ outlook: Outlook, change: Int, in context: PlanContext) {
        viewport = outlook.target.viewport
        destination = outlook.target.destination.flatMap { $0.isAhead(at: context.now) ? $0 : nil }
        destinationLevel = outlook.target.destinationLevel
        self.change = change
        capacity = context.capacityTiles
        travel = outlook.travel
    }

    /// Whether the candidates of another stand are valid for this one.
    func hasCandidates(of other: CandidateStand) -> Bool {
        guard change == other.change, capacity == other.capacity, isMoving == other.isMoving,
            destination == other.destination, destinationLevel == other.destinationLevel
        else { return false }
        guard isMoving else { return viewport == other.viewport }
        var near = viewport
        near.center = other.viewport.center
        let way = max(
            abs(viewport.center.x - other.viewport.center.x),
            abs(viewport.center.y - other.viewport.center.y)
        )
        return near == other.viewport && way * viewport.scale < Self.leastWay
            && travel.change(from: other.travel) < Self.leastTravel
    }
}
