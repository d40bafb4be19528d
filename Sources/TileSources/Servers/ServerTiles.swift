import TileCache

/// The addresses of a server's tiles.
protocol ServerTiles: Sendable {
    /// Address of a tile; `nil` if the server is known not to have it.
    func address(of tile: TileCoordinate) -> String?
    /// Place of a tile's pixels in the image that comes.
    func placement(of tile: TileCoordinate) -> ImagePlacement
    /// Addresses at which a tile may be, the likeliest first; not empty if ``address(of:)`` has one. Default: that one.
    func addresses(of tile: TileCoordinate) -> [ServedAddress]
    /// Notes that a tile was at one of its addresses.
    func isThere(_ address: ServedAddress, _ tile: TileCoordinate)
    /// Notes that a tile was at none of several addresses.
    func isNowhere(_ tile: TileCoordinate)
    /// A clause on what was found; `nil` if there is nothing to say.
    var warning: String? { get }
}

extension ServerTiles {
    func addresses(of tile: TileCoordinate) -> [ServedAddress] {
        address(of: tile).map { [ServedAddress(address: $0, form: 0)] } ?? []
    }
    func isThere(_ address: ServedAddress, _ tile: TileCoordinate) {}
    func isNowhere(_ tile: TileCoordinate) {}
    var warning: String? { nil }
}

/// One of the addresses at which a tile may be.
struct ServedAddress: Equatable {
    var address: String
    /// Which one, for ``ServerTiles/isThere(_:_:)``.
    var form: Int
}

/// What an ``HTTPTileSource`` has to know before its first tile.
struct ServedPyramid {
    /// First part of the data set.
    var kind: String
    var name: String
    /// Address whose origin (scheme, host and port) gets the options' headers; `nil` for each tile's own address.
    ///
    /// User and password of this address are used.
    var home: String?
    var pyramid: TilePyramid
    var tileSize: Int
    /// `nil` for all of the world.
    var contents: PixelRect?
    var tiles: any ServerTiles
    /// Parts of the data set besides kind and pixels.
    var identity: [String]
    var warning: String?
}

/// Tiles with zoom, column and row in their addresses.
struct TemplateTiles: ServerTiles {
    let template: TileTemplate
    let firstZoom: Int
    let tileSize: Int

    func address(of tile: TileCoordinate) -> String? {
        template.address(zoom: firstZoom + tile.level, column: tile.column, row: tile.row)
    }

    func placement(of tile: TileCoordinate) -> ImagePlacement { ImagePlacement(tileSize: tileSize) }

    /// A template as a source.
    ///
    /// - Parameter name: The template as it was given, or the address of its description.
    static func served(
        _ template: TileTemplate,
        as name: String,
        zooms: ClosedRange<Int>,
        bounds: MapBounds?,
        tileSize: Int,
        _ options: TileSourceOptions
    ) throws(TileSourceError) -> ServedPyramid {
        let world = template.choice.world ?? options.world ?? .square
        let whole = try MapPyramid.make(
            zooms,
            of: name,
            tileSize: tileSize,
            wrapsX: options.wrapsX,
            world: world
        )
        let part = MapPyramid.contents(bounds?.part(of: world), of: whole)
        return ServedPyramid(
            kind: "http",
            name: name,
            // The template itself is no address: it may have a place in its host.
            home: nil,
            pyramid: whole.limited(to: part),
            tileSize: tileSize,
            contents: part,
            tiles: TemplateTiles(template: template, firstZoom: zooms.lowerBound, tileSize: tileSize),
            identity: [template.identity, "\(zooms)"] + (world == .square ? [] : ["\(world)"])
        )
    }
}
