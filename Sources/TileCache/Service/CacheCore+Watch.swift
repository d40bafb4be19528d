import Dispatch
import Synchronization

/// What is done about code of others that does not return: it is counted, and it takes its own worker and nothing else.
extension CacheCore {
    /// Gives the places of workers whose loads or decoders have taken too long to spare ones. The timer, which has led here,
    /// is set afterwards.
    func watch() {
        let now = clock()
        let limit = stuckLoadTime
        perform { state in
            guard !state.isShutDown else { return }
            let spare = state.workers.spare.count
            let loads = state.pool.writeOffLoads(startedBefore: now - limit, atMost: spare)
            let decodes = state.workers.replaceDecodes(startedBefore: now - limit, atMost: spare - loads)
            for layer in decodes { state.pool.noteStuckDecode(ofLayer: layer) }
            state.workers.replace(loads + decodes.count)
            // With no spare worker left there is nothing to be done for the next one.
            let oldest = [state.pool.loads.oldestStart, state.workers.oldestDecode].compactMap { $0 }.min()
            if !state.workers.spare.isEmpty, let oldest { _ = state.due.askWatch(at: oldest + limit) }
            // A worker wakes with the next plan.
            if loads + decodes.count > 0 { state.effects.plans = true }
        }
    }

    /// Runs a renderer's callback and takes the time that it takes.
    func time(_ callback: @Sendable () -> Void) {
        let start = clock()
        let number = callbacks.withLock { $0.begin(at: start) }
        callback()
        let took = clock() - start
        callbacks.withLock { $0.end(number) }
        perform { state in
            if took > slowCallbackTime { state.slowCallbacks += 1 }
            state.longestCallback = max(state.longestCallback, took)
        }
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
