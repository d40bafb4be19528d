public import CTileCache
internal import TileCache

extension tilecache_statistics: VersionedStructure {
    init(_ figures: TileCacheStatistics) {
        self.init()
        pan_demands = Int64(figures.pan.total)
        pan_decoded_hits = Int64(figures.pan.decodedHits)
        pan_compressed_hits = Int64(figures.pan.compressedHits)
        pan_late = Int64(figures.pan.late)
        pan_missed = Int64(figures.pan.missed)
        zoom_demands = Int64(figures.zoom.total)
        zoom_decoded_hits = Int64(figures.zoom.decodedHits)
        zoom_compressed_hits = Int64(figures.zoom.compressedHits)
        zoom_late = Int64(figures.zoom.late)
        zoom_missed = Int64(figures.zoom.missed)
        hit_rate = figures.hitRate ?? .nan
        waste = figures.waste ?? .nan
        compression_ratio = figures.tiers.compressionRatio ?? .nan
        takeLoads(of: figures)
        takeTiers(of: figures)
        takeWork(of: figures)
        store_count = Int64(figures.stores.count)
        (demand_waits, demand_wait_p50, demand_wait_p95, demand_wait_p99, demand_wait_maximum) =
            Self.numbers(figures.demandWaits)
        (prefetch_waits, prefetch_wait_p50, prefetch_wait_p95, prefetch_wait_p99, prefetch_wait_maximum) =
            Self.numbers(figures.prefetchWaits)
    }

    private static func numbers(_ waits: TileCacheStatistics.DurationSummary) -> (Int64, Int64, Int64, Int64, Int64) {
        (
            Int64(waits.count), waits.p50?.nanoseconds ?? -1, waits.p95?.nanoseconds ?? -1,
            waits.p99?.nanoseconds ?? -1, waits.maximum.nanoseconds
        )
    }

    private mutating func takeWork(of figures: TileCacheStatistics) {
        synthesized_tiles = Int64(figures.synthesis.tiles)
        synthesis_loads = Int64(figures.synthesis.loads)
        synthesis_holes = Int64(figures.synthesis.holes)
        stuck_loads = Int64(figures.stuckLoads)
        blocked_workers = Int64(figures.blockedWorkers)
        oldest_load_nanoseconds = figures.oldestLoad.nanoseconds
        slow_callbacks = Int64(figures.slowCallbacks)
        longest_callback_nanoseconds = figures.longestCallback.nanoseconds
        refused_viewports = Int64(figures.refusedViewports)
        pinned_tiles = Int64(figures.memory.pinnedTiles)
        pinned_bytes = Int64(figures.memory.pinned.bytes)
    }

    private mutating func takeLoads(of figures: TileCacheStatistics) {
        loads_started = Int64(figures.loads.started)
        loads_finished = Int64(figures.loads.finished)
        loads_absent = Int64(figures.loads.absent)
        loads_failed = Int64(figures.loads.failed)
        loads_postponed = Int64(figures.loads.postponed)
        revalidations_started = Int64(figures.revalidations.started)
        revalidations_unchanged = Int64(figures.revalidations.unchanged)
        revalidations_changed = Int64(figures.revalidations.changed)
        revalidations_unanswered = Int64(figures.revalidations.unanswered)
        revalidations_in_flight = Int64(figures.revalidationsInFlight)
        loads_cancelled = Int64(figures.loads.cancelled)
        loads_outdated = Int64(figures.loads.outdated)
        loads_refused = Int64(figures.loads.refused)
        loads_retried = Int64(figures.loads.retried)
        loads_drawn = Int64(figures.loads.drawn)
        loaded_bytes = Int64(figures.loads.bytes.bytes)
        loads_unseen = Int64(figures.loads.unseen)
        second_answers = Int64(figures.loads.secondAnswers)
        prefetch_started = Int64(figures.prefetches.started)
        prefetch_useful = Int64(figures.prefetches.useful)
        prefetch_late = Int64(figures.prefetches.late)
        prefetch_wasted = Int64(figures.prefetches.wasted)
        prefetch_cancelled = Int64(figures.prefetches.cancelled)
        prefetch_empty = Int64(figures.prefetches.empty)
        prefetches_in_flight = Int64(figures.prefetchesInFlight)
        loads_in_flight = Int64(figures.loadsInFlight)
        mean_load_nanoseconds = figures.meanLoadTime.nanoseconds
    }

    private mutating func takeTiers(of figures: TileCacheStatistics) {
        demotions = Int64(figures.tiers.demotions)
        promotions = Int64(figures.tiers.promotions)
        incompressible = Int64(figures.tiers.incompressible)
        damaged_blocks = Int64(figures.tiers.damagedBlocks)
        encoded_payloads = Int64(figures.tiers.encodedPayloads)
        undecodable_payloads = Int64(figures.tiers.undecodablePayloads)
        func removed(_ cause: TileCacheStatistics.RemovalCause) -> Int64 { Int64(figures.tiers.removals[cause] ?? 0) }
        removed_for_room = removed(.capacity)
        removed_incompressible = removed(.incompressible)
        removed_replaced = removed(.replaced)
        removed_invalidated = removed(.invalidated)
        removed_trimmed = removed(.trimmed)
        removed_damaged = removed(.damaged)
        byte_limit = Int64(figures.memory.limit.bytes)
        shortfall_bytes = Int64(figures.memory.shortfall.bytes)
        used_bytes = Int64(figures.memory.used.bytes)
        peak_bytes = Int64(figures.memory.peak.bytes)
        decoded_bytes = Int64(figures.memory.decoded.bytes)
        compressed_bytes = Int64(figures.memory.compressed.bytes)
        in_flight_bytes = Int64(figures.memory.inFlight.bytes)
        bookkeeping_bytes = Int64(figures.memory.bookkeeping.bytes)
        store_bytes = Int64(figures.memory.stores.bytes)
        peak_decoded_bytes = Int64(figures.memory.peakDecoded.bytes)
        peak_compressed_bytes = Int64(figures.memory.peakCompressed.bytes)
        peak_in_flight_bytes = Int64(figures.memory.peakInFlight.bytes)
        decoded_tiles = Int64(figures.memory.decodedTiles)
        compressed_tiles = Int64(figures.memory.compressedTiles)
        unseen_tiles = Int64(figures.memory.unseenTiles)
        unseen_prefetched_tiles = Int64(figures.memory.unseenPrefetchedTiles)
    }
}

/// See `tilecache.h`.
@c(tilecache_get_statistics)
public func tileCacheGetStatistics(
    _ cache: OpaquePointer?,
    _ statistics: UnsafeMutablePointer<tilecache_statistics>?
) -> tilecache_status {
    attempt(on: try cacheHandle(cache)) { handle throws(Failure) in
        try write(tilecache_statistics(handle.cache.statistics), to: statistics, "statistics")
    }
}

/// See `tilecache.h`.
@c(tilecache_describe_statistics)
public func tileCacheDescribeStatistics(
    _ cache: OpaquePointer?,
    _ text: UnsafeMutablePointer<CChar>?,
    _ capacity: Int,
    _ length: UnsafeMutablePointer<Int>?
) -> tilecache_status {
    attempt(on: try cacheHandle(cache)) { handle throws(Failure) in
        try write(handle.cache.statistics.description, to: text, capacity: capacity, length: length)
    }
}
