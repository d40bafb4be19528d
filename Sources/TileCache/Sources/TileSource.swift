/// What a source says of a tile that it has been asked for.
public enum TileOutcome: Hashable, Sendable {
    /// The pixels have been written.
    case pixels
    /// This tile does not exist. It is remembered for next to nothing, its ancestor is what is drawn, nobody asks again
    /// until an invalidation.
    case absent
}

/// Why a source could not deliver a tile. Any other error that a source throws counts as transient.
public enum TileFailure: Error, Hashable, Sendable {
    /// It never will; not asked again until an invalidation.
    case permanent
    /// It may succeed later. Retried after the wait, 0 to a day, and no sooner than the cache's own back-off allows.
    case transient(retryAfter: Duration)
    /// The source delivered pixels of another size than the layer's tiles have.
    case wrongSize(expectedBytes: Int, deliveredBytes: Int)
}

/// A source that answers when it can, on its own threads or event loop.
///
/// The cache calls ``requestTile(_:)`` on a worker, at most as many at a time as it has workers; the source returns soon
/// and completes the request later, once, from wherever it likes. Bytes are taken from the budget when the source is
/// ready to write (for a tile that is fetched ahead: before it is asked for), and it writes straight into the cache's memory.
public protocol TileSource: Sendable {
    /// Begins to fetch a tile; `request` is to be completed exactly once.
    func requestTile(_ request: TileRequest)
}

/// The simple way to write a source: a function that returns when the pixels are there.
///
/// It is called on worker threads, several at a time, and may block.
public protocol BlockingTileSource: Sendable {
    /// Writes a tile's pixels, or says that it does not exist.
    ///
    /// - Parameters:
    ///   - tile: which one.
    ///   - pixels: the cache's own memory for it; contents are undefined before.
    /// - Throws: ``TileFailure``, or anything else for a failure that may pass.
    func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome
}

/// The memory that a source writes one tile into.
///
/// Rows are packed: `bytesPerRow` is the width in bytes. Opaque payloads have one row.
public struct TilePixels: ~Copyable {
    /// Pixels a row, border included.
    public let width: Int
    /// Rows, border included.
    public let height: Int
    /// How a pixel is laid out.
    public let format: TilePixelFormat
    /// What alpha means; as the layer says.
    public let alpha: TileAlphaMode
    /// Bytes from one row to the next.
    public let bytesPerRow: Int
    private let memory: UnsafeMutableRawBufferPointer
    private let keeper: EncodedKeeper?

    init(
        memory: UnsafeMutableRawBufferPointer,
        width: Int,
        height: Int,
        format: TilePixelFormat,
        alpha: TileAlphaMode,
        keeper: EncodedKeeper? = nil
    ) {
        self.memory = memory
        self.keeper = keeper
        self.width = width
        self.height = height
        self.format = format
        self.alpha = alpha
        bytesPerRow = format.bytesPerPixel.map { $0 * width } ?? memory.count
    }

    /// Bytes of the whole tile.
    public var byteCount: Int { memory.count }

    /// Lends the memory for the time of the call; its contents are undefined before.
    public mutating func withMutableBytes<Result, Failure: Error>(
        _ body: (inout MutableSpan<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var bytes = memory.bindMemory(to: UInt8.self).mutableSpan
        return try body(&bytes)
    }

    /// Lends the memory as a pointer, for C; it is valid within the closure only.
    public mutating func withUnsafeMutableBytes<Result, Failure: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(memory)
    }

    /// Hands over the encoded form of these pixels, to be kept as the tile's compressed form. The bytes are copied now,
    /// into memory that counts against the limit, and dropped again if the load does not end with pixels.
    ///
    /// - Parameter encoded: what the layer's source, a ``TileDecoder``, can turn into exactly these pixels again.
    /// - Returns: whether they are kept for now. They are not where the source is no decoder, the layer or the cache
    ///   keeps nothing compressed, they are empty or hardly smaller than the pixels or far larger than what compression
    ///   makes of such tiles, there is no room, or some have been handed over for this load already.
    @discardableResult
    public mutating func keepEncoded(_ encoded: UnsafeRawBufferPointer) -> Bool {
        keeper.map { $0.core.keepEncoded(encoded, of: $0.ticket) } ?? false
    }

    /// Copies pixels that lie elsewhere with a row stride of their own.
    ///
    /// - Parameters:
    ///   - source: at least `(height - 1) * bytesPerRow` and one packed row of bytes.
    ///   - sourceBytesPerRow: from one row to the next. Default: packed.
    /// - Throws: ``TileFailure/wrongSize(expectedBytes:deliveredBytes:)`` if `source` is too short.
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
            throw .wrongSize(expectedBytes: byteCount, deliveredBytes: source.count)
        }
        for row in 0..<rows {
            let line = UnsafeRawBufferPointer(rebasing: source[row * stride..<row * stride + bytesPerRow])
            UnsafeMutableRawBufferPointer(rebasing: memory[row * bytesPerRow..<(row + 1) * bytesPerRow])
                .copyMemory(from: line)
        }
    }
}
