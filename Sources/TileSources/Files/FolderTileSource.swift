public import TileCache

/// Tiles in files `FOLDER/z/x/y.png` (or `.jpg`, `.jpeg`, `.webp`), or in another ``TileFolderLayout``.
///
/// The files may have several of these formats. A tile without a file is absent. A square image of another size than
/// most is scaled. A file that cannot be decoded or has another shape fails permanently; a file that cannot be read
/// fails temporarily. ``statistics`` has the cause.
public final class FolderTileSource: BlockingTileSource, TileDecoder, MemoryReportingSource, PyramidTileSource {
    /// The folder.
    public let name: String
    /// One level for each zoom. From the first folder with a number for a name to the last.
    public let pyramid: TilePyramid
    /// Pixel format and other options of the layer.
    public let layerOptions: LayerOptions
    /// The zooms that have folders; zoom `zooms.lowerBound` is level 0.
    public let zooms: ClosedRange<Int>
    /// Area that the tiles of all zooms cover when the source is opened. All of the world if they are too many to list.
    /// Tiles that are added beside it later do not show.
    public let contents: PixelRect
    /// Path and modification time of the folder, its layout, zooms and the tiles' extension and size.
    ///
    /// Files that change inside are not noticed, nor are those that are added below the folder: invalidate the layer
    /// (`TileLayer.invalidate`) to have them read.
    public let dataSet: [String]

    /// A warning if the folder's metadata states another order of rows than the layout, if tiles lie outside of the
    /// world's square, if the tiles of different zooms lie apart and the zoom may come in another place of their paths, or
    /// if no tile comes (``TileSourceStatistics/silence``); otherwise `nil`.
    public var warning: String? { delivery.counter.warning(stated, of: name) }

    private let stated: String?
    private let root: String
    private let layout: TileFolderLayout
    private let tileSize: Int
    /// Extensions of the files, that of the first one found first.
    private let endings: [String]
    private let delivery: TileDelivery

    /// Opens a folder: lists its zooms and reads the headers of up to 12 tiles, for their size.
    ///
    /// - Parameters:
    ///   - path: Path of the folder.
    ///   - layout: Names of the files. Default: `z/x/y`, row 0 at the top.
    ///   - options: Options of the pixels.
    /// - Throws: ``TileSourceError`` if the folder does not exist, or has no tile.
    public init(
        path: String,
        layout: TileFolderLayout = TileFolderLayout(.xyz),
        options: TileSourceOptions = TileSourceOptions()
    ) throws(TileSourceError) {
        try options.check(path)
        // Before it is read: a change in between gives the next source another name.
        let folder = DataSetName.folder(path)
        guard Files.isFolder(path), let names = Files.names(in: path) else {
            throw TileSourceError(path, "a folder that can be read was expected")
        }
        let order = try FolderZooms.check(path, names, layout)
        let found = names.compactMap { TileFolderLayout.number($0, within: MapPyramid.zooms) }.sorted()
        guard let first = found.first, let last = found.last else {
            throw TileSourceError(
                path,
                "folders with the numbers of zooms for names (0, 1, 2, ...) were expected in it"
            )
        }
        func sample(_ layout: TileFolderLayout) -> (path: String, fileExtension: String)? {
            found.lazy.compactMap { Self.sample(in: "\(path)/\($0)", layout) }.first
        }
        guard let sample = sample(layout) else {
            let other = TileFolderLayout(layout.order, isDoubled: !layout.isDoubled)
            let hint = sample(other) == nil ? "" : "; \(other):\(path) has some"
            throw TileSourceError(path, "tiles \(layout.form).png, .jpg, .jpeg or .webp were expected in it\(hint)")
        }
        name = path
        root = Files.fromRoot(path)
        stated =
            FolderMetadata.warning(path, names: names, layout: layout)
            ?? Self.warning(ofFolders: "\(path)/\(first)", first) ?? order
        zooms = first...last
        let ending = sample.fileExtension
        endings = [ending] + TileFolderLayout.extensions.filter { $0 != ending }
        if let size = options.tileSize {
            tileSize = size
        } else {
            tileSize = try Self.tileSize(in: path, found, layout, first: sample.path)
        }
        self.layout = layout
        layerOptions = options.layerOptions
        delivery = TileDelivery(options)
        dataSet =
            DataSetName.pixels("folder", layerOptions, tileSize: tileSize) + folder
            + ["\(layout)", "\(zooms)", ending]
        let whole = try MapPyramid.make(zooms, of: path, tileSize: tileSize, wrapsX: options.wrapsX)
        pyramid = whole.limited(to: MapPyramid.contents(FolderExtent.part(of: path, found, layout), of: whole))
        contents = pyramid.contents
    }

    /// Describes tiles of a world that is wider than high, as of `gdal2tiles --profile=geodetic --tmscompatible`.
    private static func warning(ofFolders folder: String, _ zoom: Int) -> String? {
        let last = (1 << zoom) - 1
        let beyond = Files.names(in: folder, limit: 4096)?.lazy.compactMap {
            TileFolderLayout.number($0, within: last + 1...1 << 31)
        }.first
        return beyond.map {
            "\(folder)/\($0): folders of 0 to \(last) were expected at zoom \(zoom), that of a square world; the others "
                + "are not shown"
        }
    }

    /// Counts of loads and failures so far.
    public var statistics: TileSourceStatistics { delivery.statistics }

    /// Memory of files' bytes while they are decoded. It counts against the limit of each cache with a layer of this
    /// source.
    public var heldMemory: ByteCount { .bytes(delivery.scratch.byteCount) }

    /// Reads and decodes a tile.
    public func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
        var path = path(of: tile)
        var file = Files.read(path, delivery.scratch)
        // Some writers take JPEG for tiles that are opaque, and PNG for the others.
        for ending in endings.dropFirst() {
            guard case .missing = file else { break }
            let other = self.path(of: tile, ending)
            file = Files.read(other, delivery.scratch)
            if case .missing = file { continue }
            path = other
        }
        return try delivery.deliver(file, placement, of: path, into: &pixels)
    }

    /// Decodes a tile from the file's bytes.
    public func decode(
        _ encoded: UnsafeRawBufferPointer,
        of tile: TileCoordinate,
        into pixels: inout TilePixels
    ) throws(TileFailure) {
        try delivery.decode(encoded, placement, of: path(of: tile), into: &pixels)
    }

    private var placement: ImagePlacement { ImagePlacement(tileSize: tileSize) }

    private func path(of tile: TileCoordinate, _ ending: String? = nil) -> String {
        let zoom = zooms.lowerBound + tile.level
        return "\(root)/\(layout.path(zoom: zoom, column: tile.column, row: tile.row)).\(ending ?? endings[0])"
    }

    /// Finds any tile of a zoom.
    private static func sample(in zoom: String, _ layout: TileFolderLayout) -> (path: String, fileExtension: String)? {
        let numbers = 0...1 << 30
        for folder in Files.names(in: zoom, limit: 1000) ?? [] {
            guard TileFolderLayout.number(folder, within: numbers) != nil else { continue }
            for file in Files.names(in: "\(zoom)/\(folder)", limit: 1000) ?? [] {
                guard let ending = layout.parts(ofFile: file, within: numbers)?.ending else { continue }
                return ("\(zoom)/\(folder)/\(file)", ending)
            }
        }
        return nil
    }

    /// Finds the size of most tiles, the finest zoom first.
    ///
    /// - Parameter first: Path of a tile.
    private static func tileSize(
        in path: String,
        _ zooms: [Int],
        _ layout: TileFolderLayout,
        first: String
    ) throws(TileSourceError) -> Int {
        var samples = TileSizeSamples()
        var known: Set<String> = []
        func take(_ tiles: [String]) {
            for tile in tiles where !samples.isDone && known.insert(tile).inserted {
                switch Files.read(tile) {
                case .bytes(let bytes): samples.take(bytes.array, of: tile)
                case .failed(let failure): samples.take(failure.message, of: tile)
                case .missing: break
                }
            }
        }
        for zoom in zooms.reversed() where !samples.isDone {
            take(tiles(in: "\(path)/\(zoom)", layout, zoom == zooms.last ? TileSizeSamples.ofFinestZoom : 2))
        }
        // Of some sets all but a few tiles are empty, or most folders.
        if samples.count == 0 { take([first]) }
        for zoom in zooms.reversed() where samples.count == 0 {
            take(tiles(in: "\(path)/\(zoom)", layout, TileSizeSamples.most))
        }
        return try samples.size(of: path)
    }

    /// Paths of some tiles of a zoom, spread over its folders.
    private static func tiles(in zoom: String, _ layout: TileFolderLayout, _ count: Int) -> [String] {
        let numbers = 0...1 << 30
        let folders = (Files.names(in: zoom, limit: 1000) ?? [])
            .compactMap { TileFolderLayout.number($0, within: numbers) }.sorted()
        let chosen = TileSizeSamples.spread(count, over: folders.count).map { "\(zoom)/\(folders[$0])" }
        let each = (count + max(chosen.count, 1) - 1) / max(chosen.count, 1)
        return chosen.flatMap { folder -> [String] in
            let files = (Files.names(in: folder, limit: 1000) ?? [])
                .compactMap { name in layout.parts(ofFile: name, within: numbers).map { (name, $0.number) } }
                .sorted { $0.1 < $1.1 }
            return TileSizeSamples.spread(each, over: files.count).map { "\(folder)/\(files[$0].0)" }
        }
    }
}
