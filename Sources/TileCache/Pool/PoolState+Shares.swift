/// Bytes of each layer, and maximum shares of the limit.
extension PoolState {
    /// Takes a slot for a tile, charged to its layer. Evicts only tiles worth less than `worth`.
    mutating func acquireSlot(layer: Int, worth: Float) -> Admission<SlotID> {
        let room = findSlot(layer: layer, worth: worth)
        let slotBytes = slotBytes(ofLayer: layer)
        if room.isGranted { layers.change(layer) { $0.slotBytes += slotBytes } }
        return room
    }

    /// Releases a slot charged to a layer.
    mutating func release(slot: SlotID, ofLayer layer: Int) {
        let slotBytes = slotBytes(ofLayer: layer)
        layers.change(layer) { $0.slotBytes -= slotBytes }
        slots[layers[layer].slotClass].release(slot.number)
    }

    /// Takes pages for a block, charged to a layer. The caller has made room for them.
    mutating func allocate(bytes: Int, ofLayer layer: Int) -> PageAllocator.Block {
        let block = pages.allocate(bytes: bytes)
        layers.change(layer) { $0.blockBytes += bytes }
        noteTaken()
        return block
    }

    /// Frees pages charged to a layer, if there are any.
    mutating func free(_ form: ColdForm, ofLayer layer: Int) {
        guard let block = form.block else { return }
        layers.change(layer) { $0.blockBytes -= form.byteCount }
        pages.free(block)
    }

    /// Bytes of a layer's tiles in both tiers, loads in flight included.
    func usedBytes(ofLayer layer: Int) -> Int { layers[layer].slotBytes + layers[layer].blockBytes }

    /// Maximum bytes of a layer's tiles.
    func maximumBytes(ofLayer layer: Int) -> Int { Int(Double(ledger.limit) * layers[layer].maximumShare) }

    /// Bytes of a pinned tile of a layer, and the most that pinned tiles of all layers, and of this one, may take.
    func roomForPins(ofLayer layer: Int) -> (slotBytes: Int, ofAll: Int, ofLayer: Int) {
        (slotBytes(ofLayer: layer), ledger.limit / 2, maximumBytes(ofLayer: layer))
    }

    /// Bytes beside the tables and the pinned tiles, which are not evictable.
    var unpinnedBytes: Int { max(ledger.limit - lastingBookkeepingBytes - table.counts.allPinnedBytes, 0) }

    /// Maximum bytes of a layer's needed tiles after evicting all that may go, without what pinned ones have.
    ///
    /// - Parameter keepsNeeded: Whether what views need of other layers stays. Default: false.
    func attainableBytes(ofLayer layer: Int, keepsNeeded: Bool = false) -> Int {
        let others = keepsNeeded ? table.counts.neededBytes - layers[layer].neededBytes : 0
        return max(min(unpinnedBytes - others, maximumBytes(ofLayer: layer) - layers[layer].pinnedBytes), 0)
    }

    /// Whether another slot, or more of them, would exceed the layer's share.
    func isFull(layer: Int, slots: Int = 1) -> Bool {
        layers[layer].maximumShare < 1
            && usedBytes(ofLayer: layer) + slots * slotBytes(ofLayer: layer) > maximumBytes(ofLayer: layer)
    }

    /// Whether a load was refused because its layer is at its maximum.
    ///
    /// - Parameter beside: Bytes that it requires in addition to its slot.
    func isFull(layer: Int, beside: Int) -> Bool {
        // The slot was there, and the layer is at its maximum with it.
        let hadSlot = beside > 0 && slots[layers[layer].slotClass].unusedCount > 0
        return isFull(layer: layer, slots: hadSlot ? 2 : 1)
    }

    /// Whether a full layer has as much compressed as the split between the tiers allows.
    func hasFullCompressedShare(layer: Int) -> Bool {
        isFull(layer: layer)
            && Double(layers[layer].blockBytes) > Double(maximumBytes(ofLayer: layer)) * split.compressedShare
    }

    /// Whether shares allow evicting a tile for a layer: one that is full evicts its own.
    func mayEvict(_ number: EntryID, for layer: Int?) -> Bool {
        guard layers.haveShares, let layer, table.pointer(number).pointee.key.layer != layer else { return true }
        return !isFull(layer: layer)
    }
}
