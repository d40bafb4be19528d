/// What a cache knows and intends around one view, for overlays and logs; see ``TileView/diagnostics(margin:maximumPlannedTiles:)``.
///
/// A copy of one moment: nothing in it keeps a tile where it is.
public struct TileViewDiagnostics: Hashable, Sendable {
    /// Where a tile's pixels are.
    public enum TileState: Hashable, Sendable, CaseIterable {
        /// Nowhere, and nobody is fetching them.
        case missing
        /// On their way from the source for the first time.
        case loading
        /// In the cache, compressed.
        case compressed
        /// In the cache, ready to draw.
        case decoded
        /// In the cache, but an invalidation came after them.
        case stale
        /// The source says that there is no such tile.
        case absent
        /// The last load failed; it is tried again later, or never.
        case failed
    }

    /// A tile at the level that a layer is drawn at.
    public struct Tile: Hashable, Sendable {
        /// Whose tile.
        public let layer: LayerID
        /// Which tile.
        public let tile: TileCoordinate
        /// What it covers, in world pixels; on a wrapping world in the copy next to the view.
        public let worldRectangle: PixelRect
        /// Where its pixels are.
        public let state: TileState
        /// Whether this view needs it now.
        public let isNeeded: Bool
    }

    /// Why a tile is in the plan.
    public enum Reason: Hashable, Sendable, CaseIterable {
        /// A view needs it now.
        case demand
        /// It stands in for needed tiles where there would be nothing to draw.
        case cover
        /// A floor pins it.
        case floor
        /// It may be needed soon.
        case prefetch
    }

    /// A wish of the plan for one of the view's layers.
    public struct PlannedTile: Hashable, Sendable {
        /// Whose tile.
        public let layer: LayerID
        /// Which tile; of any level.
        public let tile: TileCoordinate
        /// What it covers, in world pixels; on a wrapping world in the copy next to the view.
        public let worldRectangle: PixelRect
        /// Why.
        public let reason: Reason
        /// Where its pixels are now, which may be later than the plan.
        public let state: TileState
        /// What having the tile is worth to the policy, larger is sooner; infinite for what is needed or pinned.
        public let worth: Float
    }

    /// What the view was told last; `nil` before its first update, or where it names its tiles itself.
    public internal(set) var viewport: TileViewport?
    /// What the view is expected to show by the time its movement has died away, or at the destination that it was given;
    /// world pixels. `nil` before the first plan that was made since diagnostics were first asked for.
    public internal(set) var expectedRectangle: PixelRect?
    /// The tiles of the drawn levels under the viewport and its margin, layer by layer, row by row; at most 4096.
    public internal(set) var tiles: [Tile] = []
    /// The newest plan's wishes for the view's layers that are not fulfilled, the next one first, each tile
    /// once. Those of other views of the same layers are among them: a cache has one plan.
    public internal(set) var plan: [PlannedTile] = []
    /// When that plan was made; `nil` where there has been none.
    public internal(set) var planTime: MonotonicTime?
}

extension TileView {
    /// What the cache knows and intends around this view.
    ///
    /// For overlays, logs and tests, not for drawing: it takes the cache's lock for as long as it looks some hundred tiles
    /// up. A view that nobody asks costs nothing; for one that is asked, each plan of the following second notes in
    /// addition where it expects the view to go.
    ///
    /// - Parameters:
    ///   - margin: how far around the viewport to look, in viewports, 0 to 4; 0.5 unless given.
    ///   - maximumPlannedTiles: wishes of the plan to tell, 0 or more; 256 unless given.
    public func diagnostics(margin: Double = 0.5, maximumPlannedTiles: Int = 256) -> TileViewDiagnostics {
        core.diagnostics(
            ofView: id,
            margin: margin.isNaN ? 0.5 : min(max(margin, 0), 4),
            maximumPlannedTiles: max(maximumPlannedTiles, 0)
        )
    }
}
