/// Removal of layers. The tiles go at once, the index after the last load, job and lease of an entry.
extension PoolState {
    /// Begins the removal of a layer. None of its tiles is loaded, and no load of it lands.
    mutating func beginRemoval(ofLayer layer: Int) {
        beginInvalidation(layer: layer) { _ in true }
        // The next plan cancels its requests.
        changeLayers { $0.beginRemoval(of: layer) }
    }

    /// Removes a layer's tiles on some pages of the table. Leased ones stay valid until they are released; those being
    /// loaded are removed when the load ends.
    ///
    /// - Returns: Whether the layer has entries left.
    mutating func removeTiles(onPages range: Range<Int32>, ofLayer layer: Int) -> Bool {
        for number in entries(onPages: range, ofLayer: layer) {
            hold.spend()
            change(number) {
                $0.flags.remove(.pinned)
                $0.flags.subtract(.remembered)
            }
            if table[number].residency.isResident { detachPixels(of: number, cause: .invalidated) }
            forgetIfIdle(number)
        }
        return layers[layer].entries > 0
    }

    /// Frees the index of a removed layer if nothing of it is left. Returns whether it did.
    mutating func finishRemoval(ofLayer layer: Int) -> Bool {
        let record = layers[layer]
        guard layers.finishRemoval(of: layer) else { return false }
        table.release(group: record.group)
        slots.removeLayer(from: record.slotClass)
        // The plan's entries would name the next layer of this index.
        dropPlan()
        return true
    }

    /// Decommits memory of removed layers, in steps; returns whether more steps would help.
    mutating func releaseRemoved() -> Bool {
        if layers.leaveMemory {
            if decommitUnused(.max, atMost: Self.stepsAtOnce) { return true }
            layers.noteRelease()
        }
        // Leased slots of a size without layers may have been released since.
        var steps = min(hold.left, Self.stepsAtOnce)
        for slotClass in slots.indices where slots[slotClass].layers == 0 {
            while steps > 0, decommitSlot(ofClass: slotClass) {
                hold.spend()
                steps -= 1
            }
            let shrunk = slots[slotClass].shrink(steps: steps)
            hold.spend(shrunk)
            steps -= shrunk
        }
        slots.removeFree()
        return steps == 0
    }
}
