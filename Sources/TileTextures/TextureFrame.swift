public import TileCache

/// A tile to copy into a slot, before the placements of the same frame are drawn.
public struct TextureUpload: Sendable {
    /// Index of the slot: a layer of an array texture, or a cell of an atlas.
    public let slot: Int
    /// The tile, leased as long as this value or its frame exists. Copy it to the slot's top left corner.
    public let tile: LeasedTile
    /// Whether the tile is not on screen yet.
    public let isAhead: Bool
}

/// A part of a slot, and where to draw it.
public struct TexturePlacement: Hashable, Sendable {
    /// Index of the slot.
    public let slot: Int
    /// The pixels in the slot.
    public let identity: TileIdentity
    /// World rectangle that the part covers, in world pixels. On a wrapping world, in the copy on screen.
    public let worldRectangle: PixelRect
    /// Part of the slot to draw, in pixels from its top left corner.
    public let slotRectangle: PixelRect
    /// Whether this is the tile that the screen needs; otherwise it is a fallback. Older pixels of it count as exact.
    public let isExact: Bool
}

/// What a renderer with texture slots uploads and draws in one frame.
public struct TextureFrame: Sendable {
    /// Tiles to upload, the most valuable first; within the budget.
    public let uploads: [TextureUpload]
    /// What to draw once the uploads are done, by layer. They do not overlap within a layer.
    public let placements: [TexturePlacement]
    /// Slots that must exist: slots with a larger index hold nothing.
    ///
    /// The limit, or more while tiles on screen still have slots beyond a lowered limit.
    public let slotCount: Int
    /// Octaves by which the view should be coarser, 0 to 8: set ``TileCache/TileView/levelBias`` to it. A view whose
    /// layers have several pixel formats takes the largest of its slots. Of slots for some ``TextureSlots/layers`` only,
    /// set ``TileCache/TileView/setLevelBias(_:of:)`` of each instead.
    ///
    /// Larger than 0 if the view's tiles can exceed the slots. Depends on the sizes of view, tiles and slots, not on
    /// position and scale, so that levels do not flicker.
    public let levelBias: Double
    /// Slots with which the view would need no bias, wherever it is.
    public let neededSlots: Int
    /// Needed tiles that are ready in the cache and wait for their first upload.
    public let waitingTileCount: Int
    /// Needed tiles of which a part is not drawn at all.
    public let holeCount: Int
}

/// Counts of texture slots since their creation.
public struct TextureStatistics: Hashable, Sendable {
    /// Frames.
    public internal(set) var frames = 0
    /// Uploads.
    public internal(set) var uploads = 0
    /// Bytes of the uploads.
    public internal(set) var uploadedBytes = ByteCount.bytes(0)
    /// Maximum uploads of a frame.
    public internal(set) var peakUploads = 0
    /// Maximum bytes of a frame's uploads.
    public internal(set) var peakUploadedBytes = ByteCount.bytes(0)
    /// Uploads of tiles that were not on screen.
    public internal(set) var aheadUploads = 0
    /// Bytes of those.
    public internal(set) var aheadBytes = ByteCount.bytes(0)
    /// Those that have been drawn since.
    public internal(set) var aheadDrawn = 0
    /// Frames in which a needed tile was ready and waited for an upload.
    public internal(set) var waitingFrames = 0
    /// Tiles that lost their slot to another, or beyond a lowered limit.
    public internal(set) var evictions = 0
    /// Changes of the level bias.
    public internal(set) var biasChanges = 0
    /// Slots that hold tiles now.
    public internal(set) var usedSlots = 0

    /// Creates counts of 0.
    public init() {}

    /// Adds the counts of other slots; maxima are maxima of both.
    package mutating func add(_ other: TextureStatistics) {
        let sums: [WritableKeyPath<TextureStatistics, Int>] = [
            \.frames, \.uploads, \.aheadUploads, \.aheadDrawn, \.waitingFrames, \.evictions, \.biasChanges, \.usedSlots,
        ]
        for field in sums { self[keyPath: field] += other[keyPath: field] }
        uploadedBytes += other.uploadedBytes
        aheadBytes += other.aheadBytes
        peakUploads = max(peakUploads, other.peakUploads)
        peakUploadedBytes = max(peakUploadedBytes, other.peakUploadedBytes)
    }
}
