/// Where a tile's pixels are.
enum Residency: UInt8 {
    /// Nowhere: the entry only remembers that somebody needs the tile, that it is on its way, absent or has failed.
    case none
    /// Ready to draw in a slot.
    case decoded
    /// Ready to draw, while a worker compresses a copy.
    case demoting
    /// Compressed in a worker's scratch memory, its slot given up, being copied into pages.
    case storing
    /// Compressed in pages, or a single colour in the entry itself.
    case compressed
    /// Compressed, while somebody decompresses it into a slot.
    case promoting

    var isDecoded: Bool { self == .decoded || self == .demoting }
    var isCompressed: Bool { self == .compressed || self == .storing || self == .promoting }
    var isResident: Bool { self != .none }
}

/// What the cache has of a tile.
struct TileStanding: Sendable {
    /// Where its pixels are.
    var residency: Residency
    /// Whether there is anything: pixels, a load under way, or at least somebody who needs it.
    var isKnown: Bool
}
