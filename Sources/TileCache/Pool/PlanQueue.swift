/// The plan, and how far it has got.
///
/// The plan's order counts, with one exception: if a prefetch has to wait, for a worker that may do it, a codec or room,
/// the needed tiles behind it do not wait with it.
struct PlanQueue {
    private(set) var plan = Plan()
    /// Counts plans, so that what an older one said of a tile counts for nothing.
    private(set) var epoch: UInt32 = 1
    private(set) var cursor = 0
    /// How far needed tiles have gone ahead of a prefetch that waits.
    private(set) var demandCursor = 0
    /// The plan has come to a needed tile that there is no room for.
    private(set) var hasEnded = false
    /// The plan has come to a prefetch that there is no room for.
    private(set) var prefetchHasEnded = false
    /// There was no room for something that is needed.
    private(set) var lacksRoomForNeeds = false
    /// A layer's share was no room for a wish.
    private(set) var hasPassedForRoom = false
    /// A layer with stuck loads had all that it may have in flight.
    private(set) var hasPassedForLoads = false
    /// The plan has as many pinned tiles as a plan takes: there may be more.
    private(set) var cutsPins = false
    /// When the first of the plan's failed tiles may be tried again, as of its installation; `.max` for none.
    private(set) var nextRetry = Int64.max
    /// Resident tiles that the plan values.
    private(set) var valued: [EntryID] = []

    /// Entries that have not had their turn.
    var rest: Int { plan.entries.count - cursor }
    /// Whether the plan holds what there was no room for: room that comes later is worth a new plan.
    var isShortOfRoom: Bool { hasEnded || prefetchHasEnded || hasPassedForRoom }
    /// Whether the plan is done, and not all pinned tiles were in it.
    var leavesPins: Bool { cutsPins && rest <= 0 }

    /// Replaces the plan, by an empty one if there is no room for it.
    mutating func install(_ newPlan: consuming Plan, hasRoom: Bool) {
        plan = hasRoom ? newPlan : Plan()
        (cursor, demandCursor) = (0, 0)
        (hasEnded, prefetchHasEnded, hasPassedForRoom, hasPassedForLoads) = (false, false, false, false)
        // Without room every byte is held: nothing could be loaded either, until some is released.
        lacksRoomForNeeds = !hasRoom
        cutsPins = plan.entries.lazy.filter { $0.reason == .floor }.count >= PoolState.pinsOfAPlan
        nextRetry = .max
        epoch &+= 1
        valued.removeAll(keepingCapacity: true)
    }

    /// Drops the plan and its memory. What it would have loaded is asked for again when there is room.
    mutating func drop() {
        let cutsPins = cutsPins
        valued = []
        install(Plan(), hasRoom: false)
        self.cutsPins = cutsPins
    }

    /// Takes room for so many tiles that a plan values.
    mutating func reserve(_ count: Int) { valued.reserveCapacity(count) }

    mutating func noteValued(_ number: EntryID) { valued.append(number) }

    mutating func noteRetry(at time: Int64) { nextRetry = min(nextRetry, time) }

    // MARK: - Turns

    /// The entry whose turn it is, or the first needed tile behind a prefetch that waits; `nil` at the end.
    mutating func next(behindPrefetch: Bool) -> PlanEntry? {
        let entries = plan.entries
        guard behindPrefetch else {
            // What is needed has had its turn if the other cursor has gone ahead of this one.
            while cursor < min(demandCursor, entries.count), entries[cursor].reason != .prefetch { cursor += 1 }
            return cursor < entries.count ? entries[cursor] : nil
        }
        demandCursor = max(demandCursor, cursor)
        while demandCursor < entries.count, entries[demandCursor].reason == .prefetch { demandCursor += 1 }
        return demandCursor < entries.count ? entries[demandCursor] : nil
    }

    /// Ends the turn of what `next` has returned, unless the plan has been dropped since.
    mutating func advance(behindPrefetch: Bool) {
        if behindPrefetch {
            demandCursor = min(demandCursor + 1, plan.entries.count)
        } else {
            cursor = min(cursor + 1, plan.entries.count)
        }
    }

    mutating func noteLack() { lacksRoomForNeeds = true }

    mutating func passForLoads() { hasPassedForLoads = true }

    /// Notes that nothing may be evicted for an entry. The rest of its kind is worth less, so nothing of it starts; the
    /// next plan may find room again.
    ///
    /// - Parameter hasShares: another layer may have room left.
    /// - Returns: whether others may have their turns.
    mutating func passForRoom(_ wish: PlanEntry, hasShares: Bool) -> Bool {
        let isPrefetch = wish.reason == .prefetch
        if !isPrefetch { lacksRoomForNeeds = true }
        hasPassedForRoom = hasPassedForRoom || hasShares
        prefetchHasEnded = prefetchHasEnded || (!hasShares && isPrefetch)
        hasEnded = hasEnded || (!hasShares && !isPrefetch)
        return hasShares
    }
}
