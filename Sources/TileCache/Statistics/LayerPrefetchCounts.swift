/// Prefetches of one layer since it was added, and what of them was drawn.
public struct LayerPrefetchCounts: Hashable, Sendable, CountFields {
    /// Prefetches that began, from the source or a store.
    public internal(set) var started = 0
    /// Requests of prefetches to the source. A synthesized tile counts as the tiles that it may be made of.
    public internal(set) var requests = 0
    /// Prefetches that were drawn later.
    public internal(set) var drawn = 0
    /// Prefetches that a view needed while they were in flight.
    public internal(set) var late = 0
    /// How often a ceiling delayed a prefetch whose turn had come. A prefetch that waits for long counts many times.
    public internal(set) var heldBack = 0
    var byteTotal = 0
    var drawnByteTotal = 0

    /// All counts are 0.
    package init() {}

    static var fields: [WritableKeyPath<Self, Int>] {
        [\.started, \.requests, \.drawn, \.late, \.heldBack, \.byteTotal, \.drawnByteTotal]
    }

    /// Decoded bytes of the prefetches that began.
    public var bytes: ByteCount { .bytes(byteTotal) }
    /// Decoded bytes of the prefetches that were drawn later.
    public var drawnBytes: ByteCount { .bytes(drawnByteTotal) }

    /// Adds field by field.
    package static func + (a: Self, b: Self) -> Self { a.combined(with: b, +) }
    /// Subtracts field by field.
    public static func - (a: Self, b: Self) -> Self { a.combined(with: b, -) }
}
