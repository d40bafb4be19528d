/// One policy on one trace, or on the traces of one source, with one budget.
package struct CompareRow: Codable, Sendable, Hashable {
    /// The folder of the trace.
    package var source: String
    /// The trace; `null` where the traces of a source are pooled.
    @Nullable package var trace: String?
    /// Where prefetches come from.
    package var policy: String
    /// The budget in screens, where it was given so.
    @Nullable package var screens: Double?
    /// The limit in bytes; the largest where traces are pooled.
    package var byteLimit: Int
    /// Loads at the same time.
    package var workers: Int
    /// How long a load takes, in milliseconds.
    package var loadLatency: Double
    /// How eagerly the policy prefetched; of no account for `none` and `oracle`.
    package var effort: Double
    package var demands: Int
    /// Hits over demands.
    @Nullable package var hitRate: Double?
    /// Demands that the frame could draw at once over demands: less than the hit rate where decompression costs time.
    @Nullable package var drawableHitRate: Double?
    /// At the level of the frame before.
    @Nullable package var panHitRate: Double?
    /// At another level.
    @Nullable package var zoomHitRate: Double?
    /// Share of the area drawn with the exact tiles.
    @Nullable package var sharp: Double?
    /// Blank screen pixels times the milliseconds that they were blank.
    package var blankPixelMilliseconds: Double
    /// The same for stand-ins.
    package var fallbackPixelMilliseconds: Double
    /// Loads started.
    package var loads: Int
    /// Decoded bytes that landed.
    package var loadedBytes: Int
    /// Loads never drawn over loads.
    @Nullable package var waste: Double?
    /// How much of the way from no prefetch to the oracle; `null` where that way is shorter than 0.02.
    @Nullable package var gapClosed: Double?
    /// The loads that the effort was chosen to reach, where loads were held equal.
    @Nullable package var targetLoads: Int?
    /// Whether some effort comes within 2 per cent of them.
    @Nullable package var reachesTarget: Bool?
    /// What the fullest frame needed, decoded, and the tables; the most if traces are pooled.
    package var screenBytes = 0
    /// How many bytes of those the limit lacks; the most if traces are pooled.
    package var shortfallBytes = 0
}

/// Policies side by side.
package struct CompareReport: Codable, Sendable, Hashable {
    /// The version of these fields.
    package var schema = 1
    /// Trace by trace.
    package var rows: [CompareRow]
    /// Pooled by source, policy and budget.
    package var totals: [CompareRow]
    /// What the codec was charged with in the rows below, as the flag takes it; `null` where nothing was charged.
    @Nullable package var cost: String?
    /// The same once more with the codec's time charged: a compressed tile can be drawn when it is decompressed.
    @Nullable package var chargedRows: [CompareRow]?
    @Nullable package var chargedTotals: [CompareRow]?
    /// Whether it was told to stop before all was replayed; then rows are missing, and those that are there are whole.
    package var interrupted = false
    /// Every option that all rows share, as resolved, with the versions of program and definitions.
    package var configuration: [String: ConfigurationValue]

    /// Makes a report without charged rows.
    package init(rows: [CompareRow], totals: [CompareRow], configuration: [String: ConfigurationValue] = [:]) {
        self.rows = rows
        self.totals = totals
        self.configuration = configuration
    }
}
