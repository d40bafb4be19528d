/// A host's request for one tile. For renderers that address tiles themselves, such as map widgets.
///
/// It is like a needed tile of a view until it ends: not evicted, and loaded before all predicted tiles but urgent ones.
/// It ends with an ``Outcome``: at once, or later with one call of its handler. Releasing its last reference cancels it.
public final class TileFetch: Sendable {
    /// Rank among the loads.
    public enum Rank: Sendable, Hashable {
        /// The tile is visible. It ranks as a needed tile of a view.
        case visible
        /// The tile is beside the visible ones. It ranks after needed tiles and before all predicted ones that are not
        /// urgent, under any allowance.
        case margin
    }

    /// End of a request.
    public enum Outcome: Sendable {
        /// The tile's current pixels, leased.
        case pixels(LeasedTile)
        /// The tile does not exist, in the pyramid or at the source.
        case absent
        /// The tile failed permanently; it is not loaded again until an invalidation.
        case failed
        /// The layer was removed or is of another cache, or the cache was shut down.
        case removed
        /// There is no room for the request. 4,096 are pending already, or the limit is used up.
        case refused
    }

    /// Outcome if it was known at the request: the handler is never called then. `nil` if the tile is late.
    public let outcome: Outcome?
    /// Time of the request.
    public let since: MonotonicTime
    private let core: CacheCore
    let id: InterestID

    init(core: CacheCore, id: InterestID, outcome: Outcome?, since: Int64) {
        self.core = core
        self.id = id
        self.outcome = outcome
        self.since = MonotonicTime(nanoseconds: since)
    }

    deinit { cancel() }

    /// Cancels the request. Afterwards its handler does not begin.
    ///
    /// - Returns: Whether that kept the handler from being called. `false` if the outcome was known at once, if the
    ///   handler has begun, on whatever thread, or if the request was cancelled before. Does not wait for the handler.
    @discardableResult
    public func cancel() -> Bool { outcome == nil && core.cancelFetch(id) }

    /// Whether the request is pending and the tile's load is in flight.
    public var isLoading: Bool { core.read { $0.isLoading(fetch: id) } }
}
