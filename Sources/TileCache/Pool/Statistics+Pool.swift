/// What the pool says of itself, and what must hold of it.
extension Statistics {
    /// The figures that the pool alone knows.
    init(of pool: borrowing PoolState) {
        let counters = pool.counters
        loadsStarted = counters.loadsStarted
        loadsRetried = counters.loadsRetried
        loadsFinished = counters.loadsFinished
        loadsAbsent = counters.loadsAbsent
        loadsFailed = counters.loadsFailed
        loadsCancelled = counters.loadsCancelled
        loadsRefused = counters.loadsRefused
        loadsOutdated = counters.loadsOutdated
        loadedBytes = counters.loadedBytes
        loadsDrawn = counters.loadsDrawn
        loadsUnseen = counters.loadsUnseen
        loadsInFlight = pool.loads.count
        prefetchStarted = counters.prefetchStarted
        prefetchUseful = counters.prefetchUseful
        prefetchLate = counters.prefetchLate
        prefetchWasted = counters.prefetchWasted
        prefetchCancelled = counters.prefetchCancelled
        prefetchEmpty = counters.prefetchEmpty
        prefetchesInFlight = pool.loads.all.count { !$0.load.isDemand && !$0.load.wasLate }
        demotions = counters.demotions
        promotions = counters.promotions
        incompressible = counters.storedRaw
        damagedBlocks = counters.damagedBlocks
        encodedPayloads = counters.encodedKept
        undecodablePayloads = counters.undecodable
        if counters.demotedBlockBytes > 0 {
            compressionRatio = Double(counters.demotedRawBytes) / Double(counters.demotedBlockBytes)
        }
        for cause in RemovalCause.allCases { removals[cause] = counters.removals[cause.rawValue] }
        byteLimit = pool.ledger.limit
        usedBytes = pool.committedBytes
        peakBytes = counters.peakBytes
        decodedBytes = pool.slotUsedBytes
        compressedBytes = pool.pages.usedBytes
        inFlightBytes = pool.ledger.inFlightBytes + pool.ledger.heldBytes
        bookkeepingBytes = pool.bookkeepingBytes
        peakDecodedBytes = counters.peakDecodedBytes
        peakCompressedBytes = counters.peakCompressedBytes
        peakInFlightBytes = counters.peakInFlightBytes
        decodedTiles = pool.tiles.decoded
        compressedTiles = pool.tiles.compressed
        (unseenTiles, unseenPrefetchedTiles) = pool.unseen
    }

    /// Identities of the counters that do not hold, in words: none, at every moment.
    ///
    /// Each load, prefetch, demand and resident tile is counted in exactly one place. Tests and `cachebench stress` look
    /// at this after all that they do.
    package var contradictions: [String] {
        var found: [String] = []
        func sum(_ whole: String, _ total: Int, _ parts: KeyValuePairs<String, Int>) {
            guard parts.reduce(0, { $0 + $1.value }) != total || parts.contains(where: { $0.value < 0 }) else { return }
            found.append("\(total) \(whole), but " + parts.map { "\($0.value) \($0.key)" }.joined(separator: " + "))
        }
        func order(_ less: String, _ a: Int, _ more: String, _ b: Int) {
            if a > b { found.append("\(a) \(less), but \(b) \(more)") }
        }
        sum(
            "loads started",
            loadsStarted,
            [
                "finished": loadsFinished, "absent": loadsAbsent, "failed": loadsFailed, "cancelled": loadsCancelled,
                "refused": loadsRefused, "outdated": loadsOutdated, "in flight": loadsInFlight,
            ]
        )
        sum(
            "loads started",
            loadsStarted,
            [
                "drawn": loadsDrawn, "never drawn": loadsUnseen, "resident and unseen": unseenTiles,
                "absent": loadsAbsent, "failed": loadsFailed, "in flight": loadsInFlight,
            ]
        )
        sum(
            "prefetches started",
            prefetchStarted,
            [
                "useful": prefetchUseful, "late": prefetchLate, "wasted": prefetchWasted,
                "cancelled": prefetchCancelled, "empty": prefetchEmpty, "in flight": prefetchesInFlight,
                "resident and unseen": unseenPrefetchedTiles,
            ]
        )
        sum(
            "loads finished",
            loadsFinished,
            [
                "removed": removals.values.reduce(0, +), "decoded": decodedTiles, "compressed": compressedTiles,
            ]
        )
        for (kind, counts) in [("pan", pan), ("zoom", zoom)] {
            sum(
                "\(kind) demands",
                counts.total,
                [
                    "decoded": counts.decodedHits, "compressed": counts.compressedHits, "late": counts.late,
                    "missed": counts.missed,
                ]
            )
        }
        order("bytes decoded and compressed", decodedBytes + compressedBytes, "used", usedBytes)
        order("bytes used", usedBytes, "at the peak", peakBytes)
        order("promotions and compressed tiles", promotions + compressedTiles, "demotions", demotions - incompressible)
        order("prefetches", prefetchStarted, "loads", loadsStarted)
        order("undecodable payloads", undecodablePayloads, "payloads", encodedPayloads)
        order("holes", synthesisHoles, "loads to make tiles", synthesisLoads)
        order("pinned tiles", floorTiles, "decoded", decodedTiles)
        return found
    }
}
