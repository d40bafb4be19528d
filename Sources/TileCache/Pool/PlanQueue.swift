/// The plan and its progress.
///
/// Entries start in order, except that needed tiles overtake a prefetch that waits for a worker, a codec or room, and a
/// tile that lacks room beside its slot or a larger slot. The plan's lanes take turns; what is behind them comes last.
struct PlanQueue {
    /// A resident tile that the plan values.
    struct ValuedTile {
        var number: EntryID
        /// Its value when it was noted. That of its entry may be greater since.
        var value: Float
    }

    private(set) var plan = Plan()
    /// Number of plans; values of older plans do not count.
    private(set) var epoch: UInt32 = 1
    private var lanes = PlanLanes()
    /// The first rank of which no further tile starts, as one had no room, nor may others have; `nil` if all may.
    private var ended: Rank?
    /// What the plan was refused.
    private(set) var unmet = Unmet()
    /// Room that the last plan before lacked that had a turn, if views were and are at rest.
    private(set) var formerLack = RoomLack()
    /// Resident tiles valued by the plan. With their values, so that a search for a victim seldom reads entries.
    private(set) var valued: [ValuedTile] = []

    /// Number of entries that have not had their turn.
    var rest: Int { lanes.rest }
    var hasLanes: Bool { lanes.areSeveral }
    var hasEnded: Bool { ended == .pin }
    var prefetchHasEnded: Bool { ended != nil }
    /// Room that needed tiles lack.
    var lack: RoomLack { unmet.room }
    var lacksRoomForNeeds: Bool { lack.exists }
    /// Whether all entries have had their turn, and none was refused.
    var isDone: Bool { rest <= 0 && unmet.isEmpty && !lanes.haveParked }

    mutating func arrange(_ order: [Int]) { lanes.arrange(order) }

    /// Replaces the plan; by an empty one if there is no room for it.
    mutating func install(_ newPlan: consuming Plan, hasRoom: Bool) {
        let hadTurn = lack.exists || lanes.haveBegun || plan.entries.isEmpty
        if !plan.isAtRest || !newPlan.isAtRest { formerLack = RoomLack() } else if hadTurn { formerLack = lack }
        let isAtRest = newPlan.isAtRest
        // Without a copy.
        plan = newPlan
        if !hasRoom { plan = Plan(isAtRest: isAtRest) }
        plan.cutsPins = plan.entries.lazy.filter { $0.reason == .pin }.count >= PoolState.pinsOfAPlan
        lanes = PlanLanes(of: plan)
        (ended, unmet) = (nil, Unmet())
        // Without room for a plan every byte is leased: nothing could be loaded either.
        if !hasRoom { unmet.noteLack() }
        epoch &+= 1
        valued.removeAll(keepingCapacity: true)
    }

    /// Drops the plan and its memory. Its tiles are planned again once there is room.
    mutating func drop() {
        valued = []
        install(Plan(isAtRest: plan.isAtRest), hasRoom: true)
        unmet.note(.demand)
    }

    mutating func reserve(_ count: Int) { valued.reserveCapacity(count) }

    mutating func noteValued(_ number: EntryID, _ value: Float) {
        valued.append(ValuedTile(number: number, value: value))
    }

    mutating func noteRetry(at time: Int64) { plan.nextRetry = min(plan.nextRetry, time) }

    // MARK: - Turns

    /// Entry whose turn it is, or the first needed tile behind a waiting prefetch. `nil` at the end.
    mutating func next(behindPrefetch: Bool) -> PlanEntry? {
        lanes.next(of: plan.entries, behindPrefetch: behindPrefetch)
    }

    /// Ends the turn of the last entry, unless the plan was dropped since.
    mutating func advance(behindPrefetch: Bool) { lanes.advance(behindPrefetch: behindPrefetch) }

    /// Notes that the last entry waits for a place in its layer's window. It has another turn once there is one.
    mutating func park() { lanes.park() }

    /// Gives the entries that wait for a place in a window another turn.
    mutating func rewind() { lanes.rewind() }

    /// Notes that the work for an entry has begun. A plan of as many pinned tiles as it may have is not followed by the
    /// next one unless some have begun: it would have the same tiles.
    mutating func noteBegun(_ planned: PlanEntry) {
        if plan.cutsPins, planned.reason == .pin { unmet.noteCutPins() }
    }

    /// Takes whether pinned tiles have begun that others may wait behind, once all have had their turn.
    mutating func takeCutPins() -> Bool { !lanes.haveParked && unmet.takeCutPins() }

    /// Entries of a lane that have not had their turn.
    func rest(ofLane lane: Int) -> ArraySlice<PlanEntry> { plan.entries[lanes.rest(of: lane)] }

    mutating func noteLack() { unmet.noteLack() }

    mutating func noteRefused(slotBytes: Int) { unmet.noteRefused(slotBytes: slotBytes) }

    /// Notes that a needed or pinned tile has no place in the table, or does not fit beside the tables.
    mutating func noteUnmet() { unmet.note(.demand) }

    /// Notes that an entry was passed by because its layer has all its loads, or all its decoders, at work.
    mutating func noteBusy() { unmet.noteBusy() }

    /// Takes whether entries were passed by for that reason, once.
    mutating func takeBusy() -> Bool { unmet.takeBusy() }

    /// Notes that nothing may be evicted for an entry. Nothing further of its kind starts, since it is worth less.
    ///
    /// - Parameters:
    ///   - hasShares: Whether another layer may have room left.
    ///   - isFull: Whether the entry's layer is at its maximum share.
    ///   - leavesRoom: Whether other needed tiles may have the room that is too little for this one. Default: false.
    /// - Returns: Whether further entries may start.
    mutating func passForRoom(_ planned: PlanEntry, hasShares: Bool, isFull: Bool, leavesRoom: Bool = false) -> Bool {
        let isExtra = planned.reason.isExtra
        if isExtra { unmet.note(planned.reason) } else { unmet.noteLack(ofLayer: isFull ? planned.key.layer : nil) }
        let goesOn = hasShares || (leavesRoom && !isExtra)
        if !goesOn, !isExtra { ended = .pin }
        if !hasShares, isExtra || leavesRoom { ended = ended ?? .ancestor }
        return goesOn
    }
}
