/// Outcome of a source's load.
public enum TileOutcome: Hashable, Sendable {
    /// The pixels have been written.
    case pixels
    /// This tile does not exist. Its ancestor is drawn. Remembered at little cost, and not requested again until an
    /// invalidation, or until that expires.
    case absent
    /// The tile in memory or in a store, whose validators the source was given, is still valid: ``TilePixels/cached``.
    /// Nothing was written. A transient failure if there is none.
    case unchanged
}

/// Failure of a load. Any other error of a source counts as transient.
public enum TileFailure: Error, Hashable, Sendable {
    /// The load never will succeed; it is not retried until an invalidation.
    case permanent
    /// It may succeed later. Retried after the wait, 0 to a day, with the cache's own back-off as a lower bound.
    case transient(retryAfter: Duration)
    /// The source could not try, for example because its server allows no further request now. Retried after the wait, at
    /// least 50 ms and at most a day. Neither counted as a failure nor followed by the cache's own back-off.
    case postponed(retryAfter: Duration)
    /// The source delivered pixels of another size than the layer's tiles have.
    case wrongSize(expected: ByteCount, delivered: ByteCount)
}

/// An asynchronous source, with its own threads or event loop.
///
/// The cache calls ``requestTile(_:)`` on a worker, for at most ``loadsInFlight`` tiles at a time; the source returns soon
/// and completes the request later, once, on any thread. Meanwhile the worker goes on with other work. The source writes
/// directly into the cache's memory, which is reserved when it is ready to write (for a prefetch: before the request).
public protocol TileSource: Sendable {
    /// How many requests the source can use at a time. Read once, when a layer is added. Default:
    /// ``LoadsInFlight/standard``.
    ///
    /// Loads that the layer's stores answer count too. Requests that are stuck
    /// (``TileCache/TileCache/Configuration/stuckLoadTime``) do not, up to as many again.
    var loadsInFlight: LoadsInFlight { get }

    /// Starts to fetch a tile; `request` must be completed exactly once.
    func requestTile(_ request: TileRequest)
}

extension TileSource {
    /// As many as make the loads faster, from 4 to 64.
    public var loadsInFlight: LoadsInFlight { .standard }
}

/// A source that stands for one of another protocol, which may also decode or report memory.
package protocol SourceAdapter: TileSource {
    /// The source that it stands for.
    var original: any Sendable { get }
}

/// A synchronous source: a function that returns when the pixels are written.
///
/// Called on worker threads, several at a time; may block.
public protocol BlockingTileSource: Sendable {
    /// Writes a tile's pixels, or returns that it does not exist.
    ///
    /// - Parameters:
    ///   - tile: Position of the tile.
    ///   - pixels: The cache's memory for it, initially undefined.
    /// - Throws: ``TileFailure``, or any other error for a transient failure.
    func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome
}

/// Memory that a source writes one tile to.
///
/// Rows are packed: `bytesPerRow` is the width in bytes. An opaque payload is one row, whatever width and height.
public struct TilePixels: ~Copyable {
    /// Pixels a row, border included.
    public let width: Int
    /// Rows, border included.
    public let height: Int
    /// Pixel format.
    public let format: TilePixelFormat
    /// Meaning of alpha, as in the layer's options.
    public let alpha: TileAlphaMode
    /// Bytes from one row to the next.
    public let bytesPerRow: Int
    private let memory: UnsafeMutableRawBufferPointer
    private let keeper: EncodedKeeper?
    private let notes: LoadNotes?

    init(
        memory: UnsafeMutableRawBufferPointer,
        width: Int,
        height: Int,
        format: TilePixelFormat,
        alpha: TileAlphaMode,
        keeper: EncodedKeeper? = nil,
        notes: LoadNotes? = nil
    ) {
        self.memory = memory
        self.keeper = keeper
        self.notes = notes
        self.width = width
        self.height = height
        self.format = format
        self.alpha = alpha
        bytesPerRow = format.bytesPerPixel.map { $0 * width } ?? memory.count
    }

    /// Bytes of the whole tile.
    public var byteCount: Int { memory.count }

    /// Calls a closure with the memory, which is initially undefined.
    public mutating func withMutableBytes<Result, Failure: Error>(
        _ body: (inout MutableSpan<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var bytes = memory.bindMemory(to: UInt8.self).mutableSpan
        return try body(&bytes)
    }

    /// Calls a closure with a pointer to the memory, for C. Valid within the closure only.
    public mutating func withUnsafeMutableBytes<Result, Failure: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(memory)
    }

    /// Passes the encoded form of these pixels, to be kept as the tile's compressed form.
    ///
    /// The bytes are copied, to memory that counts against the limit. The copy is dropped if the load does not end with
    /// pixels.
    ///
    /// - Parameter encoded: Bytes from which the layer's source, a ``TileDecoder``, reproduces exactly these pixels.
    /// - Returns: Whether they are kept for now. They are not if the source is not a decoder, the layer or the cache
    ///   keeps nothing compressed, they are empty, hardly smaller than the pixels or far larger than compressed tiles
    ///   usually are, there is no room, or this load has some already.
    @discardableResult
    public mutating func keepEncoded(_ encoded: UnsafeRawBufferPointer) -> Bool {
        guard let keeper else { return false }
        if let notes = keeper.notes { keeper.core.noteEncoded(encoded, of: keeper.ticket, in: notes) }
        return keeper.core.keepEncoded(encoded, of: keeper.ticket)
    }

    /// Validators of a tile, in memory or in a store, that has to be revalidated; `nil` if there is none.
    ///
    /// A source that finds it still valid sets ``freshness`` and returns ``TileOutcome/unchanged``. If the tile is not in
    /// memory, the cache then reads it from its store on the calling thread, which may take up to 2 s.
    public var cached: TileStoreFreshness? { notes?.now.cached }

    /// Until when the tile is valid, in memory and in the layer's stores. Default: `nil`, for ever.
    public var freshness: TileStoreFreshness? {
        get { notes?.now.freshness }
        set { notes?.change { $0.freshness = newValue } }
    }

    /// Copies pixels with their own row stride.
    ///
    /// - Parameters:
    ///   - source: At least `(height - 1) * bytesPerRow` and one packed row of bytes.
    ///   - sourceBytesPerRow: Bytes from one row to the next. Default: packed.
    /// - Throws: ``TileFailure/wrongSize(expected:delivered:)`` if `source` is too short.
    public mutating func copy(
        from source: UnsafeRawBufferPointer,
        bytesPerRow sourceBytesPerRow: Int? = nil
    ) throws(TileFailure) {
        let stride = sourceBytesPerRow ?? bytesPerRow
        let rows = format.bytesPerPixel == nil ? 1 : height
        let (reach, overflow) = stride.multipliedReportingOverflow(by: rows - 1)
        guard !overflow, stride >= bytesPerRow || rows == 1, stride >= 0,
            source.count - bytesPerRow >= reach, source.count >= bytesPerRow
        else {
            throw .wrongSize(expected: .bytes(byteCount), delivered: .bytes(source.count))
        }
        for row in 0..<rows {
            let line = UnsafeRawBufferPointer(rebasing: source[row * stride..<row * stride + bytesPerRow])
            UnsafeMutableRawBufferPointer(rebasing: memory[row * bytesPerRow..<(row + 1) * bytesPerRow])
                .copyMemory(from: line)
        }
    }
}
