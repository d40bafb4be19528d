package import TileCache

/// Tile of a layer, whatever its pixels.
package struct TextureKey: Hashable, Sendable {
    package let layer: LayerID
    package let tile: TileCoordinate

    package init(layer: LayerID, tile: TileCoordinate) {
        self.layer = layer
        self.tile = tile
    }
}

/// The ledger of slots: which tile each of them holds, and which are free.
///
/// Slots beyond a lowered limit take no tiles. They exist until the last of them is released.
struct SlotTable: Sendable {
    struct Slot: Sendable {
        /// The tile; `nil` if the slot is free.
        var key: TextureKey?
        var generation: UInt32 = 0
        /// World rectangle of the tile, in the copy that begins at 0.
        var area = PixelRect(minX: 0, minY: 0, maxX: 0, maxY: 0)
        /// Frame in which it was last drawn or uploaded.
        var lastUse = 0
        var uploadedAt = 0
        /// Worth of the tile, if it was set in this frame.
        var worth: Float = 0
        var worthAt = 0
        /// Parts of the screen that draw it.
        var uses = 0
        /// Whether it was uploaded ahead and has not been drawn.
        var isUnseen = false
    }

    private(set) var slots: [Slot]
    private(set) var limit: Int
    private var indices: [TextureKey: Int] = [:]
    private var free: [Int]
    /// Number of tiles by level: most levels have none, and are not searched.
    private var levelCounts = [Int](repeating: 0, count: TilePyramid.maximumLevelCount)

    init(limit: Int) {
        self.limit = limit
        slots = [Slot](repeating: Slot(), count: limit)
        free = (0..<limit).reversed()
    }

    var usedCount: Int { indices.count }
    func find(_ key: TextureKey) -> Int? { indices[key] }
    func hasTiles(ofLevel level: Int) -> Bool { levelCounts[level] > 0 }

    /// Takes a free slot below the limit.
    mutating func takeFree() -> Int? { free.popLast() }

    /// Puts a tile into a slot that was taken or holds another tile. A tile has one slot: another one is released.
    mutating func assign(_ slot: Int, to key: TextureKey, generation: UInt32, frame: Int, isAhead: Bool) {
        if let former = slots[slot].key, former != key { forget(former) }
        if let other = indices[key] {
            if other != slot { release(other) }
        }
        if indices.updateValue(slot, forKey: key) == nil { levelCounts[key.tile.level] += 1 }
        slots[slot] = Slot(
            key: key,
            generation: generation,
            lastUse: frame,
            uploadedAt: frame,
            uses: slots[slot].key == key ? slots[slot].uses : 0,
            isUnseen: isAhead
        )
    }

    mutating func release(_ slot: Int) {
        guard let key = slots[slot].key else { return }
        forget(key)
        slots[slot] = Slot()
        if slot < limit { free.append(slot) }
        cut()
    }

    /// Puts a tile back into a slot that is free again.
    ///
    /// Does nothing if the tile has another slot.
    mutating func restore(_ slot: Int, _ held: Slot) {
        guard let key = held.key, indices[key] == nil else { return }
        // A slot beyond a lowered limit may have been removed.
        while slots.count <= slot { slots.append(Slot()) }
        // Otherwise its tile would keep an index to a slot that holds another one.
        assert(slots[slot].key == nil, "the slot \(slot) has to be free")
        free.removeAll { $0 == slot }
        indices[key] = slot
        levelCounts[key.tile.level] += 1
        slots[slot] = held
        slots[slot].uses = 0
    }

    private mutating func forget(_ key: TextureKey) {
        indices[key] = nil
        levelCounts[key.tile.level] -= 1
    }

    mutating func setLimit(_ new: Int) {
        limit = new
        if slots.count < new { slots += [Slot](repeating: Slot(), count: new - slots.count) }
        free = slots.indices.filter { $0 < new && slots[$0].key == nil }.reversed()
        cut()
    }

    /// Removes free slots beyond the limit from the end.
    private mutating func cut() {
        while slots.count > limit, slots[slots.count - 1].key == nil { slots.removeLast() }
    }

    mutating func use(_ slot: Int, _ change: Int) { slots[slot].uses += change }

    mutating func resetUses() {
        for slot in slots.indices { slots[slot].uses = 0 }
    }

    /// Notes that a slot is drawn. Returns whether it was uploaded ahead and is drawn for the first time.
    mutating func noteDrawn(_ slot: Int, frame: Int) -> Bool {
        slots[slot].lastUse = frame
        defer { slots[slot].isUnseen = false }
        return slots[slot].isUnseen
    }

    mutating func setWorth(_ worth: Float, of slot: Int, frame: Int) {
        slots[slot].worth = worth
        slots[slot].worthAt = frame
    }

    mutating func setArea(_ area: PixelRect, of slot: Int) { slots[slot].area = area }

    func worth(of slot: Int, frame: Int) -> Float { slots[slot].worthAt == frame ? slots[slot].worth : 0 }
}
