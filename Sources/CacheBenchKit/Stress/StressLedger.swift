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
