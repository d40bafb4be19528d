/// Loads whose source does not answer: each occupies one worker, no more.
extension PoolState {
    /// Replaces the workers of loads that began before a time. The loads go on, keep their reservations and may still
    /// land; such a layer has at most as many loads in flight as there are workers, or two.
    ///
    /// - Returns: Number of workers to replace.
    mutating func writeOffLoads(startedBefore time: Int64, atMost limit: Int) -> Int {
        var count = 0
        for (id, load) in loads.all where count < limit && !load.isWrittenOff && load.started < time {
            // The next load takes one record more than there are workers.
            guard configuration.grantsBookkeeping || makeBytes(MemoryLayout<Load?>.stride) else { break }
            loads.writeOff(id)
            count += 1
            noteTaken()
        }
        return count
    }

    mutating func endStuckDecode(ofLayer layer: Int) {
        layers.change(layer) { $0.stuckDecodes -= 1 }
        effects.plans = true
    }

    /// Whether a layer has the maximum of loads in flight, if loads are stuck.
    func hasAllItsLoads(layer: Int) -> Bool {
        guard loads.writtenOffCount > 0 else { return false }
        return loads.all.count { table[$0.load.entry].key.layer == layer } >= configuration.mostOfHangingLayer
    }
}
