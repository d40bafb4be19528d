/// Requests of the pool to its owner, declared at their cause.
struct PoolEffects: Hashable, Sendable {
    /// Whether a new plan is required.
    var plans = false
    /// Time of the next retry, in nanoseconds; `.max` for none.
    var replanAt = Int64.max
    /// Number of ended loads whose worker was replaced.
    var lateWorkers = 0
    /// Whether a decoded tile has become needed or pinned: frames that spare room may draw it now.
    var keepsMore = false
    /// Tiles drawn for the first time that wait to be given to stores.
    var drawn: [TileKey] = []
}

extension PoolState {
    /// Drains the memory to decommit. The caller decommits it before it writes to granted memory.
    mutating func takePendingDecommits() -> [LeavingMemory] { ledger.takePendingDecommits() }

    /// Drains the declared effects.
    mutating func takeEffects() -> PoolEffects {
        defer { effects = PoolEffects() }
        return effects
    }

    var hasEffects: Bool { !ledger.pendingDecommits.isEmpty || effects != PoolEffects() }
}
