/// Finds the largest effort whose waste is within a maximum, by bisection.
///
/// Pure: the caller replays with each effort and records the waste. The answer is the first effort if its waste is
/// within the maximum. Otherwise it is a multiple of a thirty-second of it, or 0 if no effort tried above 0 will do.
struct EffortSearch {
    /// Maximum number of efforts tried, 0 included.
    static let maximumTries = 6

    private let start: Double
    /// Maximum fraction of loads that are never drawn; `nil` accepts the first effort.
    private let maximumWaste: Double?
    private var tries = 0
    /// Largest effort known to be within the maximum.
    private var low: Double?
    private var high: Double
    /// Effort to try next; `nil` once the search has ended.
    private(set) var next: Double?

    /// - Parameter start: Effort tried first, 0 to 1; the answer is not larger.
    init(start: Double, maximumWaste: Double?) {
        self.start = start
        self.maximumWaste = maximumWaste
        high = start
        next = start
    }

    /// The effort found; `nil` until the search has ended.
    var answer: Double? { next == nil ? low : nil }

    /// Takes the waste of ``next``; `nil` if nothing was loaded.
    mutating func record(waste: Double?) {
        guard let effort = next else { return }
        tries += 1
        // At 0 nothing is prefetched: what is wasted still was needed once.
        if effort <= 0 || (waste ?? 0) <= maximumWaste ?? 1 { low = effort } else { high = effort }
        if low == start || low == 0 || tries == Self.maximumTries {
            next = nil
        } else if low == nil, tries == Self.maximumTries - 1 {
            // The last try is of the effort that is used then.
            next = 0
        } else {
            next = ((low ?? 0) + high) / 2
        }
    }
}
