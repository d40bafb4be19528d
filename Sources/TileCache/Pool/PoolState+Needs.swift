/// What one view needs of one layer, frame by frame.
struct ViewNeeds: Sendable {
    /// The tiles, in the order of the screen.
    var tiles: [TileKey] = []
    /// Their entries in the pool, or none where the table had no room.
    var entries: [EntryID] = []
    /// When a tile that was no hit was demanded, in nanoseconds; -1 for hits and for what has been drawn since.
    var missingSince: [Int64] = []
    /// The level of the last frame; a demand at another level comes from a zoom.
    var level = -1
    /// For how many of them the ledger counts memory.
    var charged = 0
    /// Whether the table had no room for some of them.
    var isIncomplete = false
    /// Whether a first frame has been: it is a cold start, and its demands are left out.
    var hasBegun = false
}

extension PoolState {
    /// Bytes that a view takes for each tile that it needs: its needs, what it draws of them and a frame's hold.
    static let bytesPerNeed =
        2 * MemoryLayout<TileKey>.stride + MemoryLayout<EntryID>.stride + MemoryLayout<Int64>.stride
        + 2 * MemoryLayout<VisibleTile>.stride + MemoryLayout<ComposedTile>.stride + MemoryLayout<LeaseToken>.stride
        + 2 * MemoryLayout<TileIdentity>.stride

    /// Counts the memory of a view that is to need so many tiles, in steps so that it is seldom asked for; for how many
    /// there is room.
    private mutating func chargeNeeds(_ count: Int, _ needs: inout ViewNeeds) -> Int {
        guard count > needs.charged || count < needs.charged / 4 else { return count }
        let charged = (count + 15) & ~15
        let growth = (charged - needs.charged) * Self.bytesPerNeed
        guard charge(growth, to: .views) else { return needs.charged }
        needs.charged = charged
        return count
    }

    /// Replaces what a view needs, counts the demands and keeps needed tiles from being given up.
    ///
    /// - Parameters:
    ///   - needs: the view's record; it has the new tiles afterwards.
    ///   - tiles: the needed tiles, each once, in the order of the screen. If there is no memory for so many, the first.
    ///   - counts: receives the demands; pan and zoom apart.
    mutating func update(
        _ needs: inout ViewNeeds,
        tiles: [TileKey],
        level: Int,
        pan: inout DemandCounts,
        zoom: inout DemandCounts,
        now: Int64
    ) {
        let tiles = Array(tiles.prefix(chargeNeeds(tiles.count, &needs)))
        for (index, number) in needs.entries.enumerated() where number != .none {
            table[number].needIndex = Int32(index)
        }
        var entries: [EntryID] = []
        var missingSince: [Int64] = []
        entries.reserveCapacity(tiles.count)
        missingSince.reserveCapacity(tiles.count)
        var counts = DemandCounts()
        var newDemands: UInt32 = 0
        for key in tiles {
            let number = entry(for: key)
            entries.append(number)
            if number != .none, table[number].needIndex >= 0 {
                missingSince.append(needs.missingSince[Int(table[number].needIndex)])
                table[number].needIndex = -1
            } else {
                let isHit = count(number, in: &counts, now: now)
                missingSince.append(isHit ? -1 : now)
                newDemands &+= 1
                if number != .none {
                    noteVisit(number)
                    table[number].needCount += 1
                    relist(number)
                }
            }
        }
        // What is left of the former needs was not among the new ones.
        for number in needs.entries where number != .none && table[number].needIndex >= 0 {
            table[number].needCount -= 1
            table[number].needIndex = -1
            // Touches are skipped while nothing changes, so this is when its last use is known.
            table[number].lastUse = now
            table[number].lastDemand = demandClock
            forgetIfIdle(number)
        }
        split.noteDemands(counts.total)
        if needs.hasBegun {
            if level == needs.level { pan = pan + counts } else { zoom = zoom + counts }
        }
        demandClock &+= newDemands
        needs.tiles = tiles
        needs.entries = entries
        needs.missingSince = missingSince
        needs.level = level
        needs.hasBegun = true
        // What is needed no longer may have made room in the table.
        if entries.contains(.none) { enterMissing(of: &needs) } else { needs.isIncomplete = false }
    }

    /// A tile comes into view: counted unless it was there only a few demands ago.
    mutating func noteVisit(_ number: EntryID) {
        let entry = table[number]
        guard entry.needCount == 0, entry.visits < .max else { return }
        let age = Int(demandClock &- entry.lastDemand)
        if entry.visits == 0 || age > VisitClass.demandsOfAVisit { table[number].visits += 1 }
    }

    /// A view needs nothing any more.
    mutating func clear(_ needs: inout ViewNeeds) {
        ledger.add(-needs.charged * Self.bytesPerNeed, to: .views)
        for number in needs.entries where number != .none {
            table[number].needCount -= 1
            forgetIfIdle(number)
        }
        needs = ViewNeeds()
    }

    /// The age of the least recently used evictable tile of a tier; a tile's own if there is none.
    private func age(of tier: EntryList, like entry: Entry, now: Int64) -> Int64 {
        let oldest = lists.tail(of: tier, inGroup: layers[entry.key.layer].group)
        return now - (oldest != .none ? table[oldest].lastUse : entry.lastUse)
    }

    /// Enters the needed tiles that the table had no room for when the view named them.
    mutating func enterMissing(of needs: inout ViewNeeds) {
        needs.isIncomplete = true
        for (index, number) in needs.entries.enumerated() where number == .none {
            let entered = entry(for: needs.tiles[index])
            guard entered != .none else { return }
            noteVisit(entered)
            table[entered].needCount += 1
            relist(entered)
            needs.entries[index] = entered
        }
        needs.isIncomplete = false
    }

    private mutating func count(_ number: EntryID, in counts: inout DemandCounts, now: Int64) -> Bool {
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
            if let load = loads[entry.load], !load.isDemand, !load.wasLate {
                loads.change(entry.load) { $0.wasLate = true }
                counters.prefetchLate += 1
            }
        } else {
            counts.missed += 1
        }
        return false
    }
}
