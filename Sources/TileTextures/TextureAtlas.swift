public import TileCache

/// Places slots in one large texture, row by row, instead of an array texture.
public struct TextureAtlas: Hashable, Sendable {
    /// Pixels a row of a slot.
    public let slotWidth: Int
    /// Rows of a slot.
    public let slotHeight: Int
    /// Slots in a row.
    public let columns: Int

    /// Creates a grid.
    ///
    /// - Parameters:
    ///   - options: The slots.
    ///   - width: Pixels a row of the texture.
    /// - Throws: ``TileCacheError/invalidConfiguration(_:)`` if the texture is narrower than a slot.
    public init(_ options: TextureSlotOptions, width: Int) throws(TileCacheError) {
        guard options.width > 0, options.height > 0, width >= options.width else {
            throw .invalidConfiguration("an atlas of at least \(options.width) pixels a row is expected, not \(width)")
        }
        slotWidth = options.width
        slotHeight = options.height
        columns = width / options.width
    }

    /// Rows of pixels that a number of slots takes.
    public func height(ofSlots count: Int) -> Int { (max(count, 0) + columns - 1) / columns * slotHeight }

    /// Pixels of a slot in the texture.
    ///
    /// - Parameters:
    ///   - slot: Index of the slot, 0 or more.
    ///   - part: In pixels of the slot, as ``TexturePlacement/slotRectangle``. Default: `nil`, all of it.
    public func rectangle(ofSlot slot: Int, part: PixelRect? = nil) -> PixelRect {
        let part = part ?? PixelRect(minX: 0, minY: 0, maxX: Double(slotWidth), maxY: Double(slotHeight))
        return part.offsetBy(x: Double(slot % columns * slotWidth), y: Double(slot / columns * slotHeight))
    }
}
