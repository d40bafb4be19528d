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
    /// Demands.
    public var demands: Int
    /// Hits over demands.
    @Nullable public var hitRate: Double?
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
    /// Decoded bytes that landed.
    public var loadedBytes: Int
    /// Loads never drawn over loads.
    @Nullable public var waste: Double?
    /// How much of the way from no prefetch to the oracle; `null` where that way is shorter than 0.02.
    @Nullable public var gapClosed: Double?
}

/// Policies side by side.
public struct CompareReport: Codable, Sendable, Hashable {
    /// The version of these fields.
    public var schema = 1
    /// Trace by trace.
    public var rows: [CompareRow]
    /// Pooled by source, policy and budget.
    public var totals: [CompareRow]
}
