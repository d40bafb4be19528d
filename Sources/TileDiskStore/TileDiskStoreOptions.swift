public import TileCache

/// Settings of a disk store, beside its folder and its limit.
public struct TileDiskStoreOptions: Hashable, Sendable {
    /// Size of the write buffer, 64 KiB to 1 GiB. Default: 4 MiB.
    ///
    /// Entries without room are dropped. The largest payload that is accepted is half of the buffer or an eighth of the
    /// store's limit, whichever is less.
    public var writeBuffer: ByteCount
    /// Look-ups that read at the same time, 1 ... 64; further ones wait. Default: 4.
    public var readers: Int
    /// Longest time that a look-up waits for a lock or a connection. Default: 50 ms.
    ///
    /// A look-up's own deadline may end it earlier.
    public var longestWait: Duration
    /// Time for which entries are collected before they are written. Default: 100 ms.
    public var writeDelay: Duration
    /// Name of the VFS of SQLite, for tests. Default: that of the system.
    package var vfs: String?

    /// Limits that a store takes, in bytes.
    package static let limits = DiskBudget.smallestLimit...DiskBudget.largestLimit

    /// Creates settings.
    public init(
        writeBuffer: ByteCount = .mebibytes(4),
        readers: Int = 4,
        longestWait: Duration = .milliseconds(50),
        writeDelay: Duration = .milliseconds(100)
    ) {
        self.writeBuffer = writeBuffer
        self.readers = readers
        self.longestWait = longestWait
        self.writeDelay = writeDelay
    }

    func check(limit: Int) throws(TileDiskStoreError) {
        func require(_ condition: Bool, _ text: String) throws(TileDiskStoreError) {
            if !condition { throw .invalidConfiguration(text) }
        }
        try require(
            Self.limits ~= limit,
            "the limit is \(limit) bytes; \(Self.limits.lowerBound) ... \(Self.limits.upperBound) expected"
        )
        try require(
            writeBuffer >= .kibibytes(64) && writeBuffer <= .gibibytes(1),
            "writeBuffer is \(writeBuffer.bytes) bytes; 65536 ... 1073741824 expected"
        )
        try require(1...64 ~= readers, "readers is \(readers); 1 ... 64 expected")
        try require(longestWait >= .zero, "longestWait is negative; 0 or more expected")
        try require(writeDelay >= .zero, "writeDelay is negative; 0 or more expected")
    }
}
