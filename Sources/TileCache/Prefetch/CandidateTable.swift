/// Candidates of the present plan and of the last one: looks tiles up, and continues or opens their samples.
struct CandidateTable: Sendable {
    private var present = Candidates()
    private var previous = Candidates()
    /// Room for the columns of a level's candidates, and for the judgements of a row.
    private var columns: [(column: Int, place: CandidateSide)] = []
    private var judgements: [CandidateJudgement] = []
    /// Version of the pool's states when those of the candidates were looked up. A policy belongs to one pool.
    private var lookUpVersion = -1

    var list: ArraySlice<Candidates.Candidate> { present.list }
    var count: Int { present.count }
    /// Number of candidates that can be added.
    var room: Int { Candidates.maximumCount - present.count }
    /// Number of changes of the worths when the candidates got theirs.
    var valuation: Int { present.valuation }
    var byteCount: Int { present.byteCount + previous.byteCount }

    // MARK: - A plan

    /// Begins without candidates.
    ///
    /// - Parameter mayRepeat: Whether a tile may be considered twice.
    mutating func begin(mayRepeat: Bool, _ bins: borrowing LearnedBins) {
        swap(&present, &previous)
        present.begin(change: bins.visits.change, valuation: bins.valuation, mayRepeat: mayRepeat)
    }

    /// Ends the plan's candidates: candidates of the last plan that no walk has passed leave their bins.
    mutating func end(_ bins: inout LearnedBins) {
        guard previous.mayRepeat || present.mayRepeat else {
            for walk in previous.walks where !present.walks.contains(where: { $0.level == walk.level }) {
                present.giveBack(to: &previous)
                for candidate in previous.list[walk.range] { bins.leave(candidate.sample) }
            }
            return
        }
        // Walks may miss tiles that stay.
        for candidate in previous.list { bins.leave(candidate.sample) }
        for candidate in present.list { bins.stay(candidate.sample) }
    }

    /// Looks up whether the candidates are in memory.
    mutating func lookUp(in context: PlanContext) {
        present.lookUp(after: context.changedTiles?(&lookUpVersion), in: context)
    }

    /// Forgets which tiles were walked: the next plan takes no candidates over.
    mutating func forgetGrids() { present.forgetGrids() }

    // MARK: - Single tiles

    /// Whether a tile is a candidate already, if a tile may be considered twice.
    func isClaimed(_ key: TileKey) -> Bool { present.isClaimed(key) }

    /// Considers a tile anywhere, once per plan.
    ///
    /// - Parameters:
    ///   - bin: Its bin; -1 if it has none.
    ///   - slot: Record of its visits, or -1.
    ///   - isHopeless: Whether it is not loaded, but kept. Default: false.
    mutating func consider(
        _ key: TileKey,
        bin: Int,
        _ worth: ProbabilityTable.Worth,
        slot: Int,
        isHopeless: Bool = false
    ) {
        guard present.hasRoom, present.claim(key, as: present.count) else { return }
        var candidate = Candidates.Candidate(key: key)
        candidate.slot = Int32(truncatingIfNeeded: slot)
        candidate.bin = Int32(truncatingIfNeeded: bin)
        candidate.worth = worth
        candidate.isHopeless = isHopeless
        present.append(candidate)
    }

    // MARK: - Tiles of a level

    /// Considers the tiles of a level under a rectangle, row by row, but for the needed ones.
    ///
    /// Consecutive plans walk nearly the same tiles in the same order. The walk goes along the candidates of the last
    /// plan, so that few tiles are looked up. While the view shows the same tiles, most plans walk the same ones.
    @inline(__always)
    mutating func consider(
        level: Int,
        in rectangle: PixelRect,
        _ outlook: Outlook,
        _ rule: some CandidateRule,
        _ bins: inout LearnedBins
    ) {
        let isLevelOfView = level == outlook.target.level
        let records = bins.visits.kept(since: previous.change)
        let grid = outlook.grid(at: level, in: rectangle, reusing: takeColumns()) { rule.column(from: $0, to: $1) }
        let first = present.count
        let course = CandidateCourse(
            grid: grid,
            rule: rule,
            // Needed tiles, without looking each up.
            shown: isLevelOfView ? bins.visits.shown : nil,
            isLevelOfView: isLevelOfView,
            // Samples end only when something is learned.
            hasLearnedNothing: previous.valuation == bins.valuation
        )
        var judgements = takeJudgements(grid.columns.count)
        let end = min(first + grid.count, Candidates.maximumCount)
        let walked = present.grid(of: grid)
        let hasSameTiles =
            records.areAll && (!isLevelOfView || course.shown != nil) && walked != nil
            && walked == previous.grid(ofLevel: level)
        // As a whole range: few of the candidates change.
        if hasSameTiles {
            present.takeOver(level: level, end - first, of: &previous)
        } else {
            present.giveBack(to: &previous)
        }
        // Apart from the table: an append to a member checks more than it writes.
        var list = present.takePlaces(for: end - first)
        let count =
            hasSameTiles
            ? course.update(&list, from: first, &judgements, &bins)
            : walk(course, &list, first..<end, &judgements, records, &bins)
        present.put(list, count: count, hasNew: !hasSameTiles)
        // The limit does not count this memory, so that only a few kilobytes are kept.
        if grid.columns.count <= Self.columnsKept { (self.judgements, columns) = (judgements, grid.columns) }
        present.noteWalk(ofLevel: level, from: first, grid: walked)
    }

    /// Walks along the candidates of the last plan. Candidates that do not come again leave their bins.
    ///
    /// - Returns: Number of candidates.
    @inline(__always)
    private mutating func walk(
        _ course: CandidateCourse<some CandidateRule>,
        _ list: inout [Candidates.Candidate],
        _ range: Range<Int>,
        _ judgements: inout [CandidateJudgement],
        _ records: Visits.Kept,
        _ bins: inout LearnedBins
    ) -> Int {
        let popularities = bins.places
        let grid = course.grid
        let columns = grid.columns.span
        var walk = previous.walk(ofLevel: grid.level)
        var places = list.mutableSpan
        var count = range.lowerBound
        for number in grid.rows {
            let needed = course.judge(row: number, &judgements)
            let judgements = judgements.span
            for place in columns.indices where !needed.has(columns[place].column) {
                let key = TileKey(
                    layer: grid.layer,
                    TileCoordinate(level: grid.level, column: columns[place].column, row: number)
                )
                let former = walk.find(key)
                let slot = bins.visits.slot(of: key, as: former, records)
                if course.isLevelOfView, course.shown == nil, bins.visits.isNeeded(slot) { continue }
                guard count < range.upperBound, present.claim(key, as: count) else {
                    // Without room for it, the tile is no candidate any more.
                    if let former { bins.leave(former.sample) }
                    continue
                }
                places[count] = former ?? Candidates.Candidate(key: key)
                places[count].slot = Int32(truncatingIfNeeded: slot)
                bins.judge(
                    &places[count],
                    judgements[place],
                    popularities: popularities,
                    isUnchanged: course.hasLearnedNothing
                )
                count += 1
            }
        }
        for sample in walk.left { bins.leave(sample) }
        return count
    }

    /// Maximum columns whose memory is kept for the next walk. A 4K view has fewer.
    private static let columnsKept = 64

    /// Takes out the room for a level's columns.
    private mutating func takeColumns() -> [(column: Int, place: CandidateSide)] {
        defer { columns = [] }
        return columns
    }

    /// Takes out the room for a row's judgements.
    private mutating func takeJudgements(_ count: Int) -> [CandidateJudgement] {
        defer { judgements = [] }
        let missing = count - judgements.count
        if missing > 0 { judgements.append(contentsOf: repeatElement(CandidateJudgement(bin: 0), count: missing)) }
        return judgements
    }
}
