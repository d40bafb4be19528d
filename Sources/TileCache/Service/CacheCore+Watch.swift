/// Replaces workers whose source or decoder does not return; times callbacks.
extension CacheCore {
    /// Part of the time of a stuck load after which a spare worker serves a layer whose needed tiles have none.
    static let lendingShare: Int64 = 10

    /// Replaces workers whose loads or decoders have taken too long. The caller sets the timer afterwards.
    func watch() {
        let now = clock()
        perform { $0.replaceStuck(after: stuckLoadTime, lendingAfter: stuckLoadTime / Self.lendingShare, now: now) }
    }

    /// Runs and times a renderer's callback.
    func time(_ callback: @Sendable () -> Void) {
        let start = clock()
        let number = callbacks.withLock { $0.begin(at: start) }
        callback()
        let end = clock()
        callbacks.withLock { $0.end(number, at: end) }
    }
}

extension CoreState {
    /// Replaces the workers of calls that began too long ago, and lends one to a layer that has none.
    ///
    /// - Parameters:
    ///   - limit: Nanoseconds after which a call is stuck.
    ///   - lendingTime: Nanoseconds after which the worker of a call may be lent.
    fileprivate mutating func replaceStuck(after limit: Int64, lendingAfter lendingTime: Int64, now: Int64) {
        guard !isShutDown else { return }
        let spare = workers.spare.count
        let stuck = pool.writeOffLoads(startedBefore: now - limit, atMost: spare, now: now)
        let lent = stuck < spare ? pool.lendWorker(startedBefore: now - lendingTime, now: now) : 0
        let loads = stuck + lent
        let decodes = workers.replaceDecodes(startedBefore: now - limit, atMost: spare - loads)
        for decode in decodes { pool.noteStuckCall(ofLayer: decode.layer, isRequest: decode.isRequest) }
        workers.replace(loads + decodes.count)
        // Without spare workers nothing can be done for the next call, but for the next request.
        let oldest = [pool.loads.oldestStart, workers.oldestDecode].compactMap { $0 }.min()
        if !workers.spare.isEmpty || pool.loads.haveFlights, let oldest {
            // The limit may have no room to replace it. That does not change within a millisecond.
            let time = oldest + limit
            _ = due.askWatch(at: time < now ? now + limit : time)
            // If there was no room for a replacement, wait before the next try.
            watchStarvedLayers(at: now, lendingAfter: lendingTime, atLeast: lent > 0 ? 0 : lendingTime)
        }
        // Layers may have places in their windows again.
        effects.wakes = .max
    }
}

/// Running callbacks, and the threads that do work of the cache.
struct RunningCallbacks: Sendable {
    /// Start times, by number.
    private var starts: [Int: Int64] = [:]
    private var last = 0
    private let slowTime: Int64
    private var slowCount = 0
    private var longest: Int64 = 0
    /// Nesting depth by thread.
    private var threads: [UInt64: Int] = [:]

    /// - Parameter slowTime: Nanoseconds beyond which a callback is slow.
    init(slowTime: Int64) { self.slowTime = slowTime }

    /// Adds a callback; returns its number.
    mutating func begin(at time: Int64) -> Int {
        last += 1
        starts[last] = time
        return last
    }

    mutating func end(_ number: Int, at time: Int64) {
        let took = starts.removeValue(forKey: number).map { time - $0 } ?? 0
        if took > slowTime { slowCount += 1 }
        longest = max(longest, took)
    }

    /// Number of slow callbacks and time of the longest one, running ones included.
    func figures(at now: Int64) -> (slow: Int, longest: Int64) {
        let running = starts.values.map { now - $0 }
        return (slowCount + running.count { $0 > slowTime }, max(longest, running.max() ?? 0))
    }

    mutating func enter(_ thread: UInt64) { threads[thread, default: 0] += 1 }

    mutating func leave(_ thread: UInt64) {
        let count = threads.removeValue(forKey: thread) ?? 1
        if count > 1 { threads[thread] = count - 1 }
    }

    /// Whether a thread is doing work of the cache.
    func isWithin(_ thread: UInt64) -> Bool { threads[thread] != nil }
}
