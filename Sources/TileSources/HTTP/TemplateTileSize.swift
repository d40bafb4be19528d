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
        let parsed = try URLTemplate(template)
        try http.check(template)
        var once = http
        once.retries = 0
        once.timeout = min(http.timeout, patience)
        guard let engine = HTTPEngine(once, counter: SourceCounter(), wallClock: wallClockSeconds) else {
            throw TileSourceError(template, "libcurl cannot begin")
        }
        defer { engine.stop() }
        let part = http.bounds?.part ?? PixelRect(minX: 0, minY: 0, maxX: 1, maxY: 1)
        let end = MonotonicTime.now.nanoseconds + Int64(patience / .nanoseconds(1))
        for zoom in http.zooms.prefix(mostTiles) where MonotonicTime.now.nanoseconds < end {
            func middle(_ first: Double, _ last: Double) -> Int {
                min(Int((first + last) / 2 * Double(1 << zoom)), (1 << zoom) - 1)
            }
            let address = parsed.address(
                zoom: zoom,
                column: middle(part.minX, part.maxX),
                row: middle(part.minY, part.maxY)
            )
            guard let image = try? HTTPDocument.get(address, limit: http.largestTile.bytes, engine),
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
