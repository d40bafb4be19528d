/// What one view needs of one layer, frame by frame.
struct ViewNeeds: Sendable {
    /// The tiles, in the order of the screen.
    var tiles: [TileKey] = []
    /// Their entries in the pool, or -1 where the table had no room.
    var entries: [Int32] = []
    /// When a tile that was no hit was demanded, in nanoseconds; -1 for hits and for what has been drawn since.
    var missingSince: [Int64] = []
    /// The level of the last frame; a demand at another level comes from a zoom.
    var level = -1
    /// Whether a first frame has been: it is a cold start, and its demands are left out.
    var hasBegun = false
}

/// Demands of one kind by what became of them.
public struct DemandCounts: Hashable, Sendable {
    /// Tiles that a frame needed and the frame before did not; tiles known to be absent are left out.
    public internal(set) var total = 0
    /// Resident and ready to draw.
    public internal(set) var decodedHits = 0
    /// Resident in compressed form.
    public internal(set) var compressedHits = 0
    /// The load was in flight.
    public internal(set) var late = 0
    /// Not even started.
    public internal(set) var missed = 0

    /// Counts of nothing.
    public init() {}

    /// Demands that were resident in either form.
    public var hits: Int { decodedHits + compressedHits }
    /// Hits over all demands, 0 to 1; `nil` where there was none.
    public var hitRate: Double? { total == 0 ? nil : Double(hits) / Double(total) }

    /// Sums of two counts.
    public static func + (a: DemandCounts, b: DemandCounts) -> DemandCounts {
        var sum = a
        sum.total += b.total
        sum.decodedHits += b.decodedHits
        sum.compressedHits += b.compressedHits
        sum.late += b.late
        sum.missed += b.missed
        return sum
    }
}

extension PoolState {
    /// Replaces what a view needs, counts the demands and keeps needed tiles from being given up.
    ///
    /// - Parameters:
    ///   - needs: the view's record; it has the new tiles afterwards.
    ///   - tiles: the needed tiles, each once, in the order of the screen.
    ///   - counts: receives the demands; pan and zoom apart.
    mutating func update(
        _ needs: inout ViewNeeds,
        tiles: [TileKey],
        level: Int,
        pan: inout DemandCounts,
        zoom: inout DemandCounts,
        now: Int64
    ) {
        needStamp &+= 2
        let before = needStamp
        for (index, number) in needs.entries.enumerated() where number >= 0 {
            table[number].needStamp = before
            table[number].needIndex = Int32(index)
        }
        var entries: [Int32] = []
        var missingSince: [Int64] = []
        entries.reserveCapacity(tiles.count)
        missingSince.reserveCapacity(tiles.count)
        var counts = DemandCounts()
        var newDemands: UInt32 = 0
        for key in tiles {
            let number = entry(for: key)
            entries.append(number)
            if number >= 0, table[number].needStamp == before {
                missingSince.append(needs.missingSince[Int(table[number].needIndex)])
            } else {
                let isHit = count(number, in: &counts, now: now)
                missingSince.append(isHit ? -1 : now)
                newDemands &+= 1
                if number >= 0 {
                    noteVisit(number)
                    table[number].needCount += 1
                }
            }
            if number >= 0 { table[number].needStamp = before &+ 1 }
        }
        for number in needs.entries where number >= 0 && table[number].needStamp == before {
            table[number].needCount -= 1
            table[number].needStamp = 0
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
        if entries.contains(-1) { enterMissing(of: &needs) }
    }

    /// A tile comes into view: counted unless it was there only a few demands ago.
    mutating func noteVisit(_ number: Int32) {
        let entry = table[number]
        guard entry.needCount == 0, entry.visits < .max else { return }
        let age = Int(demandClock &- entry.lastDemand)
        if entry.visits == 0 || age > SeenTiles.demandsOfAVisit { table[number].visits += 1 }
    }

    /// A view needs nothing any more.
    mutating func clear(_ needs: inout ViewNeeds) {
        for number in needs.entries where number >= 0 {
            table[number].needCount -= 1
            forgetIfIdle(number)
        }
        needs = ViewNeeds()
    }

    private mutating func count(_ number: Int32, in counts: inout DemandCounts, now: Int64) -> Bool {
        guard number >= 0 else {
            counts.total += 1
            counts.missed += 1
            return false
        }
        let entry = table[number]
        if entry.flags.contains(.absent) { return true }
        counts.total += 1
        if entry.residency.isDecoded {
            counts.decodedHits += 1
            let oldest = decoded.tail
            split.hit(compressed: false, age: now - entry.lastUse, oldest: now - table[oldest].lastUse)
            return true
        }
        if entry.residency.isCompressed {
            counts.compressedHits += 1
            // A tile of a single colour would have been kept in any case.
            guard !entry.flags.contains(.solid) else { return true }
            let oldest = compressed.tail
            split.hit(compressed: true, age: now - entry.lastUse, oldest: now - table[oldest].lastUse)
            return true
        }
        if entry.load >= 0 {
            counts.late += 1
            if let load = loads[Int(entry.load)], !load.isDemand, !load.wasLate {
                loads[Int(entry.load)]?.wasLate = true
                counters.prefetchLate += 1
            }
        } else {
            counts.missed += 1
        }
        return false
    }
}
