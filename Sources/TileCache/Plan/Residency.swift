/// Where a tile's pixels are.
enum Residency: UInt8 {
    /// Not resident: the tile is only needed, being loaded, absent or failed.
    case none
    /// Ready to draw in a slot.
    case decoded
    /// Ready to draw, while a worker compresses a copy.
    case demoting
    /// Compressed in a worker's scratch memory, being copied into pages; its slot is released.
    case storing
    /// Compressed in pages, or a single colour in the entry itself.
    case compressed
    /// Compressed, while it is being decompressed into a slot.
    case promoting

    var isDecoded: Bool { self == .decoded || self == .demoting }
    var isCompressed: Bool { self == .compressed || self == .storing || self == .promoting }
    var isResident: Bool { self != .none }
}

/// What the cache has of a tile.
struct TileStanding: Sendable {
    /// Where its pixels are.
    var residency: Residency
    /// Whether it has an entry: for pixels, a load in flight, or a view that needs it.
    var isKnown: Bool
}
