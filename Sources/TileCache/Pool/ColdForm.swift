/// What the compressed tier has of a tile.
enum ColdForm: Hashable {
    case none
    /// What compression made of the pixels.
    case block(PageAllocator.Block)
    /// The pixel of a tile of a single colour, which takes no page.
    case solid(UInt64)
    /// The source's own encoded bytes (JPEG, WebP) and their checksum. They stay beside decoded pixels.
    case encoded(checksum: UInt64, PageAllocator.Block)

    /// Where it lies.
    var block: PageAllocator.Block? {
        switch self {
        case .none, .solid: nil
        case .block(let block), .encoded(_, let block): block
        }
    }
    /// Bytes before rounding to units.
    var byteCount: Int { block.map { Int($0.byteCount) } ?? 0 }
    var isSolid: Bool { if case .solid = self { true } else { false } }
    var isEncoded: Bool { if case .encoded = self { true } else { false } }
}
