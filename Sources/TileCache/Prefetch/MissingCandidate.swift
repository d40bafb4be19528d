/// A missing candidate that is worth a load, with all that it is sorted by. Closures would copy the policy.
struct MissingCandidate {
    /// Gain of the load.
    let value: Float
    /// Number of the candidate.
    let number: Int
    /// Seconds until it comes into view; infinite if it does not.
    let entersAfter: Float
    /// Whether it is of the view's level.
    let isOfView: Bool
    /// Duration of its load, in seconds.
    let latency: Double

    init(_ candidate: Candidates.Candidate, _ number: Int, viewLevel: Int, value: Double, latency: Double) {
        self.value = Float(value)
        self.number = number
        entersAfter = candidate.entersAfter
        isOfView = candidate.key.level == viewLevel
        self.latency = latency
    }

    /// Whether a load that begins now lands in time, but not one that begins some turns of a worker later.
    private func isUrgent(withinTurns turns: Double) -> Bool {
        // A plan is up to a frame old.
        let first = latency + ViewMotion.frameSeconds
        return (first..<first + turns * latency).contains(Double(entersAfter))
    }

    /// Takes the urgent candidates out of the missing ones, those that come into view first: a load that begins later is
    /// late.
    ///
    /// Their loads precede those of needed tiles. A tile that comes into view later stays longer, and if it is there in
    /// time, it is a hit. While the workers cannot keep up, needed tiles wait until the motion is slower. Most needed
    /// tiles leave the view before that.
    ///
    /// The tiles of the next coarser level come into view all at once. Their loads begin that much earlier: by as many
    /// turns of the workers as they take.
    ///
    /// At most one candidate for each worker: the next plan has the others.
    static func takeUrgent(of missing: inout [MissingCandidate], workers: Int) -> [MissingCandidate] {
        let coarser = missing.count { $0.entersAfter < .infinity && !$0.isOfView }
        let turns = max((Double(coarser) / Double(workers)).rounded(.up), 1)
        let urgent = missing.filter { $0.isUrgent(withinTurns: $0.isOfView ? 1 : turns) }
            .sorted { ($0.entersAfter, $0.number) < ($1.entersAfter, $1.number) }
            .prefix(workers)
        guard !urgent.isEmpty else { return [] }
        missing.removeAll { wish in urgent.contains { $0.number == wish.number } }
        return Array(urgent)
    }
}
