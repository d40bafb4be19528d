/// State of the cache around one view, for overlays and logs.
///
/// A copy of one moment, which leases no tile; see ``TileView/diagnostics(margin:maximumPlannedTiles:)``.
public struct TileViewDiagnostics: Hashable, Sendable {
    /// Residency of a tile, for display.
    public enum TileState: Hashable, Sendable, CaseIterable {
        /// Not resident and not being loaded.
        case missing
        /// Being loaded for the first time.
        case loading
        /// Resident, compressed.
        case compressed
        /// Resident, decoded.
        case decoded
        /// Resident, but outdated by an invalidation.
        case stale
        /// The source reported that the tile does not exist.
        case absent
        /// The last load failed; it is retried later, or never.
        case failed
    }

    /// A tile at the level that a layer is drawn at.
    public struct Tile: Hashable, Sendable {
        /// Layer of the tile.
        public let layer: LayerID
        /// Position of the tile.
        public let tile: TileCoordinate
        /// World rectangle of the tile, in world pixels. On a wrapping world, in the copy next to the view.
        public let worldRectangle: PixelRect
        /// Residency of the tile.
        public let state: TileState
        /// Whether this view needs it now.
        public let isNeeded: Bool
    }

    /// Reason for a plan entry.
    public enum Reason: Hashable, Sendable, CaseIterable {
        /// A view needs it now.
        case demand
        /// Fallback for needed tiles that have none, or that will not come.
        case fallback
        /// The tile is pinned.
        case pin
        /// It may be needed soon.
        case prefetch
        /// It is in the view's margin, or a host has requested it for its own.
        case margin
    }

    /// A plan entry for one of the view's layers.
    public struct PlannedTile: Hashable, Sendable {
        /// Layer of the tile.
        public let layer: LayerID
        /// Position of the tile, at any level.
        public let tile: TileCoordinate
        /// World rectangle of the tile, in world pixels. On a wrapping world, in the copy next to the view.
        public let worldRectangle: PixelRect
        /// Reason for the entry.
        public let reason: Reason
        /// Present residency of the tile, which may be newer than the plan.
        public let state: TileState
        /// Worth of the tile to the policy, larger is sooner. Infinite for needed and pinned tiles.
        public let worth: Float
    }

    /// Last viewport; `nil` before the first update, or if the renderer lists needed tiles itself.
    public internal(set) var viewport: TileViewport?
    /// Predicted viewport at rest, or the view's destination, in world pixels. `nil` before the first plan made after
    /// diagnostics were first requested.
    public internal(set) var expectedRectangle: PixelRect?
    /// Tiles of the drawn levels under the viewport and its margin. Layer by layer, row by row; at most 4096.
    public internal(set) var tiles: [Tile] = []
    /// Pending entries of the newest plan for the view's layers, the next one first. Each tile occurs once. Includes
    /// entries of other views of the same layers: a cache has one plan.
    public internal(set) var plan: [PlannedTile] = []
    /// Time of that plan; `nil` if there is none.
    public internal(set) var planTime: MonotonicTime?
}

extension TileView {
    /// State of the cache around this view.
    ///
    /// For overlays, logs and tests, not for drawing: it holds the cache's lock while it looks up some hundred tiles.
    /// The first call, and each call after that, makes the plans of the following second record the view's expected
    /// position; a view without calls costs nothing.
    ///
    /// - Parameters:
    ///   - margin: Margin around the viewport, in viewports, 0 to 4. Default: 0.5.
    ///   - maximumPlannedTiles: Maximum number of plan entries, 0 or more. Default: 256.
    public func diagnostics(margin: Double = 0.5, maximumPlannedTiles: Int = 256) -> TileViewDiagnostics {
        core.diagnostics(
            ofView: id,
            margin: margin.isNaN ? 0.5 : min(max(margin, 0), 4),
            maximumPlannedTiles: max(maximumPlannedTiles, 0)
        )
    }
}
