import TileCache

extension HTTPTileSource {
    /// Tiles that are asked for.
    private static let mostTiles = 4
    /// Time for that; what has begun may end.
    private static let patience = Duration.seconds(5)

    /// Asks a server with addresses by a template for the size of its tiles. Fetches one tile of the first zoom, in the
    /// middle of the options' bounds; if it is not there or no image of a tile, one of each of the next three zooms. Waits
    /// for up to ten seconds.
    ///
    /// - Parameters:
    ///   - template: As for ``init(template:http:options:)``.
    ///   - http: Options of the requests. There are no retries, and an attempt takes at most five seconds.
    /// - Returns: Pixels a side; `nil` if no such tile came.
    /// - Throws: ``TileSourceError`` if the template or an option is invalid.
    public static func tileSize(
        template: String,
        http: HTTPTileOptions = HTTPTileOptions()
    ) throws(TileSourceError) -> Int? {
        let parsed = try TileTemplate(template)
        try http.check(template)
        var once = http
        once.retries = 0
        once.timeout = min(http.timeout, patience)
        guard let engine = HTTPEngine(once, counter: SourceCounter(), wallClock: wallClockSeconds) else {
            throw TileSourceError(template, "libcurl cannot begin")
        }
        defer { engine.stop() }
        let part = http.bounds?.part(of: parsed.choice.world ?? .square)
        return tileSize(parsed, zooms: http.zooms, part: part, limit: http.largestTile.bytes, engine)
    }

    /// - Parameters:
    ///   - part: Part of the world with tiles, with both axes from 0 to 1; all of it for `nil`.
    ///   - limit: Maximum bytes of a tile.
    ///   - home: Address whose origin gets the options' headers. Default: that of the tile.
    static func tileSize(
        _ template: TileTemplate,
        zooms: ClosedRange<Int>,
        part: PixelRect?,
        limit: Int,
        home: String? = nil,
        _ engine: HTTPEngine
    ) -> Int? {
        let part = part ?? PixelRect(minX: 0, minY: 0, maxX: 1, maxY: 1)
        let end = MonotonicTime.now.nanoseconds + Int64(patience / .nanoseconds(1))
        for zoom in zooms.prefix(mostTiles) where MonotonicTime.now.nanoseconds < end {
            func middle(_ first: Double, _ last: Double, _ count: Int) -> Int {
                min(Int((first + last) / 2 * Double(count)), count - 1)
            }
            let address = template.address(
                zoom: zoom,
                column: middle(part.minX, part.maxX, (template.choice.world ?? .square).width << zoom),
                row: middle(part.minY, part.maxY, 1 << zoom)
            )
            guard let image = try? HTTPDocument.get(address, home: home, limit: limit, engine),
                case .success(let size) = TileSizeSamples.size(of: image, address)
            else { continue }
            return size
        }
        return nil
    }

    /// Opens a template, and asks for the size of its tiles unless it is set.
    static func open(
        template: String,
        http: HTTPTileOptions,
        options: TileSourceOptions
    ) throws(TileSourceError) -> HTTPTileSource {
        var options = options
        try options.check(template)
        if options.tileSize == nil { options.tileSize = try tileSize(template: template, http: http) }
        return try HTTPTileSource(template: template, http: http, options: options)
    }
}
