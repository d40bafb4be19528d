/// Requests of the pool to its owner, declared at their cause.
struct PoolEffects: Hashable, Sendable {
    /// Time of the next retry, in nanoseconds; `.max` for none.
    var replanAt = Int64.max
    /// Number of ended loads whose worker was replaced.
    var lateWorkers = 0
    /// Hanging loads to cancel, so that needed tiles load in their place.
    var superseded: [LoadID] = []
    /// Whether a decoded tile has become needed or pinned: frames that spare room may draw it now.
    var keepsMore = false
    /// Tiles drawn for the first time that wait to be given to stores.
    var drawn: [TileKey] = []
    /// Slots taken that have no memory yet.
    var fresh: [MemoryRange] = []
}

/// Effects that were declared since they were last taken.
struct Declared<Value> {
    private let none: Value
    private var declared: Value
    /// Whether there may be some. Most holds of the lock declare none, and pay for this one test.
    private(set) var exists = false

    init(none: Value) { (self.none, declared) = (none, none) }

    var effects: Value {
        @inline(__always) _read { yield declared }
        @inline(__always) _modify {
            exists = true
            yield &declared
        }
    }

    mutating func take() -> Value {
        defer { (declared, exists) = (none, false) }
        return declared
    }
}

extension PoolState {
    /// Drains the memory to decommit. The caller decommits it before it writes to granted memory.
    mutating func takePendingDecommits() -> [LeavingMemory] { ledger.takePendingDecommits() }

    /// Drains the declared effects.
    mutating func takeEffects() -> PoolEffects { declared.take() }

    /// Declared effects.
    var effects: PoolEffects {
        @inline(__always) _read { yield declared.effects }
        @inline(__always) _modify { yield &declared.effects }
    }

    /// Whether there may be effects to drain.
    var hasEffects: Bool { declared.exists || !ledger.pendingDecommits.isEmpty }
}
