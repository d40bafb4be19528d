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
        let begun = TileSourceOpening()
        // The function reads the handle, perhaps before this returns.
        opening.pointee = makeHandle(begun)
        begin(
            begun,
            for: handle.record,
            add: { source throws(Failure) in try new.add(source, to: handle) },
            then: callback.call
        ) { isWanted throws(TileSourceError) in
            try new.open { _ in isWanted() }
        }
    }
}

/// Begins an opening whose source becomes a layer, and which a shutdown of the cache ends.
///
/// - Parameters:
///   - add: Adds the layer.
///   - end: Receives the status and the layer, -1 for none. Not called after a cancellation.
func begin(
    _ opening: TileSourceOpening,
    for record: CacheRecord,
    add: @escaping @Sendable (any PyramidTileSource) throws(Failure) -> tilecache_layer,
    then end: @escaping @Sendable (tilecache_status, tilecache_layer) -> Void,
    _ open: @escaping @Sendable (_ isWanted: () -> Bool) throws(TileSourceError) -> any PyramidTileSource
) {
    let number = record.atShutdown { [weak opening] in opening?.interrupt() }
    opening.begin(
        then: { result in
            record.forgetEnding(number)
            var layer: tilecache_layer = -1
            let status = attempt { () throws(Failure) in
                // An opening that the shutdown has ended fails for that reason.
                try record.checkIsRunning()
                layer = try add(try opened { () throws(TileSourceError) in try result.get() })
            }
            end(status, layer)
        },
        noteCancellation: { record.forgetEnding(number) },
        open
    )
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
