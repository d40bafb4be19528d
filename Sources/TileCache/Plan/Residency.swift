/// Residency of a tile's pixels.
enum Residency: UInt8 {
    /// Not resident.
    case none
    /// Decoded in a slot.
    case decoded
    /// Decoded, while a worker compresses it.
    case demoting
    /// Compressed, being copied into pages; its slot is released.
    case storing
    /// Compressed in pages, or a single colour in the entry.
    case compressed
    /// Compressed, while a worker decompresses it.
    case promoting

    var isDecoded: Bool { @inline(__always) get { self == .decoded || self == .demoting } }
    var isCompressed: Bool { self == .compressed || self == .storing || self == .promoting }
    var isResident: Bool { self != .none }
}

/// Residency of a tile, and whether it has an entry.
struct TileResidency: Hashable, Sendable {
    var residency: Residency
    /// Whether it has an entry: for pixels, a load in flight or a need.
    var isKnown: Bool
    /// Whether its load is in flight. Default: false.
    var isLoading = false
    /// Whether it has no pixels, and no load will bring any. Default: false.
    var isUnavailable = false
}
