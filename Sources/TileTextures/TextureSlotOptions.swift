public import TileCache

/// Settings of texture slots.
public struct TextureSlotOptions: Hashable, Sendable {
    static let maximumSlots = 65_536

    /// Maximum number of slots, 1 to 65,536. Default: 128.
    public var slotLimit = 128
    /// Pixels a row of a slot, 1 to 65,536, with the tiles' border. Default: 256.
    public var width = 256
    /// Rows of a slot, 1 to 65,536, with the tiles' border. Default: 256.
    public var height = 256
    /// Pixel format of the slots. Tiles of another format, and larger ones, are left out. Default: `.rgba8`.
    public var format = TilePixelFormat.rgba8
    /// Maximum bytes of a frame's uploads, at least those of one slot. Default: 4 MiB.
    public var uploadBytes = ByteCount.mebibytes(4)
    /// Maximum time of a frame's uploads, larger than 0. Default: 2 ms.
    ///
    /// Bounds the bytes by the speed that ``TextureSlots/noteUploads(_:took:)`` reported. A frame that needs an upload
    /// always has at least one.
    public var uploadTime = Duration.milliseconds(2)
    /// Whether tiles keep their slots until others cover their area. Default: `false`.
    ///
    /// Areas with uploaded tiles then never show a hole, if level 0 has one tile: it keeps its slot always. Coarse
    /// tiles are uploaded first: pin the coarsest level, so that the cache always has them. If level 0 has several tiles
    /// and there are too few slots, areas off screen lose theirs, and show holes when they return.
    public var neverShowsHoles = false

    /// Creates the defaults.
    public init() {}

    /// Bytes of a slot's pixels; `nil` on overflow.
    var slotBytes: Int? { format.byteCount(width: width, height: height) }

    func check() throws(TileCacheError) {
        let sides = 1...65_536
        guard (1...Self.maximumSlots).contains(slotLimit) else {
            throw .invalidConfiguration("1 to 65536 texture slots are expected, not \(slotLimit)")
        }
        guard sides.contains(width), sides.contains(height), let slotBytes else {
            throw .invalidConfiguration("slots of 1 to 65536 pixels a side are expected, not \(width) x \(height)")
        }
        guard uploadBytes.bytes >= slotBytes else {
            throw .invalidConfiguration(
                "an upload budget of at least one slot, \(slotBytes) bytes, is expected, not \(uploadBytes.bytes)"
            )
        }
        guard uploadTime > .zero else {
            throw .invalidConfiguration("an upload time larger than 0 is expected, not \(uploadTime)")
        }
    }
}
