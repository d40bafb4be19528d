/// A needed tile on screen. Its index among the needed ones, and the copy of a wrapping world.
struct VisibleTile: Hashable, Sendable {
    var index: Int32
    var offset: Double
}

/// Detects whether a frame's touches would change nothing.
struct TouchMark: Hashable, Sendable {
    /// Stamp of the pool's last use.
    var stamp: UInt64 = 0
    /// Number of needed tiles that were touched.
    var count = -1
}

/// Per-view state of one layer.
struct ViewLayer: Sendable {
    let id: LayerID
    var layer: Int { id.index }
    let pyramid: TilePyramid
    /// Octaves by which the layer is coarser than the view's selection says, if more than the view's own.
    var levelBias = 0.0
    var needs = ViewNeeds()
    /// State of the pool after the last frame's touches.
    var touched = TouchMark()
    /// Needed tiles on screen, with repeats if a world wraps within the viewport.
    var visible: [VisibleTile] = []
    /// The range whose tiles are the needed and the visible ones; `nil` if there is none.
    var range: TileRange?
    /// Whether the renderer lists the needed tiles itself.
    var hasOwnList = false
    /// Importance of each needed tile if the renderer lists them itself; empty otherwise.
    var importance: [Float] = []
    /// Whether a finer level would have had room without the tiles of other views.
    var gaveWay = false
    /// The level that the scale asks for; -1 for a list of the renderer's own.
    var askedLevel = -1
    /// Bytes of the tiles of the asked level, if several layers share the room.
    var askedBytes = 0
    /// Number of tiles on screen that are not among the needed ones: too many of the coarsest level, or no memory.
    var leftOut = 0
    /// Whether there are too many tiles of the coarsest level on screen.
    var isCut = false
    /// Whether the level is coarser than the scale asks for, for lack of room.
    var isCoarsened: Bool { needs.level < askedLevel && !needs.tiles.isEmpty }
    /// Version of all views' needs after the level was chosen.
    var fittedVersion: UInt64 = 0
    /// Frames that the layer's policy has not learned from yet, oldest first.
    var observations: [FrameObservation] = []

    /// Needed tiles that no load will bring.
    func gaps(in pool: borrowing PoolState) -> [TileCoordinate] {
        var gaps: [TileCoordinate] = []
        for (place, number) in needs.entries.enumerated() where number != .none {
            if pool.table.pointer(number).pointee.isUnavailable { gaps.append(needs.tiles[place].coordinate) }
        }
        return gaps
    }

    /// Maximum number of frames waiting for a planner, and of the tiles in their lists, whose memory the limit does not
    /// count. The oldest ones beyond it are dropped.
    static let maximumObservations = 240
    static let maximumObservedTiles = 1 << 16

    mutating func observe(_ viewport: TileViewport, now: Int64) {
        var (count, later) = (needs.tiles.count, needs.tiles)
        let dropped = observations.lastIndex {
            // Frames of the same tiles share their list.
            if $0.needed != later { count += $0.needed.count }
            later = $0.needed
            return count > Self.maximumObservedTiles
        }
        observations.removeFirst(max((dropped ?? -1) + 1, observations.count + 1 - Self.maximumObservations))
        observations.append(
            FrameObservation(
                time: now,
                viewport: viewport,
                level: needs.level,
                needed: needs.tiles,
                pyramid: pyramid
            )
        )
    }
}
