/// Whether a plan is queued or being made, and what depends on it.
struct PlanningState: Sendable {
    private(set) var isQueued = false
    /// Whether a plan is being made of a snapshot.
    private(set) var isMaking = false
    /// Whether removed layers wait for the end of that plan.
    private var hasWaitingRemoval = false
    /// The newest plan, unless another one is being made.
    private(set) var newest: FinishedPlan?

    /// Queues a plan; returns whether none was queued.
    mutating func queue() -> Bool {
        defer { isQueued = true }
        return !isQueued
    }

    mutating func begin() { (isQueued, isMaking, newest) = (false, true, nil) }

    /// Whether removed layers have to wait for the plan being made, which uses their indices.
    mutating func delaysRemoval(ofAny hasRemoved: Bool) -> Bool {
        if isMaking { hasWaitingRemoval = hasRemoved }
        return isMaking
    }

    /// Ends a plan; returns whether removed layers have waited for it.
    mutating func end(_ plan: FinishedPlan) -> Bool {
        defer { (isMaking, hasWaitingRemoval) = (false, false) }
        newest = plan
        return hasWaitingRemoval
    }
}

/// A plan that was made, and what depends on it.
struct FinishedPlan: Sendable {
    /// Counters of the pool before it.
    var counters: PoolCounters
    var validity: WishValidity

    /// Whether another plan for a view would change nothing: nothing has been loaded or needed since. For one that
    /// goes on, nothing of this plan may be left to load either, or have been refused since. Callers check that no load is
    /// in flight.
    ///
    /// - Parameter isStill: Whether the view stands still.
    func holds(for view: borrowing ViewModel, at now: Int64, isStill: Bool, in pool: borrowing PoolState) -> Bool {
        if isStill, validity.contains(.whileStill) { return pool.counters.isUnchanged(since: counters) }
        return validity.contains(.whileGoingOn) && pool.queue.isDone && pool.counters == counters
            && view.goesOn(at: now)
    }
}
