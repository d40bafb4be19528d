/// Loads whose source does not answer: each has taken its worker, and no more than that.
extension PoolState {
    /// Gives the workers of loads that have taken too long to others. The loads go on, keep what they have reserved and
    /// land if they ever end; their layer has no more loads in flight than there are workers, these included.
    ///
    /// - Parameters:
    ///   - time: loads that began before it have taken too long, in nanoseconds.
    ///   - limit: no more than this many.
    /// - Returns: how many workers' places are free now.
    mutating func writeOffLoads(startedBefore time: Int64, atMost limit: Int) -> Int {
        var count = 0
        for (id, load) in loads.all where count < limit && !load.isWrittenOff && load.started < time {
            // The next load takes a record more than there are workers.
            guard configuration.grantsBookkeeping || makeBytes(MemoryLayout<Load?>.stride) else { break }
            loads.writeOff(id)
            count += 1
            noteTaken()
        }
        return count
    }

    /// Counts a load as begun at a later time: its source has answered a part of it.
    mutating func restart(_ id: LoadID, at time: Int64) { loads.change(id) { $0.started = time } }

    /// Notes that a layer's decoder keeps its worker for too long; such a layer gets no more than the workers' number of
    /// spare ones.
    mutating func noteStuckDecode(ofLayer layer: Int) { layers[layer].stuckDecodes += 1 }

    /// Notes the end of such a decoder.
    mutating func endStuckDecode(ofLayer layer: Int) {
        layers[layer].stuckDecodes -= 1
        effects.plans = true
    }

    /// Whether a layer whose loads are stuck has as many in flight as there are workers.
    func hasAllItsLoads(layer: Int) -> Bool {
        guard loads.writtenOffCount > 0 else { return false }
        return loads.all.count { table[$0.load.entry].key.layer == layer } >= configuration.workers
    }
}
