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
    /// Takes the memory to decommit. The holder of the lock decommits it before it writes to what it was granted.
    mutating func takePendingDecommits() -> [LeavingMemory] { ledger.takePendingDecommits() }

    /// Takes what has been declared since the last call.
    mutating func takeEffects() -> PoolEffects {
        defer { effects = PoolEffects() }
        return effects
    }

    /// Whether there is anything to take.
    var hasEffects: Bool { !ledger.pendingDecommits.isEmpty || effects != PoolEffects() }
}
