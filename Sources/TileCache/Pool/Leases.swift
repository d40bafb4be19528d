/// Identifies a lease of a tile.
struct LeaseToken: Sendable, Hashable {
    var entry: EntryID
    var slot: SlotID
    var slotClass: Int32

    fileprivate var range: MemoryRange { MemoryRange(slotClass: slotClass, number: slot.number) }
}

/// Leased slots with old pixels, whose tiles have newer ones.
struct Orphans {
    private(set) var holds: [MemoryRange: Int32] = [:]

    mutating func add(_ range: MemoryRange, holds count: Int32) { holds[range] = count }

    var isEmpty: Bool { @inline(__always) get { holds.isEmpty } }

    /// Changes the number of leases. Returns the new number, `nil` if the slot is not an orphan.
    fileprivate mutating func count(_ change: Int32, of token: LeaseToken) -> Int32? {
        guard let count = holds[token.range] else { return nil }
        holds[token.range] = count + change > 0 ? count + change : nil
        return count + change
    }
}

extension PoolState {
    /// Leases a decoded tile: its bytes stay in place and counted until `release`.
    @inline(__always)
    mutating func lease(_ number: EntryID) { table.lease(number, by: 1, layers) }

    /// The entry of a decoded tile; none if the tile is not decoded.
    @inline(__always)
    func decodedEntry(of key: TileKey) -> EntryID {
        let number = table.find(key)
        return number != .none && table.pointer(number).pointee.residency.isDecoded ? number : .none
    }

    /// Leases a tile, and marks it as the most recently used one. `nil` unless it is decoded.
    @inline(__always)
    mutating func leaseForUse(_ key: TileKey) -> LeaseToken? {
        let number = decodedEntry(of: key)
        guard number != .none else { return nil }
        lease(number)
        touchForUse(number)
        return token(of: number, layer: key.layer)
    }

    /// Leases the pixels that a tile had at some time; says whether they are stale by now. `nil` if they are not there any
    /// more.
    mutating func lease(_ key: TileKey, generation: UInt32) -> (token: LeaseToken, isStale: Bool)? {
        let number = decodedEntry(of: key)
        guard number != .none, table[number].generation == generation else { return nil }
        lease(number)
        return (token(of: number, layer: key.layer), table[number].flags.contains(.stale))
    }

    /// Token of a lease of the tile's present pixels.
    func token(of number: EntryID, layer: Int) -> LeaseToken {
        LeaseToken(entry: number, slot: table[number].slot, slotClass: Int32(layers[layer].slotClass))
    }

    /// Adds a lease to leased pixels, whether or not newer ones have replaced them.
    mutating func lease(_ token: LeaseToken) {
        if orphans.count(1, of: token) == nil { lease(token.entry) }
    }

    /// Ends leases. Above a lowered limit, evicts what they kept; plans continue with what is left, in steps.
    mutating func endLeases(_ tokens: some Sequence<LeaseToken>) {
        for token in tokens { release(token) }
        if settleLimit() { noteDemand() }
    }

    /// Ends a lease, whether or not newer pixels have replaced it.
    @inline(__always)
    mutating func release(_ token: LeaseToken) {
        if !orphans.isEmpty, releaseOrphan(token) { return }
        table.lease(token.entry, by: -1, layers)
    }

    /// Ends a lease of replaced pixels. Returns whether it was one.
    @inline(never)
    private mutating func releaseOrphan(_ token: LeaseToken) -> Bool {
        guard let left = orphans.count(-1, of: token) else { return false }
        if left == 0 {
            slots[Int(token.slotClass)].release(token.slot.number)
            noteEnd()
        }
        return true
    }
}
