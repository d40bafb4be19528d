/// Statistics of a view since its creation: counts, which only grow, and what its frames showed.
///
/// The difference of two statistics has the counts in between.
public struct TileViewStatistics: Hashable, Sendable {
    /// Demands at the level of the previous frame.
    public internal(set) var pan = TileCacheStatistics.DemandCounts()
    /// Demands at another level than the previous frame's.
    public internal(set) var zoom = TileCacheStatistics.DemandCounts()
    /// Frames, ``TileView/frame()``.
    public private(set) var frames = 0
    /// Frames that moved or lacked a tile. The first one counts only if it lacked a tile.
    public private(set) var busyFrames = 0
    /// Frames that lacked a needed tile.
    public private(set) var incompleteFrames = 0
    /// Screen pixels of the busy frames, by how they were drawn.
    package private(set) var area = Coverage()

    /// All counts are 0.
    init() {}

    /// Pan and zoom demands together.
    public var demands: TileCacheStatistics.DemandCounts { pan + zoom }
    /// Hits over demands, 0...1; `nil` if there are none.
    public var hitRate: Double? { demands.hitRate }

    /// What the busy frames showed, each with its area. `nil` if there are none, or if the renderer lists its tiles itself,
    /// whose area on the screen is unknown.
    ///
    /// The `sharp`, `fallback` and `blank` of `cachebench replay`, which counts the same frames.
    public var shares: ScreenShares? { ScreenShares(area) }

    /// Counts a frame.
    ///
    /// - Parameters:
    ///   - pixels: Area of the screen for each layer that needs tiles; 0 if it is unknown.
    ///   - hasMoved: Whether the visible area has changed since the frame before.
    mutating func note(_ coverage: Coverage, pixels: Double, hasMoved: Bool) {
        let isComplete = coverage.missingTiles == 0
        let isFirst = frames == 0
        frames += 1
        guard hasMoved && !isFirst || !isComplete else { return }
        busyFrames += 1
        if !isComplete { incompleteFrames += 1 }
        guard pixels > 0 else { return }
        area.sharp += isComplete ? pixels : coverage.sharp
        area.fallback += coverage.fallback
        area.blank += coverage.blank
        area.deficit += coverage.deficit
    }

    /// Subtracts the counts of an earlier moment of the same view.
    public static func - (later: Self, earlier: Self) -> Self {
        var result = later
        result.pan = later.pan - earlier.pan
        result.zoom = later.zoom - earlier.zoom
        result.frames -= earlier.frames
        result.busyFrames -= earlier.busyFrames
        result.incompleteFrames -= earlier.incompleteFrames
        result.area.sharp -= earlier.area.sharp
        result.area.fallback -= earlier.area.fallback
        result.area.blank -= earlier.area.blank
        result.area.deficit -= earlier.area.deficit
        return result
    }
}
