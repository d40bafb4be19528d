/// Removal of layers. The tiles go at once, the index after the last load, job and lease of an entry.
extension PoolState {
    /// Begins the removal of a layer that no view shows. None of its tiles is loaded, and no load of it lands.
    mutating func beginRemoval(ofLayer layer: Int) {
        beginInvalidation(layer: layer) { _ in true }
        layers[layer].isRemoved = true
        releasesUnused = true
        layers[layer].share = .all
        // Codecs may become too small for its tiles.
        layers[layer].isCompressible = false
        hasShares = layers.contains { $0.share != .all }
    }

    /// Removes a layer's tiles on some pages of the table. Leased ones stay valid until they are released; those being
    /// loaded are removed when the load ends.
    mutating func removeTiles(onPages range: Range<Int32>, ofLayer layer: Int) {
        for number in entries(onPages: range, ofLayer: layer) {
            change(number) {
                $0.flags.remove(.pinned)
                $0.flags.subtract(.remembered)
            }
            if table[number].residency.isResident { detachPixels(of: number, cause: .invalidated) }
            forgetIfIdle(number)
        }
    }

    /// Frees the index of a removed layer if nothing of it is left. Returns whether it did.
    mutating func finishRemoval(ofLayer layer: Int) -> Bool {
        guard layers[layer].entries == 0, layers[layer].jobs == 0 else { return false }
        releasesUnused = true
        lists.remove(group: layers[layer].group)
        slots[layers[layer].slotClass].layers -= 1
        layers[layer].isGone = true
        freeLayers.append(layer)
        layerCount -= 1
        while layers.last?.isGone == true { layers.removeLast() }
        // The plan's entries would name the next layer of this index.
        dropPlan()
        return true
    }

    /// Decommits memory of removed layers, in steps; returns whether more steps would help.
    mutating func releaseRemoved() -> Bool {
        if releasesUnused {
            releasesUnused = decommitUnused(.max, atMost: Self.stepsAtOnce)
            if releasesUnused { return true }
        }
        // Leased slots of a size without layers may have been released since.
        var steps = Self.stepsAtOnce
        for slotClass in slots.indices where slots[slotClass].layers == 0 {
            while steps > 0, decommitSlot(ofClass: slotClass) { steps -= 1 }
            steps -= slots[slotClass].shrink(steps: steps)
        }
        while let last = slots.last, last.isFree {
            slotClasses[last.slotBytes] = nil
            slots.removeLast()
        }
        return steps == 0
    }
}
