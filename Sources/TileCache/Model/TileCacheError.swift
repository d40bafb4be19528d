/// Errors in a caller's arguments; each case describes what was expected.
public enum TileCacheError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The levels do not form a valid pyramid.
    case invalidPyramid(String)
    /// A setting is out of its range.
    case invalidConfiguration(String)
    /// A layer's tiles do not fit the byte limit, or one of its options is out of its range.
    case invalidLayer(String)
    /// The system denied memory or addresses that a cache or a layer reserves at its start.
    case outOfMemory(size: ByteCount)
    /// The bytes of a ``PrefetchProfile`` are none, or damaged. Names the field and what was expected.
    case invalidProfile(String)
    /// The cache has been shut down.
    case isShutDown

    static let forked = invalidConfiguration("a process made by fork() cannot use its parent's caches, nor make one")

    /// A full sentence for a log or a terminal.
    public var description: String {
        switch self {
        case .invalidPyramid(let reason): "invalid pyramid: \(reason)"
        case .invalidConfiguration(let reason): "invalid configuration: \(reason)"
        case .invalidLayer(let reason): "invalid layer: \(reason)"
        case .invalidProfile(let reason): "profile: \(reason)"
        case .outOfMemory(let size): "the system denied \(size.bytes) bytes of memory"
        case .isShutDown: "the cache has been shut down"
        }
    }
}
