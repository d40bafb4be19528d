/// Whether a plan is queued or being made, and what depends on it.
struct PlanningState: Sendable {
    private(set) var isQueued = false
    /// Whether a plan is being made of a snapshot.
    private(set) var isMaking = false
    /// Whether removed layers wait for the end of that plan.
    private var hasWaitingRemoval = false
    /// Counters before the newest plan, if views at rest need none until they change.
    private(set) var settledCounters: PoolCounters?

    /// Queues a plan; returns whether none was queued.
    mutating func queue() -> Bool {
        defer { isQueued = true }
        return !isQueued
    }

    mutating func begin() { (isQueued, isMaking, settledCounters) = (false, true, nil) }

    /// Whether removed layers have to wait for the plan being made, which uses their indices.
    mutating func delaysRemoval(ofAny hasRemoved: Bool) -> Bool {
        if isMaking { hasWaitingRemoval = hasRemoved }
        return isMaking
    }

    /// Ends a plan; returns whether removed layers have waited for it.
    mutating func end(settledCounters: PoolCounters?) -> Bool {
        defer { (isMaking, hasWaitingRemoval) = (false, false) }
        self.settledCounters = settledCounters
        return hasWaitingRemoval
    }
}
