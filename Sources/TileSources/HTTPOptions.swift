/// How an ``HTTPTileSource`` asks its server.
public struct HTTPOptions: Hashable, Sendable {
    /// The zooms that the server has; `zooms.lowerBound` is level 0. 0 to 9 unless given, a world of 131,072 pixels with
    /// tiles of 256.
    public var zooms: ClosedRange<Int>
    /// Connections at the same time, 1 to 64; 6 unless given. Further requests wait, those that a view needs first.
    public var connections: Int
    /// Milliseconds for a connection to be made, 1 or more; 5,000 unless given.
    public var connectTimeout: Int
    /// Milliseconds for one attempt from its start to its last byte, 1 or more; 15,000 unless given.
    public var timeout: Int
    /// How often a failed request is sent again, 0 to 20; 3 unless given. Only what may pass is: time-outs, broken
    /// connections, truncated answers, and the statuses 408, 425, 429 and 500 and above.
    public var retries: Int
    /// Milliseconds before the first of those, twice as long before each further one, up to 30 seconds; 200 unless given.
    /// Each wait is drawn from half of that to all of it, so that tiles that failed together do not come back together.
    /// Where the server says how long (`Retry-After`), that counts if it is longer, up to 30 seconds.
    public var backOff: Int
    /// Bytes that an answer may have, 1 or more; 16 MiB unless given.
    public var largestTile: Int
    /// Bytes of answers that are kept with what the server named them by (`ETag`, `Last-Modified`), so that a tile that is
    /// asked for again need not be sent again; 4 MiB unless given, none at 0. They do not count against the cache's
    /// limit.
    public var keptBytes: Int
    /// Statuses that mean that there is no such tile; 204, 404 and 410 unless given.
    public var absentStatuses: Set<Int>
    /// Header lines of requests, `Name: value`, such as a key. Default: none.
    ///
    /// They are sent to the template's scheme, host and port, and to no other that a redirection names.
    public var headers: [String]
    /// Whether ``headers`` are also sent to other schemes, hosts and ports that redirections name. Default: `false`.
    public var sendsHeadersToOtherOrigins: Bool

    /// Makes options.
    public init(
        zooms: ClosedRange<Int> = 0...9,
        connections: Int = 6,
        connectTimeout: Int = 5000,
        timeout: Int = 15_000,
        retries: Int = 3,
        backOff: Int = 200,
        largestTile: Int = 16 << 20,
        keptBytes: Int = 4 << 20,
        absentStatuses: Set<Int> = [204, 404, 410],
        headers: [String] = [],
        sendsHeadersToOtherOrigins: Bool = false
    ) {
        self.zooms = zooms
        self.connections = connections
        self.connectTimeout = connectTimeout
        self.timeout = timeout
        self.retries = retries
        self.backOff = backOff
        self.largestTile = largestTile
        self.keptBytes = keptBytes
        self.absentStatuses = absentStatuses
        self.headers = headers
        self.sendsHeadersToOtherOrigins = sendsHeadersToOtherOrigins
    }

    func check(_ subject: String) throws(TileSourceError) {
        func expect(_ name: String, _ value: Int, _ range: ClosedRange<Int>) throws(TileSourceError) {
            guard !range.contains(value) else { return }
            throw TileSourceError(
                subject,
                "\(name) of \(range.lowerBound) to \(range.upperBound) was expected, not \(value)"
            )
        }
        try expect("zooms", zooms.lowerBound, MapPyramid.zooms)
        try expect("zooms", zooms.upperBound, MapPyramid.zooms)
        try expect("connections", connections, 1...64)
        try expect("connectTimeout", connectTimeout, 1...3_600_000)
        try expect("timeout", timeout, 1...3_600_000)
        try expect("retries", retries, 0...20)
        try expect("backOff", backOff, 0...3_600_000)
        try expect("largestTile", largestTile, 1...1 << 30)
        try expect("keptBytes", keptBytes, 0...1 << 40)
        for header in headers where !header.contains(":") || header.utf8.contains(where: { $0 < 32 || $0 == 127 }) {
            throw TileSourceError(subject, "a header line \"Name: value\" was expected, not \"\(header)\"")
        }
    }
}
