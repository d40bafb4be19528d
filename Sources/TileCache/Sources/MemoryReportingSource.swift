/// A source with lasting memory of its own, which counts against the cache's limit. An archive's directories are an
/// example.
///
/// It is asked when a layer of it is added, and about once a second while the cache plans or a view lacks room. The
/// cache evicts tiles to make room. A source of several layers counts once for each cache. Encoded bytes of requests
/// are no part of it; see ``TileRequest/holdsEncoded(_:)``.
public protocol MemoryReportingSource: AnyObject, Sendable {
    /// Bytes that the source holds now. Returns at once; called on any thread, without any lock held.
    var heldMemory: ByteCount { get }
}
