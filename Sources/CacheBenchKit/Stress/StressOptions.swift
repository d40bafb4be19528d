import TileCache

package struct StressOptions: Sendable, Hashable {
    /// Duration in nanoseconds. Default: 30 s.
    package var duration: Int64 = 30_000_000_000
    /// Threads that use the cache at once, 1 to 64. Default: 8.
    package var threads = 8
    package var faults: Set<StressFault> = Set(StressFault.allCases)
    /// Seed of the decisions of all threads and sources. Default: 1.
    package var seed: UInt64 = 1
    /// Highest limit of the run, 1 MiB or more. Default: 8 MiB. The run begins with three quarters of it.
    package var byteLimit = 8 << 20
    /// The cache's workers, 1 to 64. Default: nil, 1 to 9 by the seed; 4 without ``StressFeature/workers``.
    package var workers: Int?
    /// Unusual features of layers and cache, drawn from the seed. Default: all.
    package var features: Set<StressFeature> = Set(StressFeature.allCases)
    /// Number of decisions after which each thread ends, for tests. Default: `nil`, no end.
    package var decisions: Int?

    package init() {}

    /// Describes the first error in the options; `nil` if there is none.
    package var problem: String? {
        if duration < 0 || duration > 1 << 53 { return "--duration takes 0 to 104 days" }
        if !(1...64).contains(threads) { return "--threads takes 1 to 64, not \(threads)" }
        if let workers, !(1...64).contains(workers) { return "--workers takes 1 to 64, not \(workers)" }
        if byteLimit < 1 << 20 || byteLimit > 1 << 40 {
            return "--memory-limit takes 1MiB to 1TiB, not \(MemoryLimit.bytes(byteLimit))"
        }
        return nil
    }
}
