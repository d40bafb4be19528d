/// The scratch memory that making a coarser level takes from the pool.
extension PoolState {
    /// Takes a slot as scratch memory for a load that is under way; it counts as in flight until it is given back.
    mutating func takeScratch(for id: LoadID, now: Int64) -> Admission<SlotID> {
        guard let load = loads[id], !load.isOutdated else { return .refused }
        return takeSlot(for: load, now: now)
    }

    /// Gives scratch memory back.
    mutating func returnScratch(_ slot: SlotID, layer: Int, now: Int64) {
        ledger.noteInFlight(-slotBytes(ofLayer: layer))
        giveBack(slot: slot, ofLayer: layer)
        settleLimit(now: now)
    }
}
