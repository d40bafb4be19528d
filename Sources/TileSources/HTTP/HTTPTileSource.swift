import Dispatch
public import TileCache

/// Tiles from a server, by an address template, or as IIIF or WMTS describes them. A template has places for zoom,
/// column and row.
///
/// One thread fetches, on a bounded number of reused connections; other threads decode. With HTTP/2 all requests share one.
/// Unwanted requests are not sent, and those under way are cut off if what is left of them costs more than the cut.
/// Retries transient failures with back-off, a bounded number of times; after that the cache retries with its own
/// back-off. A server that refuses requests (429, 503) or cannot be reached is asked less often, by all sources together
/// (``HTTPTileOptions/retries``). If a tile is needed again, its answer's `ETag` or `Last-Modified` makes the request
/// conditional. Encoded bytes of tiles being fetched count against the cache's limit.
public final class HTTPTileSource: TileSource, TileDecoder, PyramidTileSource {
    /// The address with its places, or that of the description.
    public let name: String
    /// One level for each of the options' zooms, of a square world. With IIIF or WMTS, the levels that the server
    /// describes.
    public let pyramid: TilePyramid
    /// Part of the world that is known to have tiles. WMTS's limits of the finest matrix, or all of the world.
    public let contents: PixelRect
    /// A warning if other layers or matrices of a WMTS server were not chosen, if the tiles of a IIIF image are elsewhere
    /// than its description says, if most images have another size than the tiles, or if no tile comes
    /// (``TileSourceStatistics/silence``); otherwise `nil`.
    public var warning: String? {
        let found = tiles.warning.map { "\(name): \($0)" }
        let scaled = delivery.counter.usualScaledSide.map { side in
            "\(name): most of its images are \(side) pixels wide, other than its tiles, and are scaled, which costs "
                + "sharpness or memory"
        }
        let own = [stated, found, scaled].compactMap(\.self)
        return delivery.counter.warning(own.isEmpty ? nil : own.joined(separator: "; "), of: name)
    }
    /// Pixel format and other options of the layer.
    public let layerOptions: LayerOptions

    /// The template, the zooms and the tile size, or the same of a description.
    ///
    /// Headers are no part of it, so that a new key does not make stored tiles useless. If they select other tiles,
    /// such as a style, pass `LayerStores` a data set with that added. A key in the template is a part of it.
    public let dataSet: [String]

    private let stated: String?
    private let home: String?
    private let tiles: any ServerTiles
    private let largestTile: Int
    private let delivery: HTTPDelivery
    private let engine: HTTPEngine

    /// Creates a source. Sends nothing to the server yet; ``tileSize(template:http:)`` asks it for the size of its tiles.
    ///
    /// - Parameters:
    ///   - template: `https://server/{z}/{x}/{y}.png`; `{-y}` for rows counted from the bottom.
    ///   - http: Options of the requests.
    ///   - options: Options of the pixels. Default tile size: 256. Square images of another size are scaled.
    /// - Throws: ``TileSourceError`` if the template or an option is invalid.
    public convenience init(
        template: String,
        http: HTTPTileOptions = HTTPTileOptions(),
        options: TileSourceOptions = TileSourceOptions()
    ) throws(TileSourceError) {
        try self.init(template: template, http: http, options: options, wallClock: wallClockSeconds)
    }

    /// - Parameter wallClock: Seconds since 1970, UTC.
    convenience init(
        template: String,
        http: HTTPTileOptions,
        options: TileSourceOptions,
        wallClock: @escaping @Sendable () -> Int64
    ) throws(TileSourceError) {
        try self.init(template, http, options, wallClock) { _ throws(TileSourceError) in
            try TemplateTiles.served(
                try TileTemplate(template),
                as: template,
                zooms: http.zooms,
                bounds: http.bounds,
                tileSize: options.tileSize ?? 256,
                options
            )
        }
    }

    /// Opens the tiles that a TileJSON describes. Fetches it, or reads a file, and asks for one tile, for its size.
    ///
    /// - Parameters:
    ///   - address: Address of the TileJSON, or the path of a file. Its tiles are those of a template, with its `minzoom`,
    ///     `maxzoom`, `bounds` and `scheme`.
    ///   - http: Options of the requests; `zooms` and `bounds` are ignored. `headers` are sent to the scheme, host and port of
    ///     `address` only, or, for a file, with each request.
    ///   - options: Options of the pixels. Default tile size: that of the first tile, else 256.
    /// - Throws: ``TileSourceError`` if the server does not answer, or with the field that is invalid.
    public convenience init(
        tileJSON address: String,
        http: HTTPTileOptions = HTTPTileOptions(),
        options: TileSourceOptions = TileSourceOptions()
    ) throws(TileSourceError) {
        let isServed = HTTPAddress.begins(address)
        if isServed { try HTTPAddress.check(address, address) }
        try self.init(address, http, options, wallClockSeconds) { engine throws(TileSourceError) in
            let bytes =
                try isServed
                ? HTTPDocument.get(address, limit: TileJSON.largestFile, engine)
                : Files.read(address, limit: TileJSON.largestFile).required(address, "a TileJSON")
            let set = try TileJSON(bytes, address: address)
            let part = set.bounds?.part(of: set.template.choice.world ?? options.world ?? .square)
            let (home, limit) = (isServed ? address : nil, http.largestTile.bytes)
            let size =
                options.tileSize ?? set.tileSize
                ?? Self.tileSize(set.template, zooms: set.zooms, part: part, limit: limit, home: home, engine)
            var served = try TemplateTiles.served(
                set.template,
                as: address,
                zooms: set.zooms,
                bounds: set.bounds,
                tileSize: size ?? 256,
                options
            )
            served.home = home
            return served
        }
    }

    /// Opens an image of the IIIF Image API, version 1, 2 or 3. Fetches its `info.json` and waits for it.
    ///
    /// - Parameters:
    ///   - address: Address of the image or of its `info.json`.
    ///   - http: Options of the requests; `zooms` is ignored. `headers` are sent to the scheme, host and port of
    ///     `address` only, even if `info.json` names others.
    ///   - options: Options of the pixels; the tile size is for servers that do not list tiles. Default there: 512.
    /// - Throws: ``TileSourceError`` if the server does not answer, or with the field of `info.json` that is invalid.
    public convenience init(
        iiif address: String,
        http: HTTPTileOptions = HTTPTileOptions(),
        options: TileSourceOptions = TileSourceOptions()
    ) throws(TileSourceError) {
        try HTTPAddress.check(address, address)
        let place = try IIIFImage.description(of: address)
        try self.init(address, http, options, wallClockSeconds) { engine throws(TileSourceError) in
            let bytes = try HTTPDocument.get(place, limit: IIIFImage.largestFile, engine)
            let image = try IIIFImage(bytes, address: place, tileSize: options.tileSize)
            return try image.served(as: address, home: place, wrapsX: options.wrapsX)
        }
    }

    /// Opens a Zoomify image. Fetches its `ImageProperties.xml` and waits for it.
    ///
    /// - Parameters:
    ///   - address: Address of the image's folder, or of its `ImageProperties.xml`.
    ///   - http: Options of the requests; `zooms` is ignored.
    ///   - options: Options of the pixels; the tile size is the description's.
    /// - Throws: ``TileSourceError`` if the server does not answer, or with the attribute that is invalid.
    public convenience init(
        zoomify address: String,
        http: HTTPTileOptions = HTTPTileOptions(),
        options: TileSourceOptions = TileSourceOptions()
    ) throws(TileSourceError) {
        try HTTPAddress.check(address, address)
        let (place, base, end) = ZoomifyImage.description(of: address)
        try self.init(address, http, options, wallClockSeconds) { engine throws(TileSourceError) in
            let bytes = try HTTPDocument.get(place, limit: ZoomifyImage.largestFile, engine)
            let image = try ZoomifyImage(bytes, path: place, base: base, end: ".jpg" + end)
            return try image.served(as: address, home: place, wrapsX: options.wrapsX)
        }
    }

    /// Opens a layer of a WMTS server, version 1.0.0. Fetches its capabilities and waits for them.
    ///
    /// - Parameters:
    ///   - address: Address of the capabilities. After `#`, `layer`, `matrixSet`, `style` and `format` choose, joined
    ///     by `&`. Default: the first layer with images, its first matrix set, and its default style.
    ///   - http: Options of the requests; `zooms` is ignored. `headers` are sent to the scheme, host and port of
    ///     `address` only, even if the tiles are elsewhere.
    ///   - options: Options of the pixels; the tile sizes are the server's.
    /// - Throws: ``TileSourceError`` if the server does not answer, or with the element that is invalid.
    public convenience init(
        wmts address: String,
        http: HTTPTileOptions = HTTPTileOptions(),
        options: TileSourceOptions = TileSourceOptions()
    ) throws(TileSourceError) {
        let choice = try WMTSChoice(address)
        try self.init(address, http, options, wallClockSeconds) { engine throws(TileSourceError) in
            let bytes = try HTTPDocument.get(choice.address, limit: WMTSLayer.largestFile, engine)
            let layer = try WMTSLayer(bytes, choice)
            return try layer.served(as: address, home: choice.address, wrapsX: options.wrapsX)
        }
    }

    /// - Parameter describe: Finds out what the server has; the engine is there to ask it.
    private init(
        _ address: String,
        _ http: HTTPTileOptions,
        _ options: TileSourceOptions,
        _ wallClock: @escaping @Sendable () -> Int64,
        _ describe: (HTTPEngine) throws(TileSourceError) -> ServedPyramid
    ) throws(TileSourceError) {
        try options.check(address)
        try http.check(address)
        delivery = HTTPDelivery(options, http, wallClock: wallClock)
        guard let engine = HTTPEngine(http, counter: delivery.counter, wallClock: wallClock) else {
            throw TileSourceError(address, "libcurl cannot begin")
        }
        let served: ServedPyramid
        do { served = try describe(engine) } catch {
            engine.stop()
            throw error
        }
        (name, home, pyramid, tiles, stated) = (
            served.name, served.home, served.pyramid, served.tiles, served.warning
        )
        let world = PixelRect(minX: 0, minY: 0, maxX: served.pyramid.worldWidth, maxY: served.pyramid.worldHeight)
        contents = served.contents ?? world
        layerOptions = options.layerOptions
        dataSet =
            DataSetName.pixels(served.kind, options.layerOptions, tileSize: served.tileSize) + served.identity
        largestTile = http.largestTile.bytes
        self.engine = engine
    }

    deinit { engine.stop() }

    /// Counts of loads and failures so far; each attempt counts.
    public var statistics: TileSourceStatistics { delivery.counter.statistics }

    /// Seconds that stores keep what lies outside of a layer's limits: a day.
    private static let absenceTime: Int64 = 86_400

    /// Starts to fetch a tile.
    public func requestTile(_ request: TileRequest) {
        delivery.counter.countLoad()
        let addresses = tiles.addresses(of: request.tile)
        guard !addresses.isEmpty else {
            delivery.counter.countAbsent("\(name): tile \(request.tile)")
            // The server may extend its limits, which are no part of the data set.
            let now = engine.wallClock()
            return request.completeAbsent(freshness: TileStoreFreshness(stored: now, expires: now + Self.absenceTime))
        }
        HTTPTileJob.Search(tiles: tiles, home: home, limit: largestTile, delivery: delivery, engine: engine)
            .begin(request, addresses[...])
    }

    /// Decodes a tile from the server's bytes.
    public func decode(
        _ encoded: UnsafeRawBufferPointer,
        of tile: TileCoordinate,
        into pixels: inout TilePixels
    ) throws(TileFailure) {
        let subject = tiles.address(of: tile) ?? "\(name): tile \(tile)"
        try delivery.images.decode(encoded, tiles.placement(of: tile), of: subject, into: &pixels)
    }
}

/// Two queues for decoding, in turn.
final class DecodeQueues: Sendable {
    // Serial: a concurrent queue shares its threads with the rest of the process.
    private let queues = (0..<2).map { DispatchQueue(label: "TileSources.decode.\($0)") }
    private let turn = Lock(0)

    var next: DispatchQueue {
        turn.withLock { turn -> DispatchQueue in
            turn = (turn + 1) % queues.count
            return queues[turn]
        }
    }
}

/// Decodes answers on its own queues, so that the loop continues to fetch.
final class HTTPDelivery: Sendable {
    let images: TileDelivery
    let kept: KeptAnswers
    private let largestTile: Int
    private let queues = DecodeQueues()
    private let wallClock: @Sendable () -> Int64

    init(_ options: TileSourceOptions, _ http: HTTPTileOptions, wallClock: @escaping @Sendable () -> Int64) {
        self.wallClock = wallClock
        images = TileDelivery(options)
        kept = KeptAnswers(limit: http.keptAnswers.bytes)
        largestTile = http.largestTile.bytes
    }

    var counter: SourceCounter { images.counter }

    func deliver(_ answer: KeptAnswer, to request: TileRequest, at place: ImagePlacement, from address: String) {
        queues.next.async { [self] in write(answer, to: request, at: place, from: address) }
    }

    /// Completes a request whose tile the server has confirmed. The cache has it in memory, or reads it from its store.
    func confirm(_ request: TileRequest, _ freshness: TileStoreFreshness) {
        queues.next.async { request.completeUnchanged(freshness: freshness) }
    }

    private func write(
        _ answer: KeptAnswer,
        to request: TileRequest,
        at place: ImagePlacement,
        from address: String
    ) {
        let tile = request.tile
        var answer = answer
        // Some servers compress in spite of `identity`.
        do {
            answer.bytes = try Gzip.plain(answer.bytes, limit: largestTile) {
                request.holdsEncoded(.bytes($0))
            }.get()
        } catch {
            counter.count(error, of: address)
            kept.forget(tile)
            return request.fail(error.cause == .tooLarge || error.mayPass ? error.failure : retry(of: answer))
        }
        guard !answer.bytes.isEmpty else {
            counter.countAbsent(address)
            keep(answer, for: tile)
            return request.completeAbsent(freshness: answer.freshness)
        }
        request.complete { [answer] pixels in
            // Before the bytes are kept: stores are given both at once.
            pixels.freshness = answer.freshness
            let failure = answer.bytes.withUnsafeBytes { images.write($0, place, of: address, into: &pixels) }
            if let failure {
                kept.forget(tile)
                throw failure == .permanent ? retry(of: answer) : failure
            }
            keep(answer, for: tile)
            return .pixels
        }
    }

    /// Keeps an answer for conditional requests. One without a validator supersedes one with a validator.
    private func keep(_ answer: KeptAnswer, for tile: TileCoordinate) {
        if answer.isKeepable { kept.keep(answer, for: tile) } else { kept.forget(tile) }
    }

    /// Failure of an answer that cannot be used. The server would send the same until its lifetime ends, if it states
    /// one; otherwise the bytes may have been damaged in transit.
    private func retry(of answer: KeptAnswer) -> TileFailure {
        let left = answer.isExplicit ? (answer.freshness.expires ?? 0) - wallClock() : 0
        return .transient(retryAfter: .seconds(min(max(left, 1), Self.longestRetry)))
    }

    /// Maximum lifetime of an answer that cannot be used, in seconds: a day.
    private static let longestRetry: Int64 = 86_400
}
