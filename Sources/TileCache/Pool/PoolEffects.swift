/// What changes of a pool ask of its owner, declared where their cause is.
struct PoolEffects: Hashable, Sendable {
    /// Something is wanted that only a new plan brings.
    var plans = false
    /// When a tile may be tried again, whether or not anything else happens, in nanoseconds; `.max` for never.
    var replanAt = Int64.max
    /// Loads that have ended after other workers took the places of theirs.
    var lateWorkers = 0
}

extension PoolState {
    /// Takes what has been declared since the last call. The owner takes the memory to decommit with
    /// `takePendingDecommits`.
    mutating func takeEffects() -> PoolEffects {
        defer { effects = PoolEffects() }
        return effects
    }

    /// Whether there is anything to take.
    var hasEffects: Bool { !pendingDecommits.isEmpty || effects != PoolEffects() }
}
