/// The plan and its progress.
///
/// Entries start in order, except that needed tiles overtake a prefetch that waits for a worker, a codec or room, and a
/// tile that lacks room beside its slot or a larger slot. The plan's lanes take turns; what is behind them comes last.
struct PlanQueue {
    /// A part of the plan that starts in order.
    private struct Lane {
        var start = 0
        var end = 0
        var cursor = 0
        /// Position of the needed tiles that have overtaken a waiting prefetch.
        var demandCursor = 0

        init(_ start: Int, _ end: Int) { (self.start, self.end, cursor, demandCursor) = (start, end, start, start) }

        /// Whether an entry had its turn.
        var hasBegun: Bool { cursor > start || demandCursor > start }

        mutating func next(of entries: [PlanEntry], behindPrefetch: Bool) -> PlanEntry? {
            guard behindPrefetch else {
                // Needed tiles before the other cursor have had their turn.
                while cursor < min(demandCursor, end), entries[cursor].reason != .prefetch { cursor += 1 }
                return cursor < end ? entries[cursor] : nil
            }
            demandCursor = max(demandCursor, cursor)
            while demandCursor < end, entries[demandCursor].reason == .prefetch { demandCursor += 1 }
            return demandCursor < end ? entries[demandCursor] : nil
        }

        mutating func advance(behindPrefetch: Bool) {
            if behindPrefetch { demandCursor = min(demandCursor + 1, end) } else { cursor = min(cursor + 1, end) }
        }
    }

    /// A resident tile that the plan values.
    struct ValuedTile {
        var number: EntryID
        /// Its value when it was noted. That of its entry may be greater since.
        var value: Float
    }

    private(set) var plan = Plan()
    /// Number of plans; values of older plans do not count.
    private(set) var epoch: UInt32 = 1
    /// The plan's lanes, and one more for all other entries.
    private var lanes = [Lane(0, 0)]
    /// Numbers of the plan's lanes in the order of their turns.
    private(set) var order: [Int] = []
    /// Lane of the last entry.
    private var turn = 0
    /// Whether a needed tile had no room, nor may others have: nothing further starts.
    private(set) var hasEnded = false
    /// Whether a tile had no room: no further prefetch or margin starts.
    private(set) var prefetchHasEnded = false
    /// What the plan was refused.
    private(set) var unmet = Unmet()
    /// Room that the last plan before lacked that had a turn, if views were and are at rest.
    private(set) var formerLack = RoomLack()
    /// Whether the plan has the maximum of pinned tiles: there may be more.
    private(set) var cutsPins = false
    /// Earliest retry of the plan's failed tiles, or expiry of its ancestors, when it was installed; `.max` for none.
    private(set) var nextRetry = Int64.max
    /// Resident tiles valued by the plan. With their values, so that a search for a victim seldom reads entries.
    private(set) var valued: [ValuedTile] = []

    /// Number of entries that have not had their turn.
    var rest: Int { lanes.reduce(0) { $0 + $1.end - $1.cursor } }
    var hasLanes: Bool { lanes.count > 1 }
    /// Room that needed tiles lack.
    var lack: RoomLack { unmet.room }
    var lacksRoomForNeeds: Bool { lack.exists }
    /// Whether all entries have had their turn, and none was refused.
    var isDone: Bool { rest <= 0 && unmet.isEmpty }
    /// Whether the plan is done, and may not have contained all pinned tiles.
    var leavesPins: Bool { cutsPins && rest <= 0 }

    mutating func arrange(_ order: [Int]) { self.order = order }

    /// Replaces the plan; by an empty one if there is no room for it.
    mutating func install(_ newPlan: consuming Plan, hasRoom: Bool) {
        let hadTurn = lack.exists || lanes.contains { $0.hasBegun } || plan.entries.isEmpty
        if !plan.isAtRest || !newPlan.isAtRest { formerLack = RoomLack() } else if hadTurn { formerLack = lack }
        // Without a copy.
        plan = newPlan
        if !hasRoom { plan = Plan() }
        setLanes()
        (hasEnded, prefetchHasEnded, unmet) = (false, false, Unmet())
        // Without room for a plan every byte is leased: nothing could be loaded either.
        if !hasRoom { unmet.noteLack() }
        cutsPins = plan.entries.lazy.filter { $0.reason == .pin }.count >= PoolState.pinsOfAPlan
        nextRetry = .max
        epoch &+= 1
        valued.removeAll(keepingCapacity: true)
    }

    private mutating func setLanes() {
        lanes.removeAll(keepingCapacity: true)
        for lane in plan.lanes { lanes.append(Lane(lanes.last?.end ?? 0, lane.end)) }
        lanes.append(Lane(lanes.last?.end ?? 0, plan.entries.count))
        (order, turn) = (Array(plan.lanes.indices), 0)
    }

    /// Drops the plan and its memory. Its tiles are planned again once there is room.
    mutating func drop() {
        let cutsPins = cutsPins
        valued = []
        install(Plan(), hasRoom: false)
        self.cutsPins = cutsPins
    }

    mutating func reserve(_ count: Int) { valued.reserveCapacity(count) }

    mutating func noteValued(_ number: EntryID, _ value: Float) {
        valued.append(ValuedTile(number: number, value: value))
    }

    mutating func noteRetry(at time: Int64) { nextRetry = min(nextRetry, time) }

    // MARK: - Turns

    /// Entry whose turn it is, or the first needed tile behind a waiting prefetch. `nil` at the end.
    mutating func next(behindPrefetch: Bool) -> PlanEntry? {
        for lane in order {
            turn = lane
            if let entry = lanes[lane].next(of: plan.entries, behindPrefetch: behindPrefetch) { return entry }
        }
        turn = lanes.count - 1
        return lanes[turn].next(of: plan.entries, behindPrefetch: behindPrefetch)
    }

    /// Ends the turn of the last entry, unless the plan was dropped since.
    mutating func advance(behindPrefetch: Bool) { lanes[turn].advance(behindPrefetch: behindPrefetch) }

    /// Entries of a lane that have not had their turn.
    func rest(ofLane lane: Int) -> ArraySlice<PlanEntry> { plan.entries[lanes[lane].cursor..<lanes[lane].end] }

    mutating func noteLack() { unmet.noteLack() }

    mutating func noteRefused(slotBytes: Int) { unmet.noteRefused(slotBytes: slotBytes) }

    /// Notes that a needed or pinned tile has no place in the table, or does not fit beside the tables.
    mutating func noteUnmet() { unmet.note(.needed) }

    /// Notes that an entry was passed by because its layer has all its loads, or all its decoders, at work.
    mutating func noteBusy(layer: Int) { unmet.noteBusy(layer: layer) }

    /// Notes that nothing may be evicted for an entry. Nothing further of its kind starts, since it is worth less.
    ///
    /// - Parameters:
    ///   - hasShares: Whether another layer may have room left.
    ///   - isFull: Whether the entry's layer is at its maximum share.
    ///   - leavesRoom: Whether other needed tiles may have the room that is too little for this one. Default: false.
    /// - Returns: Whether further entries may start.
    mutating func passForRoom(_ planned: PlanEntry, hasShares: Bool, isFull: Bool, leavesRoom: Bool = false) -> Bool {
        let isPrefetch = planned.reason.isExtra
        if isPrefetch { unmet.note(.extra) } else { unmet.noteLack(ofLayer: isFull ? planned.key.layer : nil) }
        let goesOn = hasShares || (leavesRoom && !isPrefetch)
        prefetchHasEnded = prefetchHasEnded || (!hasShares && (isPrefetch || leavesRoom))
        hasEnded = hasEnded || (!goesOn && !isPrefetch)
        return goesOn
    }
}
