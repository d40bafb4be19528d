public import TileCache

/// Tiles in files `FOLDER/z/x/y.png` (or `.jpg`, `.jpeg`, `.webp`), as web maps and `gdal2tiles` write them.
///
/// A file that is not there is a tile that does not exist. One that cannot be decoded or has another size than the
/// others fails for good, one that cannot be read fails for now; ``statistics`` says which and why.
public final class FolderTileSource: BlockingTileSource, TileDecoder, PyramidSource {
    /// The folder.
    public let name: String
    /// One level for each zoom from the first folder with a number for a name to the last.
    public let pyramid: TilePyramid
    /// How the layer's pixels are laid out.
    public let layerOptions: LayerOptions
    /// The zooms that have folders; zoom `zooms.lowerBound` is level 0.
    public let zooms: ClosedRange<Int>
    /// What the tiles of the first zoom cover; all of the world where they are too many to look through.
    public let contents: Rectangle

    private let rows: TileRowOrder
    private let tileSize: Int
    private let fileExtension: String
    private let delivery: TileDelivery

    /// Opens a folder: looks for its zooms and at the header of one tile.
    ///
    /// - Parameters:
    ///   - path: the folder.
    ///   - rows: where row 0 lies; at the top unless given.
    ///   - options: of the pixels.
    /// - Throws: ``TileSourceError`` where there is no such folder, or no tile in it.
    public init(
        path: String,
        rows: TileRowOrder = .fromTop,
        options: SourceOptions = SourceOptions()
    ) throws(TileSourceError) {
        try options.check(path)
        guard Files.isFolder(path), let names = Files.names(in: path) else {
            throw TileSourceError(path, "a folder that can be read was expected")
        }
        let found = names.compactMap { Self.number($0, within: MapPyramid.zooms) }.sorted()
        guard let first = found.first, let last = found.last else {
            throw TileSourceError(
                path,
                "folders with the numbers of zooms for names (0, 1, 2, ...) were expected in it"
            )
        }
        guard let sample = found.lazy.compactMap({ Self.sample(in: "\(path)/\($0)") }).first else {
            throw TileSourceError(path, "tiles z/x/y.png, .jpg, .jpeg or .webp were expected in it")
        }
        name = path
        zooms = first...last
        fileExtension = sample.fileExtension
        if let size = options.tileSize { tileSize = size } else { tileSize = try Self.tileSize(of: sample.path) }
        self.rows = rows
        layerOptions = options.layerOptions
        delivery = TileDelivery(options)
        pyramid = try MapPyramid.make(zooms, of: path, tileSize: tileSize, wrapsX: options.wrapsX)
        let world = Rectangle(minX: 0, minY: 0, maxX: pyramid.worldWidth, maxY: pyramid.worldHeight)
        contents = Self.contents(of: "\(path)/\(first)", zoom: first, rows, in: world) ?? world
    }

    /// What the tiles of a zoom cover; `nil` where there are none, or very many.
    private static func contents(
        of folder: String,
        zoom: Int,
        _ rows: TileRowOrder,
        in world: Rectangle
    ) -> Rectangle? {
        let most = 4096
        let numbers = 0...(1 << zoom) - 1
        guard let columns = Files.names(in: folder, limit: most), columns.count < most else { return nil }
        let side = world.width / Double(1 << zoom)
        var covered: Rectangle?
        var count = 0
        for name in columns {
            guard let column = number(name, within: numbers) else { continue }
            let files = Files.names(in: "\(folder)/\(name)", limit: most) ?? []
            count += files.count
            guard count < most else { return nil }
            for file in files {
                guard let row = tile(file, within: numbers) else { continue }
                let (x, y) = (Double(column) * side, Double(rows.number(of: row, zoom: zoom)) * side)
                covered = Rectangle(
                    minX: min(covered?.minX ?? x, x),
                    minY: min(covered?.minY ?? y, y),
                    maxX: max(covered?.maxX ?? 0, x + side),
                    maxY: max(covered?.maxY ?? 0, y + side)
                )
            }
        }
        return covered
    }

    /// What has been loaded and what has failed so far.
    public var statistics: SourceStatistics { delivery.statistics }

    /// Reads and decodes a tile.
    public func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
        let path = path(of: tile)
        return try delivery.deliver(Files.read(path), placement, of: path, into: &pixels)
    }

    /// Decodes a tile anew from the file's bytes.
    public func decode(
        _ encoded: UnsafeRawBufferPointer,
        of tile: TileCoordinate,
        into pixels: inout TilePixels
    ) throws(TileFailure) {
        try delivery.decode(encoded, placement, of: path(of: tile), into: &pixels)
    }

    private var placement: ImagePlacement { ImagePlacement(tileSize: tileSize) }

    private func path(of tile: TileCoordinate) -> String {
        let zoom = zooms.lowerBound + tile.level
        let row = rows.number(of: tile.row, zoom: zoom)
        return "\(name)/\(zoom)/\(tile.column)/\(row).\(fileExtension)"
    }

    private static let extensions: Set<String> = ["png", "jpg", "jpeg", "webp"]

    private static func number(_ text: String, within range: ClosedRange<Int>) -> Int? {
        guard text.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(text) else { return nil }
        return range.contains(number) && text == "\(number)" ? number : nil
    }

    /// The number that a tile's file has for a name.
    private static func tile(_ file: String, within range: ClosedRange<Int>) -> Int? {
        guard let dot = file.lastIndex(of: "."), extensions.contains(String(file[file.index(after: dot)...])) else {
            return nil
        }
        return number(String(file[..<dot]), within: range)
    }

    /// Some tile of a zoom.
    private static func sample(in zoom: String) -> (path: String, fileExtension: String)? {
        for column in Files.names(in: zoom, limit: 1000) ?? [] where number(column, within: 0...(1 << 30)) != nil {
            for file in Files.names(in: "\(zoom)/\(column)", limit: 1000) ?? [] {
                guard tile(file, within: 0...(1 << 30)) != nil, let dot = file.lastIndex(of: ".") else { continue }
                return ("\(zoom)/\(column)/\(file)", String(file[file.index(after: dot)...]))
            }
        }
        return nil
    }

    private static func tileSize(of path: String) throws(TileSourceError) -> Int {
        guard case .bytes(let bytes) = Files.read(path) else {
            throw TileSourceError(path, "it cannot be read: \(Files.lastError)")
        }
        return try TileSize.of(bytes, path)
    }
}

/// The size of tiles, where only a tile itself says it.
enum TileSize {
    static func of(_ encoded: [UInt8], _ subject: String) throws(TileSourceError) -> Int {
        switch encoded.withUnsafeBytes({ TileImages.size(of: $0) }) {
        case .failure(let failure): throw TileSourceError(subject, failure.message)
        case .success(let size):
            guard size.width == size.height, SourceOptions.tileSizes.contains(size.width) else {
                throw TileSourceError(
                    subject,
                    "a square tile of 16 to 4096 pixels a side was expected, not \(size.width) x \(size.height)"
                )
            }
            return size.width
        }
    }
}
