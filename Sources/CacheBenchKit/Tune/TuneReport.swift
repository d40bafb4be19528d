/// What a search for a memory limit found. Field names are a contract: they are added to, never renamed.
///
/// Rates are fractions from 0 to 1, bytes are whole bytes. All traces are pooled.
package struct TuneReport: Codable, Sendable, Hashable {
    /// One budget with one set of options.
    package struct Row: Codable, Sendable, Hashable {
        /// The memory limit.
        package var byteLimit: Int
        /// Hits over demands.
        @Nullable package var hitRate: Double?
        /// Share of the area not drawn.
        @Nullable package var blank: Double?
        /// Loads never drawn over loads.
        @Nullable package var waste: Double?
        /// Share of the area drawn with the exact tiles.
        @Nullable package var sharp: Double?
        /// The most bytes that any trace used.
        package var peakBytes: Int
        /// Where prefetches came from.
        package var policy: String
        /// Loads at the same time.
        package var workers: Int
        /// Pixels a side of a tile; `null` where each trace has its own.
        @Nullable package var tileSize: Int?
        /// The share that compressed tiles may take; `null` where it adapts.
        @Nullable package var compressedShare: Double?
        /// Whether the target is met; `null` where there is none.
        @Nullable package var meetsTarget: Bool?
        /// What the fullest frame of any trace needed, decoded, and the tables.
        package var screenBytes = 0
        /// How many bytes of those the limit lacks; a limit that lacks any is never suggested.
        package var shortfallBytes = 0

        /// The options that tell variants apart.
        var variant: Variant { Variant(workers: workers, tileSize: tileSize, compressedShare: compressedShare) }
    }

    /// Options that a search tries beside its budgets.
    struct Variant: Hashable {
        var workers: Int
        var tileSize: Int?
        var compressedShare: Double?
    }

    /// Plain LRU of one size.
    package struct LRUPoint: Codable, Sendable, Hashable {
        /// The size in tiles.
        package var tiles: Int
        /// Accesses that hit: needed tiles of all frames, as `replay --export-keys` writes them.
        package var hits: Int
        /// Hits over accesses.
        @Nullable package var hitRate: Double?
        /// The same of demands alone, to be compared with the hit rates of rows.
        @Nullable package var demandHitRate: Double?
    }

    /// Where more memory begins to pay less than it does on average.
    package struct Knee: Codable, Sendable, Hashable {
        /// The memory limit.
        package var byteLimit: Int
        @Nullable package var hitRate: Double?
    }

    /// What to use.
    package struct Suggestion: Codable, Sendable, Hashable {
        /// The memory limit.
        package var byteLimit: Int
        @Nullable package var hitRate: Double?
        /// Its blank share.
        @Nullable package var blank: Double?
        /// Its number of workers.
        package var workers: Int
        /// Its pixels a side of a tile; `null` if each trace has its own.
        @Nullable package var tileSize: Int?
        /// Its share of compressed tiles; `null` if it adapts.
        @Nullable package var compressedShare: Double?
        /// The flags of `cachebench replay` that make these figures again.
        package var flags: String
        /// `target` where it is the smallest budget that meets it, `knee` where there is no target, `best` where no
        /// budget meets the target and this one comes nearest.
        package var reason: String

        var variant: Variant { Variant(workers: workers, tileSize: tileSize, compressedShare: compressedShare) }
    }

    /// What a budget has to reach.
    package struct Target: Codable, Sendable, Hashable {
        /// `hitRate`, or `blank`.
        package var field: String
        /// At least this hit rate, or at most this blank share.
        package var value: Double
    }

    /// The version of these fields.
    package var schema = 1
    /// Every budget tried with the options asked for, smallest first.
    package var rows: [Row]
    /// Other policies at every second budget of the sweep, with the options of each variant.
    package var policies: [Row]
    /// Plain LRU at many sizes, from one pass.
    package var lruCurve: [LRUPoint]
    /// Accesses that the curve's hits are of.
    package var lruAccesses: Int
    /// The knee; `null` where the curve has none.
    @Nullable package var knee: Knee?
    /// What to use; `null` if nothing was replayed to its end, or no limit tried holds what one screen needs.
    @Nullable package var suggested: Suggestion?
    /// The budget one step below the suggested one, which misses the target; `null` where there is none.
    @Nullable package var oneStepSmaller: Row?
    /// The target; `null` where none was given.
    @Nullable package var target: Target?
    /// Bytes that the largest tile takes: the curve's sizes times these are bytes.
    package var slotBytes: Int
    /// How finely limits were searched.
    package var stepBytes: Int
    /// Whether it was stopped before its end.
    package var interrupted: Bool
    /// Every option as resolved, with the versions of program and definitions.
    package var configuration: [String: ConfigurationValue]
    package var traces: [ReplayReport.Trace]
}

extension TuneReport {
    func isSuggested(_ row: Row) -> Bool {
        row.byteLimit == suggested?.byteLimit && row.variant == suggested?.variant
    }

    /// The largest plain LRU whose tiles a limit holds. Sizes are whatever was asked for: their bytes may overflow.
    func largestLRU(within byteLimit: Int) -> LRUPoint? { lruCurve.last { $0.tiles <= byteLimit / max(slotBytes, 1) } }
}
