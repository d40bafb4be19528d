/// Threads that wait for a lock, the one that has waited longest first.
///
/// A released lock is free: a running thread may take it before the first of the line has woken up. To hand it over
/// costs a switch of threads for each hold, and a pool of workers becomes up to three times as slow. But a thread that
/// takes the lock again at once, hundreds of times, would keep the others waiting for all of them. So the first of the
/// line gets the lock itself once it has waited for `patience`, but no more often than once in that time.
struct WaitingLine<Waiter> {
    /// Nanoseconds. Together with the longest hold of the lock: what a frame waits for at most, if it waits alone.
    static var patience: Int64 { 200_000 }

    private var waiting: [(waiter: Waiter, since: Int64)] = []
    private var lastHandover = Int64.min / 2

    var isEmpty: Bool { waiting.isEmpty }

    /// Adds a thread. One that was woken in vain gets its former place.
    ///
    /// - Parameter since: When it began to wait, in nanoseconds.
    mutating func add(_ waiter: Waiter, since: Int64) {
        let place = waiting.firstIndex { $0.since > since } ?? waiting.endIndex
        waiting.insert((waiter, since), at: place)
    }

    /// Removes a thread, if it is in line.
    mutating func remove(where isLeaving: (Waiter) -> Bool) { waiting.removeAll { isLeaving($0.waiter) } }

    /// Removes the first one. Returns whether the lock is handed over to it; it is free otherwise.
    mutating func next(now: Int64) -> (waiter: Waiter, getsLock: Bool) {
        let first = waiting.removeFirst()
        let getsLock = now - max(first.since, lastHandover) >= Self.patience
        if getsLock { lastHandover = now }
        return (first.waiter, getsLock)
    }

    /// Nanoseconds until a thread looks whether the lock is free, if nothing wakes it before. Long holds cost few
    /// looks.
    static func timeToLookAgain(after waited: Int64) -> Int64 { max(waited, patience) }
}
