/// What making a coarser level takes from the pool: scratch memory, and a look at compressed tiles.
extension PoolState {
    /// Takes a slot as scratch memory for a load that is under way; it counts as in flight until it is given back.
    mutating func takeScratch(for id: Int32, now: Int64) -> Admission<Int32> {
        guard let load = loads[id], !load.isOutdated else { return .refused }
        return takeSlot(for: load, now: now)
    }

    /// Gives scratch memory back.
    mutating func returnScratch(_ slot: Int32, layer: Int, now: Int64) {
        ledger.write(-slotBytes(ofLayer: layer))
        giveBack(slot: slot, ofLayer: layer)
        settleLimit(now: now)
    }

    /// Marks a compressed tile as being decompressed to somewhere else than a slot of its own; `nil` where it is none,
    /// or somebody else is at it.
    mutating func beginPeek(_ number: Int32) -> CodecTicket? {
        guard table[number].residency == .compressed else { return nil }
        return beginWork(on: number, as: .promoting)
    }

    /// Ends a look; the tile is as compressed as before, unless its block was damaged. What a view waits for is to be
    /// decompressed, or loaded again.
    mutating func finishPeek(_ ticket: CodecTicket, _ result: PromotionResult) {
        endJob(ofLayer: ticket.key.layer)
        if result != .pixels { effects.plans = true }
        let number = ticket.entry
        guard isCurrent(ticket) else {
            free(ticket.form, ofLayer: ticket.key.layer)
            return
        }
        table[number].leaseCount -= 1
        change(number) { $0.residency = .compressed }
        if table[number].needCount > 0 { effects.plans = true }
        if result != .pixels {
            if result == .damaged { counters.damagedBlocks += 1 } else { counters.undecodable += 1 }
            drop(number, cause: .damaged)
        }
    }
}
