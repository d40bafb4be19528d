/// Needed tiles of one view in one layer.
struct ViewNeeds: Sendable {
    /// The needed tiles, in screen order.
    var tiles: [TileKey] = []
    /// Their entries in the pool, or none if the table had no room.
    var entries: [EntryID] = []
    /// Time of the demand of a missed tile, in nanoseconds. ``notMissing`` for hits and once drawn.
    var missingSince: [Int64] = []
    /// Before all times: an optional takes twice the bytes.
    static let notMissing: Int64 = -1
    /// Level of the last frame. Demands at another level count as zoom. -1 before the first one.
    var level = -1
    /// Number of tiles charged to the ledger.
    var charged = 0
    /// Bytes of the tiles of the coarsest level, or of the renderer's own list: they cannot be fewer.
    var leastBytes = 0
    /// Whether the table had no room for some of them.
    var isIncomplete = false
    /// Whether there was a first frame; its demands, a cold start, are not counted.
    var hasBegun = false
}

extension PoolState {
    /// Bytes per needed tile: its needs, what is drawn of them and a frame's leases.
    static let bytesPerNeed =
        2 * MemoryLayout<TileKey>.stride + MemoryLayout<EntryID>.stride + MemoryLayout<Int64>.stride
        + 2 * MemoryLayout<VisibleTile>.stride + MemoryLayout<ComposedTile>.stride + MemoryLayout<LeaseToken>.stride
        + 2 * MemoryLayout<TileIdentity>.stride

    /// Charges the needs of a view to the ledger, in steps of 16 tiles. Returns the number of tiles with room.
    private mutating func chargeNeeds(_ count: Int, _ needs: inout ViewNeeds) -> Int {
        guard count > needs.charged || count < needs.charged / 4 else { return count }
        let charged = (count + 15) & ~15
        let growth = (charged - needs.charged) * Self.bytesPerNeed
        guard charge(growth, to: .demand) else { return needs.charged }
        needs.charged = charged
        return count
    }

    /// Replaces the needed tiles of a view. Counts the demands and protects the tiles from eviction.
    ///
    /// - Parameters:
    ///   - needs: The view's needs; updated.
    ///   - tiles: The needed tiles, each once, in screen order; without memory for all, the first ones are kept.
    mutating func update(
        _ needs: inout ViewNeeds,
        tiles: [TileKey],
        level: Int,
        pan: inout TileCacheStatistics.DemandCounts,
        zoom: inout TileCacheStatistics.DemandCounts,
        now: Int64
    ) {
        let tiles = Array(tiles.prefix(chargeNeeds(tiles.count, &needs)))
        // Without memory for all they may be the same.
        if tiles != needs.tiles { noteChange() }
        noteIndices(of: needs)
        var entries: [EntryID] = []
        var missingSince: [Int64] = []
        entries.reserveCapacity(tiles.count)
        missingSince.reserveCapacity(tiles.count)
        var counts = TileCacheStatistics.DemandCounts()
        var newDemands: UInt32 = 0
        for key in tiles {
            let number = entry(for: key)
            entries.append(number)
            if let index = notedIndex(of: number, in: needs.entries) {
                missingSince.append(needs.missingSince[index])
            } else {
                let isHit = count(number, in: &counts, now: now)
                missingSince.append(isHit ? ViewNeeds.notMissing : now)
                newDemands &+= 1
                if number != .none { keep(number, for: .view) }
            }
            if number != .none { table.note(number) { $0.needIndex = Int32(entries.count - 1) } }
        }
        for number in needs.entries where number != .none && notedIndex(of: number, in: entries) == nil {
            let demand = demandClock
            // Touches are skipped while nothing changes, so the last use is recorded here.
            table.note(number) { ($0.lastUse, $0.lastDemand) = (now, demand) }
            letGo(number, by: .view)
        }
        split.noteDemands(counts.total)
        if needs.hasBegun {
            if level == needs.level { pan = pan + counts } else { zoom = zoom + counts }
            if let layer = tiles.first?.layer { note(counts, isPan: level == needs.level, ofLayer: layer) }
        }
        noteDemands(newDemands)
        needs.tiles = tiles
        needs.entries = entries
        needs.missingSince = missingSince
        needs.level = level
        needs.hasBegun = true
        // Tiles needed no longer may have made room in the table.
        if entries.contains(.none) { enterMissing(of: &needs) } else { needs.isIncomplete = false }
    }

    /// Notes that the needed tiles of a view change.
    private mutating func noteChange() {
        noteNeeds()
        noteDemand()
    }

    /// Counts demands of a view for their layer.
    private mutating func note(_ counts: TileCacheStatistics.DemandCounts, isPan: Bool, ofLayer layer: Int) {
        layers.change(layer) { if isPan { $0.pan = $0.pan + counts } else { $0.zoom = $0.zoom + counts } }
    }

    private mutating func noteIndices(of needs: borrowing ViewNeeds) {
        for (index, number) in needs.entries.enumerated() where number != .none {
            table.note(number) { $0.needIndex = Int32(index) }
        }
    }

    /// Bytes of a layer's tiles that other views need and a view would not, if it needed these. Less what these do not
    /// take, since they are absent or have failed for good.
    mutating func bytes(
        ofLayer layer: Int,
        besideView needs: borrowing ViewNeeds,
        needing tiles: some TileWalk
    ) -> Int {
        noteIndices(of: needs)
        let entries = needs.entries
        // Those that the view needs alone, and those that others need too.
        var count = entries.count { number in
            guard number != .none else { return false }
            let entry = table.pointer(number)
            return entry.pointee.takesRoomForViews && entry.pointee.viewCount == 1
        }
        tiles.forEachKey { tile in
            let number = table.find(tile)
            guard number != .none else { return }
            let entry = table.pointer(number)
            let own = notedIndex(of: number, in: entries) == nil ? 0 : 1
            // Its own without pixels take no room either.
            if entry.pointee.isUnavailable || (entry.pointee.takesRoomForViews && entry.pointee.viewCount > own) {
                count += 1
            }
        }
        return layers[layer].neededBytes - count * slotBytes(ofLayer: layer)
    }

    /// The noted index of a tile, if it is its index among these.
    private func notedIndex(of number: EntryID, in entries: [EntryID]) -> Int? {
        guard number != .none else { return nil }
        let index = Int(table.pointer(number).pointee.needIndex)
        return entries.indices.contains(index) && entries[index] == number ? index : nil
    }

    /// Index of a tile among a view's needs; `nil` if it is not among them. Searches them only if another view, or
    /// a host, needs the tile or has needed it.
    func index(of number: EntryID, in needs: borrowing ViewNeeds) -> Int? {
        guard number != .none, table.pointer(number).pointee.needCount > 0 else { return nil }
        return notedIndex(of: number, in: needs.entries) ?? needs.entries.firstIndex(of: number)
    }

    /// Counts a visit, unless the tile was in view a few demands ago.
    mutating func noteVisit(_ number: EntryID) {
        let entry = table[number]
        guard entry.needCount == 0, entry.visits < .max else { return }
        let age = Int(demandClock &- entry.lastDemand)
        if entry.visits == 0 || age > VisitClass.demandsOfAVisit { table.note(number) { $0.visits += 1 } }
    }

    /// Removes all needs of a view.
    mutating func clear(_ needs: inout ViewNeeds) {
        ledger.add(-needs.charged * Self.bytesPerNeed, to: .demand)
        noteChange()
        setLeast(0, of: &needs)
        for number in needs.entries { letGo(number, by: .view) }
        needs = ViewNeeds()
    }

    /// Age of the least recently used evictable tile of a tier. The entry's own if there is none.
    private func age(of tier: EntryList, like entry: Entry, now: Int64) -> Int64 {
        let oldest = table.lists.tail(of: tier, inGroup: layers[entry.key.layer].group)
        return now - (oldest != .none ? table[oldest].lastUse : entry.lastUse)
    }

    /// Enters needed tiles that the table had no room for before.
    mutating func enterMissing(of needs: inout ViewNeeds) {
        needs.isIncomplete = true
        for (index, number) in needs.entries.enumerated() where number == .none {
            let entered = enter(needs.tiles[index], for: .view)
            guard entered != .none else { return }
            table.note(entered) { $0.needIndex = Int32(index) }
            needs.entries[index] = entered
        }
        needs.isIncomplete = false
    }

    /// Counts a prefetch in flight as late, once: its tile is needed now.
    mutating func noteLatePrefetch(_ number: EntryID) {
        let entry = table[number]
        guard entry.load != .none, let load = loads[entry.load], !load.isDemand, !load.wasLate else { return }
        loads.change(entry.load) { $0.wasLate = true }
        counters.prefetches.late += 1
        layers.change(entry.key.layer) { $0.prefetches.late += 1 }
    }

    private mutating func count(_ number: EntryID, in counts: inout TileCacheStatistics.DemandCounts, now: Int64)
        -> Bool
    {
        guard number != .none else {
            counts.total += 1
            counts.missed += 1
            return false
        }
        let entry = table[number]
        if entry.flags.contains(.absent) { return true }
        counts.total += 1
        if entry.residency.isDecoded {
            counts.decodedHits += 1
            split.hit(compressed: false, age: now - entry.lastUse, oldest: age(of: .decoded, like: entry, now: now))
            return true
        }
        if entry.residency.isCompressed {
            counts.compressedHits += 1
            // A tile of a single colour would have been kept in any case.
            guard !entry.form.isSolid else { return true }
            split.hit(compressed: true, age: now - entry.lastUse, oldest: age(of: .compressed, like: entry, now: now))
            return true
        }
        if entry.load != .none {
            counts.late += 1
            noteLatePrefetch(number)
        } else {
            counts.missed += 1
        }
        return false
    }
}
