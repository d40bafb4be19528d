/// Lack of room for needed tiles: which evictions would end it.
struct RoomLack {
    /// Whether the eviction of any layer's tiles makes room for some of them.
    var isOfAll = false
    /// Layers at their maximum share: only the eviction of their own tiles makes room.
    var layers: Set<Int> = []

    var exists: Bool { isOfAll || !layers.isEmpty }

    /// Whether the eviction of a layer's tiles makes room.
    func concerns(_ layer: Int) -> Bool { isOfAll || layers.contains(layer) }

    mutating func add(_ other: RoomLack) {
        isOfAll = isOfAll || other.isOfAll
        layers.formUnion(other.layers)
    }
}

/// What a plan was refused.
///
/// A plan takes what there is when its entries have their turn. Another plan brings more of the same only if the plan
/// was refused something, and the pool has given something back since (`PoolState.takeSupply`).
struct Unmet {
    /// The most wanted rank that was refused room; `nil` if none was.
    private(set) var rank: Rank?
    /// Whether entries were passed by since their layer had all its loads, or all its decoders, at work.
    private(set) var isBusy = false
    /// Room that needed tiles lack.
    private(set) var room = RoomLack()
    /// Least size of a slot, in bytes, that had no room, though smaller ones may have some; `.max` for none.
    private(set) var leastSlot = Int.max

    /// Whether pinned tiles may have had no place in the plan, of which some have begun.
    private(set) var cutsPins = false

    /// Whether tiles that are needed or pinned, or their fallbacks, were refused room.
    var isOfNeeds: Bool { rank.map { !$0.isExtra } ?? false }
    var isEmpty: Bool { rank == nil && !isBusy && !cutsPins }

    mutating func note(_ new: Rank) { rank = min(rank ?? new, new) }

    mutating func noteBusy() { isBusy = true }

    mutating func takeBusy() -> Bool {
        defer { isBusy = false }
        return isBusy
    }

    mutating func noteCutPins() { cutsPins = true }

    mutating func takeCutPins() -> Bool {
        defer { cutsPins = false }
        return cutsPins
    }

    /// Notes that a needed tile lacks room.
    ///
    /// - Parameter layer: Layer at its maximum share: only its own tiles make room. Default: `nil`, those of all layers.
    mutating func noteLack(ofLayer layer: Int? = nil) {
        note(.demand)
        if let layer { room.layers.insert(layer) } else { room.isOfAll = true }
    }

    mutating func noteRefused(slotBytes: Int) { leastSlot = min(leastSlot, slotBytes) }
}
