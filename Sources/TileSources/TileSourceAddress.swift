/// Address of tiles on a command line: `mbtiles:FILE`, `pmtiles:URL`, `iiif:URL`, `xyz:DIR`, ...
public enum TileSourceAddress: Hashable, Sendable, CustomStringConvertible {
    /// An MBTiles file, and the order of its rows if it is not to be found out.
    case mbtiles(String, rows: TileRowOrder? = nil)
    /// A PMTiles archive, on a disk or a server.
    case pmtiles(String)
    /// A TIFF, tiled or small, on a disk or a server, and what is drawn of it.
    case tiff(String, TIFFTileOptions = TIFFTileOptions())
    /// A table of a GeoPackage. Default: its first one with tiles.
    case geoPackage(String, table: String? = nil)
    /// An image of a IIIF server, by the address of its description, or a folder of its files.
    case iiif(String)
    /// A layer of a WMTS server, by the address of its capabilities.
    case wmts(String)
    /// A folder of files with their layout.
    case folder(String, TileFolderLayout)
    /// Files by a template of their paths.
    case files(String)
    /// A TileJSON, on a disk or a server.
    case tileJSON(String)
    /// A Deep Zoom descriptor.
    case deepZoom(String)
    /// A Zoomify image, on a disk or a server.
    case zoomify(String)
    /// One large image.
    case image(String)
    /// A server, with places for zoom, column and row.
    case http(String)

    /// Forms of an address, for messages.
    public static let forms =
        "mbtiles:FILE, xyz:DIR, tms:DIR, zyx:DIR (or xyz@2x:DIR, mbtiles:FILE#rows=top), tc:DIR, mp:DIR, arcgis:DIR, "
        + "quadkey:DIR, file:TEMPLATE, sqlitedb:FILE, gpkg:FILE, dzi:FILE, image:FILE, zoomify:DIR or URL, "
        + "pmtiles:FILE or URL, tiff:FILE or URL (with #page=2, #series=2, #band=4,3,2, #range=MIN,MAX, #synthesized=3, joined "
        + "by &), tilejson:FILE or URL, iiif:DIR or URL, wmts:URL, or http:TEMPLATE"

    /// Templates of files in a folder, by name. Their writers count rows from either end; those of `tc` usually from below.
    private static let layouts = [
        "tc": "{z:02}/{x/1000000:03}/{x/1000%1000:03}/{x%1000:03}/{y/1000000:03}/{y/1000%1000:03}/{y%1000:03}",
        "mp": "{z:02}/{x/10000:04}/{x%10000:04}/{y/10000:04}/{y%10000:04}",
        "arcgis": "L{z:02}/R{y:08x}/C{x:08x}",
        "quadkey": "{q}",
    ]

    /// The template of files that a named layout has in a folder, with the folder's choices.
    private static func template(_ folder: String, _ name: String) -> String? {
        guard let layout = layouts[name] else { return nil }
        let mark = TemplateChoice.mark(in: folder) ?? folder.endIndex
        let path = folder[..<mark]
        var ends = folder[mark...]
        if name == "tc", !ends.contains("rows=") { ends += "\(ends.isEmpty ? "#" : "&")rows=bottom" }
        return "\(path)\(path.hasSuffix("/") ? "" : "/")\(layout)\(ends)"
    }

    /// Ends of an MBTiles file's address that choose the order of its rows.
    private static let rowEnds: [(text: String, rows: TileRowOrder)] = [
        ("#rows=top", .fromTop), ("#rows=bottom", .fromBottom),
    ]

    /// Parses an address; `nil` if it has none of the ``forms``.
    public init?(_ text: String) {
        if HTTPAddress.begins(text) {
            self = .http(text)
            return
        }
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let rest = String(text[text.index(after: colon)...])
        guard !rest.isEmpty else { return nil }
        switch text[..<colon] {
        case "mbtiles":
            guard let end = Self.rowEnds.first(where: { rest.hasSuffix($0.text) }) else {
                // A misspelt order of rows is no part of a file's name.
                if let last = rest.split(separator: "#").dropFirst().last, last.hasPrefix("rows="), !last.contains("/")
                {
                    return nil
                }
                self = .mbtiles(rest)
                return
            }
            guard rest.utf8.count > end.text.utf8.count else { return nil }
            self = .mbtiles(String(rest.dropLast(end.text.count)), rows: end.rows)
        case "sqlitedb": self = .mbtiles(rest)
        case "gpkg":
            let parts = rest.split(separator: "#table=", maxSplits: 1, omittingEmptySubsequences: false)
            self = .geoPackage(String(parts[0]), table: parts.count == 2 ? String(parts[1]) : nil)
        case "zoomify": self = .zoomify(rest)
        case "pmtiles": self = .pmtiles(rest)
        case "tiff":
            guard let (place, options) = TIFFTileOptions.split(rest) else { return nil }
            self = .tiff(place, options)
        case "iiif": self = .iiif(rest)
        case "wmts": self = .wmts(rest)
        case "dzi": self = .deepZoom(rest)
        case "image": self = .image(rest)
        case "http": self = .http(rest)
        case "file": self = .files(rest)
        case "tilejson": self = .tileJSON(rest)
        case let name:
            if let template = Self.template(rest, String(name)) {
                self = .files(template)
                return
            }
            guard let layout = TileFolderLayout(name) else { return nil }
            self = .folder(rest, layout)
        }
    }

    /// The address in the form used on a command line.
    public var description: String {
        switch self {
        case .mbtiles(let path, let rows):
            "mbtiles:\(path)" + (rows.map { $0 == .fromTop ? "#rows=top" : "#rows=bottom" } ?? "")
        case .geoPackage(let path, let table): "gpkg:\(path)" + (table.map { "#table=\($0)" } ?? "")
        case .zoomify(let place): "zoomify:\(place)"
        case .pmtiles(let place): "pmtiles:\(place)"
        case .tiff(let place, let tiff): "tiff:\(place)\(tiff.fragment)"
        case .iiif(let place): "iiif:\(place)"
        case .wmts(let place): "wmts:\(place)"
        case .folder(let path, let layout): "\(layout):\(path)"
        case .files(let template): "file:\(template)"
        case .tileJSON(let place): "tilejson:\(place)"
        case .deepZoom(let path): "dzi:\(path)"
        case .image(let path): "image:\(path)"
        // An address written after http: need not begin with it.
        case .http(let template): TileSourceAddress(template) == self ? template : "http:\(template)"
        }
    }

    /// Opens the source.
    ///
    /// - Parameters:
    ///   - options: Options of the pixels.
    ///   - http: Options of requests to a server; ignored for sources on a disk.
    ///   - image: Options for cutting one large image or a TIFF in strips; ignored for other sources.
    ///   - progress: Called while an image is cut, with the fraction done, 0 to 1; `false` cancels.
    /// - Throws: ``TileSourceError``, which names the file or address and describes what was expected.
    public func open(
        _ options: TileSourceOptions = TileSourceOptions(),
        http: HTTPTileOptions = HTTPTileOptions(),
        image: ImageTileOptions = ImageTileOptions(),
        progress: (Double) -> Bool = { _ in true }
    ) throws(TileSourceError) -> any PyramidTileSource {
        switch self {
        case .mbtiles(let path, let rows): try MBTilesTileSource(path: path, rows: rows, options: options)
        case .pmtiles(let place): try PMTilesTileSource(place, http: http, options: options)
        case .tiff(let place, let tiff):
            try TIFFFile.open(place, http: http, image: image, tiff: tiff, options: options, progress: progress)
        case .geoPackage(let path, let table): try GeoPackageTileSource(path: path, table: table, options: options)
        case .iiif(let place) where !HTTPAddress.begins(place):
            try PictureFolderTileSource(iiif: place, options: options)
        case .zoomify(let place) where !HTTPAddress.begins(place):
            try PictureFolderTileSource(zoomify: place, options: options)
        case .zoomify(let place): try HTTPTileSource(zoomify: place, http: http, options: options)
        case .iiif(let place): try HTTPTileSource(iiif: place, http: http, options: options)
        case .wmts(let place): try HTTPTileSource(wmts: place, http: http, options: options)
        case .folder(let path, let layout): try FolderTileSource(path: path, layout: layout, options: options)
        case .files(let template): try FolderTileSource(template: template, options: options)
        case .tileJSON(let place): try HTTPTileSource(tileJSON: place, http: http, options: options)
        case .deepZoom(let path): try DeepZoomTileSource(path: path, options: options)
        case .image(let path): try ImageTileSource(path: path, image: image, options: options, progress: progress)
        case .http(let template): try HTTPTileSource.open(template: template, http: http, options: options)
        }
    }
}
