/// One policy on one trace, or on the traces of one source, with one budget.
public struct CompareRow: Codable, Sendable, Hashable {
    /// The folder of the trace.
    public var source: String
    /// The trace; `null` where the traces of a source are pooled.
    @Nullable public var trace: String?
    /// Where prefetches come from.
    public var policy: String
    /// The budget in screens, where it was given so.
    @Nullable public var screens: Double?
    /// The limit in bytes; the largest where traces are pooled.
    public var byteLimit: Int
    /// Loads at the same time.
    public var workers: Int
    /// How long a load takes, in milliseconds.
    public var loadLatency: Double
    /// How eagerly the policy prefetched; of no account for `none` and `oracle`.
    public var effort: Double
    /// Demands.
    public var demands: Int
    /// Hits over demands.
    @Nullable public var hitRate: Double?
    /// Demands that the frame could draw at once over demands: less than the hit rate where decompression costs time.
    @Nullable public var drawableHitRate: Double?
    /// At the level of the frame before.
    @Nullable public var panHitRate: Double?
    /// At another level.
    @Nullable public var zoomHitRate: Double?
    /// Share of the area drawn with the exact tiles.
    @Nullable public var sharp: Double?
    /// Blank screen pixels times the milliseconds that they were blank.
    public var blankPixelMilliseconds: Double
    /// The same for stand-ins.
    public var fallbackPixelMilliseconds: Double
    /// Loads started.
    public var loads: Int
    /// Decoded bytes that landed.
    public var loadedBytes: Int
    /// Loads never drawn over loads.
    @Nullable public var waste: Double?
    /// How much of the way from no prefetch to the oracle; `null` where that way is shorter than 0.02.
    @Nullable public var gapClosed: Double?
    /// The loads that the effort was chosen to reach, where loads were held equal.
    @Nullable public var targetLoads: Int?
    /// Whether some effort comes within 2 per cent of them.
    @Nullable public var reachesTarget: Bool?
    /// What the fullest frame needed, decoded, and the tables; the most if traces are pooled.
    public var screenBytes = 0
    /// How many bytes of those the limit lacks; the most if traces are pooled.
    public var shortfallBytes = 0
}

/// Policies side by side.
public struct CompareReport: Codable, Sendable, Hashable {
    /// The version of these fields.
    public var schema = 1
    /// Trace by trace.
    public var rows: [CompareRow]
    /// Pooled by source, policy and budget.
    public var totals: [CompareRow]
    /// What the codec was charged with in the rows below, as the flag takes it; `null` where nothing was charged.
    @Nullable public var cost: String?
    /// The same once more with the codec's time charged: a compressed tile can be drawn when it is decompressed.
    @Nullable public var chargedRows: [CompareRow]?
    /// The charged rows pooled.
    @Nullable public var chargedTotals: [CompareRow]?
    /// Whether it was told to stop before all was replayed; then rows are missing, and those that are there are whole.
    public var interrupted = false
    /// Every option that all rows share, as resolved, with the versions of program and definitions.
    public var configuration: [String: ConfigurationValue]

    /// Makes a report without charged rows.
    public init(rows: [CompareRow], totals: [CompareRow], configuration: [String: ConfigurationValue] = [:]) {
        self.rows = rows
        self.totals = totals
        self.configuration = configuration
    }
}
