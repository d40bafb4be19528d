/// Loads whose source does not answer.
extension PoolState {
    /// Writes off loads that began before a time. They go on, keep their reservations and may still land. Such a layer has
    /// at most as many hanging calls as there are workers, or two, and at most as many hanging requests as its window has
    /// places.
    ///
    /// - Parameters:
    ///   - limit: Maximum number of workers to replace.
    ///   - now: Until when the loads count as work of their layers.
    /// - Returns: Number of workers to replace.
    mutating func writeOffLoads(startedBefore time: Int64, atMost limit: Int, now: Int64) -> Int {
        var count = 0
        for (id, load) in loads.all where !load.isWrittenOff && load.started < time {
            guard count < limit || !load.hasWorker else { continue }
            guard writeOff(id, now: now) else { continue }
            if load.hasWorker { count += 1 }
        }
        return count
    }

    /// Writes off a load; returns whether the limit had room for the record of a further worker's.
    mutating func writeOff(_ id: LoadID, now: Int64) -> Bool {
        // The next load takes one record more than there are workers.
        guard let load = loads[id],
            !load.hasWorker || configuration.grantsBookkeeping
                || makeBytes(MemoryLayout<Load?>.stride, inSteps: false)
        else { return false }
        noteWork(load, isOver: false, at: now)
        if let flight = load.flight {
            layers.change(table[load.entry].key.layer) { $0.window?.end(flight, at: now, isAnswer: false) }
            queue.rewind()
        }
        loads.writeOff(id)
        noteTaken()
        noteBusyOver()
        return true
    }

    /// Restarts the clock of a load: its source has answered a part of it.
    mutating func restart(_ id: LoadID, at time: Int64) {
        if let load = loads[id] { noteWork(load, isOver: false, at: time) }
        loads.change(id) { $0.started = time }
    }

    /// Counts a hanging decoder of a layer, or a request that has been answered and hangs.
    mutating func noteStuckCall(ofLayer layer: Int, isRequest: Bool) {
        layers.change(layer) { if isRequest { $0.stuckRequests += 1 } else { $0.stuckDecodes += 1 } }
    }

    mutating func endStuckDecode(ofLayer layer: Int) {
        layers.change(layer) { $0.stuckDecodes -= 1 }
        noteEnd()
    }

    /// Notes that a layer's source has answered a request and has not returned. The layer's index is not reused before.
    mutating func beginAnswered(ofLayer layer: Int) { layers.change(layer) { $0.answeredRequests += 1 } }

    mutating func endAnswered(ofLayer layer: Int, isReplaced: Bool) {
        layers.change(layer) {
            $0.answeredRequests -= 1
            if isReplaced { $0.stuckRequests -= 1 }
        }
        noteEnd()
    }

    /// Whether a layer has the maximum of loads in flight, if loads are stuck. Requests that go on after their answer
    /// count too. A layer that hangs may use the first half of the spare workers only: several such layers would take all,
    /// and other layers have to go on.
    ///
    /// - Parameter ended: Hanging loads that do not count. Default: empty.
    func hasAllItsLoads(layer: Int, without ended: [LoadID] = []) -> Bool {
        guard loads.writtenOffCount + layers[layer].stuckRequests > 0 else { return false }
        // Loads and answered requests that occupy a worker, those of them that hang, and hanging loads without one.
        var (held, hanging, waiting) = (layers[layer].answeredRequests, layers[layer].stuckRequests, 0)
        for (id, load) in loads.all where table[load.entry].key.layer == layer && !ended.contains(id) {
            if load.hasWorker { held += 1 }
            if load.isWrittenOff, load.hasWorker { hanging += 1 }
            if load.isWrittenOff, !load.hasWorker { waiting += 1 }
        }
        if held >= configuration.mostOfHangingLayer || waiting >= layers[layer].window?.limit ?? .max { return true }
        return hanging > 0 && spareWorkersInUse >= configuration.spareWorkers / 2
    }

    /// Has hanging loads of a layer's extra tiles cancelled, if a needed tile of the layer can load in their place.
    ///
    /// The plan may wish for their tiles for as long as the views are at rest, and would keep the needed one waiting.
    mutating func supersedeLoads(ofLayer layer: Int) {
        let hanging = loads.all.filter { table[$0.load.entry].key.layer == layer && isSupersedable($0.load) }.map(\.id)
        guard !hanging.isEmpty, !hasAllItsLoads(layer: layer, without: hanging) else { return }
        effects.superseded += hanging
        for id in hanging { loads.change(id) { $0.isSuperseded = true } }
    }

    /// Whether a load hangs without a worker, and its tile is neither kept nor planned but as an extra one.
    private func isSupersedable(_ load: Load) -> Bool {
        let entry = table[load.entry]
        guard load.isWrittenOff, !load.isLent, !load.hasWorker, !load.isSuperseded, !entry.isKept else { return false }
        return !isPlanned(entry.key, for: .demand, .fetch, .fallback, .pin)
    }

    /// Number of workers that have been replaced, and are not back.
    var spareWorkersInUse: Int { layers.reduce(loads.replacedCount) { $0 + $1.stuckRequests + $1.stuckDecodes } }
}
