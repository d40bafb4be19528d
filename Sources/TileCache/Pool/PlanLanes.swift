/// Progress of a plan: its lanes, which take turns, and behind them one more for all other entries.
struct PlanLanes {
    /// A part of the plan that starts in order.
    private struct Lane {
        var start = 0
        var end = 0
        var cursor = 0
        /// Position of the needed tiles that have overtaken a waiting prefetch.
        var demandCursor = 0
        /// First entry that waits for a place in its layer's window.
        var parked: Int?

        init(_ start: Int, _ end: Int) { (self.start, self.end, cursor, demandCursor) = (start, end, start, start) }

        /// Whether an entry had its turn.
        var hasBegun: Bool { cursor > start || demandCursor > start }

        mutating func next(of entries: [PlanEntry], behindPrefetch: Bool) -> PlanEntry? {
            guard behindPrefetch else {
                // Needed tiles before the other cursor have had their turn.
                while cursor < min(demandCursor, end), !entries[cursor].reason.isPrefetch { cursor += 1 }
                return cursor < end ? entries[cursor] : nil
            }
            demandCursor = max(demandCursor, cursor)
            while demandCursor < end, entries[demandCursor].reason.isPrefetch { demandCursor += 1 }
            return demandCursor < end ? entries[demandCursor] : nil
        }

        mutating func advance(behindPrefetch: Bool) {
            if behindPrefetch { demandCursor = min(demandCursor + 1, end) } else { cursor = min(cursor + 1, end) }
        }

        mutating func park(behindPrefetch: Bool) {
            let place = behindPrefetch ? demandCursor : cursor
            parked = min(parked ?? place, place)
        }

        mutating func rewind() {
            guard let place = parked.take() else { return }
            (cursor, demandCursor) = (min(cursor, place), min(demandCursor, place))
        }
    }

    private var lanes = [Lane(0, 0)]
    /// Numbers of the plan's lanes in the order of their turns.
    private var order: [Int] = []
    /// Lane of the last entry.
    private var turn = 0
    /// Whether it is a needed tile behind a waiting prefetch.
    private var isBehindPrefetch = false

    init() {}

    init(of plan: borrowing Plan) {
        lanes.removeAll()
        for lane in plan.lanes { lanes.append(Lane(lanes.last?.end ?? 0, lane.end)) }
        lanes.append(Lane(lanes.last?.end ?? 0, plan.entries.count))
        order = Array(plan.lanes.indices)
    }

    /// Number of entries that have not had their turn.
    var rest: Int { lanes.reduce(0) { $0 + $1.end - $1.cursor } }
    /// Whether entries wait for a place in their layer's window.
    var haveParked: Bool { lanes.contains { $0.parked != nil } }
    var areSeveral: Bool { lanes.count > 1 }
    /// Whether an entry had its turn.
    var haveBegun: Bool { lanes.contains { $0.hasBegun } }

    mutating func arrange(_ order: [Int]) { self.order = order }

    /// Entry whose turn it is, or the first needed tile behind a waiting prefetch. `nil` at the end.
    mutating func next(of entries: [PlanEntry], behindPrefetch: Bool) -> PlanEntry? {
        isBehindPrefetch = behindPrefetch
        for lane in order {
            turn = lane
            if let entry = lanes[lane].next(of: entries, behindPrefetch: behindPrefetch) { return entry }
        }
        turn = lanes.count - 1
        return lanes[turn].next(of: entries, behindPrefetch: behindPrefetch)
    }

    /// Ends the turn of the last entry, unless the plan was dropped since.
    mutating func advance(behindPrefetch: Bool) { lanes[turn].advance(behindPrefetch: behindPrefetch) }

    /// Notes that the last entry waits for a place in its layer's window.
    mutating func park() { lanes[turn].park(behindPrefetch: isBehindPrefetch) }

    /// Gives the entries that wait for one another turn.
    mutating func rewind() { for lane in lanes.indices { lanes[lane].rewind() } }

    /// Places of the entries of a lane that have not had their turn.
    func rest(of lane: Int) -> Range<Int> { lanes[lane].cursor..<lanes[lane].end }
}
