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
    /// Whether views at rest need no other one until the counters change.
    var isSettled: Bool
    /// Whether views that go on as before need no other one until the counters change.
    var isReusable: Bool

    /// Whether it holds for views that go on as before: nothing of it is left to load, and nothing has been loaded,
    /// needed or refused since. Callers check that no load is in flight.
    func holds(in pool: borrowing PoolState) -> Bool {
        isReusable && pool.queue.isDone && pool.counters == counters
    }
}
