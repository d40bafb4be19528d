extension TileCacheStatistics {
    /// A summary of any number of durations.
    public struct DurationSummary: Hashable, Sendable {
        /// The number of durations.
        public internal(set) var count = 0
        /// The median, up to 6 % too long; `nil` if there are no durations.
        public internal(set) var p50: Duration?
        /// The 95th percentile, as `p50`.
        public internal(set) var p95: Duration?
        /// The 99th percentile, as `p50`.
        public internal(set) var p99: Duration?
        /// The longest, exact; 0 if there are none.
        public internal(set) var maximum = Duration.zero

        /// A summary of no durations.
        package init() {}
    }
}

/// A histogram of durations with bins that widen. Takes a few bytes for any number of durations.
///
/// Sixteen bins an octave: results are at most a sixteenth too long.
package struct DurationHistogram: Hashable, Sendable {
    /// Shorter durations, in nanoseconds, have a bin each.
    private static let binsPerOctave = 16
    private var counts: [UInt32] = []
    /// Number of durations.
    package private(set) var count = 0
    /// The longest, in nanoseconds.
    package private(set) var maximum: Int64 = 0

    package init() {}

    /// Adds a duration in nanoseconds. A negative one, from a clock that was set back, counts as 0.
    package mutating func add(_ nanoseconds: Int64) {
        let duration = max(nanoseconds, 0)
        let bin = Self.bin(of: duration)
        if bin >= counts.count { counts += [UInt32](repeating: 0, count: bin + 1 - counts.count) }
        counts[bin] = counts[bin] == .max ? .max : counts[bin] + 1
        count += 1
        maximum = max(maximum, duration)
    }

    /// Adds another histogram's durations.
    package mutating func merge(_ other: DurationHistogram) {
        if other.counts.count > counts.count {
            counts += [UInt32](repeating: 0, count: other.counts.count - counts.count)
        }
        for (bin, more) in other.counts.enumerated() {
            let (sum, overflow) = counts[bin].addingReportingOverflow(more)
            counts[bin] = overflow ? .max : sum
        }
        count += other.count
        maximum = max(maximum, other.maximum)
    }

    /// Quantile in nanoseconds of a fraction, 0 to 1; `nil` if there are no durations.
    package func quantile(_ share: Double) -> Int64? {
        guard count > 0 else { return nil }
        let rank = max(Int((share * Double(count)).rounded(.up)), 1)
        var seen = 0
        for (bin, count) in counts.enumerated() {
            seen += Int(count)
            if seen >= rank { return min(Self.upperBound(ofBin: bin), maximum) }
        }
        return maximum
    }

    var summary: TileCacheStatistics.DurationSummary {
        var summary = TileCacheStatistics.DurationSummary()
        summary.count = count
        summary.p50 = quantile(0.5).map { .nanoseconds($0) }
        summary.p95 = quantile(0.95).map { .nanoseconds($0) }
        summary.p99 = quantile(0.99).map { .nanoseconds($0) }
        summary.maximum = .nanoseconds(maximum)
        return summary
    }

    /// The four bits below a number's leading one, and the position of that one.
    private static func bin(of duration: Int64) -> Int {
        guard duration >= Int64(binsPerOctave) else { return Int(duration) }
        let shift = 63 - duration.leadingZeroBitCount - 4
        return (shift + 1) * binsPerOctave + Int(duration >> Int64(shift)) - binsPerOctave
    }

    /// Longest duration of a bin.
    private static func upperBound(ofBin bin: Int) -> Int64 {
        guard bin >= binsPerOctave else { return Int64(bin) }
        let shift = Int64(bin / binsPerOctave - 1)
        let first = Int64(bin % binsPerOctave + binsPerOctave)
        let (end, overflow) = (first + 1).multipliedReportingOverflow(by: 1 << shift)
        return overflow ? .max : end - 1
    }
}
