/// Names a tile's pixels: the same for as long as the pixels are the same, so that a renderer uploads a texture once.
public struct TileIdentity: Hashable, Sendable {
    /// Whose tile.
    public let layer: LayerID
    // Stored here it fits the padding behind the layer: a frame keeps an identity for each tile.
    /// Raised when an invalidation has brought newer pixels.
    public let generation: UInt32
    /// Which tile.
    public let tile: TileCoordinate

    init(layer: LayerID, tile: TileCoordinate, generation: UInt32) {
        self.layer = layer
        self.tile = tile
        self.generation = generation
    }
}

/// A decoded tile that somebody holds: its bytes stay where they are, unchanged, until the last copy of the hold is gone.
///
/// The tiles of one frame are held together. To keep one of them for long, take a hold of its own with
/// ``retained()`` and let the frame go.
public struct LeasedTile: Sendable {
    /// Which pixels these are.
    public let identity: TileIdentity
    /// Pixels a row, border included.
    public let width: Int
    /// Rows, border included.
    public let height: Int
    /// How a pixel is laid out.
    public let format: TilePixelFormat
    /// What alpha means; as the layer says.
    public let alpha: TileAlphaMode
    /// Whether an invalidation came after these pixels; newer ones are on their way.
    public let isStale: Bool
    let address: UInt
    let byteCount: Int
    let token: LeaseToken
    let hold: LeaseHold

    /// Bytes from one row to the next.
    public var bytesPerRow: Int { format.bytesPerPixel.map { $0 * width } ?? byteCount }

    /// Lends the pixels, rows packed, for the time of the call.
    public func withBytes<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeBufferPointer<UInt8>(start: UnsafePointer(bitPattern: address), count: byteCount).span)
    }

    /// Lends the pixels as a pointer, for C; it is valid within the closure only.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: address), count: byteCount))
    }

    /// A hold on this tile alone.
    public func retained() -> LeasedTile {
        LeasedTile(
            identity: identity,
            width: width,
            height: height,
            format: format,
            alpha: alpha,
            isStale: isStale,
            address: address,
            byteCount: byteCount,
            token: token,
            hold: hold.alone(token)
        )
    }
}

/// Holds some tiles until it is let go.
final class LeaseHold: Sendable {
    private let core: CacheCore
    private let tokens: [LeaseToken]

    /// Takes over leases that the pool has counted.
    init(core: CacheCore, tokens: [LeaseToken]) {
        self.core = core
        self.tokens = tokens
    }

    deinit { core.release(tokens) }

    /// A hold on one of the tiles.
    func alone(_ token: LeaseToken) -> LeaseHold {
        core.retain(token)
        return LeaseHold(core: core, tokens: [token])
    }
}

/// One tile, or a part of one, where it is to be drawn.
public struct TilePlacement: Sendable {
    /// The tile, held for as long as the frame or this placement lives.
    public let tile: LeasedTile
    /// What it covers, in world pixels. On a wrapping world it lies in the copy that is on screen.
    public let worldRectangle: PixelRect
    /// The part of the tile to draw, in the tile's own pixels, border included.
    public let tileRectangle: PixelRect
    /// Whether this is the very tile that the screen needs; else a stand-in, drawn until that one is there.
    public let isExact: Bool
}

/// A part of the view that will not become sharp: the source does not have the tile, or cannot deliver it.
public struct UnavailableTile: Hashable, Sendable {
    /// Why there are no pixels.
    public enum Cause: Sendable, Hashable {
        /// The source says that the tile does not exist.
        case absent
        /// The tile failed for good; not asked for again until an invalidation.
        case failed
    }

    /// Whose tile.
    public let layer: LayerID
    /// Which tile.
    public let tile: TileCoordinate
    /// What it would cover, in world pixels. On a wrapping world it lies in the copy that is on screen.
    public let worldRectangle: PixelRect
    /// Why there are no pixels.
    public let cause: Cause
}

/// What to draw now, and what came and went since the frame before.
///
/// The tiles are held for as long as the frame or any of its placements lives; let it go when the frame is drawn.
public struct TileFrame: RandomAccessCollection, Sendable, CustomStringConvertible {
    private let contents: FrameContents
    private let hold: LeaseHold?
    /// Tiles that the frame before did not draw: upload them.
    public internal(set) var appeared: [TileIdentity] = []
    /// Tiles that the frame before drew and this one does not: their textures may go.
    public internal(set) var disappeared: [TileIdentity] = []
    /// Needed tiles that could not be drawn exactly; absent ones do not count.
    public let missingTileCount: Int
    /// Needed tiles that will not come, in the order of the screen; what is drawn in their place are fallbacks, if any.
    public internal(set) var unavailable: [UnavailableTile] = []
    /// How much of the viewport can be drawn, in screen pixels; only looked at where something is missing.
    package let coverage: Coverage

    init(contents: FrameContents, hold: LeaseHold?, missingTileCount: Int, coverage: Coverage) {
        self.contents = contents
        self.hold = hold
        self.missingTileCount = missingTileCount
        self.coverage = coverage
    }

    /// The first placement.
    public var startIndex: Int { 0 }
    /// One past the last placement.
    public var endIndex: Int { contents.tiles.count }
    /// A placement: layers in their order, stand-ins where they stand in.
    public subscript(position: Int) -> TilePlacement {
        guard let hold else { preconditionFailure("an empty frame has no placements") }
        return contents.placement(at: position, hold: hold)
    }

    /// One line for a log.
    public var description: String {
        let exact = contents.tiles.count { $0.isExact }
        let failed = unavailable.count { $0.cause == .failed }
        let parts = [
            (exact, "exact"), (count - exact, "fallback"), (missingTileCount - failed, "missing"),
            (unavailable.count - failed, "absent"), (failed, "failed for good"),
        ]
        let list = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return list.isEmpty ? "no tiles" : "tiles: " + list.joined(separator: ", ")
    }
}
