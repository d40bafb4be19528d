extension Stress {
    /// Maximum duration of a simpler run, in nanoseconds.
    private static let shortDuration: Int64 = 20_000_000_000

    /// Finds the simplest run that still breaks a rule: fewer unusual features, faults and threads.
    ///
    /// Threads interleave freely, so that a simpler run may break the rule without showing it in its time.
    package func shrunk(rule: String, interruption: @escaping @Sendable () -> Bool) throws -> StressOptions {
        var simplest = options
        var candidates: [(inout StressOptions) -> Void] = [{ $0.threads = 1 }, { $0.threads = max($0.threads / 2, 1) }]
        candidates += StressFeature.allCases.map { feature in { $0.features.remove(feature) } }
        candidates += StressFault.allCases.map { fault in { $0.faults.remove(fault) } }
        for change in candidates where !interruption() {
            var candidate = simplest
            change(&candidate)
            guard candidate != simplest else { continue }
            var short = candidate
            short.duration = min(Self.shortDuration, options.duration)
            let report = try Stress(short).run(interruption: interruption)
            if report.violations.contains(where: { $0.rule == rule }) { simplest = candidate }
        }
        return simplest
    }
}
