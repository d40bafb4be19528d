public import CTileCache
public import CTileSources
internal import TileCache
internal import TileCacheC
internal import TileSources

/// A function that receives the end of an opening, and its context.
private struct OpeningCallback: @unchecked Sendable {
    let function: tilecache_opening_function
    let context: CallbackContext

    func call(_ status: tilecache_status, _ layer: tilecache_layer) {
        withExtendedLifetime(context) { function(context.pointer, status, layer) }
    }
}

/// The object behind `tilecache_opening` is the library's own.
private func openingHandle(_ handle: OpaquePointer?) throws(Failure) -> TileSourceOpening {
    try object(handle, as: TileSourceOpening.self, "opening")
}

/// See `tilecache_sources.h`.
@c(tilecache_open_source_layer)
public func tileCacheOpenSourceLayer(
    _ cache: OpaquePointer?,
    _ address: UnsafePointer<CChar>?,
    _ options: UnsafePointer<tilecache_source_layer_options>?,
    _ function: tilecache_opening_function?,
    _ context: UnsafeMutableRawPointer?,
    _ destroy: tilecache_function?,
    _ opening: UnsafeMutablePointer<OpaquePointer?>?
) -> tilecache_status {
    attempt { () throws(Failure) in
        let handle = try cacheHandle(cache)
        guard let function else { throw .isNull("function") }
        guard let opening else { throw .isNull("opening") }
        let new = try NewSourceLayer(address, options)
        try handle.record.checkIsRunning()
        let callback = OpeningCallback(function: function, context: CallbackContext(context, destroy: destroy))
        opening.pointee = makeHandle(begin(new, for: handle, callback))
    }
}

private func begin(
    _ new: NewSourceLayer,
    for handle: CacheHandle,
    _ callback: OpeningCallback
) -> TileSourceOpening {
    let opening = TileSourceOpening()
    let number = handle.record.atShutdown { [weak opening] in opening?.interrupt() }
    opening.begin(
        then: { result in
            handle.record.forgetEnding(number)
            var layer: tilecache_layer = -1
            let status = attempt { () throws(Failure) in
                // An opening that the shutdown has ended fails for that reason.
                try handle.record.checkIsRunning()
                layer = try new.add(try opened { () throws(TileSourceError) in try result.get() }, to: handle)
            }
            callback.call(status, layer)
        },
        noteCancellation: { handle.record.forgetEnding(number) },
        { isWanted throws(TileSourceError) in try new.open { _ in isWanted() } }
    )
    return opening
}

/// See `tilecache_sources.h`.
@c(tilecache_opening_cancel)
public func tileCacheOpeningCancel(
    _ opening: OpaquePointer?,
    _ isCancelled: UnsafeMutablePointer<Int32>?
) -> tilecache_status {
    attempt { () throws(Failure) in
        let isDone = try openingHandle(opening).cancel()
        isCancelled?.pointee = isDone ? 1 : 0
    }
}

/// See `tilecache_sources.h`.
@c(tilecache_opening_release)
public func tileCacheOpeningRelease(_ opening: OpaquePointer?) {
    giveBack(opening, as: TileSourceOpening.self)?.cancel()
}
