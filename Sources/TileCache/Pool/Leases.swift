/// What the pool needs to end one tile's lease.
struct LeaseToken: Sendable, Hashable {
    var entry: EntryID
    var slot: SlotID
    var slotClass: Int32

    fileprivate var range: MemoryRange { MemoryRange(slotClass: slotClass, number: slot.number) }
}

/// Slots with old pixels that are still held, though their tiles got newer ones.
struct Orphans {
    private(set) var holds: [MemoryRange: Int32] = [:]

    mutating func add(_ range: MemoryRange, holds count: Int32) { holds[range] = count }

    /// Counts a hold more or less; how many are left, `nil` if the slot is none of these.
    fileprivate mutating func count(_ change: Int32, of token: LeaseToken) -> Int32? {
        guard !holds.isEmpty, let count = holds[token.range] else { return nil }
        holds[token.range] = count + change > 0 ? count + change : nil
        return count + change
    }
}

extension PoolState {
    /// Holds a decoded tile: its bytes stay where they are and stay counted until `release`.
    mutating func lease(_ number: EntryID) {
        table[number].leaseCount += 1
        relist(number)
    }

    /// What ends a lease that a tile of a layer has now.
    func token(of number: EntryID, layer: Int) -> LeaseToken {
        LeaseToken(entry: number, slot: table[number].slot, slotClass: Int32(layers[layer].slotClass))
    }

    /// Holds once more what is held already, whether or not newer pixels have taken the entry meanwhile.
    mutating func lease(_ token: LeaseToken) {
        if orphans.count(1, of: token) == nil { lease(token.entry) }
    }

    /// Ends a hold, whether or not newer pixels have taken the entry meanwhile; whether what was held may go now.
    @discardableResult
    mutating func release(_ token: LeaseToken) -> Bool {
        if let left = orphans.count(-1, of: token) {
            guard left == 0 else { return false }
            let slotClass = Int(token.slotClass)
            slots[slotClass].giveBack(token.slot.number)
            if slots[slotClass].layers == 0 { effects.plans = true }
            return true
        }
        table[token.entry].leaseCount -= 1
        relist(token.entry)
        return !table[token.entry].isPinned
    }
}
