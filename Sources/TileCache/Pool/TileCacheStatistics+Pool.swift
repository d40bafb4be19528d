extension TileLayerStatistics {
    /// Creates the figures of a layer.
    init(of layer: PoolLayer) {
        self.init()
        (pan, zoom, loads, prefetches) = (layer.pan, layer.zoom, layer.loads, layer.prefetches)
        (decoded, compressed) = (.bytes(layer.slotBytes), .bytes(layer.blockBytes))
    }
}

/// Figures of the pool, and their invariants.
extension TileCacheStatistics {
    /// Creates the figures of a pool.
    init(of pool: borrowing PoolState) {
        let counters = pool.counters
        loads = counters.loads
        prefetches = counters.prefetches
        tiers = counters.tiers
        loadsInFlight = pool.loads.count - pool.loads.revalidationCount
        revalidationsInFlight = pool.loads.revalidationCount
        revalidations = pool.counters.revalidations
        prefetchesInFlight = pool.loads.all.count { !$0.load.isDemand && !$0.load.wasLate }
        memory.limit = .bytes(pool.ledger.limit)
        memory.used = .bytes(pool.committedBytes)
        memory.peak = .bytes(counters.peakBytes)
        memory.decoded = .bytes(pool.slots.usedBytes)
        memory.compressed = .bytes(pool.pages.usedBytes)
        memory.inFlight = .bytes(pool.ledger.inFlightBytes + pool.ledger.heldBytes)
        memory.bookkeeping = .bytes(pool.bookkeepingBytes)
        memory.stores = .bytes(pool.ledger[.stores] + pool.ledger[.copies])
        let tiles = pool.table.counts
        memory.pinned = .bytes(tiles.pinnedBytes)
        memory.peakDecoded = .bytes(counters.peakDecodedBytes)
        memory.peakCompressed = .bytes(counters.peakCompressedBytes)
        memory.peakInFlight = .bytes(counters.peakInFlightBytes)
        memory.decodedTiles = tiles.decoded
        memory.compressedTiles = tiles.compressed
        memory.pinnedTiles = tiles.pinned
        (memory.unseenTiles, memory.unseenPrefetchedTiles) = (tiles.unseen, tiles.unseenPrefetched)
    }

    /// Counts loads that take long.
    mutating func countAges(ofLoads loads: borrowing Loads, at now: Int64, stuckAfter time: Int64) {
        for (_, load) in loads.all {
            let age = now - load.started
            oldestLoad = max(oldestLoad, .nanoseconds(age))
            if (load.isWrittenOff && !load.isLent) || age > time { stuckLoads += 1 }
        }
    }

    /// Violated identities of the counters, in words; must be empty at every moment.
    ///
    /// Each load, prefetch, demand and resident tile is counted exactly once. Checked by tests and `cachebench stress`.
    package var contradictions: [String] {
        var found: [String] = []
        func sum(_ whole: String, _ total: Int, _ parts: KeyValuePairs<String, Int>) {
            guard parts.reduce(0, { $0 + $1.value }) != total || parts.contains(where: { $0.value < 0 }) else { return }
            found.append("\(total) \(whole), but " + parts.map { "\($0.value) \($0.key)" }.joined(separator: " + "))
        }
        func order(_ less: String, _ a: Int, _ more: String, _ b: Int) {
            if a > b { found.append("\(a) \(less), but \(b) \(more)") }
        }
        let ends: KeyValuePairs = [
            "finished": loads.finished, "absent": loads.absent, "failed": loads.failed, "cancelled": loads.cancelled,
            "postponed": loads.postponed, "refused": loads.refused, "outdated": loads.outdated,
            "in flight": loadsInFlight,
        ]
        sum("loads started", loads.started, ends)
        let uses: KeyValuePairs = [
            "drawn": loads.drawn, "never drawn": loads.unseen, "resident and unseen": memory.unseenTiles,
            "absent": loads.absent, "failed": loads.failed, "postponed": loads.postponed, "in flight": loadsInFlight,
        ]
        sum("loads started", loads.started, uses)
        let answers: KeyValuePairs = [
            "unchanged": revalidations.unchanged, "changed": revalidations.changed,
            "unanswered": revalidations.unanswered, "in flight": revalidationsInFlight,
        ]
        sum("revalidations started", revalidations.started, answers)
        let prefetchEnds: KeyValuePairs = [
            "useful": prefetches.useful, "late": prefetches.late, "wasted": prefetches.wasted,
            "cancelled": prefetches.cancelled, "empty": prefetches.empty, "in flight": prefetchesInFlight,
            "resident and unseen": memory.unseenPrefetchedTiles,
        ]
        sum("prefetches started", prefetches.started, prefetchEnds)
        let places: KeyValuePairs = [
            "removed": tiers.removed.reduce(0, +), "decoded": memory.decodedTiles, "compressed": memory.compressedTiles,
        ]
        sum("loads finished", loads.finished, places)
        for (kind, counts) in [("pan", pan), ("zoom", zoom)] {
            let answers: KeyValuePairs = [
                "decoded": counts.decodedHits, "compressed": counts.compressedHits, "late": counts.late,
                "missed": counts.missed,
            ]
            sum("\(kind) demands", counts.total, answers)
        }
        order("bytes decoded and compressed", memory.decoded.bytes + memory.compressed.bytes, "used", memory.used.bytes)
        order("bytes used", memory.used.bytes, "at the peak", memory.peak.bytes)
        let moved = tiers.promotions + memory.compressedTiles
        order("promotions and compressed tiles", moved, "demotions", tiers.demotions - tiers.incompressible)
        order("prefetches", prefetches.started, "loads", loads.started)
        order("undecodable payloads", tiers.undecodablePayloads, "payloads", tiers.encodedPayloads)
        order("holes", synthesis.holes, "loads to make tiles", synthesis.loads)
        order("pinned tiles", memory.pinnedTiles, "decoded", memory.decodedTiles)
        return found
    }
}
