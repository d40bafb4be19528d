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
    /// - Throws: ``TileCacheError/invalidConfiguration(_:)`` if an option is out of its range, or the texture is narrower
    ///   than a slot.
    public init(_ options: TextureSlotOptions, width: Int) throws(TileCacheError) {
        try options.check()
        guard width >= options.width else {
            throw .invalidConfiguration("an atlas of at least \(options.width) pixels a row is expected, not \(width)")
        }
        slotWidth = options.width
        slotHeight = options.height
        columns = width / options.width
    }

    /// Rows of pixels that a number of slots takes, clamped to 0...65,536 slots.
    public func height(ofSlots count: Int) -> Int {
        let count = min(max(count, 0), TextureSlotOptions.maximumSlots)
        return count == 0 ? 0 : ((count - 1) / columns + 1) * slotHeight
    }

    /// Pixels of a slot in the texture.
    ///
    /// - Parameters:
    ///   - slot: Index of the slot, clamped to 0...65,535.
    ///   - part: In pixels of the slot, as ``TexturePlacement/slotRectangle``. Default: `nil`, all of it.
    public func rectangle(ofSlot slot: Int, part: PixelRect? = nil) -> PixelRect {
        let slot = min(max(slot, 0), TextureSlotOptions.maximumSlots - 1)
        let part = part ?? PixelRect(minX: 0, minY: 0, maxX: Double(slotWidth), maxY: Double(slotHeight))
        return part.offsetBy(x: Double(slot % columns * slotWidth), y: Double(slot / columns * slotHeight))
    }
}
