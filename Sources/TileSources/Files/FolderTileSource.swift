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

    /// Shape of the world: geodetic if tiles of the coarsest zoom lie beyond the square, unless it was set.
    public let world: MapWorld

    /// A warning if the folder's metadata states another order of rows than the layout, if the tiles of different zooms lie
    /// apart and the zoom may come in another place of their paths, if not all zooms could be found, or if no tile comes (``TileSourceStatistics/silence``); otherwise `nil`.
    public var warning: String? { delivery.counter.warning(stated, of: name) }

    private let stated: String?
    private let root: String
    private let template: TileTemplate
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
    public convenience init(
        path: String,
        layout: TileFolderLayout = TileFolderLayout(.xyz),
        options: TileSourceOptions = TileSourceOptions()
    ) throws(TileSourceError) {
        try options.check(path)
        // Before it is read: a change in between gives the next source another name.
        let own = DataSetName.folder(path)
        let names = try Self.names(in: path)
        let order = try FolderZooms.check(path, names, layout)
        let found = names.compactMap { TileFolderLayout.number($0, within: MapPyramid.zooms) }.sorted()
        guard let first = found.first, let last = found.last else {
            throw TileSourceError(
                path,
                "folders with the numbers of zooms for names (0, 1, 2, ...) were expected in it"
            )
        }
        func tree(_ layout: TileFolderLayout) throws(TileSourceError) -> (TileTemplate, FolderTree) {
            let template = try TileTemplate(files: layout.template)
            return (template, FolderTree(template, in: path))
        }
        let (template, tiles) = try tree(layout)
        guard tiles.first != nil else {
            let other = TileFolderLayout(layout.order, isDoubled: !layout.isDoubled)
            let hint = try tree(other).1.first == nil ? "" : "; \(other):\(path) has some"
            throw TileSourceError(path, "tiles \(layout.form).png, .jpg, .jpeg or .webp were expected in it\(hint)")
        }
        try self.init(
            tiles,
            template,
            Folder(
                name: path,
                root: path,
                zooms: first...last,
                stated: FolderMetadata.warning(path, names: names, layout: layout) ?? order,
                identity: own + ["\(layout)"]
            ),
            options
        )
    }

    /// Opens files whose paths a template has: lists them, and reads the headers of up to 12 of them for their size.
    ///
    /// - Parameters:
    ///   - template: `/tiles/{z}/{x}/{y}.png`, with the places of a server's template but `{s}`. Without an extension files
    ///     have any of `png`, `jpg`, `jpeg` and `webp`.
    ///   - options: Options of the pixels.
    /// - Throws: ``TileSourceError`` if the template is invalid, or no file has such a path.
    public convenience init(
        template: String,
        options: TileSourceOptions = TileSourceOptions()
    ) throws(TileSourceError) {
        try options.check(template)
        let (root, parsed, ending) = try TileTemplate.files(template)
        let own = DataSetName.folder(root)
        _ = try Self.names(in: root)
        let endings = ending.map { [$0] } ?? TileFolderLayout.extensions
        let tiles = FolderTree(parsed, in: root, endings: endings)
        guard let first = tiles.zooms.first, let last = tiles.zooms.last else {
            throw TileSourceError(
                template,
                "files with such paths were expected, with the numbers of tiles; there is none"
            )
        }
        let some = "its files are too many to list: the zooms \(first) to \(last) are those of some of them"
        try self.init(
            tiles,
            parsed,
            Folder(
                name: template,
                root: root,
                zooms: first...last,
                stated: tiles.mayHaveOtherZooms ? "\(template): \(some)" : nil,
                endings: endings,
                identity: own + [template]
            ),
            options
        )
    }

    /// What is known of a folder besides its tiles.
    private struct Folder {
        var name: String
        /// Folder of all tiles.
        var root: String
        var zooms: ClosedRange<Int>
        var stated: String?
        /// Extensions that files may have.
        var endings = TileFolderLayout.extensions
        /// Part of the data set.
        var identity: [String]
    }

    private init(
        _ tiles: FolderTree,
        _ template: TileTemplate,
        _ folder: Folder,
        _ options: TileSourceOptions
    ) throws(TileSourceError) {
        (name, zooms, stated, self.template) = (folder.name, folder.zooms, folder.stated, template)
        root = Files.fromRoot(folder.root)
        let ending = tiles.first?.ending ?? ""
        endings = [ending] + folder.endings.filter { $0 != ending }
        if let size = options.tileSize { tileSize = size } else { tileSize = try Self.tileSize(tiles, folder) }
        layerOptions = options.layerOptions
        delivery = TileDelivery(options)
        world = template.choice.world ?? options.world ?? tiles.world
        dataSet =
            DataSetName.pixels("folder", layerOptions, tileSize: tileSize) + folder.identity
            + ["\(zooms)", ending] + (world == .square ? [] : ["\(world)"])
        let whole = try MapPyramid.make(
            zooms,
            of: name,
            tileSize: tileSize,
            wrapsX: options.wrapsX,
            world: world
        )
        pyramid = whole.limited(to: MapPyramid.contents(tiles.part(of: world), of: whole))
        contents = pyramid.contents
    }

    private static func names(in folder: String) throws(TileSourceError) -> [String] {
        guard Files.isFolder(folder), let names = Files.names(in: folder) else {
            throw TileSourceError(folder, "a folder that can be read was expected")
        }
        return names
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
        let name = template.address(zoom: zoom, column: tile.column, row: tile.row)
        return "\(root)/\(name).\(ending ?? endings[0])"
    }

    /// Finds the size of most tiles, the finest zoom first.
    private static func tileSize(_ tiles: FolderTree, _ folder: Folder) throws(TileSourceError) -> Int {
        var samples = TileSizeSamples()
        var known: Set<String> = []
        func take(_ zoom: Int, _ count: Int) {
            let found = tiles.tiles[zoom] ?? []
            for number in TileSizeSamples.spread(count, over: found.count) {
                let path = "\(folder.root)/\(found[number].path)"
                guard !samples.isDone, known.insert(path).inserted else { continue }
                switch Files.read(path) {
                case .bytes(let bytes): samples.take(bytes.array, of: path)
                case .failed(let failure): samples.take(failure.message, of: path)
                case .missing: break
                }
            }
        }
        for zoom in tiles.zooms.reversed() where !samples.isDone {
            take(zoom, zoom == tiles.zooms.last ? TileSizeSamples.ofFinestZoom : 2)
        }
        // Of some sets all but a few tiles are empty.
        for zoom in tiles.zooms.reversed() where samples.count == 0 { take(zoom, TileSizeSamples.most) }
        return try samples.size(of: folder.name)
    }
}
