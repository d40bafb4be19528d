public import CTileCache
internal import Synchronization
internal import TileCache

extension tilecache_source: VersionedStructure {}

extension tilecache_request_info: VersionedStructure {}

/// Number of a layer, set once its source has been added. A blocking source is not passed the layer.
final class LayerNumber: Sendable {
    private let number = Atomic<Int32>(0)

    var value: tilecache_layer { number.load(ordering: .relaxed) }

    func set(_ layer: LayerID) { number.store(tilecache_layer(layer), ordering: .relaxed) }
}

/// A source that is a blocking C function.
///
/// `@unchecked Sendable`: the pointers do not change, and the interface documents that the function is called on any
/// thread.
struct BlockingSource: BlockingTileSource, @unchecked Sendable {
    let load: tilecache_write_function
    let context: CallbackContext
    let layer: LayerNumber

    func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
        try withExtendedLifetime(context) {
            try callWriter(layer: layer.value, tile, &pixels) { load(context.pointer, $0) }
        }
    }
}

/// A source that is an asynchronous C function; otherwise as `BlockingSource`.
struct RequestSource: TileSource, @unchecked Sendable {
    let request: tilecache_request_function
    let context: CallbackContext
    var loadsInFlight = LoadsInFlight.standard

    func requestTile(_ request: TileRequest) {
        withExtendedLifetime(context) {
            self.request(context.pointer, makeHandle(RequestHandle(request, source: context)))
        }
    }
}

/// A C function that decodes a source's own encoded bytes. The context is the program's, which guards it; the rest is
/// constant.
struct PayloadDecoder: @unchecked Sendable {
    let decoder: tilecache_decode_function
    let context: CallbackContext
    let layer: LayerNumber

    func decode(
        _ encoded: UnsafeRawBufferPointer,
        of tile: TileCoordinate,
        into pixels: inout TilePixels
    ) throws(TileFailure) {
        let outcome = try callWriter(layer: layer.value, tile, &pixels) {
            decoder(context.pointer, encoded.baseAddress, encoded.count, $0)
        }
        withExtendedLifetime(context) {}
        guard outcome == .pixels else { throw .permanent }
    }
}

// Not one generic type: the runtime sets up the metadata of such a type from memory that valgrind takes for
// uninitialised, and programs that use the library would have that in their reports.

/// A blocking source that also decodes its own encoded bytes.
struct DecodingBlockingSource: BlockingTileSource, TileDecoder {
    let source: BlockingSource
    let payloads: PayloadDecoder

    func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
        try source.load(tile, into: &pixels)
    }

    func decode(
        _ encoded: UnsafeRawBufferPointer,
        of tile: TileCoordinate,
        into pixels: inout TilePixels
    ) throws(TileFailure) { try payloads.decode(encoded, of: tile, into: &pixels) }
}

/// An asynchronous source that also decodes its own encoded bytes.
struct DecodingRequestSource: TileSource, TileDecoder {
    let source: RequestSource
    let payloads: PayloadDecoder
    var loadsInFlight: LoadsInFlight { source.loadsInFlight }

    func requestTile(_ request: TileRequest) { source.requestTile(request) }

    func decode(
        _ encoded: UnsafeRawBufferPointer,
        of tile: TileCoordinate,
        into pixels: inout TilePixels
    ) throws(TileFailure) { try payloads.decode(encoded, of: tile, into: &pixels) }
}

/// Calls a C function that writes a tile.
func callWriter(
    layer: tilecache_layer,
    _ tile: TileCoordinate,
    _ pixels: inout TilePixels,
    _ write: (UnsafeMutablePointer<tilecache_pixels>) -> tilecache_outcome
) throws(TileFailure) -> TileOutcome {
    var fields = tilecache_pixels()
    fields.struct_size = MemoryLayout<tilecache_pixels>.size
    fields.layer = layer
    fields.format = tilecache_format(pixels.format)
    fields.tile = tilecache_coordinate(tile)
    fields.byte_count = pixels.byteCount
    fields.bytes_per_row = pixels.bytesPerRow
    fields.width = Int32(clamping: pixels.width)
    fields.height = Int32(clamping: pixels.height)
    fields.alpha = tilecache_alpha(pixels.alpha)
    fields.memory = pixels.withUnsafeMutableBytes { $0.baseAddress }
    // The memory does not move before `write` returns.
    let outcome = withUnsafeMutablePointer(to: &pixels) { pointer in
        fields.internal = UnsafeMutableRawPointer(pointer)
        return withUnsafeMutablePointer(to: &fields, write)
    }
    switch Int(outcome) {
    case Int(TILECACHE_OUTCOME_PIXELS): return .pixels
    case Int(TILECACHE_OUTCOME_ABSENT): return .absent
    case Int(TILECACHE_OUTCOME_UNCHANGED): return .unchanged
    case Int(TILECACHE_OUTCOME_FAILED_PERMANENTLY): throw .permanent
    case Int(TILECACHE_OUTCOME_POSTPONED): throw .postponed(retryAfter: .nanoseconds(max(fields.retry_after, 0)))
    default: throw .transient(retryAfter: .nanoseconds(max(fields.retry_after, 0)))
    }
}

/// Object behind `tilecache_request`.
///
/// Keeps the source's context alive, so that a source can complete the request after a shutdown. Keeps the cancel
/// function, so that it can be replaced or removed.
final class RequestHandle: Sendable {
    let request: TileRequest
    private let source: CallbackContext
    private let isAnswered = Atomic(false)
    private let cancelCallback = Lock<Callback?>(nil)
    private let freshnessOfTile = Lock<TileStoreFreshness?>(nil)

    /// Freshness that the source has set for its answer; `nil` if it has set none.
    var freshness: TileStoreFreshness? {
        get { freshnessOfTile.withLock { $0 } }
        set { freshnessOfTile.withLock { $0 = newValue } }
    }

    init(_ request: TileRequest, source: CallbackContext) {
        self.request = request
        self.source = source
    }

    /// Makes the caller the one that completes the request, or counts a second answer.
    func claim() throws(Failure) {
        guard !isAnswered.exchange(true, ordering: .acquiringAndReleasing) else {
            // The first completion may not have reached the request yet.
            request.noteSecondAnswer()
            throw .alreadyCompleted
        }
    }

    var isOver: Bool { isAnswered.load(ordering: .acquiring) }

    /// Fails the request if nothing has completed it. The last reference would do that too, but may be another thread's.
    func close() {
        guard !isAnswered.exchange(true, ordering: .acquiringAndReleasing) else { return }
        request.fail()
        endCancellation()
    }

    /// Releases the cancel function when the request is over.
    func endCancellation() { _ = exchangeCallback(nil) }

    func onCancel(_ callback: Callback?) {
        _ = exchangeCallback(callback)
        guard callback != nil else { return }
        // Weak: the request must not own its owner.
        request.onCancel { [weak self] in self?.exchangeCallback(nil)?.call() }
        if isOver { endCancellation() }
    }

    /// Replaces the function; the old one is released outside of the lock.
    private func exchangeCallback(_ callback: Callback?) -> Callback? {
        cancelCallback.withLock { current in
            let old = current
            current = callback
            return old
        }
    }
}

func requestHandle(_ handle: OpaquePointer?) throws(Failure) -> RequestHandle {
    try object(handle, as: RequestHandle.self, "request")
}

extension Failure {
    fileprivate static func noRoom(for tile: TileCoordinate) -> Failure {
        .noRoom("there is no room for tile \(tile), or it was invalidated or removed after the request")
    }
}

/// Completes a request once.
private func answer(
    _ request: OpaquePointer?,
    _ body: (RequestHandle) throws(Failure) -> Void
) -> tilecache_status {
    attempt(on: try requestHandle(request)) { handle throws(Failure) in
        try handle.claim()
        defer { handle.endCancellation() }
        try body(handle)
    }
}

/// See `tilecache.h`.
@c(tilecache_source_init)
public func tileCacheSourceInit(
    _ source: UnsafeMutablePointer<tilecache_source>?,
    _ structSize: Int
) -> tilecache_status {
    initialize(source, size: structSize, "source")
}

/// See `tilecache.h`.
@c(tilecache_request_get_info)
public func tileCacheRequestGetInfo(
    _ request: OpaquePointer?,
    _ info: UnsafeMutablePointer<tilecache_request_info>?
) -> tilecache_status {
    attempt(on: try requestHandle(request).request) { request throws(Failure) in
        var fields = tilecache_request_info()
        fields.layer = tilecache_layer(request.layer)
        fields.is_demand = request.isDemand ? 1 : 0
        fields.tile = tilecache_coordinate(request.tile)
        try write(fields, to: info, "info")
    }
}

/// See `tilecache.h`.
@c(tilecache_request_is_wanted)
public func tileCacheRequestIsWanted(_ request: OpaquePointer?) -> Int32 {
    guard let handle = try? requestHandle(request) else { return 0 }
    return handle.request.isWanted ? 1 : 0
}

/// See `tilecache.h`.
@c(tilecache_request_on_cancel)
public func tileCacheRequestOnCancel(
    _ request: OpaquePointer?,
    _ function: tilecache_function?,
    _ context: UnsafeMutableRawPointer?,
    _ destroy: tilecache_function?
) -> tilecache_status {
    attempt(on: try requestHandle(request)) { handle in
        handle.onCancel(function.map { Callback($0, CallbackContext(context, destroy: destroy)) })
    }
}

/// See `tilecache.h`.
@c(tilecache_request_complete)
public func tileCacheRequestComplete(
    _ request: OpaquePointer?,
    _ write: tilecache_write_function?,
    _ context: UnsafeMutableRawPointer?
) -> tilecache_status {
    guard let write else { return attempt { () throws(Failure) in throw .isNull("write") } }
    return answer(request) { handle throws(Failure) in
        let request = handle.request
        let isCalled = request.complete { pixels in
            pixels.freshness = handle.freshness
            let layer = tilecache_layer(request.layer)
            return try callWriter(layer: layer, request.tile, &pixels) { write(context, $0) }
        }
        guard isCalled else { throw .noRoom(for: request.tile) }
    }
}

/// See `tilecache.h`.
@c(tilecache_request_complete_copying)
public func tileCacheRequestCompleteCopying(
    _ request: OpaquePointer?,
    _ pixels: UnsafeRawPointer?,
    _ byteCount: Int,
    _ bytesPerRow: Int
) -> tilecache_status {
    answer(request) { handle throws(Failure) in
        let request = handle.request
        guard let pixels, byteCount > 0, bytesPerRow >= 0 else {
            request.fail(.transient(retryAfter: .zero))
            throw .argument(
                "pixels must not be NULL, byte_count must be larger than 0, and neither it nor bytes_per_row above SSIZE_MAX"
            )
        }
        var failure: TileFailure?
        let isCalled = request.complete { target in
            do throws(TileFailure) {
                try target.copy(
                    from: UnsafeRawBufferPointer(start: pixels, count: byteCount),
                    bytesPerRow: bytesPerRow == 0 ? nil : bytesPerRow
                )
                target.freshness = handle.freshness
                return .pixels
            } catch {
                failure = error
                throw error
            }
        }
        guard isCalled else { throw .noRoom(for: request.tile) }
        if case .wrongSize(let expected, let delivered)? = failure {
            throw .argument("\(delivered.bytes) bytes, \(bytesPerRow) a row, are not the tile's \(expected.bytes)")
        }
    }
}

/// See `tilecache.h`.
@c(tilecache_request_complete_absent)
public func tileCacheRequestCompleteAbsent(_ request: OpaquePointer?) -> tilecache_status {
    answer(request) { handle in handle.request.completeAbsent(freshness: handle.freshness) }
}

/// See `tilecache.h`.
@c(tilecache_request_fail)
public func tileCacheRequestFail(
    _ request: OpaquePointer?,
    _ isPermanent: Int32,
    _ retryAfter: Int64
) -> tilecache_status {
    guard isPermanent != 0 || retryAfter >= 0 else {
        return attempt { () throws(Failure) in
            throw .argument("retry_after must be 0 or more nanoseconds, not \(retryAfter)")
        }
    }
    return answer(request) { handle in
        handle.request.fail(isPermanent != 0 ? .permanent : .transient(retryAfter: .nanoseconds(retryAfter)))
    }
}

/// See `tilecache.h`.
@c(tilecache_request_postpone)
public func tileCacheRequestPostpone(_ request: OpaquePointer?, _ retryAfter: Int64) -> tilecache_status {
    guard retryAfter >= 0 else {
        return attempt { () throws(Failure) in
            throw .argument("retry_after must be 0 or more nanoseconds, not \(retryAfter)")
        }
    }
    return answer(request) { handle in handle.request.fail(.postponed(retryAfter: .nanoseconds(retryAfter))) }
}

/// See `tilecache.h`.
@c(tilecache_request_cancel)
public func tileCacheRequestCancel(_ request: OpaquePointer?) -> tilecache_status {
    answer(request) { handle in handle.request.cancel() }
}

/// See `tilecache.h`.
@c(tilecache_request_holds_encoded)
public func tileCacheRequestHoldsEncoded(_ request: OpaquePointer?, _ bytes: Int64) -> tilecache_status {
    attempt(on: try requestHandle(request)) { handle throws(Failure) in
        guard bytes >= 0 else { throw .argument("bytes must be 0 or more, not \(bytes)") }
        guard !handle.isOver else { throw .alreadyCompleted }
        guard handle.request.holdsEncoded(.bytes(Int(clamping: bytes))) else {
            throw .noRoom("there is no room for \(bytes) encoded bytes")
        }
    }
}

/// See `tilecache.h`.
@c(tilecache_pixels_keep_encoded)
public func tileCachePixelsKeepEncoded(
    _ pixels: UnsafeMutablePointer<tilecache_pixels>?,
    _ encoded: UnsafeRawPointer?,
    _ byteCount: Int,
    _ isKept: UnsafeMutablePointer<Int32>?
) -> tilecache_status {
    attempt { () throws(Failure) in
        guard let pixels, let target = pixels.pointee.internal else { throw .isNull("pixels") }
        guard encoded != nil || byteCount == 0 else { throw .isNull("encoded") }
        guard byteCount >= 0 else {
            throw .argument("byte_count cannot be \(UInt(bitPattern: byteCount))")
        }
        let bytes = UnsafeRawBufferPointer(start: encoded, count: byteCount)
        let isTaken = target.assumingMemoryBound(to: TilePixels.self).pointee.keepEncoded(bytes)
        isKept?.pointee = isTaken ? 1 : 0
    }
}

/// See `tilecache.h`.
@c(tilecache_request_release)
public func tileCacheRequestRelease(_ request: OpaquePointer?) { giveBack(request, as: RequestHandle.self)?.close() }
