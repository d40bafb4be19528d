/// Result of a search for a memory limit. Fields are added, never renamed.
///
/// Rates are fractions from 0 to 1 as in ``ReplayReport``, sizes are whole bytes. All traces are pooled.
package struct TuneReport: Encodable, Sendable, Hashable {
    /// One budget with one set of options.
    package struct Row: Encodable, Sendable, Hashable {
        package var byteLimit: Int
        @Nullable package var hitRate: Double?
        @Nullable package var blank: Double?
        @Nullable package var waste: Double?
        @Nullable package var sharp: Double?
        /// Peak bytes of any trace.
        package var peakBytes: Int
        package var policy: String
        package var workers: Int
        /// Pixels a side of a tile; `null` if each trace has its own.
        @Nullable package var tileSize: Int?
        /// Fraction of the limit for compressed tiles; `null` if it adapts.
        @Nullable package var compressedShare: Double?
        /// Limit of the first store in bytes; `null` without a store or a limit.
        @Nullable package var storeLimit: Int?
        /// Loads that no store could serve; `null` without stores.
        @Nullable package var sourceLoads: Int?
        /// Effort that keeps the waste within the maximum; left out without a maximum.
        package var effort: Double?
        /// Whether the target is met; `null` without a target.
        @Nullable package var meetsTarget: Bool?
        /// Decoded bytes and tables that the fullest frame of any trace needed.
        package var screenBytes = 0
        /// Bytes of those beyond the limit; a limit with a shortfall is never suggested.
        package var shortfallBytes = 0

        /// Options that distinguish variants.
        var variant: Variant {
            Variant(workers: workers, tileSize: tileSize, compressedShare: compressedShare, storeLimit: storeLimit)
        }
    }

    /// Options that a search tries beside its budgets.
    struct Variant: Hashable {
        var workers: Int
        var tileSize: Int?
        var compressedShare: Double?
        var storeLimit: Int?
    }

    /// Plain LRU at one size.
    package struct LRUPoint: Encodable, Sendable, Hashable {
        package var tiles: Int
        /// Accesses that hit: needed tiles of all frames, as `replay --export-keys` writes them.
        package var hits: Int
        /// Hits over accesses.
        @Nullable package var hitRate: Double?
        /// Hit rate of demands alone, comparable with the hit rates of rows.
        @Nullable package var demandHitRate: Double?
    }

    /// Point from which more memory pays less than on average.
    package struct Knee: Encodable, Sendable, Hashable {
        package var byteLimit: Int
        @Nullable package var hitRate: Double?
    }

    package struct Suggestion: Encodable, Sendable, Hashable {
        package var byteLimit: Int
        @Nullable package var hitRate: Double?
        @Nullable package var blank: Double?
        package var workers: Int
        /// Its pixels a side of a tile; `null` if each trace has its own.
        @Nullable package var tileSize: Int?
        /// Its fraction for compressed tiles; `null` if it adapts.
        @Nullable package var compressedShare: Double?
        /// Its limit of the first store in bytes; `null` without a store or a limit.
        @Nullable package var storeLimit: Int?
        /// Its effort, found for the maximum of waste; left out without a maximum.
        package var effort: Double?
        /// Flags of `cachebench replay` that reproduce these figures.
        package var flags: String
        /// Rule that chose the budget. `target` if it is the smallest that meets the target, `knee` without a target,
        /// `best` if none meets it with all larger ones, and this one comes nearest (``TuneReport/nearest``).
        package var reason: String

        init(_ row: Row, flags: String, reason: String) {
            (byteLimit, hitRate, blank, workers) = (row.byteLimit, row.hitRate, row.blank, row.workers)
            (tileSize, compressedShare, storeLimit) = (row.tileSize, row.compressedShare, row.storeLimit)
            (effort, self.flags, self.reason) = (row.effort, flags, reason)
        }

        var variant: Variant {
            Variant(workers: workers, tileSize: tileSize, compressedShare: compressedShare, storeLimit: storeLimit)
        }
    }

    /// One limit tried, and what it brings beyond the next smaller one.
    package struct Step: Encodable, Sendable, Hashable {
        package var byteLimit: Int
        @Nullable package var hitRate: Double?
        @Nullable package var blank: Double?
        /// Gain of the target's field beyond the step before: more hits, or less blank area, as a fraction. Less than 0
        /// for a loss; `null` for the first step.
        @Nullable package var gain: Double?
    }

    /// The nearest limit replayed with one option changed.
    package struct Alternative: Encodable, Sendable, Hashable {
        /// The change for display: flags, or words where no flag says it.
        package var change: String
        /// Flags of `cachebench replay` that reproduce these figures.
        package var flags: String
        @Nullable package var hitRate: Double?
        @Nullable package var blank: Double?
        @Nullable package var waste: Double?
        package var meetsTarget: Bool
        /// Whether it is a prefetch that knows the future, which bounds what better prediction can bring.
        package var isBound = false
    }

    package struct Target: Encodable, Sendable, Hashable {
        /// `hitRate`, or `blank`.
        package var field: String
        /// Minimum hit rate, or maximum blank fraction.
        package var value: Double
    }

    package var schema = 1
    /// Every budget tried with the requested options, smallest first.
    package var rows: [Row]
    /// Other policies at every second budget of the sweep, with the options of each variant.
    package var policies: [Row]
    /// Plain LRU at many sizes, from one pass.
    package var lruCurve: [LRUPoint]
    package var lruAccesses: Int
    /// The knee; `null` if the curve has none.
    @Nullable package var knee: Knee?
    /// Suggestion; `null` if no tried limit meets the target with all larger ones, or holds one screen, or no replay was
    /// finished.
    @Nullable package var suggested: Suggestion?
    /// The limit nearest to the target; `null` if there is a suggestion, or no limit holds one screen.
    @Nullable package var nearest: Suggestion?
    /// Limits with the options of ``nearest`` that hold one screen, smallest first. Empty without it.
    package var steps: [Step] = []
    /// ``nearest`` with one option changed at a time. Empty without it.
    package var alternatives: [Alternative] = []
    /// The budget one step below the suggested one, which misses the target. `null` if there is none.
    @Nullable package var oneStepSmaller: Row?
    @Nullable package var target: Target?
    /// Maximum of waste, for which the effort of each row was lowered. Left out without a maximum.
    package var maximumWaste: Double?
    /// Bytes of the largest tile, which convert the curve's sizes to bytes.
    package var slotBytes: Int
    package var stepBytes: Int
    /// Whether it was stopped before its end.
    package var interrupted: Bool
    /// All options as resolved, with the versions of program and definitions.
    package var configuration: [String: ConfigurationValue]
    package var traces: [ReplayReport.Trace]
}

extension TuneReport {
    /// The suggestion, or what comes nearest to one.
    var answer: Suggestion? { suggested ?? nearest }

    func isAnswer(_ row: Row) -> Bool { row.byteLimit == answer?.byteLimit && row.variant == answer?.variant }

    /// The alternative nearest to the target, without a bound; of equals the first.
    var bestAlternative: Alternative? {
        let isBlank = target?.field == "blank"
        func score(_ one: Alternative) -> Double { isBlank ? -(one.blank ?? 0) : one.hitRate ?? 1 }
        return alternatives.filter { !$0.isBound }.reduce(nil as Alternative?) { best, one in
            best.map { score(one) > score($0) ? one : $0 } ?? one
        }
    }

    /// Largest plain LRU whose tiles fit a limit. Sizes are arbitrary: their bytes may overflow.
    func largestLRU(within byteLimit: Int) -> LRUPoint? { lruCurve.last { $0.tiles <= byteLimit / max(slotBytes, 1) } }
}
