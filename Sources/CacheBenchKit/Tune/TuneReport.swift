/// What a search for a memory limit found. Field names are a contract: they are added to, never renamed.
///
/// Rates are fractions from 0 to 1, bytes are whole bytes. All traces are pooled.
public struct TuneReport: Codable, Sendable, Hashable {
    /// One budget with one set of options.
    public struct Row: Codable, Sendable, Hashable {
        /// The memory limit.
        public var byteLimit: Int
        /// Hits over demands.
        @Nullable public var hitRate: Double?
        /// Share of the area not drawn.
        @Nullable public var blank: Double?
        /// Loads never drawn over loads.
        @Nullable public var waste: Double?
        /// Share of the area drawn with the exact tiles.
        @Nullable public var sharp: Double?
        /// The most bytes that any trace used.
        public var peakBytes: Int
        /// Where prefetches came from.
        public var policy: String
        /// Loads at the same time.
        public var workers: Int
        /// Pixels a side of a tile; `null` where each trace has its own.
        @Nullable public var tileSize: Int?
        /// The share that compressed tiles may take; `null` where it adapts.
        @Nullable public var compressedShare: Double?
        /// Whether the target is met; `null` where there is none.
        @Nullable public var meetsTarget: Bool?
        /// What the fullest frame of any trace needed, decoded, and the tables.
        public var screenBytes = 0
        /// How many bytes of those the limit lacks; a limit that lacks any is never suggested.
        public var shortfallBytes = 0

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
    public struct LRUPoint: Codable, Sendable, Hashable {
        /// The size in tiles.
        public var tiles: Int
        /// Accesses that hit: needed tiles of all frames, as `replay --export-keys` writes them.
        public var hits: Int
        /// Hits over accesses.
        @Nullable public var hitRate: Double?
        /// The same of demands alone, to be compared with the hit rates of rows.
        @Nullable public var demandHitRate: Double?
    }

    /// Where more memory begins to pay less than it does on average.
    public struct Knee: Codable, Sendable, Hashable {
        /// The memory limit.
        public var byteLimit: Int
        /// Its hit rate.
        @Nullable public var hitRate: Double?
    }

    /// What to use.
    public struct Suggestion: Codable, Sendable, Hashable {
        /// The memory limit.
        public var byteLimit: Int
        /// Its hit rate.
        @Nullable public var hitRate: Double?
        /// Its blank share.
        @Nullable public var blank: Double?
        /// Its number of workers.
        public var workers: Int
        /// Its pixels a side of a tile; `null` if each trace has its own.
        @Nullable public var tileSize: Int?
        /// Its share of compressed tiles; `null` if it adapts.
        @Nullable public var compressedShare: Double?
        /// The flags of `cachebench replay` that make these figures again.
        public var flags: String
        /// `target` where it is the smallest budget that meets it, `knee` where there is no target, `best` where no
        /// budget meets the target and this one comes nearest.
        public var reason: String

        var variant: Variant { Variant(workers: workers, tileSize: tileSize, compressedShare: compressedShare) }
    }

    /// What a budget has to reach.
    public struct Target: Codable, Sendable, Hashable {
        /// `hitRate`, or `blank`.
        public var field: String
        /// At least this hit rate, or at most this blank share.
        public var value: Double
    }

    /// The version of these fields.
    public var schema = 1
    /// Every budget tried with the options asked for, smallest first.
    public var rows: [Row]
    /// Other policies at every second budget of the sweep, with the options of each variant.
    public var policies: [Row]
    /// Plain LRU at many sizes, from one pass.
    public var lruCurve: [LRUPoint]
    /// Accesses that the curve's hits are of.
    public var lruAccesses: Int
    /// The knee; `null` where the curve has none.
    @Nullable public var knee: Knee?
    /// What to use; `null` if nothing was replayed to its end, or no limit tried holds what one screen needs.
    @Nullable public var suggested: Suggestion?
    /// The budget one step below the suggested one, which misses the target; `null` where there is none.
    @Nullable public var oneStepSmaller: Row?
    /// The target; `null` where none was given.
    @Nullable public var target: Target?
    /// Bytes that the largest tile takes: the curve's sizes times these are bytes.
    public var slotBytes: Int
    /// How finely limits were searched.
    public var stepBytes: Int
    /// Whether it was stopped before its end.
    public var interrupted: Bool
    /// Every option as resolved, with the versions of program and definitions.
    public var configuration: [String: ConfigurationValue]
    /// The traces.
    public var traces: [ReplayReport.Trace]
}

extension TuneReport {
    /// Whether a row is what was suggested.
    func isSuggested(_ row: Row) -> Bool {
        row.byteLimit == suggested?.byteLimit && row.variant == suggested?.variant
    }

    /// The largest plain LRU whose tiles a limit holds. Sizes are whatever was asked for: their bytes may overflow.
    func largestLRU(within byteLimit: Int) -> LRUPoint? { lruCurve.last { $0.tiles <= byteLimit / max(slotBytes, 1) } }
}
