/// Counts of a store since it was opened, and its present sizes.
public struct TileStoreStatistics: Hashable, Sendable {
    /// Look-ups that lent an entry.
    public var hits = 0
    /// Look-ups that lent nothing, by cause. A cause that never occurred may be missing.
    public var misses: [TileStoreMiss: Int] = [:]
    /// Entries that were written.
    public var writes = 0
    /// Entries that were not written because the store had them.
    public var unchanged = 0
    /// Entries whose freshness was renewed without their payload.
    public var renewals = 0
    /// Entries that were evicted to make room. What a reset loses is not counted.
    public var evictions = 0
    /// Entries that were dropped because the buffer was full or there was no room.
    public var dropped = 0
    /// Entries that were refused. ``TileStorePut/refused`` has the causes.
    public var refused = 0
    /// Operations that failed: I/O errors, a full disk.
    public var failures = 0
    /// Times that files were replaced by empty ones: damaged, or above a lowered limit on a full disk.
    public var resets = 0
    /// Bytes of headers and payloads lent.
    public var bytesRead = ByteCount.bytes(0)
    /// Bytes of headers and payloads written.
    public var bytesWritten = ByteCount.bytes(0)
    /// Entries at present; `nil` if unknown.
    public var entries: Int?
    /// Size of all files at present; `nil` if the store has none.
    public var diskSize: ByteCount?
    /// Upper bound of the store's memory at present.
    public var memorySize = ByteCount.bytes(0)

    /// Creates counts of zero.
    public init() {}

    /// Look-ups that lent nothing.
    package var allMisses: Int { misses.values.reduce(0, +) }
}
