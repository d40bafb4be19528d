/// Changes of what may be used, as the threads make them: what a sample of the ledger is judged by.
struct StressChanges: Sendable {
    /// The highest limit that may have been in force since the last sample.
    private(set) var highest: Int
    /// Changes that have begun.
    private(set) var begun = 0
    /// Changes that have begun and not ended.
    private(set) var underway = 0

    init(limit: Int) { highest = limit }

    /// Begins a change to a limit; 0 for one that leaves the limit as it is.
    mutating func begin(limit: Int) {
        highest = max(highest, limit)
        begun += 1
        underway += 1
    }

    mutating func end() { underway -= 1 }

    /// Returns the changes as of now and begins the next sample. A limit that is still being set counts for that one too:
    /// it may be set only after this sample has been taken.
    mutating func takeSample() -> StressChanges {
        defer { if underway == 0 { highest = 0 } }
        return self
    }
}

/// Judges samples of what is used against the limit.
///
/// A limit that is lowered while tiles are held is reached when they are let go. So more than the limit is legal for as
/// long as it was within a limit since it was last below one, and only if it shrinks.
struct StressLedger: Sendable {
    private var ceiling = 0
    private var last: (used: Int, changes: Int?)?
    /// The most that was used.
    private(set) var maximum = 0
    /// Samples, and those of them above a limit that had just been lowered.
    private(set) var samples = 0
    private(set) var samplesAbove = 0

    init() {}

    /// Takes a sample in; what is wrong with it, in words.
    ///
    /// - Parameters:
    ///   - used: bytes in use.
    ///   - limit: the limit in force at the same moment.
    ///   - highest: the highest limit that anybody has set since the sample before.
    ///   - changes: how often limits and layers have changed so far; `nil` where a change was under way.
    mutating func observe(used: Int, limit: Int, highest: Int, changes: Int?) -> String? {
        samples += 1
        maximum = max(maximum, used)
        defer { last = (used, changes) }
        if used <= limit {
            ceiling = limit
            return nil
        }
        samplesAbove += 1
        ceiling = max(ceiling, highest)
        if used > ceiling { return "\(used) bytes are used, the limit is \(limit) and was never above \(ceiling)" }
        if let last, let changes, last.changes == changes, used > max(last.used, limit) {
            return "\(used) bytes are used after \(last.used), the limit was \(limit) all the time"
        }
        return nil
    }
}
