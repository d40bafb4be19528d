/// Form of a tile in the compressed tier.
enum ColdForm: Hashable {
    case none
    /// A compressed block.
    case block(PageAllocator.Block)
    /// Pixel of a tile of a single colour; takes no page.
    case solid(UInt64)
    /// The source's encoded bytes (JPEG, WebP) and their checksum; kept beside decoded pixels.
    case encoded(checksum: UInt64, PageAllocator.Block)

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
