/// Assigns candidates to bins, and continues or opens their samples.
extension AdaptivePolicy {
    /// Considers the tiles of a level under a rectangle, row by row, but for the needed ones.
    ///
    /// Consecutive plans walk nearly the same tiles in the same order. The walk goes along the candidates of the last
    /// plan, so that few tiles are looked up. While the view shows the same tiles, most plans walk the same ones.
    @inline(__always)
    mutating func consider(level: Int, in rectangle: PixelRect, _ outlook: Outlook, _ rule: some CandidateRule) {
        let isLevelOfView = level == outlook.target.level
        // Needed tiles, without looking each up.
        let shown = isLevelOfView ? shown : nil
        let records = FormerRecords(ofChange: previous.change, now: change, hasRange: self.shown != nil)
        // Since the last plan. Samples end only when something is learned.
        let hasLearnedNothing = previous.valuation == probabilities.valuation
        let popularities = profile?.places
        let (change, time) = (change, motion.time)
        let grid = outlook.grid(at: level, in: rectangle, reusing: takeColumns()) { rule.column(from: $0, to: $1) }
        let first = candidates.count
        var count = first
        let end = min(first + grid.count, Candidates.maximumCount)
        let walked = candidates.grid(of: grid)
        let hasSameTiles =
            records.areKept && (!isLevelOfView || shown != nil) && walked != nil
            && walked == previous.grid(ofLevel: level)
        // As a whole: few of them change.
        if hasSameTiles {
            candidates.takeOver(level: level, end - first, of: &previous)
        } else {
            candidates.giveBack(to: &previous)
        }
        var walk = previous.walk(ofLevel: level)
        // Apart from the policy: an append to a member checks more than it writes.
        var list = candidates.takePlaces(for: end - first)
        var places = list.mutableSpan
        var array = takeJudgements(grid.columns.count)
        var judgements = array.mutableSpan
        let columns = grid.columns.span
        for number in grid.rows {
            let side = grid.bounds(ofRow: number)
            let row = rule.row(from: side.low, to: side.high)
            let needed = shown?.rows.contains(number) == true ? shown?.columns ?? 0..<0 : 0..<0
            // Apart from the bookkeeping, for which the processor has too few registers.
            for place in columns.indices where !needed.has(columns[place].column) {
                judgements[place] = rule.judgement(columns[place].place, row)
            }
            if hasSameTiles {
                // Without a profile of places, with which a tile may come twice.
                for place in columns.indices where !needed.has(columns[place].column) {
                    update(&places[count], judgements[place], popularities: nil, hasLearnedNothing)
                    count += 1
                }
                continue
            }
            for place in columns.indices where !needed.has(columns[place].column) {
                let key = TileKey(
                    layer: grid.layer,
                    TileCoordinate(level: level, column: columns[place].column, row: number)
                )
                let former = walk.find(key)
                let slot = seen.find(key, as: former, records)
                if isLevelOfView, shown == nil, slot >= 0, seen.records[slot].neededAt == change { continue }
                guard count < end, candidates.claim(key, as: count) else {
                    // Without room for it, the tile is no candidate any more.
                    if let former { samples.leave(former.sample, time: time) }
                    continue
                }
                places[count] = former ?? Candidates.Candidate(key: key)
                places[count].slot = Int32(truncatingIfNeeded: slot)
                update(&places[count], judgements[place], popularities: popularities, hasLearnedNothing)
                count += 1
            }
        }
        candidates.put(list, count: count, hasNew: !hasSameTiles)
        // Not counted, so no more than a few kilobytes.
        if grid.columns.count <= Self.columnsKept { (self.judgements, self.columns) = (array, grid.columns) }
        candidates.noteWalk(ofLevel: level, from: first, grid: walked)
        // Those that did not come again leave their bins.
        if !hasSameTiles { for sample in walk.left { samples.leave(sample, time: time) } }
    }

    /// Sets what follows from a candidate's place, and its bin.
    @inline(__always)
    private mutating func update(
        _ candidate: inout Candidates.Candidate,
        _ judgement: CandidateJudgement,
        popularities: PlaceSketch?,
        _ hasLearnedNothing: Bool
    ) {
        let bin = popularities.placed(judgement.bin &+ (candidate.isSeen ? 1 : 0), candidate.key)
        // Otherwise without the tables, of which each tile would read another part.
        if !hasLearnedNothing || candidate.bin != bin || !samples.isCurrent(candidate.sample) { enter(&candidate, bin) }
        candidate.entersAfter = judgement.entersAfter
        candidate.isHopeless = judgement.isHopeless
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

    /// Sets the bin of a candidate, its worth and its sample.
    @inline(never)
    private mutating func enter(_ candidate: inout Candidates.Candidate, _ bin: Int) {
        candidate.worth = probabilities.worth(bin)
        guard candidate.bin != bin || !samples.isOpen(candidate.sample, bin) else { return }
        candidate.sample = newSample(of: candidate.key, bin, after: candidate.sample)
        candidate.bin = Int32(truncatingIfNeeded: bin)
    }

    /// Considers a tile anywhere, once per plan.
    ///
    /// - Parameters:
    ///   - bin: Its bin; -1 if it has none.
    ///   - isHopeless: Whether it is not loaded, but kept. Default: false.
    mutating func consider(
        _ key: TileKey,
        bin: Int,
        _ worth: ProbabilityTable.Worth,
        slot: Int?,
        isHopeless: Bool = false
    ) {
        guard candidates.hasRoom, candidates.claim(key, as: candidates.count) else { return }
        var candidate = Candidates.Candidate(key: key)
        candidate.slot = Int32(truncatingIfNeeded: slot ?? -1)
        candidate.bin = Int32(truncatingIfNeeded: bin)
        candidate.worth = worth
        candidate.isHopeless = isHopeless
        candidates.append(candidate)
    }

    // Apart, since few candidates need it.
    @inline(never)
    private mutating func newSample(of key: TileKey, _ bin: Int, after former: Int) -> Int {
        samples.leave(former, time: motion.time)
        return samples.open(key, bin, time: motion.time, until: demands + horizon)
    }

    /// The candidates of the last plan that no walk has passed leave their bins.
    mutating func leaveOthers() {
        let time = motion.time
        guard previous.mayRepeat || candidates.mayRepeat else {
            for walk in previous.walks where !candidates.walks.contains(where: { $0.level == walk.level }) {
                candidates.giveBack(to: &previous)
                for candidate in previous.list[walk.range] { samples.leave(candidate.sample, time: time) }
            }
            return
        }
        // Walks may miss tiles that stay.
        for candidate in previous.list { samples.leave(candidate.sample, time: time) }
        for candidate in candidates.list { samples.stay(candidate.sample) }
    }
}

extension Range<Int> {
    /// Whether it contains a number, in one comparison. The range is not longer than `Int.max`.
    @inline(__always)
    fileprivate func has(_ number: Int) -> Bool {
        UInt(bitPattern: number &- lowerBound) < UInt(bitPattern: upperBound &- lowerBound)
    }
}

/// Whether the candidates of the last plan still have the records of their visits.
private struct FormerRecords {
    /// Whether all have.
    let areKept: Bool
    /// Whether those have whose records no other tile has taken. After one change of the needed tiles, only these can
    /// have new records, and none is asked for if they are left out as a range.
    let mayBeKept: Bool

    /// - Parameters:
    ///   - former: Change of the needed tiles that the candidates are of.
    ///   - hasRange: Whether the needed tiles are known as a range.
    init(ofChange former: Int, now change: Int, hasRange: Bool) {
        areKept = former == change
        mayBeKept = areKept || (hasRange && former == change - 1)
    }
}

extension SeenTiles {
    /// Record of a tile if it was visited, or -1.
    @inline(__always)
    fileprivate func find(_ key: TileKey, as former: Candidates.Candidate?, _ kept: FormerRecords) -> Int {
        guard let former, kept.mayBeKept else { return find(key) ?? -1 }
        let slot = Int(former.slot)
        return slot < 0 || kept.areKept || records[slot].key == key ? slot : find(key) ?? -1
    }
}

extension PlaceSketch? {
    /// The bin of a tile, by the popularity of its place if there is a profile.
    @inline(__always)
    func placed(_ bin: Int, _ key: TileKey) -> Int {
        self?.popularity(of: key).map { CandidateBin.placed(bin, $0) } ?? bin
    }
}
