public import TileCache

/// Options of the delivered pixels, for all sources.
public struct TileSourceOptions: Hashable, Sendable {
    /// Pixel format: ``TilePixelFormat/rgba8``, ``TilePixelFormat/bgra8``, or ``TilePixelFormat/gray8``, which is the
    /// luma (BT.601) of colours. Images of 16 bits a channel are rounded to 8. Default: ``TilePixelFormat/rgba8``.
    public var format: TilePixelFormat
    /// Whether decoding multiplies colours by alpha. Default: premultiplied. Ignored alpha and straight colours are
    /// delivered as stored.
    public var alpha: TileAlphaMode
    /// Whether a tile's encoded bytes may be its compressed form, if they are smaller. Default: `true`. The tile is
    /// then decoded at each promotion.
    public var keepsEncoded: Bool
    /// Pixels a side of a tile, 16 to 4096. Default: `nil`, as the container declares or most of some of its tiles have;
    /// 256 for single images and HTTP. ``TileSourceAddress/open(_:http:image:progress:)`` asks a server with a template.
    public var tileSize: Int?
    /// Whether the world repeats horizontally, as a map of the whole earth does. Default: `false`.
    public var wrapsX: Bool
    /// Shape of the world of folders, MBTiles and templates. Default: `nil`, as their tiles tell; square for servers and if
    /// nothing tells. Other sources know theirs.
    public var world: MapWorld?

    /// Creates options.
    public init(
        format: TilePixelFormat = .rgba8,
        alpha: TileAlphaMode = .premultiplied,
        keepsEncoded: Bool = true,
        tileSize: Int? = nil,
        wrapsX: Bool = false,
        world: MapWorld? = nil
    ) {
        self.format = format
        self.alpha = alpha
        self.keepsEncoded = keepsEncoded
        self.tileSize = tileSize
        self.wrapsX = wrapsX
        self.world = world
    }

    /// Accepted tile sizes, in pixels a side.
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
