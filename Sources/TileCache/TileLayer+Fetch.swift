public import Dispatch

extension TileLayer {
    /// Requests one tile.
    ///
    /// A compressed tile is decompressed on the calling thread, if there is a slot for it. Pixels from before an
    /// invalidation are no outcome; ``placement(of:)`` has them meanwhile. Pixels handed over count as drawn; requests
    /// are neither demands nor prefetches in ``TileCache/statistics``. A temporary failure is retried and ends nothing.
    ///
    /// - Parameters:
    ///   - tile: The tile.
    ///   - rank: Rank among the loads. Default: visible.
    ///   - queue: Queue of the handler. Default: the main queue, which needs a run loop: see ``TileView/callbackQueue``.
    ///   - handler: Called once with the outcome, unless it is known at once or the request is cancelled before. Also
    ///     if the layer is removed or the cache is shut down. No lock is held meanwhile.
    /// - Returns: The request, to be kept until it has ended.
    public func fetch(
        _ tile: TileCoordinate,
        rank: TileFetch.Rank = .visible,
        on queue: DispatchQueue = .main,
        _ handler: @escaping @Sendable (TileFetch.Outcome) -> Void
    ) -> TileFetch {
        core.fetch(tile, of: id, isMargin: rank == .margin, FetchHandler(queue: queue, call: handler))
    }
}
