import TileCache

/// A Zoomify image: `ImageProperties.xml`, and tiles in groups of 256 beside it.
///
/// Tiles are numbered level by level, the coarsest first, and row by row. That one fits in a tile.
struct ZoomifyImage: Equatable {
    struct Level: Equatable {
        var width: Int
        var height: Int
        /// Number of the level's first tile.
        var first = 0
    }

    let width: Int
    let height: Int
    let tileSize: Int
    /// Coarsest first.
    private(set) var levels: [Level]
    /// Folder or address of the description.
    private let base: String
    /// What follows the number of a tile.
    private let end: String

    /// Name of the description.
    static let file = "ImageProperties.xml"
    /// Maximum size of a description; a usual one takes 150 bytes.
    static let largestFile = 1 << 20

    /// Path or address of the description, of what tiles lie beside, and the parameters of an address.
    static func description(of place: String) -> (file: String, base: String, query: String) {
        let mark = HTTPAddress.begins(place) ? place.firstIndex(of: "?") ?? place.endIndex : place.endIndex
        var base = String(place[..<mark])
        if base.hasSuffix("/" + file) || base == file { base = String(base.dropLast(file.count)) }
        while base.hasSuffix("/"), base != "/" { base.removeLast() }
        if base.isEmpty { base = "." }
        return ("\(base)/\(file)\(place[mark...])", base, String(place[mark...]))
    }

    /// Parses a description.
    ///
    /// - Parameters:
    ///   - path: Path or address of the description.
    ///   - base: Folder or address of the tiles' groups.
    ///   - end: What follows the number of a tile.
    init(_ bytes: [UInt8], path: String, base: String, end: String) throws(TileSourceError) {
        let root = try XMLElement(bytes, path: path, limit: 1000)
        guard root.name == "IMAGE_PROPERTIES" else {
            throw TileSourceError(
                path,
                "an XML element IMAGE_PROPERTIES was expected, with WIDTH, HEIGHT and TILESIZE, not "
                    + "\(root.name.prefix(60))"
            )
        }
        func number(_ name: String, _ range: ClosedRange<Int>) throws(TileSourceError) -> Int {
            let text = root.attributes[name]
            guard let text, let value = Int(text), range.contains(value) else {
                let found = text.map { ", not \"\($0.prefix(40))\"" } ?? ""
                throw TileSourceError(
                    path,
                    "\(name) of \(range.lowerBound) to \(range.upperBound) was expected\(found)"
                )
            }
            return value
        }
        width = try number("WIDTH", 1...1 << 30)
        height = try number("HEIGHT", 1...1 << 30)
        tileSize = try number("TILESIZE", TileSourceOptions.tileSizes)
        (self.base, self.end) = (base, end)
        // Some writers round the sides of coarser levels up, others down: the number of tiles tells.
        let (up, down) = (
            Self.levels(width, height, tileSize, roundsUp: true), Self.levels(width, height, tileSize, roundsUp: false)
        )
        let stated = root.attributes["NUMTILES"].flatMap { Int($0) }
        levels = stated == down.count && stated != up.count ? down.levels : up.levels
    }

    private static func levels(
        _ width: Int,
        _ height: Int,
        _ size: Int,
        roundsUp: Bool
    ) -> (levels: [Level], count: Int) {
        var levels = [Level(width: width, height: height)]
        while let last = levels.last, max(last.width, last.height) > size {
            let more = roundsUp ? 1 : 0
            levels.append(Level(width: max((last.width + more) / 2, 1), height: max((last.height + more) / 2, 1)))
        }
        levels.reverse()
        var count = 0
        for index in levels.indices {
            levels[index].first = count
            count += ((levels[index].width - 1) / size + 1) * ((levels[index].height - 1) / size + 1)
        }
        return (levels, count)
    }

    /// The image as a source.
    func served(as name: String, home: String?, wrapsX: Bool) throws(TileSourceError) -> ServedPyramid {
        let pyramid = levels.enumerated().map { index, level in
            PyramidLevel(
                width: level.width,
                height: level.height,
                tileWidth: tileSize,
                tileHeight: tileSize,
                worldPixelsPerPixel: Double(1 << (levels.count - 1 - index))
            )
        }
        return ServedPyramid(
            kind: "zoomify",
            name: name,
            home: home,
            pyramid: try TilePyramid(of: name, width: width, height: height, wrapsX: wrapsX, levels: pyramid),
            tileSize: tileSize,
            tiles: self,
            identity: [base, "\(width) x \(height)", end]
        )
    }
}

extension ZoomifyImage: ServerTiles {
    func address(of tile: TileCoordinate) -> String? {
        let level = levels[tile.level]
        let columns = (level.width - 1) / tileSize + 1
        let number = level.first + tile.row * columns + tile.column
        return "\(base)/TileGroup\(number / 256)/\(tile.level)-\(tile.column)-\(tile.row)\(end)"
    }

    func placement(of tile: TileCoordinate) -> ImagePlacement {
        let level = levels[tile.level]
        let wide = min(tileSize, level.width - tile.column * tileSize)
        let high = min(tileSize, level.height - tile.row * tileSize)
        let isLast = wide + tile.column * tileSize == level.width || high + tile.row * tileSize == level.height
        return ImagePlacement(
            imageWidth: wide,
            imageHeight: high,
            x: 0,
            y: 0,
            width: wide,
            height: high,
            tolerance: isLast ? ImagePlacement.edgeTolerance : 0
        )
    }
}
