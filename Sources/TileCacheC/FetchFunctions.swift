public import CTileCache
internal import TileCache

extension tilecache_fetch_info: VersionedStructure {}

/// A function that receives the end of a fetch, and its context.
private struct FetchCallback: @unchecked Sendable {
    let function: tilecache_fetch_function
    let context: CallbackContext

    func call(_ outcome: TileFetch.Outcome) {
        let (state, lease) = handed(outcome)
        withExtendedLifetime(context) { function(context.pointer, state, lease) }
    }
}

/// State of an outcome, and a handle of its lease. A refusal is an error of the call instead.
private func handed(_ outcome: TileFetch.Outcome) -> (state: tilecache_fetch_state, lease: OpaquePointer?) {
    switch outcome {
    case .pixels(let tile): (tilecache_fetch_state(TILECACHE_FETCH_READY), makeHandle(LeaseHandle(tile)))
    case .absent: (tilecache_fetch_state(TILECACHE_FETCH_ABSENT), nil)
    case .failed: (tilecache_fetch_state(TILECACHE_FETCH_FAILED), nil)
    case .removed, .refused: (tilecache_fetch_state(TILECACHE_FETCH_REMOVED), nil)
    }
}

/// The object behind `tilecache_fetch` is the library's own.
private func fetchHandle(_ handle: OpaquePointer?) throws(Failure) -> TileFetch {
    try object(handle, as: TileFetch.self, "fetch")
}

/// See `tilecache.h`.
@c(tilecache_fetch_tile)
public func tileCacheFetchTile(
    _ cache: OpaquePointer?,
    _ layer: tilecache_layer,
    _ tile: tilecache_coordinate,
    _ rank: tilecache_fetch_rank,
    _ function: tilecache_fetch_function?,
    _ context: UnsafeMutableRawPointer?,
    _ destroy: tilecache_function?,
    _ state: UnsafeMutablePointer<tilecache_fetch_state>?,
    _ lease: UnsafeMutablePointer<OpaquePointer?>?,
    _ fetch: UnsafeMutablePointer<OpaquePointer?>?
) -> tilecache_status {
    attempt(on: try cacheHandle(cache)) { handle throws(Failure) in
        guard let function else { throw .isNull("function") }
        guard let state else { throw .isNull("state") }
        guard let lease else { throw .isNull("lease") }
        guard let fetch else { throw .isNull("fetch") }
        let ranks = Int32(TILECACHE_RANK_VISIBLE)...Int32(TILECACHE_RANK_MARGIN)
        guard ranks.contains(rank) else { throw .argument("rank must be a TILECACHE_RANK, not \(rank)") }
        try handle.record.checkIsRunning()
        let layer = try handle.record.layer(layer)
        let owner = CallbackContext(context, destroy: destroy)
        let callback = FetchCallback(function: function, context: owner)
        let made = layer.fetch(
            TileCoordinate(tile),
            rank: rank == Int32(TILECACHE_RANK_MARGIN) ? .margin : .visible,
            on: handle.fetchQueue
        ) { callback.call($0) }
        if case .refused? = made.outcome {
            owner.disarm()
            throw .noRoom("4096 fetches are pending, or the limit has no room for another one")
        }
        (state.pointee, lease.pointee) = made.outcome.map(handed) ?? (tilecache_fetch_state(TILECACHE_FETCH_LATE), nil)
        fetch.pointee = made.outcome == nil ? makeHandle(made) : nil
    }
}

/// See `tilecache.h`.
@c(tilecache_fetch_get_info)
public func tileCacheFetchGetInfo(
    _ fetch: OpaquePointer?,
    _ info: UnsafeMutablePointer<tilecache_fetch_info>?
) -> tilecache_status {
    attempt(on: try fetchHandle(fetch)) { fetch throws(Failure) in
        var fields = tilecache_fetch_info()
        fields.since = fetch.since.nanoseconds
        fields.is_loading = fetch.isLoading ? 1 : 0
        try write(fields, to: info, "info")
    }
}

/// See `tilecache.h`.
@c(tilecache_fetch_cancel)
public func tileCacheFetchCancel(
    _ fetch: OpaquePointer?,
    _ isCancelled: UnsafeMutablePointer<Int32>?
) -> tilecache_status {
    attempt { () throws(Failure) in
        let isDone = try fetchHandle(fetch).cancel()
        isCancelled?.pointee = isDone ? 1 : 0
    }
}

/// See `tilecache.h`.
@c(tilecache_fetch_release)
public func tileCacheFetchRelease(_ fetch: OpaquePointer?) { _ = giveBack(fetch, as: TileFetch.self) }

/// See `tilecache.h`.
@c(tilecache_get_placement)
public func tileCacheGetPlacement(
    _ cache: OpaquePointer?,
    _ layer: tilecache_layer,
    _ tile: tilecache_coordinate,
    _ placementSize: Int,
    _ placement: UnsafeMutablePointer<tilecache_placement>?,
    _ lease: UnsafeMutablePointer<OpaquePointer?>?
) -> tilecache_status {
    withLayer(layer, of: cache) { (own) throws(Failure) in
        try checkElementSize(placementSize, of: tilecache_placement.self, "placement_size must be sizeof a placement")
        guard let placement else { throw .isNull("placement") }
        guard let lease else { throw .isNull("lease") }
        guard let found = own.placement(of: TileCoordinate(tile)) else {
            throw .notResident("neither \(TileCoordinate(tile)) of layer \(layer) nor an ancestor is decoded now")
        }
        writeElement(tilecache_placement(found), to: UnsafeMutableRawPointer(placement), byteCount: placementSize)
        lease.pointee = makeHandle(LeaseHandle(found.tile))
    }
}
