public import Dispatch
import Synchronization

/// One viewport looking at some layers of a cache.
///
/// All methods may be called from any thread; a renderer calls ``update(_:at:destination:)`` and ``frame()`` once for
/// each frame that it draws, from one thread. Neither waits for a load, a compression or another thread's copy.
public final class TileView: Sendable {
    let core: CacheCore
    let id: Int
    private let makePolicy: @Sendable () -> any PrefetchPolicy

    init(core: CacheCore, id: Int, makePolicy: @escaping @Sendable () -> any PrefetchPolicy) {
        self.core = core
        self.id = id
        self.makePolicy = makePolicy
    }

    deinit { core.removeView(id) }

    /// Updates the viewport.
    ///
    /// - Parameters:
    ///   - viewport: one that cannot be drawn (``TileViewport/isDrawable``) is ignored and counted.
    ///   - time: the time of the viewport. Default: now. Times that do not grow are taken as they are.
    ///   - destination: where the view will be and when, if the renderer knows. Default: `nil`.
    public func update(_ viewport: TileViewport, at time: MonotonicTime? = nil, destination: ViewportDestination? = nil)
    {
        guard !core.isForked else { return }
        // The renderer's times say how the view moves; all else goes by the cache's own clock.
        let now = MonotonicTime.bounded(core.clock())
        let observed = time.map { MonotonicTime.bounded($0.nanoseconds) } ?? now
        recorder?.record(viewport, at: observed)
        core.perform { state in
            guard !state.isShutDown, var view = state.views[id].take() else { return }
            defer { state.views[id] = view }
            view.model.destination = destination
            guard view.model.update(viewport, now: now, observedAt: observed, pool: &state.pool) else {
                view.refusedViewports += 1
                return
            }
            if state.wantsPlan(for: view, now: now) { state.effects.plans = true }
        }
    }

    /// Updates the needed tiles, for renderers that choose tiles themselves (perspective, globes, feedback buffers).
    ///
    /// - Parameters:
    ///   - tiles: those of other layers than the view's, and those that do not exist, are ignored.
    ///   - time: now unless given; a list says nothing of how a view moves, so it is not looked at yet.
    public func update(needing tiles: [NeededTile], at time: MonotonicTime? = nil) {
        guard !core.isForked else { return }
        let now = MonotonicTime.bounded(core.clock())
        core.perform { state in
            guard !state.isShutDown, var view = state.views[id].take() else { return }
            defer { state.views[id] = view }
            view.model.update(tiles, now: now, pool: &state.pool)
            if state.wantsPlan(for: view, now: now) { state.effects.plans = true }
        }
    }

    /// What to draw now for the viewport of the last update.
    public func frame() -> TileFrame { core.frame(ofView: id) }

    /// The layers that the view shows, in the order of drawing. Setting them keeps what was learned of those that stay.
    /// Layers of another cache are ignored, and a layer counts once.
    public var layers: [LayerID] {
        get { core.read { $0.views[id]?.model.layers.map(\.id) } ?? [] }
        set { core.setLayers(newValue, ofView: id, makePolicy) }
    }

    /// Called on ``callbackQueue`` when tiles that would improve the last frame are ready, fallbacks on a blank view
    /// included. Coalesced, never re-entrant, never after shutdown.
    public var onTilesReady: (@Sendable () -> Void)? {
        get { core.read { $0.views[id]?.callback } }
        // What was set before may own frames and views, whose ends take the lock: it must go outside of it.
        set { core.exchange(newValue, ofView: id, at: \.callback) }
    }

    /// The queue that ``onTilesReady`` is called on, a serial one. Default: the main queue.
    public var callbackQueue: DispatchQueue {
        get { core.read { $0.views[id]?.callbackQueue } ?? .main }
        set { core.perform { $0.views[id]?.callbackQueue = newValue } }
    }

    /// Records every viewport of ``update(_:at:destination:)`` as a pan trace. Default: `nil`.
    public var recorder: PanTraceRecorder? {
        get { core.read { $0.views[id]?.recorder } }
        set { core.exchange(newValue, ofView: id, at: \.recorder) }
    }

    /// How much each ``frame()`` may spend on decompression.
    public var promotionBudget: PromotionBudget {
        get { core.read { $0.views[id]?.promotionBudget } ?? PromotionBudget() }
        set { core.perform { $0.views[id]?.promotionBudget = newValue } }
    }

    /// The size of the needed tiles if the limit is too small for them; 0 if they fit. Until they do, coarser tiles are
    /// drawn.
    public var shortfall: ByteCount { .bytes(core.read { $0.views[id]?.model.shortfallBytes } ?? 0) }

    /// The waits, in nanoseconds, of tiles that were no hits and have become drawable since the last call.
    package func takeWaits() -> [Int64] {
        core.perform { state in
            defer { state.views[id]?.waits.removeAll() }
            return state.views[id]?.waits ?? []
        }
    }

    /// The tiles that the last update needs, of all layers.
    package var neededTileCount: Int {
        core.read { $0.views[id]?.model.layers.reduce(0) { $0 + $1.needs.tiles.count } } ?? 0
    }

    /// Whether the last update changed what is seen.
    package var hasMoved: Bool { core.read { $0.views[id]?.model.hasMoved } ?? false }
}
