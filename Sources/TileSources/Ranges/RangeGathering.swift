/// How long a read waits for others that begin with it, so that near ones share a request though a connection is free.
///
/// Pure, so that it can be tested without a clock. Times are nanoseconds.
struct RangeGathering {
    /// Longest wait; another one in tests.
    var longest: Int64 = 4_000_000
    /// The wait is this part of the time to an answer's first bytes.
    static let part: Int64 = 12
    /// Where an answer begins within this time, requests cost less than a wait.
    static let near: Int64 = 8_000_000

    /// Time from a request to the first bytes of its answer, of late; `nil` before the first answer.
    private(set) var latency: Int64?
    /// When the reads that wait may be sent; `nil` if none waits for others.
    private(set) var due: Int64?

    /// Notes an answer. Connections that are made first and servers that are busy for a while count little.
    mutating func note(latency: Int64) {
        let sample = max(latency, 0)
        guard let own = self.latency, sample > own else {
            self.latency = sample
            return
        }
        self.latency = own + (sample - own) / 8
    }

    /// Notes a read. Returns how long to wait until those that have come may be sent; `nil` if nothing new is to be waited
    /// for: they may be sent now, or will be with an earlier one.
    mutating func add(now: Int64) -> Int64? {
        guard due == nil, let latency, latency > Self.near else { return nil }
        let wait = min(latency / Self.part, longest)
        due = now + wait
        return wait
    }

    /// Ends the wait.
    mutating func end() { due = nil }

    /// Whether reads may be sent.
    mutating func isOver(now: Int64) -> Bool {
        if let due, now < due { return false }
        due = nil
        return true
    }
}
