/// One policy on one trace, or on all traces of a source, with one budget.
///
/// Rates, areas and counts are those of ``ReplayReport``.
package struct CompareRow: Encodable, Sendable, Hashable {
    /// Folder of the trace.
    package var source: String
    /// Name of the trace; `null` if the traces of a source are pooled.
    @Nullable package var trace: String?
    /// Hash of the trace's samples, as in ``ReplayReport/Trace``; `null` if the traces of a source are pooled.
    @Nullable package var hash: String?
    package var policy: String
    /// Budget as it was given, such as `2screens`.
    package var budget: String
    /// Budget in screens, if it was given so.
    @Nullable package var screens: Double?
    /// Limit in bytes; the largest if traces are pooled.
    package var byteLimit: Int
    package var workers: Int
    /// Milliseconds.
    package var loadLatency: Double
    /// Effort of the policy; without effect for `none` and `oracle`.
    package var effort: Double
    package var demands: Int
    @Nullable package var hitRate: Double?
    /// Demands that their frame could draw over demands. Less than the hit rate if decompression costs time.
    @Nullable package var drawableHitRate: Double?
    @Nullable package var panHitRate: Double?
    @Nullable package var zoomHitRate: Double?
    @Nullable package var sharp: Double?
    package var blankPixelMilliseconds: Double
    package var fallbackPixelMilliseconds: Double
    @Nullable package var deficit: Double?
    /// Fraction of the deficit without prefetch that is avoided, relative to the oracle. `null` if the oracle avoids
    /// less than 0.005 levels. The oracle minimises misses, not the deficit: values above 1 are possible.
    @Nullable package var deficitGapClosed: Double?
    package var loads: Int
    package var loadedBytes: Int
    /// Requests of prefetches to the source.
    package var prefetchRequests: Int
    @Nullable package var waste: Double?
    /// Fraction of the gap from no prefetch to the oracle. `null` if the gap is below 0.02.
    @Nullable package var gapClosed: Double?
    /// Number of loads to match, if loads are held equal.
    @Nullable package var targetLoads: Int?
    /// Whether some effort comes within 2 per cent of it.
    @Nullable package var reachesTarget: Bool?
    /// Decoded bytes and tables that the fullest frame needed; the maximum if traces are pooled.
    package var screenBytes = 0
    /// Bytes of those beyond the limit; the maximum if traces are pooled.
    package var shortfallBytes = 0
    /// What the trace was imported from; left out for a recorded one, and if the traces of a source are pooled.
    package var imported: String?

    /// Number of tiles of the budget, if it was given so. Its bytes differ between traces and policies.
    var tiles: Int? { if case .tiles(let count)? = MemoryLimit(budget) { count } else { nil } }

    /// Budget for display, in the unit in which it was given.
    var budgetTitle: String {
        if let screens { return Figures.screens(screens) }
        return tiles.map { "\(count: $0) tile\($0 == 1 ? "" : "s")" } ?? Figures.bytes(byteLimit)
    }
}

package struct CompareReport: Encodable, Sendable, Hashable {
    package var schema = 1
    /// Trace by trace.
    package var rows: [CompareRow]
    /// Pooled by source, policy and budget.
    package var totals: [CompareRow]
    /// Codec charge of the rows below, as in the flag; `null` without a charge.
    @Nullable package var cost: String? = nil
    /// The same rows with the codec's time charged. A compressed tile can be drawn once it is decompressed.
    @Nullable package var chargedRows: [CompareRow]? = nil
    @Nullable package var chargedTotals: [CompareRow]? = nil
    /// Whether it was stopped early; then rows are missing, but none is partial.
    package var interrupted = false
    /// All options common to the rows, as resolved, with the versions of program and definitions.
    package var configuration: [String: ConfigurationValue]
    /// The traces of the rows, for notes of the text and the page.
    package var traces: [ReplayReport.Trace] = []

    private enum CodingKeys: String, CodingKey {
        case schema, rows, totals, cost, chargedRows, chargedTotals, interrupted, configuration
    }
}
