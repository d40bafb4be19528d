public import TileCache

/// Settings of a ``TileSharedStore``.
public struct TileSharedStoreOptions: Hashable, Sendable {
    /// Longest wait for the answer to a look-up, 1 ms to 10 s. Default: 20 ms.
    public var answerTime: Duration
    /// Longest wait for a connection, 1 ms to 10 s. Default: 100 ms. A look-up does not wait longer than
    /// ``answerTime`` for it.
    public var connectTime: Duration
    /// Time to live of the lock of a tile, 1 s to 1 h. Default: 10 s.
    ///
    /// Other processes wait for a tile that this one loads, at most for this time. If this process ends before it has stored the tile, others load it after this time.
    public var loadTime: Duration
    /// Longest wait for a tile that another process loads, 0 to 1 h. Default: 1 s.
    ///
    /// Used if the caller gives no deadline.
    public var longestWait: Duration
    /// Look-ups that may be in flight at a time, 1 to 64. Default: 4.
    ///
    /// Each has its own connections. A look-up that finds none free is a miss, unless it waits for another process.
    public var connections: Int
    /// Size of the largest entry, 1 KiB to 128 MiB. Default: 1 MiB less 1 KiB.
    ///
    /// The header is included. Servers refuse values over 1 MiB unless they are started with `-I`.
    public var largestEntry: ByteCount
    /// Size of entries that wait to be sent, ``largestEntry`` to 1 GiB. Default: 8 MiB. Entries beyond are dropped.
    public var writeBuffer: ByteCount

    /// Creates settings.
    public init(
        answerTime: Duration = .milliseconds(20),
        connectTime: Duration = .milliseconds(100),
        loadTime: Duration = .seconds(10),
        longestWait: Duration = .seconds(1),
        connections: Int = 4,
        largestEntry: ByteCount = .kibibytes(1023),
        writeBuffer: ByteCount = .mebibytes(8)
    ) {
        self.answerTime = answerTime
        self.connectTime = connectTime
        self.loadTime = loadTime
        self.longestWait = longestWait
        self.connections = connections
        self.largestEntry = largestEntry
        self.writeBuffer = writeBuffer
    }

    func check() throws(TileSharedStoreError) {
        func check<Value>(_ name: String, _ value: Value, _ range: ClosedRange<Value>) throws(TileSharedStoreError) {
            guard !range.contains(value) else { return }
            throw TileSharedStoreError("\(name): \(range.lowerBound) to \(range.upperBound) was expected, not \(value)")
        }
        try check("answerTime", answerTime, Duration.milliseconds(1) ... .seconds(10))
        try check("connectTime", connectTime, Duration.milliseconds(1) ... .seconds(10))
        try check("loadTime", loadTime, Duration.seconds(1) ... .seconds(3600))
        try check("longestWait", longestWait, Duration.zero ... .seconds(3600))
        try check("connections", connections, 1...64)
        try check("largestEntry", largestEntry.bytes, 1024...128 << 20)
        try check("writeBuffer", writeBuffer.bytes, largestEntry.bytes...1 << 30)
    }
}
