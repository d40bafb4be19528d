/// Changes of the limits, as the threads make them. Samples of the ledger are compared with them.
struct StressChanges: Sendable {
    /// Highest limit that may have been in force since the last sample.
    private(set) var highest: Int
    private(set) var begun = 0
    /// Number of changes that have begun and not ended.
    private(set) var underway = 0

    init(limit: Int) { highest = limit }

    /// Begins a change to a limit; 0 if the limit stays.
    mutating func begin(limit: Int) {
        highest = max(highest, limit)
        begun += 1
        underway += 1
    }

    mutating func end() { underway -= 1 }

    /// Returns the present changes and begins the next sample. A limit that is being set counts for that one too: it
    /// may be set only after this sample.
    mutating func takeSample() -> StressChanges {
        defer { if underway == 0 { highest = 0 } }
        return self
    }
}

/// Judges samples of the memory in use against the limit.
///
/// A limit that is lowered while tiles are leased is reached when they are released. Therefore more than the limit is
/// valid if the use was within a limit since it was last below one, and only if it shrinks.
struct StressLedger: Sendable {
    private var ceiling = 0
    private var last: (used: Int, changes: Int?)?
    private(set) var maximum = 0
    /// Number of samples, and of those above a limit that had just been lowered.
    private(set) var samples = 0
    private(set) var samplesAbove = 0

    /// Adds a sample; returns the violation in words, if any.
    ///
    /// - Parameters:
    ///   - highest: Highest limit set since the previous sample.
    ///   - changes: Number of changes of limits and layers so far; `nil` if one is in progress.
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
