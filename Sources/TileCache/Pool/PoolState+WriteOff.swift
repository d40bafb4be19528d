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
        for id in loads.indices where count < limit {
            guard let load = loads[id], !load.isWrittenOff, load.started < time else { continue }
            // The next load takes a record more than there are workers.
            guard configuration.grantsBookkeeping || makeBytes(MemoryLayout<Load?>.stride) else { break }
            loads[id]?.isWrittenOff = true
            writtenOffCount += 1
            if !load.isDemand { prefetchLoadCount -= 1 }
            count += 1
            coverTaken()
        }
        notePeaks()
        return count
    }

    /// Counts a load as begun at a later time: its source has answered a part of it.
    mutating func restart(_ id: Int32, at time: Int64) { loads[Int(id)]?.started = time }

    /// Notes that a layer's decoder keeps its worker for too long; such a layer gets no more than the workers' number of
    /// spare ones.
    mutating func noteStuckDecode(ofLayer layer: Int) { layers[layer].stuckDecodes += 1 }

    /// Notes the end of such a decoder.
    mutating func endStuckDecode(ofLayer layer: Int) {
        layers[layer].stuckDecodes -= 1
        effects.plans = true
    }

    /// When the oldest load began that nobody has written off; `nil` where there is none.
    var oldestLoadStart: Int64? {
        loads.lazy.compactMap { $0.flatMap { $0.isWrittenOff ? nil : $0.started } }.min()
    }

    /// Whether a layer whose loads are stuck has as many in flight as there are workers.
    func hasAllItsLoads(layer: Int) -> Bool {
        guard writtenOffCount > 0 else { return false }
        var count = 0
        for case let load? in loads where table[load.entry].key.layer == layer { count += 1 }
        return count >= configuration.workers
    }
}
