import Dispatch
import Synchronization

/// What is done about code of others that does not return: it is counted, and it takes its own worker and nothing else.
extension CacheCore {
    /// Gives the places of workers whose loads or decoders have taken too long to spare ones.
    func watch() {
        let now = clock()
        let limit = stuckLoadTime
        let freed = perform { state -> Int in
            guard !state.isShutDown else { return 0 }
            var freed = state.pool.writeOffLoads(startedBefore: now - limit, atMost: state.spareWorkers.count)
            freed += state.writeOffDecodes(startedBefore: now - limit, atMost: state.spareWorkers.count - freed)
            for _ in 0..<freed { state.idleWorkers.append(state.spareWorkers.removeLast()) }
            // With no spare worker left there is nothing to be done for the next one.
            let oldest = [state.pool.oldestLoadStart, state.oldestDecodeStart].compactMap { $0 }.min()
            if !state.spareWorkers.isEmpty, let oldest { _ = state.due.askWatch(at: oldest + limit) }
            return freed
        }
        // A worker wakes with the next plan.
        if freed > 0 { requestPlan() }
    }

    /// Runs a renderer's callback and takes the time that it takes.
    func time(_ callback: @Sendable () -> Void) {
        let start = clock()
        let number = callbacks.withLock { $0.begin(at: start) }
        callback()
        let took = clock() - start
        callbacks.withLock { $0.end(number) }
        lock.withLock { state in
            if took > slowCallbackTime { state.slowCallbacks += 1 }
            state.longestCallback = max(state.longestCallback, took)
        }
    }

    /// Tells sources that nobody wants their tiles: on a queue of its own, because what they do then may block.
    func tell(_ unwanted: [TileRequest]) {
        for request in unwanted {
            guard let handler = request.noteUnwanted() else { continue }
            // Counted from now on: a shutdown waits for what is queued, too.
            activity.enter()
            executor.run(cancellations) { [self] in
                enterActivity()
                handler()
                leaveActivity()
                activity.leave()
            }
        }
    }
}

extension CoreState {
    /// Gives the workers of decoders that have taken too long to others; how many. The decoders go on and keep what they
    /// read and write.
    mutating func writeOffDecodes(startedBefore time: Int64, atMost limit: Int) -> Int {
        var count = 0
        for (worker, decode) in decodes where count < limit && !decode.isWrittenOff && insideSince[worker] < time {
            decodes[worker]?.isWrittenOff = true
            pool.layers[decode.layer].stuckDecodes += 1
            count += 1
        }
        return count
    }

    /// When the oldest decoder began that nobody has written off; `nil` where there is none.
    var oldestDecodeStart: Int64? { decodes.filter { !$0.value.isWrittenOff }.map { insideSince[$0.key] }.min() }

    /// A worker is back from whatever it did; whether that was a decoder that had been written off.
    mutating func endDecode(of worker: Int) -> Bool {
        guard let decode = decodes.removeValue(forKey: worker), decode.isWrittenOff else { return false }
        pool.layers[decode.layer].stuckDecodes -= 1
        surplusWorkers += 1
        return true
    }
}

/// The callbacks that are running now, and the threads that do any work of the cache.
struct RunningCallbacks: Sendable {
    /// When each began, by its number.
    private var starts: [Int: Int64] = [:]
    private var last = 0
    /// How many calls a thread is within.
    private var threads: [UInt64: Int] = [:]

    /// Notes that a callback begins; returns its number.
    mutating func begin(at time: Int64) -> Int {
        last += 1
        starts[last] = time
        return last
    }

    mutating func end(_ number: Int) { starts[number] = nil }

    /// How many began before a moment, and when the oldest began.
    func begun(before time: Int64) -> Int { starts.values.count { $0 < time } }
    var oldest: Int64? { starts.values.min() }

    mutating func enter(_ thread: UInt64) { threads[thread, default: 0] += 1 }

    mutating func leave(_ thread: UInt64) {
        let count = threads.removeValue(forKey: thread) ?? 1
        if count > 1 { threads[thread] = count - 1 }
    }

    /// Whether a thread is within any work of the cache.
    func isWithin(_ thread: UInt64) -> Bool { threads[thread] != nil }
}
