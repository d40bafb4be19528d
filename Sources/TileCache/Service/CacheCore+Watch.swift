import Dispatch
import Synchronization

/// What is done about code of others that does not return: it is counted, and it takes its own worker and nothing else.
extension CacheCore {
    /// Looks after the loads in flight, once in a while for as long as there are any.
    func queueWatch(after nanoseconds: Int64) {
        let wait = Int(min(max(nanoseconds, 1_000_000), 3_600_000_000_000))
        coordinator.asyncAfter(deadline: .now() + .nanoseconds(wait)) { [weak self] in self?.watch() }
    }

    /// Gives the places of workers whose loads or decoders have taken too long to spare ones.
    private func watch() {
        let now = clock()
        let limit = stuckLoadTime
        let (freed, next) = perform { state -> (Int, Int64?) in
            state.isWatchQueued = false
            guard !state.isShutDown else { return (0, nil) }
            var freed = state.pool.writeOffLoads(startedBefore: now - limit, atMost: state.spareWorkers.count)
            freed += state.writeOffDecodes(startedBefore: now - limit, atMost: state.spareWorkers.count - freed)
            for _ in 0..<freed { state.idleWorkers.append(state.spareWorkers.removeLast()) }
            // With no spare worker left there is nothing to be done for the next one.
            let oldest = [state.pool.oldestLoadStart, state.oldestDecodeStart].compactMap { $0 }.min()
            guard !state.spareWorkers.isEmpty, let oldest else { return (freed, nil) }
            state.isWatchQueued = true
            return (freed, oldest + limit - now)
        }
        // A worker wakes with the next plan.
        if freed > 0 { requestPlan() }
        if let next { queueWatch(after: next) }
    }

    /// Runs a renderer's callback and takes the time that it takes.
    func time(_ callback: @Sendable () -> Void) {
        let thread = currentThreadNumber()
        let start = clock()
        let number = callbacks.withLock { $0.begin(on: thread, at: start) }
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
            activity.enter()
            cancellations.async { [activity] in
                handler()
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

/// The callbacks that are running now.
struct RunningCallbacks: Sendable {
    private struct Run: Sendable {
        var thread: UInt64
        var start: Int64
    }

    private var runs: [Int: Run] = [:]
    private var last = 0

    /// Takes in that one begins; the answer names it.
    mutating func begin(on thread: UInt64, at time: Int64) -> Int {
        last += 1
        runs[last] = Run(thread: thread, start: time)
        return last
    }

    mutating func end(_ number: Int) { runs[number] = nil }

    /// Whether a thread is within a callback.
    func isRunning(on thread: UInt64) -> Bool { runs.values.contains { $0.thread == thread } }

    /// How many began before a moment, and when the oldest began.
    func begun(before time: Int64) -> Int { runs.values.count { $0.start < time } }
    var oldest: Int64? { runs.values.map(\.start).min() }
}
