/// Invalidation, trimming and limits.
extension PoolState {
    /// Begins an invalidation: no load in flight of an affected tile lands. `invalidate(tiles:)` and
    /// `invalidate(onPages:)` then mark the tiles, in any number of steps, and `endInvalidation` ends it.
    ///
    /// - Returns: Number of entries of the table and the pages that may hold some.
    @discardableResult
    mutating func beginInvalidation(
        layer: Int,
        where affects: (TileCoordinate) -> Bool
    ) -> (entries: Int, pages: Range<Int32>) {
        layers.change(layer) {
            $0.raiseGeneration()
            $0.validGeneration = $0.generation
            $0.invalidations += 1
        }
        noteDrawing()
        for (id, load) in loads.all {
            let key = table[load.entry].key
            if key.layer == layer, affects(key.coordinate) { loads.change(id) { $0.generation = 0 } }
        }
        return (table.count, table.pages)
    }

    mutating func endInvalidation(layer: Int) {
        changeLayers { $0.change(layer) { $0.invalidations -= 1 } }
    }

    /// Whether a tile is outdated, or may be: an invalidation is marking tiles.
    func mayBeOutdated(_ number: EntryID) -> Bool {
        let layer = layers[table[number].key.layer]
        return table[number].flags.contains(.stale)
            || (layer.invalidations > 0 && layer.precedesInvalidation(table[number].generation))
    }

    /// Marks tiles as outdated. Old pixels are drawn until new ones land, unless `dropsAtOnce`. Tiles that landed since
    /// the invalidation began stay current.
    mutating func invalidate(tiles: some Sequence<TileCoordinate>, layer: Int, dropsAtOnce: Bool) {
        invalidate(tiles.map { table.find(TileKey(layer: layer, $0)) }, layer: layer, dropsAtOnce: dropsAtOnce)
    }

    /// Marks tiles of a layer as outdated, if `affects` is true, on some pages.
    mutating func invalidate(
        onPages range: Range<Int32>,
        layer: Int,
        dropsAtOnce: Bool,
        where affects: (TileCoordinate) -> Bool
    ) {
        let affected = entries(onPages: range, ofLayer: layer).filter { affects(table[$0].key.coordinate) }
        invalidate(affected, layer: layer, dropsAtOnce: dropsAtOnce)
    }

    /// The entries of a layer's tiles on some pages of the table.
    func entries(onPages range: Range<Int32>, ofLayer layer: Int) -> [EntryID] {
        var own: [EntryID] = []
        table.forEach(onPages: range) { if table[$0].key.layer == layer { own.append($0) } }
        return own
    }

    private mutating func invalidate(_ affected: [EntryID], layer: Int, dropsAtOnce: Bool) {
        for number in affected where number != .none {
            hold.spend()
            let isLacking = layers[layer].lacks(table[number].key)
            change(number) {
                $0.flags.subtract(.remembered)
                $0.flags.subtract(.ofExpiry)
                if isLacking { $0.flags.insert(.absent) }
                $0.attempts = 0
            }
            if table[number].residency.isResident, layers[layer].precedesInvalidation(table[number].generation) {
                if dropsAtOnce {
                    detachPixels(of: number, cause: .invalidated)
                } else {
                    table.stage(number) { $0.flags.insert(.stale) }
                }
            }
            forgetIfIdle(number)
        }
        noteDrawing()
    }

    /// Evicts tiles, the coldest first, until at most `bytes` are in use. Decommits unused memory. Spares leased tiles,
    /// and pinned ones if `sparingPins`; needed tiles go last.
    ///
    /// - Parameter steps: Maximum evictions and decommits.
    /// - Returns: Whether more steps would help.
    @discardableResult
    mutating func trim(toBytes bytes: Int, sparingPins: Bool = true, steps: Int = .max) -> Bool {
        let end = hold.end(after: steps)
        // Memory on its way to the system counts as gone.
        while committedBytes - ledger.leavingBytes > bytes {
            guard hold.spent < end else { return true }
            let excess = committedBytes - ledger.leavingBytes - bytes
            if decommitUnused(excess, atMost: end - hold.spent) { continue }
            if shrinkValidators() || shrinkTables(steps: end - hold.spent) > 0 { continue }
            // A long trim does not weigh each tile: hardly any of them stay.
            let isLarge = excess > bytes / 16
            let cold = isLarge ? oldest(of: .compressed) : coldest(of: .compressed, worth: .infinity)
            let other =
                cold != .none
                ? cold : isLarge ? oldest(of: .decoded) : coldest(of: .decoded, worth: .infinity)
            if other != .none {
                drop(other, cause: .trimmed)
                continue
            }
            if shedEncoded(excess) { continue }
            // Tiles of a single colour, absent ones and the plan take table memory only.
            let solid = oldest(of: .solid)
            if !configuration.grantsBookkeeping {
                if solid != .none {
                    drop(solid, cause: .trimmed)
                    continue
                }
                if forgetAbsences(steps: max(end - hold.spent, 1)) > 0 { continue }
                if ledger[.plan] > 0 {
                    hold.spend()
                    dropPlan()
                    continue
                }
            }
            var last = firstUnheld(pinned: false)
            if last == .none, !sparingPins { last = firstUnheld(pinned: true) }
            // Tables shrink further once the decommits end.
            guard last != .none else { return !ledger.pendingDecommits.isEmpty && hasLongTables }
            drop(last, cause: .trimmed)
        }
        return false
    }

    /// Whether tables can shrink by more than the end of a decommit does.
    private var hasLongTables: Bool {
        pages.decommittedCount > SlotAllocator.shrinkSteps
            || slots.contains { $0.decommittedCount > SlotAllocator.shrinkSteps }
    }

    /// Shrinks the tables of slots and pages; returns the number of entries removed.
    private mutating func shrinkTables(steps: Int) -> Int {
        var count = pages.shrink(steps: steps)
        count += slots.shrink(steps: steps - count)
        hold.spend(count)
        return count
    }

    /// Sets the limit. Evicts what does not fit, pinned tiles included, leased ones as soon as they are released.
    ///
    /// - Returns: Whether `settleLimit` has to continue.
    @discardableResult
    mutating func setByteLimit(_ bytes: Int, steps: Int = .max) -> Bool {
        // Until it is reached nothing more is taken.
        ledger.setLimit(bytes, committed: committedBytes)
        return settleLimit(steps: steps)
    }

    /// Allows the tiles of a layer to be compressed.
    mutating func setCompressible(layer: Int) { layers.change(layer) { $0.isCompressible = true } }

    /// Maximum evictions and decommits per hold of the lock. A search may exceed them by its own length.
    static let stepsAtOnce = 128

    /// Evicts until a lowered limit is met; returns whether more steps would help.
    @discardableResult
    mutating func settleLimit(steps: Int = stepsAtOnce) -> Bool {
        guard isOverLimit else { return false }
        let goesOn = trim(toBytes: ledger.limit, sparingPins: false, steps: steps)
        noteReturned()
        notePeaks()
        return goesOn
    }

    /// Forgets unneeded absent and failed tiles, the oldest first; returns how many.
    @discardableResult
    mutating func forgetAbsences(steps: Int = stepsAtOnce) -> Int {
        var count = 0
        var number = table.lists.tail(of: .remembered)
        while count < steps, number != .none {
            let next = table[number].previous
            // The tile that needs the room is leased briefly without leaving its list.
            if table[number].leaseCount == 0 {
                removeEntry(number)
                count += 1
            }
            number = next
        }
        hold.spend(count)
        return count
    }

    /// Least recently used evictable tile of a tier, or none.
    private func oldest(of tier: EntryList) -> EntryID {
        for group in table.lists.groups.indices {
            var number = table.lists.tail(of: tier, inGroup: group)
            while number != .none, table[number].leaseCount > 0 { number = table[number].previous }
            if number != .none { return number }
        }
        return .none
    }

    /// Maximum leased tiles passed by a search for an unleased one. More than a frame leases.
    private static let heldPassed = 1024

    /// A resident, unleased tile that is needed or pinned; or none.
    private mutating func firstUnheld(pinned: Bool) -> EntryID {
        var passed = 0
        defer { hold.pass(passed) }
        for list in pinned ? [EntryList.pinned, .stalePin] : [.needed] {
            for _ in 0..<min(table.lists.count(of: list), Self.heldPassed) {
                let number = table.lists.tail(of: list)
                if table[number].leaseCount == 0 { return number }
                table.rotate(number, layers)
                passed += 1
            }
        }
        return .none
    }
}
