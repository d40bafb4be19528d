/// Shares of the limit that layers are held to or guaranteed.
extension PoolState {
    /// A slot for a tile of a layer, on the layer's account.
    ///
    /// - Parameter worth: nothing that is worth this much or more is given up for it.
    mutating func acquireSlot(layer: Int, worth: Float, now: Int64) -> Admission<SlotID> {
        let room = findSlot(layer: layer, worth: worth, now: now)
        if room.isGranted { layers[layer].slotBytes += slotBytes(ofLayer: layer) }
        return room
    }

    /// Gives a slot back that a layer has on its account.
    mutating func giveBack(slot: SlotID, ofLayer layer: Int) {
        layers[layer].slotBytes -= slotBytes(ofLayer: layer)
        slots[layers[layer].slotClass].giveBack(slot.number)
    }

    /// Takes pages for a block, on a layer's account; the caller has made room for them.
    mutating func allocate(bytes: Int, ofLayer layer: Int) -> PageAllocator.Block {
        let block = pages.allocate(bytes: bytes)
        layers[layer].blockBytes += bytes
        noteTaken()
        return block
    }

    /// Frees the pages that a layer has on its account, if there are any.
    mutating func free(_ form: ColdForm, ofLayer layer: Int) {
        guard let block = form.block else { return }
        layers[layer].blockBytes -= form.byteCount
        pages.free(block)
    }

    /// Bytes of a layer's tiles in both tiers, loads in flight included.
    func usedBytes(ofLayer layer: Int) -> Int { layers[layer].slotBytes + layers[layer].blockBytes }

    /// The most bytes that a layer's tiles may take.
    func maximumBytes(ofLayer layer: Int) -> Int { bytes(of: layers[layer].share.maximum) }

    /// Bytes that no other layer takes from a layer's tiles.
    func guaranteedBytes(ofLayer layer: Int) -> Int { bytes(of: layers[layer].share.guaranteed) }

    private func bytes(of share: Double) -> Int { Int(Double(ledger.limit) * share) }

    /// The most bytes that a layer's needed tiles can be given, whatever else goes.
    func attainableBytes(ofLayer layer: Int) -> Int {
        let free = max(ledger.limit - bookkeepingBytes, 0)
        guard hasShares else { return free }
        let others = layers.indices.reduce(0) { $0 + ($1 == layer ? 0 : guaranteedBytes(ofLayer: $1)) }
        return max(min(free - others, maximumBytes(ofLayer: layer)), 0)
    }

    /// Whether another slot would take a layer over its share.
    func isFull(layer: Int) -> Bool {
        hasShares && layers[layer].share.maximum < 1
            && usedBytes(ofLayer: layer) + slotBytes(ofLayer: layer) > maximumBytes(ofLayer: layer)
    }

    /// Whether a layer that has all its share has as much of it compressed as the tiers' split allows.
    func hasFullCompressedShare(layer: Int) -> Bool {
        isFull(layer: layer)
            && Double(layers[layer].blockBytes) > Double(maximumBytes(ofLayer: layer)) * split.compressedShare
    }

    /// Whether the shares let a tile go for one of another layer: not where that one has its own share to make room in,
    /// nor where the tile belongs to what its layer is guaranteed.
    func mayGo(_ number: EntryID, for layer: Int) -> Bool {
        let entry = table.pointer(number)
        let own = entry.pointee.key.layer
        guard hasShares, layer >= 0, own != layer else { return true }
        if isFull(layer: layer) { return false }
        guard layers[own].share.guaranteed > 0 else { return true }
        let bytes =
            (entry.pointee.residency.isDecoded ? slotBytes(ofLayer: own) : 0) + entry.pointee.form.byteCount
        return usedBytes(ofLayer: own) - bytes >= guaranteedBytes(ofLayer: own)
    }
}
