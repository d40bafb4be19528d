/// A note below the verdict if traces have long gaps between their positions, which a replay smooths.
enum SparseNote {
    /// Part of a trace's time in gaps with movement from which on it is sparse.
    static let leastShare = 0.1

    static func isSparse(_ trace: ReplayReport.Trace) -> Bool {
        trace.seconds > 0 && trace.glidedSeconds > leastShare * trace.seconds
    }

    /// For example `sparse trace: 80 positions in 3 min 29 s; ...`; `nil` if no trace is sparse.
    static func text(_ traces: [ReplayReport.Trace]) -> String? {
        let sparse = traces.filter(isSparse)
        guard let worst = sparse.max(by: { $0.glidedSeconds / $0.seconds < $1.glidedSeconds / $1.seconds }) else {
            return nil
        }
        let rate = Figures.decimal(Double(worst.samples) / worst.seconds, places: 2)
        let gaps =
            "\(count: worst.samples) positions in \(seconds: worst.seconds), \(rate) a second. "
            + "\(seconds: worst.glidedSeconds) of it are gaps of more than half a second, the longest "
            + "\(seconds: worst.longestGlide), in which the view is taken to glide: real strokes are faster"
        guard traces.count > 1 else { return "sparse trace: " + gaps }
        return "\(count: sparse.count) of \(count: traces.count) traces are sparse, most of all "
            + "\(worst.name.printable): " + gaps
    }
}
