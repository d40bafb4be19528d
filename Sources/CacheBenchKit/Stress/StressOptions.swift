import TileCache

/// How a stress run is set up.
package struct StressOptions: Sendable, Hashable {
    /// How long, in nanoseconds; 30 s unless set.
    package var duration: Int64 = 30_000_000_000
    /// Threads that use the cache at once, 1 to 64; 8 unless set.
    package var threads = 8
    /// What goes wrong; everything unless set.
    package var faults: Set<StressFault> = Set(StressFault.allCases)
    /// Seeds the decisions of all threads and sources; 1 unless set.
    package var seed: UInt64 = 1
    /// The highest limit that the run sets, 1 MiB or more; 8 MiB unless set. It begins with three quarters of it.
    package var byteLimit = 8 << 20
    /// The cache's workers, 1 to 64. Default: nil, 1 to 9 by the seed; 4 without ``StressFeature/workers``.
    package var workers: Int?
    /// What is uncommon about layers and cache, drawn from the seed. Default: everything.
    package var features: Set<StressFeature> = Set(StressFeature.allCases)
    /// Ends each thread after so many decisions, for tests; no end unless set.
    package var decisions: Int?

    /// The defaults.
    package init() {}

    /// What is wrong with the options, in a sentence; `nil` where nothing is.
    package var problem: String? {
        if duration < 0 || duration > 1 << 53 { return "a duration of 0 to 104 days is expected" }
        if !(1...64).contains(threads) { return "1 to 64 threads are expected, not \(threads)" }
        if let workers, !(1...64).contains(workers) { return "1 to 64 workers are expected, not \(workers)" }
        if byteLimit < 1 << 20 || byteLimit > 1 << 40 {
            return "a memory limit of 1 MiB to 1 TiB is expected, not \(byteLimit) bytes"
        }
        return nil
    }
}
