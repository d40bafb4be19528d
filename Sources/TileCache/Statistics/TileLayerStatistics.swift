/// Statistics of one layer since it was added: counts, which only grow, and present sizes.
///
/// Each count is the layer's part of the one in ``TileCacheStatistics``. The difference of two statistics has the counts in
/// between.
public struct TileLayerStatistics: Hashable, Sendable {
    /// Demands at the level of the previous frame, of all views.
    public internal(set) var pan = TileCacheStatistics.DemandCounts()
    /// Demands at another level than the previous frame's, of all views.
    public internal(set) var zoom = TileCacheStatistics.DemandCounts()
    /// Loads by their outcome, with bytes and failures. ``TileCacheStatistics/LoadCounts/secondAnswers`` are counted for the
    /// whole cache only, and are 0 here.
    public internal(set) var loads = TileCacheStatistics.LoadCounts()
    /// Prefetches.
    public internal(set) var prefetches = LayerPrefetchCounts()
    /// Decoded tiles now, including loads in flight.
    public internal(set) var decoded = ByteCount.bytes(0)
    /// Compressed tiles now.
    public internal(set) var compressed = ByteCount.bytes(0)

    /// All counts are 0.
    init() {}

    /// Pan and zoom demands together.
    public var demands: TileCacheStatistics.DemandCounts { pan + zoom }
    /// Hits over demands, 0...1; `nil` if there are none.
    public var hitRate: Double? { demands.hitRate }

    /// Subtracts the counts of an earlier moment of the same layer. Sizes are those of the later moment.
    public static func - (later: Self, earlier: Self) -> Self {
        var result = later
        result.pan = later.pan - earlier.pan
        result.zoom = later.zoom - earlier.zoom
        result.loads = later.loads - earlier.loads
        result.prefetches = later.prefetches - earlier.prefetches
        return result
    }
}
