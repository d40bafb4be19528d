public import TileCache

/// What all sources can be told about the pixels that they deliver.
public struct TileSourceOptions: Hashable, Sendable {
    /// How a pixel is laid out: ``TilePixelFormat/rgba8`` (unless given), ``TilePixelFormat/bgra8``, or ``TilePixelFormat/gray8``,
    /// which is the luma (BT.601) of what has colours. Images of 16 bits a channel are rounded to 8.
    public var format: TilePixelFormat
    /// Whether colours are multiplied by alpha as they are decoded; premultiplied unless given. Ignored alpha is
    /// delivered as it is stored, and so are straight colours.
    public var alpha: TileAlphaMode
    /// Whether the cache may keep a tile's own bytes as its compressed form where that is smaller; `true` unless given.
    /// It is then decoded again each time that it is promoted.
    public var keepsEncoded: Bool
    /// Pixels a side of a tile, 16 to 4096. Unless given, what the container says or its first tile has; for HTTP and
    /// single images 256.
    public var tileSize: Int?
    /// Whether the world repeats horizontally, as a map of the whole earth does; `false` unless given.
    public var wrapsX: Bool

    /// Makes options.
    public init(
        format: TilePixelFormat = .rgba8,
        alpha: TileAlphaMode = .premultiplied,
        keepsEncoded: Bool = true,
        tileSize: Int? = nil,
        wrapsX: Bool = false
    ) {
        self.format = format
        self.alpha = alpha
        self.keepsEncoded = keepsEncoded
        self.tileSize = tileSize
        self.wrapsX = wrapsX
    }

    /// The sizes that a tile may have, a side.
    public static let tileSizes = 16...4096

    func check(_ subject: String) throws(TileSourceError) {
        guard [.rgba8, .bgra8, .gray8].contains(format) else {
            throw TileSourceError(subject, "pixels are delivered as rgba8, bgra8 or gray8, not as \(format)")
        }
        if let tileSize, !Self.tileSizes.contains(tileSize) {
            throw TileSourceError(subject, "a tile size of 16 to 4096 pixels is expected, not \(tileSize)")
        }
    }

    var layerOptions: LayerOptions { LayerOptions(format: format, alpha: alpha) }
}
