/// A leased decoded tile. Its bytes neither move nor change until its last copy is released.
///
/// The tiles of a frame share one lease. To keep one of them for long, lease it alone with ``retained()`` and release
/// the frame.
public struct LeasedTile: Sendable {
    /// Identity of the pixels.
    public let identity: TileIdentity
    /// Pixels a row, border included.
    public let width: Int
    /// Rows, border included.
    public let height: Int
    /// Pixel format.
    public let format: TilePixelFormat
    /// Meaning of alpha, as in the layer's options.
    public let alpha: TileAlphaMode
    /// Whether an invalidation came after these pixels; newer ones are being loaded.
    public let isStale: Bool
    /// Bytes of the pixels, rows packed.
    public let byteCount: Int
    let slots: SlotRange
    let token: LeaseToken
    var hold: LeaseHold
    private var address: UInt { slots.address(of: token.slot) }

    /// Bytes from one row to the next.
    public var bytesPerRow: Int { format.bytesPerPixel.map { $0 * width } ?? byteCount }

    /// Calls a closure with the pixels, rows packed.
    public func withBytes<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeBufferPointer<UInt8>(start: UnsafePointer(bitPattern: address), count: byteCount).span)
    }

    /// Calls a closure with a pointer to the pixels, for C. Valid within the closure only.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: address), count: byteCount))
    }

    /// Place of the pixels in the range of memory that they share with other tiles. To wrap the range without a copy.
    public var memory: TileMemory {
        TileMemory(
            rangeAddress: UnsafeRawPointer(bitPattern: slots.base)!,
            rangeByteCount: slots.byteCount,
            slotStride: slots.stride,
            slotIndex: Int(token.slot.number)
        )
    }

    /// Leases this tile alone.
    public func retained() -> LeasedTile {
        var tile = self
        tile.hold = hold.alone(token)
        return tile
    }
}

/// Memory of a leased tile: one slot of a range of equal slots.
///
/// The cache has one range of addresses for each slot size, which is the bytes of a tile rounded up to whole pages of
/// the system. Base and stride are multiples of a page. The range does not move while any of its tiles is leased, or
/// any layer of its tile size exists. A renderer may wrap it once (Metal's `bytesNoCopy`) and address tiles by their
/// offset, or wrap the single slot of a leased tile.
///
/// Only slots of leased tiles may be read. The others' pages are committed and decommitted as tiles come and go, and
/// the range has addresses for the highest byte limit. A driver that pins the pages of all it wraps would commit them
/// beyond the limit, and keep the old pages of slots that were decommitted since (Vulkan's external host memory on many
/// systems): there, wrap single slots while they are leased, or copy.
public struct TileMemory: Hashable, @unchecked Sendable {
    // Only an address: the lease protects the memory behind it.
    /// Start of the range; a multiple of a page.
    public let rangeAddress: UnsafeRawPointer
    /// Bytes of the range, a multiple of a page. Most of them are addresses without memory.
    public let rangeByteCount: Int
    /// Bytes from one slot to the next, a multiple of a page. At least the bytes of a tile.
    public let slotStride: Int
    /// Index of the tile's slot in the range, from 0.
    public let slotIndex: Int

    /// Bytes from the start of the range to the tile's first byte.
    public var offset: Int { slotIndex * slotStride }
}

/// A tile, or a part of one, and where to draw it.
public struct TilePlacement: Sendable {
    /// The tile, leased as long as the frame or this placement exists.
    public let tile: LeasedTile
    /// World rectangle of the tile, in world pixels. On a wrapping world, in the copy on screen.
    public let worldRectangle: PixelRect
    /// Part of the tile to draw, in the tile's own pixels, border included.
    public let tileRectangle: PixelRect
    /// Whether this is the exact tile that the screen needs; otherwise it is a fallback.
    public let isExact: Bool
    /// Whether its layer is drawn at a coarser level than the view asks for; see ``TileFrame/coarsened``. Exact tiles are
    /// those of the level that is drawn.
    public internal(set) var isCoarsened = false
}

/// The tiles to draw now, and the changes since the previous frame.
///
/// The tiles are leased as long as the frame or any of its placements exists; release it when the frame is drawn.
public struct TileFrame: RandomAccessCollection, Sendable, CustomStringConvertible {
    private let contents: FrameContents
    private let hold: LeaseHold?
    /// Tiles that the previous frame did not draw: upload them.
    public internal(set) var appeared: [TileIdentity] = []
    /// Tiles that only the previous frame drew: their textures may be freed.
    public internal(set) var disappeared: [TileIdentity] = []
    /// Needed tiles that could not be drawn exactly; absent ones do not count.
    public let missingTileCount: Int
    /// Needed tiles that are unavailable, in the order of the screen. Fallbacks, if any, are drawn in their place.
    public internal(set) var unavailable: [UnavailableTile] = []
    /// Viewport of the last update. `nil` before the first, and if the renderer lists the needed tiles itself.
    package internal(set) var viewport: TileViewport?
    /// How the view chooses levels, without its level bias.
    package internal(set) var selection = TileLevelSelection()
    /// Layers of the view, in the order of drawing.
    package var layers: [FrameLayer] { contents.layers }
    /// Needed tiles that are neither drawn exactly nor unavailable, in the order of the screen.
    public internal(set) var late: [LateTile] = []
    /// Layers that are drawn at a coarser level than the viewport's scale asks for, since the tiles of that level have no
    /// room. In the order of drawing. See ``TileView/shortfall``.
    public internal(set) var coarsened: [LayerID] = []
    /// Whether a layer is drawn at a coarser level than asked for.
    package var isCoarsened: Bool { !coarsened.isEmpty }
    /// Number of tiles on screen that are neither drawn nor loaded, since there are too many. They are not missing.
    ///
    /// Of the coarsest level at most 1024 tiles are needed, or as many as the screen takes at half of their size if these
    /// are more: those around the middle of the screen. A ``TilePyramid/contents`` of the pyramid avoids it. Tiles for
    /// which there is no memory, not even in tables, count too. About as many, if the view is turned or the world wraps.
    public internal(set) var leftOutTileCount = 0
    /// Drawn area of the viewport in screen pixels; computed only if a tile is missing.
    package let coverage: Coverage
    /// How sharply the frame shows the screen. `nil` if nothing is on it, or if the renderer lists the needed tiles itself,
    /// whose area on the screen is unknown.
    ///
    /// ``TileView/statistics`` has the shares over time.
    public var shares: ScreenShares? {
        guard viewport != nil else { return nil }
        return coverage.missingTiles > 0 ? ScreenShares(coverage) : contents.tiles.isEmpty ? nil : .whole
    }

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
    /// The placement at an index. By layer; fallbacks are in the place of the tiles they replace.
    public subscript(position: Int) -> TilePlacement {
        guard let hold else { preconditionFailure("an empty frame has no placements") }
        var placement = contents.placement(at: position, hold: hold)
        if !coarsened.isEmpty { placement.isCoarsened = coarsened.contains(placement.tile.identity.layer) }
        return placement
    }

    /// One line for a log.
    public var description: String {
        let exact = contents.tiles.count { $0.isExact }
        let failed = unavailable.count { $0.cause == .failed }
        let parts = [
            (exact, "exact"), (count - exact, "fallback"), (missingTileCount - failed, "missing"),
            (unavailable.count - failed, "absent"), (failed, "failed for good"), (leftOutTileCount, "left out"),
        ]
        var list = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        if isCoarsened { list.append("coarser than asked for") }
        return list.isEmpty ? "no tiles" : "tiles: " + list.joined(separator: ", ")
    }
}
