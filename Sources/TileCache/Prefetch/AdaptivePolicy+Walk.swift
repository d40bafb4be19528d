/// Assigns candidates to bins, and continues or opens their samples.
extension AdaptivePolicy {
    /// What the place of a tile says about it.
    struct Judgement {
        /// Bin, without the popularity of its place.
        var bin: Int
        /// Seconds until the motion brings it into view. Default: infinite, it does not.
        var entersAfter = Double.infinity
        /// Whether a load would come too late, or for too short a time. Default: false.
        var isHopeless = false
    }

    /// Considers the tiles of a level under a rectangle, row by row, but for the needed ones.
    ///
    /// Consecutive plans walk nearly the same tiles in the same order. The walk goes along the candidates of the last
    /// plan, so that few tiles are looked up.
    ///
    /// - Parameters:
    ///   - column: What depends only on the bounds of a column of tiles, in world pixels.
    ///   - row: The same of a row.
    ///   - judge: What column and row, and whether the tile was visited, say about a tile.
    @inline(__always)
    mutating func consider<Column, Row>(
        level: Int,
        in rectangle: PixelRect,
        _ outlook: Outlook,
        column: (Double, Double) -> Column,
        row: (Double, Double) -> Row,
        judge: (Column, Row, _ isSeen: Bool) -> Judgement
    ) {
        let isLevelOfView = level == outlook.target.level
        // Needed tiles, without looking each up.
        let shown = isLevelOfView ? shown : nil
        let records = FormerRecords(of: previous, change: change, hasRange: self.shown != nil)
        // Since the last plan. Samples end only when something is learned.
        let hasLearnedNothing = previous.valuation == probabilities.valuation
        let popularities = profile?.places
        let (change, time) = (change, motion.time)
        var walk = previous.walk(ofLevel: level)
        let grid = outlook.grid(at: level, in: rectangle, column: column)
        let first = candidates.count
        var count = first
        let end = min(first + grid.count, Candidates.maximumCount)
        // Apart from the policy: an append to a member checks more than it writes.
        var list = candidates.takePlaces(for: end - first)
        var places = list.mutableSpan
        grid.forEachTile(row: row) { key, column, row in
            if let shown, shown.contains(key.coordinate) { return }
            let former = walk.find(key)
            let slot = seen.find(key, as: former, records)
            if isLevelOfView, shown == nil, slot >= 0, seen.records[slot].neededAt == change { return }
            guard count < end, candidates.claim(key, as: count) else {
                // Without room for it, the tile is no candidate any more.
                if let former { samples.leave(former.sample, time: time) }
                return
            }
            let judgement = judge(column, row, slot >= 0)
            let bin = popularities.placed(judgement.bin, key)
            let worth: ProbabilityTable.Worth
            let sample: Int
            if hasLearnedNothing, let former, former.bin == bin, samples.isCurrent(former.sample) {
                // Without the tables, of which each tile would read another part.
                (worth, sample) = (former.worth, former.sample)
            } else {
                worth = probabilities.worth(bin)
                sample = self.sample(of: key, bin, as: former)
            }
            places[count] = Candidates.Candidate(
                key: key,
                bin: Int32(truncatingIfNeeded: bin),
                slot: Int32(truncatingIfNeeded: slot),
                worth: worth,
                sample: sample,
                entersAfter: Float(judgement.entersAfter),
                isHopeless: judgement.isHopeless
            )
            count += 1
        }
        candidates.put(list, count: count)
        candidates.noteWalk(ofLevel: level, from: first)
        // Those that did not come again leave their bins.
        for sample in walk.left { samples.leave(sample, time: motion.time) }
    }

    /// Considers a tile anywhere, once per plan.
    ///
    /// - Parameter bin: Its bin; -1 if nothing is learned from it.
    mutating func consider(_ key: TileKey, bin: Int, _ worth: ProbabilityTable.Worth, slot: Int?) {
        guard candidates.hasRoom, candidates.claim(key, as: candidates.count) else { return }
        candidates.append(
            Candidates.Candidate(
                key: key,
                bin: Int32(truncatingIfNeeded: bin),
                slot: Int32(truncatingIfNeeded: slot ?? -1),
                worth: worth,
                sample: bin < 0 ? -1 : newSample(of: key, bin, after: -1)
            )
        )
    }

    /// The open sample of a tile and bin: that of the last plan, or another one.
    @inline(__always)
    private mutating func sample(of key: TileKey, _ bin: Int, as former: Candidates.Candidate?) -> Int {
        if let former, former.bin == bin, samples.isOpen(former.sample, bin) { return former.sample }
        return newSample(of: key, bin, after: former?.sample ?? -1)
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
                for candidate in previous.list[walk.range] { samples.leave(candidate.sample, time: time) }
            }
            return
        }
        // Walks may miss tiles that stay.
        for candidate in previous.list { samples.leave(candidate.sample, time: time) }
        for candidate in candidates.list { samples.stay(candidate.sample) }
    }
}

/// Whether the candidates of the last plan still have the records of their visits.
private struct FormerRecords {
    /// Whether all have.
    let areKept: Bool
    /// Whether those have whose records no other tile has taken. After one change of the needed tiles, only these can
    /// have new records, and none is asked for if they are left out as a range.
    let mayBeKept: Bool

    init(of previous: Candidates, change: Int, hasRange: Bool) {
        areKept = previous.change == change
        mayBeKept = areKept || (hasRange && previous.change == change - 1)
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
