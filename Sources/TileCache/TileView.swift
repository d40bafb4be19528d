public import Dispatch

/// A viewport over some layers of a cache.
///
/// All methods may be called from any thread; a renderer calls ``update(_:at:destination:)`` and ``frame()`` once for
/// each frame that it draws, from one thread. Neither waits for a load, a compression or another thread's copy.
public final class TileView: Sendable {
    let core: CacheCore
    let id: Int
    private let makePolicy: @Sendable (PrefetchProfile?) -> any PrefetchPolicy

    init(core: CacheCore, id: Int, makePolicy: @escaping @Sendable (PrefetchProfile?) -> any PrefetchPolicy) {
        self.core = core
        self.id = id
        self.makePolicy = makePolicy
    }

    deinit { core.removeView(id) }

    /// Updates the viewport.
    ///
    /// - Parameters:
    ///   - viewport: The viewport; ignored and counted if it cannot be drawn (``TileViewport/isDrawable``).
    ///   - time: Time of the viewport; need not increase. Default: `nil`, now.
    ///   - destination: Where the view will be and when, if the renderer can tell. Default: `nil`.
    public func update(_ viewport: TileViewport, at time: MonotonicTime? = nil, destination: ViewportDestination? = nil)
    {
        guard !core.isForked else { return }
        // The renderer's times describe the movement; all else uses the cache's own clock.
        let now = MonotonicTime.bounded(core.clock())
        let observed = time.map { MonotonicTime.bounded($0.nanoseconds) } ?? now
        recorder?.record(viewport, at: observed)
        core.perform { $0.update(view: id, to: viewport, destination, now: now, observedAt: observed) }
    }

    /// Updates the needed tiles, for renderers that choose tiles themselves (perspective, globes, feedback buffers).
    ///
    /// - Parameter tiles: The needed tiles; those of layers that the view does not show, and those that do not exist,
    ///   are ignored.
    public func update(needing tiles: [NeededTile]) {
        guard !core.isForked else { return }
        let now = MonotonicTime.bounded(core.clock())
        let layers = Set(tiles.map(\.layer))
        let pyramids = core.read { state in
            layers.reduce(into: [:]) { pyramids, layer in pyramids[layer] = state.record(of: layer)?.pyramid }
        }
        let list = NeededList(tiles, pyramids: pyramids)
        core.perform { $0.update(view: id, needing: list, now: now) }
    }

    /// Composes the frame for the viewport of the last update.
    public func frame() -> TileFrame { core.frame(ofView: id) }

    /// The layers that the view shows, in the order of drawing. Layers that stay keep what was learned of them.
    ///
    /// Layers of another cache are ignored, and a layer counts once.
    public var layers: [TileLayer] {
        get { (core.read { $0.views[id]?.model.layers.map(\.id) } ?? []).map { TileLayer($0, of: core) } }
        set { core.setLayers(newValue.map(\.id), ofView: id, makePolicy) }
    }

    /// Handler called on ``callbackQueue`` when another frame would be better than the last one: draw again.
    ///
    /// Coalesced, never re-entrant, never called after shutdown. The causes:
    ///
    /// - Needed tiles are ready, or fallbacks for blank areas.
    /// - Tiles of the last frame that are not needed take the room of missing ones. The next frame leaves them out.
    /// - Missing tiles need no room any more, as after a permanent failure. The next frame may have fallbacks again.
    public var onTilesReady: (@Sendable () -> Void)? {
        get { core.read { $0.views[id]?.callback } }
        // The old handler may own frames and views, whose ends take the lock: release it outside of the lock.
        set { core.exchange(newValue, ofView: id, at: \.callback) }
    }

    /// Serial queue of ``onTilesReady``. Default: the main queue.
    ///
    /// The main queue calls nothing unless the main thread runs a run loop or `dispatchMain()`. A program with an event
    /// loop of its own, such as SDL or GLFW, sets a queue of its own here and wakes its loop from the handler.
    public var callbackQueue: DispatchQueue {
        get { core.read { $0.views[id]?.callbackQueue } ?? .main }
        set { core.perform { $0.views[id]?.callbackQueue = newValue } }
    }

    /// Receives every viewport of ``update(_:at:destination:)``, such as a `PanTraceRecorder`. Default: `nil`.
    public var recorder: (any ViewportRecorder)? {
        get { core.read { $0.views[id]?.recorder } }
        set { core.exchange(newValue, ofView: id, at: \.recorder) }
    }

    /// Decompression budget of each ``frame()``.
    public var promotionBudget: PromotionBudget {
        get { core.read { $0.views[id]?.promotionBudget } ?? PromotionBudget() }
        set { core.perform { $0.views[id]?.promotionBudget = newValue } }
    }

    /// Octaves by which levels are coarser than the view's selection says, 0 to 8. Default: 0.
    ///
    /// For a limit of the renderer's own, such as texture slots. Other numbers are clamped; NaN counts as 0. Changes the
    /// needed tiles at once. Does not apply to tiles that the renderer lists itself.
    public var levelBias: Double {
        get { core.read { $0.views[id]?.model.levelBias } ?? 0 }
        set { core.setLevelBias(newValue, ofView: id) }
    }

    /// Octaves by which one layer's levels are coarser than the view's selection says, if more than ``levelBias``: 0 to
    /// 8. Default: 0, as for layers that the view does not show.
    public func levelBias(of layer: LayerID) -> Double {
        core.read { state in state.views[id]?.model.layers.first { $0.id == layer }?.levelBias } ?? 0
    }

    /// Changes the level bias of one layer. The larger of it and ``levelBias`` applies.
    ///
    /// For texture slots of some layers only, so that they do not make the others coarser. Ends when the view does not
    /// show the layer any more.
    ///
    /// - Parameters:
    ///   - octaves: As ``levelBias``.
    ///   - layer: A layer of the view; others are ignored.
    public func setLevelBias(_ octaves: Double, of layer: LayerID) {
        core.setLevelBias(octaves, of: layer, ofView: id)
    }

    /// Rings of further tiles around what shows, loaded too, 0 to 8. Default: 0.
    ///
    /// Around the upright rectangle that bounds the viewport, which is larger than a rotated viewport.
    /// Loaded after the needed tiles of all views and before all predicted tiles that are not urgent, under any effort
    /// and allowance. Neither demands nor prefetches in ``TileCacheStatistics``; loads that are never drawn count as
    /// waste. Layers of ``update(needing:)`` have none. Values out of range are clamped.
    public var margin: Int {
        get { core.read { $0.views[id]?.model.margin ?? 0 } }
        set { core.perform { $0.setMargin(newValue, ofView: id) } }
    }

    /// Size of the needed tiles if they exceed the limit, alone or together with those of other views; 0 if they fit.
    /// Coarser ones are drawn until they do. Pinned tiles that are resident take their part of the limit, and do not
    /// count as needed.
    ///
    /// Tiles that several views need count once. Each layer of a view may have an equal part of the limit, and more if
    /// others leave it: one that comes later takes no room from others beyond its part. A view that became coarser for
    /// others is finer again once an eighth of the room, or of its part, would be left. Coarsest levels and lists of
    /// ``update(needing:)`` always fit beside other views: if these exceed the limit together, tiles wait.
    ///
    /// Without ``TileCache/Configuration/fitsLevelToBudget`` the tiles under a viewport are not compared with the limit.
    /// It is then 0, unless there is no room to list all of them.
    public var shortfall: ByteCount { .bytes(core.read { $0.views[id]?.model.shortfallBytes } ?? 0) }

    /// Demands of the view, and what its frames showed, since its creation.
    public var statistics: TileViewStatistics { core.read { $0.views[id]?.statistics } ?? TileViewStatistics() }

    /// Waits of missed tiles that have become drawable since the last call, in nanoseconds.
    package func takeWaits() -> [Int64] {
        core.perform { state in
            defer { state.views[id]?.waits.removeAll() }
            return state.views[id]?.waits ?? []
        }
    }

    /// Number of tiles that the last update needs, of all layers.
    package var neededTileCount: Int {
        core.read { $0.views[id]?.model.layers.reduce(0) { $0 + $1.needs.tiles.count } } ?? 0
    }

    /// Whether the last update changed the visible area.
    package var hasMoved: Bool { core.read { $0.views[id]?.model.hasMoved } ?? false }
}

/// Interface of a view for texture slots.
extension TileView {
    /// Resident tiles that the view may draw soon, not leased, the most valuable first.
    ///
    /// - Parameters:
    ///   - layers: Layers whose tiles are listed. Default: `nil`, all.
    ///   - version: Of the list of these layers that the caller has; `nil` is returned if it has not changed.
    package func upcoming(
        limit: Int,
        of layers: Set<LayerID>? = nil,
        unless version: FrameVersion?
    ) -> (FrameVersion, [UpcomingTile])? {
        core.upcoming(ofView: id, limit: limit, of: layers, unless: version)
    }

    /// Leases decoded tiles of the view's cache, each alone. `nil` for those that have gone since.
    package func lease(_ tiles: [TileIdentity]) -> [LeasedTile?] { core.lease(tiles) }
}
