public import TileCache

/// Options of the requests of an ``HTTPTileSource``.
public struct HTTPTileOptions: Hashable, Sendable {
    /// Zooms of the server; `zooms.lowerBound` is level 0. Default: 0...9, a world of 131,072 pixels with tiles of 256.
    public var zooms: ClosedRange<Int>
    /// Part of the earth that the server has tiles of. Default: `nil`, all of it. For addresses with `{z}`, `{x}` and `{y}`
    /// alone: other sources know theirs. Nothing beside it is requested.
    public var bounds: MapBounds?
    /// Concurrent connections, 1...64. Default: 6. Each has one request at a time, and further requests wait; those that a
    /// view needs start first. With HTTP/2 (`https`, if the server agrees) the requests to one server share a connection. More
    /// connections are opened only if the server limits its streams, or for more than 32 requests at a time.
    public var connections: Int
    /// Maximum time to connect, 1 ms to an hour. Default: 5 s.
    public var connectTimeout: Duration
    /// Maximum time of one attempt, 1 ms to an hour. From its start to its last byte. Default: 15 s. Opening a source
    /// waits for all attempts of its requests, and for the pauses between them: about a minute with the defaults if a
    /// server does not answer.
    public var timeout: Duration
    /// Maximum number of retries of a request, 0...20. Default: 3. Only transient failures are retried: time-outs,
    /// broken connections, truncated answers, and the statuses 408, 425 and 500 and above. But after 429, 503 and without a
    /// connection the server itself gets a pause, and the tile is requested later; only while a source is opened is the
    /// request itself retried.
    public var retries: Int
    /// Back-off before the first retry, 0 to an hour. Default: 0.2 s. Doubled for each further one, up to 30 s. Each
    /// wait is random, from half of that to all of it, so that tiles that failed together are not retried together. A
    /// longer `Retry-After` of the server replaces it, up to 30 s. A source is not opened if the server asks for more
    /// than 5 s.
    public var backOff: Duration
    /// Maximum size of an answer, 1 byte to 1 GiB. Default: 16 MiB.
    public var largestTile: ByteCount
    /// Memory for answers with an `ETag` or `Last-Modified`, which allow conditional requests; 0 to 1 TiB. Default: 4
    /// MiB. It does not count against the cache's limit.
    public var keptAnswers: ByteCount
    /// Statuses that mean that a tile does not exist. Default: 204, 404 and 410.
    public var absentStatuses: Set<Int>
    /// Header lines of requests, `Name: value`, such as a key. Default: none.
    ///
    /// Sent to the template's scheme, host and port only, not to other targets of redirections. If the template has a
    /// place in its host, each tile has its own.
    public var headers: [String]
    /// Whether ``headers`` are also sent to other schemes, hosts and ports of redirections. Default: `false`.
    public var sendsHeadersToOtherOrigins: Bool

    /// Time for which a stored tile is drawn after it expires, 0 to 3650 days. Default: 7 days. Meanwhile it is
    /// revalidated.
    ///
    /// What the server states counts more: `stale-while-revalidate` or `stale-if-error` replaces it, and `no-cache` or
    /// `must-revalidate` forbids it.
    public var usesStale: Duration

    /// File of the certificates that sign those of servers, for tests. Default: `nil`, libcurl's own.
    var trustedCertificates: String?

    /// Creates options.
    public init(
        zooms: ClosedRange<Int> = 0...9,
        bounds: MapBounds? = nil,
        connections: Int = 6,
        connectTimeout: Duration = .seconds(5),
        timeout: Duration = .seconds(15),
        retries: Int = 3,
        backOff: Duration = .milliseconds(200),
        largestTile: ByteCount = .mebibytes(16),
        keptAnswers: ByteCount = .mebibytes(4),
        absentStatuses: Set<Int> = [204, 404, 410],
        headers: [String] = [],
        sendsHeadersToOtherOrigins: Bool = false,
        usesStale: Duration = .seconds(7 * 86_400)
    ) {
        self.zooms = zooms
        self.bounds = bounds
        self.connections = connections
        self.connectTimeout = connectTimeout
        self.timeout = timeout
        self.retries = retries
        self.backOff = backOff
        self.largestTile = largestTile
        self.keptAnswers = keptAnswers
        self.absentStatuses = absentStatuses
        self.headers = headers
        self.sendsHeadersToOtherOrigins = sendsHeadersToOtherOrigins
        self.usesStale = usesStale
    }

    func check(_ subject: String) throws(TileSourceError) {
        func expect<Value: Comparable>(
            _ name: String,
            _ value: Value,
            _ range: ClosedRange<Value>
        ) throws(TileSourceError) {
            guard !range.contains(value) else { return }
            throw TileSourceError(
                subject,
                "\(name) of \(range.lowerBound) to \(range.upperBound) was expected, not \(value)"
            )
        }
        try expect("a zoom", zooms.lowerBound, MapPyramid.zooms)
        try expect("a zoom", zooms.upperBound, MapPyramid.zooms)
        if let bounds, bounds.part() == nil {
            throw TileSourceError(
                subject,
                "bounds of west < east within -180 to 180 and south < north within -90 to 90 degrees were expected, not "
                    + "\(bounds)"
            )
        }
        try expect("connections", connections, 1...64)
        try expect("connectTimeout", connectTimeout, .milliseconds(1) ... .seconds(3600))
        try expect("timeout", timeout, .milliseconds(1) ... .seconds(3600))
        try expect("retries", retries, 0...20)
        try expect("backOff", backOff, .zero ... .seconds(3600))
        try expect("largestTile", largestTile, .bytes(1) ... .gibibytes(1))
        try expect("keptAnswers", keptAnswers, .bytes(0) ... .gibibytes(1024))
        try expect("usesStale", usesStale, .zero ... .seconds(3650 * 86_400))
        for (index, header) in headers.enumerated()
        where !header.contains(":") || header.utf8.contains(where: { $0 < 32 || $0 == 127 }) {
            // Its text may be a key.
            throw TileSourceError(
                subject,
                "a header line \"Name: value\" without control characters was expected; number \(index + 1) is none"
            )
        }
    }
}
