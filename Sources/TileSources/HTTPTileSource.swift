import Dispatch
import Synchronization
public import TileCache

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Tiles from a server, by an address with places for zoom, column and row.
///
/// One thread fetches, on a bounded number of reused connections; other threads decode. Cancels unwanted requests.
/// Retries transient failures with back-off, a bounded number of times; after that the cache retries with its own
/// back-off. If a tile is needed again, its answer's `ETag` or `Last-Modified` makes the request conditional. Encoded
/// bytes of tiles being fetched count against the cache's limit.
public final class HTTPTileSource: TileSource, TileDecoder, PyramidTileSource {
    /// The address with its places.
    public let name: String
    /// One level for each of the options' zooms, of a square world.
    public let pyramid: TilePyramid
    /// Pixel format and other options of the layer.
    public let layerOptions: LayerOptions

    /// The template, the zooms and the tile size.
    ///
    /// Headers are no part of it, so that a new key does not make stored tiles useless. If they select other tiles,
    /// such as a style, pass `LayerStores` a data set with that added. A key in the template is a part of it.
    public let dataSet: [String]

    private let zooms: ClosedRange<Int>
    private let template: URLTemplate
    private let tileSize: Int
    private let largestTile: Int
    private let delivery: HTTPDelivery
    private let engine: HTTPEngine

    /// Creates a source. Sends nothing to the server yet.
    ///
    /// - Parameters:
    ///   - template: `https://server/{z}/{x}/{y}.png`; `{-y}` for rows counted from the bottom.
    ///   - http: Options of the requests.
    ///   - options: Options of the pixels. Default tile size: 256.
    /// - Throws: ``TileSourceError`` if the template or an option is invalid.
    public convenience init(
        template: String,
        http: HTTPTileOptions = HTTPTileOptions(),
        options: TileSourceOptions = TileSourceOptions()
    ) throws(TileSourceError) {
        try self.init(template: template, http: http, options: options, wallClock: { Int64(time(nil)) })
    }

    /// - Parameter wallClock: Seconds since 1970, UTC.
    init(
        template: String,
        http: HTTPTileOptions,
        options: TileSourceOptions,
        wallClock: @escaping @Sendable () -> Int64
    ) throws(TileSourceError) {
        try options.check(template)
        try http.check(template)
        let parsed = try URLTemplate(template)
        tileSize = options.tileSize ?? 256
        pyramid = try MapPyramid.make(http.zooms, of: template, tileSize: tileSize, wrapsX: options.wrapsX)
        let delivery = HTTPDelivery(options, tileSize: tileSize, keeping: http.keptAnswers)
        guard let engine = HTTPEngine(http, counter: delivery.counter, wallClock: wallClock) else {
            throw TileSourceError(template, "libcurl cannot begin")
        }
        name = template
        zooms = http.zooms
        layerOptions = options.layerOptions
        dataSet = DataSetName.pixels("http", layerOptions, tileSize: tileSize) + [template, "\(zooms)"]
        self.template = parsed
        largestTile = http.largestTile.bytes
        self.delivery = delivery
        self.engine = engine
    }

    deinit { engine.stop() }

    /// Counts of loads and failures so far; each attempt counts.
    public var statistics: TileSourceStatistics { delivery.counter.statistics }

    /// Starts to fetch a tile.
    public func requestTile(_ request: TileRequest) {
        delivery.counter.count { $0.loads += 1 }
        let address = address(of: request.tile)
        engine.add(HTTPTileJob(request, address: address, limit: largestTile, delivery: delivery))
    }

    /// Decodes a tile from the server's bytes.
    public func decode(
        _ encoded: UnsafeRawBufferPointer,
        of tile: TileCoordinate,
        into pixels: inout TilePixels
    ) throws(TileFailure) {
        try delivery.images.decode(encoded, ImagePlacement(tileSize: tileSize), of: address(of: tile), into: &pixels)
    }

    private func address(of tile: TileCoordinate) -> String {
        template.address(zoom: zooms.lowerBound + tile.level, column: tile.column, row: tile.row)
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
    private let tileSize: Int
    private let queues = DecodeQueues()

    init(_ options: TileSourceOptions, tileSize: Int, keeping memory: ByteCount) {
        images = TileDelivery(options)
        kept = KeptAnswers(limit: memory.bytes)
        self.tileSize = tileSize
    }

    var counter: SourceCounter { images.counter }

    func deliver(_ answer: KeptAnswer, to request: TileRequest, from address: String) {
        queues.next.async { [self] in write(answer, to: request, from: address) }
    }

    /// Completes a request whose stored tile the server has confirmed; the cache reads it from its store again.
    func confirm(_ request: TileRequest, _ freshness: TileStoreFreshness) {
        queues.next.async {
            request.complete { pixels in
                pixels.freshness = freshness
                return .unchanged
            }
        }
    }

    private func write(_ answer: KeptAnswer, to request: TileRequest, from address: String) {
        let tile = request.tile
        request.complete { pixels in
            // Before the bytes are kept: stores are given both at once.
            pixels.freshness = answer.freshness
            let place = ImagePlacement(tileSize: tileSize)
            let failure = answer.bytes.withUnsafeBytes { images.write($0, place, of: address, into: &pixels) }
            guard failure == nil else {
                kept.forget(tile)
                // The bytes were damaged, perhaps in transit: a retry may succeed.
                throw TileFailure.transient(retryAfter: .seconds(1))
            }
            // An answer without a validator supersedes one with a validator.
            if answer.isKeepable { kept.keep(answer, for: tile) } else { kept.forget(tile) }
            return .pixels
        }
    }
}
