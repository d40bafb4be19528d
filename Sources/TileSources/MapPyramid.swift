import TileCache

/// Order of the rows of a web map.
public enum TileRowOrder: String, CaseIterable, Hashable, Sendable {
    /// Row 0 is at the top, as in web maps ("xyz").
    case fromTop
    /// Row 0 is at the bottom ("tms"). As in MBTiles and in the output of `gdal2tiles` without `--xyz`.
    case fromBottom

    /// Converts a row counted from the top to the container's number.
    func number(of row: Int, zoom: Int) -> Int { self == .fromTop ? row : (1 << zoom) - 1 - row }
}

/// Shape of a web map: what its zoom 0 covers, and how degrees lie on it.
public enum MapWorld: String, CaseIterable, Hashable, Sendable {
    /// One tile at zoom 0: the square of the Web Mercator projection.
    case square
    /// Two tiles side by side at zoom 0: degrees of longitude and latitude (EPSG:4326), as of
    /// `gdal2tiles --profile=geodetic --tmscompatible`.
    case geodetic

    /// Width of the world for a height of 1.
    var width: Int { self == .square ? 1 : 2 }

    /// Height of a latitude on the map, from 0 at the top to 1.
    func y(_ latitude: Double) -> Double {
        self == .square ? MapPyramid.mercator(latitude) : (90 - latitude) / 180
    }
}

/// A part of the earth, in degrees, as in `bounds` of TileJSON and MBTiles.
public struct MapBounds: Hashable, Sendable, CustomStringConvertible {
    /// Longitude of the left edge, -180 to 180, less than that of the right edge.
    public var west: Double
    /// Latitude of the bottom edge, -90 to 90, less than that of the top edge.
    public var south: Double
    /// Longitude of the right edge.
    public var east: Double
    /// Latitude of the top edge.
    public var north: Double

    /// Creates bounds without checking them; sources refuse those that are not valid.
    public init(west: Double, south: Double, east: Double, north: Double) {
        (self.west, self.south, self.east, self.north) = (west, south, east, north)
    }

    /// `west,south,east,north`.
    public var description: String { "\(west),\(south),\(east),\(north)" }

    /// The part of a world, with both axes from 0 to 1; `nil` if it is empty or invalid.
    func part(of world: MapWorld = .square) -> PixelRect? {
        MapPyramid.part(left: west, bottom: south, right: east, top: north, of: world)
    }
}

/// Pyramids of web maps: at zoom z the world is 2^z tiles high, and as wide or twice as wide.
enum MapPyramid {
    /// Accepted zooms. At zoom 30, a pixel of a 256-pixel tile is a seventh of a millimetre of the equator.
    static let zooms = 0...30

    /// Makes the pyramid of some zooms.
    ///
    /// - Parameter subject: Name of the source, for messages.
    static func make(
        _ zooms: ClosedRange<Int>,
        of subject: String,
        tileSize: Int,
        wrapsX: Bool,
        world: MapWorld = .square
    ) throws(TileSourceError) -> TilePyramid {
        let side = tileSize << zooms.upperBound
        let levels = zooms.map { zoom in
            PyramidLevel(
                width: world.width * tileSize << zoom,
                height: tileSize << zoom,
                tileWidth: tileSize,
                tileHeight: tileSize,
                worldPixelsPerPixel: Double(1 << (zooms.upperBound - zoom))
            )
        }
        return try TilePyramid(of: subject, width: world.width * side, height: side, wrapsX: wrapsX, levels: levels)
    }

    /// A part of the world, with both axes from 0 to 1, in world pixels. All of it for `nil`.
    static func contents(_ part: PixelRect?, of pyramid: TilePyramid) -> PixelRect {
        let part = part ?? PixelRect(minX: 0, minY: 0, maxX: 1, maxY: 1)
        return PixelRect(
            minX: part.minX * pyramid.worldWidth,
            minY: part.minY * pyramid.worldHeight,
            maxX: part.maxX * pyramid.worldWidth,
            maxY: part.maxY * pyramid.worldHeight
        )
    }

    /// A part of the world, from degrees; `nil` if it is empty or invalid. Both axes run from 0 to 1, y downwards.
    static func part(
        left: Double,
        bottom: Double,
        right: Double,
        top: Double,
        of world: MapWorld = .square
    ) -> PixelRect? {
        guard left < right, bottom < top, abs(left) <= 180, abs(right) <= 180, abs(bottom) <= 90, abs(top) <= 90 else {
            return nil
        }
        return PixelRect(
            minX: (left + 180) / 360,
            minY: world.y(top),
            maxX: (right + 180) / 360,
            maxY: world.y(bottom)
        )
    }

    /// Projects a latitude to the square of the Web Mercator projection, from the top.
    static func mercator(_ latitude: Double) -> Double {
        let sine = PortableMath.sin(latitude * .pi / 180)
        guard abs(sine) < 1 else { return sine > 0 ? 0 : 1 }
        let y = 0.5 - PortableMath.log2((1 + sine) / (1 - sine)) * 0.6931471805599453 / (4 * .pi)
        return min(max(y, 0), 1)
    }
}

extension TilePyramid {
    /// - Parameter subject: Name of the source, for messages.
    init(
        of subject: String,
        width: Int,
        height: Int,
        wrapsX: Bool,
        levels: [PyramidLevel]
    ) throws(TileSourceError) {
        do {
            try self.init(worldWidth: Double(width), worldHeight: Double(height), wrapsX: wrapsX, levels: levels)
        } catch {
            throw TileSourceError(subject, "\(error)")
        }
    }
}
