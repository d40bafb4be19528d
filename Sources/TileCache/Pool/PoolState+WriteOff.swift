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

    /// Restarts the clock of a load: its source has answered a part of it.
    mutating func restart(_ id: LoadID, at time: Int64) { loads.change(id) { $0.started = time } }

    /// Counts a hanging decoder of a layer.
    mutating func noteStuckDecode(ofLayer layer: Int) { layers.change(layer) { $0.stuckDecodes += 1 } }

    mutating func endStuckDecode(ofLayer layer: Int) {
        layers.change(layer) { $0.stuckDecodes -= 1 }
        effects.plans = true
    }

    /// Notes that a layer's source has answered a request and has not returned. The layer's index is not reused before.
    mutating func beginAnswered(ofLayer layer: Int) { layers.change(layer) { $0.answeredRequests += 1 } }

    /// Counts such a request as hanging.
    mutating func noteStuckRequest(ofLayer layer: Int) { layers.change(layer) { $0.stuckRequests += 1 } }

    mutating func endAnswered(ofLayer layer: Int, isReplaced: Bool) {
        layers.change(layer) {
            $0.answeredRequests -= 1
            if isReplaced { $0.stuckRequests -= 1 }
        }
        // The layer may have waited for it, or its index may be free now.
        if isReplaced || queue.hasPassedForLoads || layers[layer].isRemoved { effects.plans = true }
    }

    /// Whether a layer has the maximum of loads in flight, if loads are stuck. Requests that go on after their answer
    /// count too.
    func hasAllItsLoads(layer: Int) -> Bool {
        guard loads.writtenOffCount + layers[layer].stuckRequests > 0 else { return false }
        let count = loads.all.count { table[$0.load.entry].key.layer == layer }
        return count + layers[layer].answeredRequests >= configuration.mostOfHangingLayer
    }
}
