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
/// A plan takes what there is. So another one brings more of the same only after the pool has given something back
/// (`PoolState.takeSupply`), and only if something was refused.
struct Unmet {
    /// How much a refused tile is wanted.
    enum Rank: Comparable {
        /// Prefetches and margins.
        case extra
        /// Needed and pinned tiles, and their fallbacks.
        case needed
    }

    /// The highest rank that was refused; `nil` if nothing was.
    private(set) var rank: Rank?
    /// Room that needed tiles lack.
    private(set) var room = RoomLack()
    /// Least size of a slot, in bytes, that had no room, though smaller ones may have some; `.max` for none.
    private(set) var leastSlot = Int.max

    mutating func note(_ new: Rank) { rank = max(rank ?? new, new) }

    /// Notes that a needed tile lacks room.
    ///
    /// - Parameter layer: Layer at its maximum share: only its own tiles make room. Default: `nil`, those of all layers.
    mutating func noteLack(ofLayer layer: Int? = nil) {
        note(.needed)
        if let layer { room.layers.insert(layer) } else { room.isOfAll = true }
    }

    mutating func noteRefused(slotBytes: Int) { leastSlot = min(leastSlot, slotBytes) }
}
