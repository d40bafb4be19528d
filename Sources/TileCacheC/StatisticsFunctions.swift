public import CTileCache
internal import TileCache

extension tilecache_statistics: VersionedStructure {
    package static var defaults: tilecache_statistics { tilecache_statistics() }

    init(_ figures: Statistics) {
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
        compression_ratio = figures.compressionRatio ?? .nan
        takeLoads(of: figures)
        takeTiers(of: figures)
        takeWork(of: figures)
        (demand_waits, demand_wait_p50, demand_wait_p95, demand_wait_p99, demand_wait_maximum) =
            Self.numbers(figures.demandWaits)
        (prefetch_waits, prefetch_wait_p50, prefetch_wait_p95, prefetch_wait_p99, prefetch_wait_maximum) =
            Self.numbers(figures.prefetchWaits)
    }

    private static func numbers(_ waits: DurationSummary) -> (Int64, Int64, Int64, Int64, Int64) {
        (Int64(waits.count), waits.p50 ?? -1, waits.p95 ?? -1, waits.p99 ?? -1, waits.maximum)
    }

    private mutating func takeWork(of figures: Statistics) {
        synthesized_tiles = Int64(figures.synthesizedTiles)
        synthesis_loads = Int64(figures.synthesisLoads)
        synthesis_holes = Int64(figures.synthesisHoles)
        stuck_loads = Int64(figures.stuckLoads)
        blocked_workers = Int64(figures.blockedWorkers)
        oldest_load_nanoseconds = figures.oldestLoadNanoseconds
        slow_callbacks = Int64(figures.slowCallbacks)
        longest_callback_nanoseconds = figures.longestCallbackNanoseconds
        refused_viewports = Int64(figures.refusedViewports)
        floor_tiles = Int64(figures.floorTiles)
        floor_bytes = Int64(figures.floorBytes)
    }

    private mutating func takeLoads(of figures: Statistics) {
        loads_started = Int64(figures.loadsStarted)
        loads_finished = Int64(figures.loadsFinished)
        loads_absent = Int64(figures.loadsAbsent)
        loads_failed = Int64(figures.loadsFailed)
        loads_cancelled = Int64(figures.loadsCancelled)
        loads_outdated = Int64(figures.loadsOutdated)
        loads_refused = Int64(figures.loadsRefused)
        loads_retried = Int64(figures.loadsRetried)
        loads_drawn = Int64(figures.loadsDrawn)
        loaded_bytes = Int64(figures.loadedBytes)
        loads_unseen = Int64(figures.loadsUnseen)
        second_answers = Int64(figures.secondAnswers)
        prefetch_started = Int64(figures.prefetchStarted)
        prefetch_useful = Int64(figures.prefetchUseful)
        prefetch_late = Int64(figures.prefetchLate)
        prefetch_wasted = Int64(figures.prefetchWasted)
        prefetch_cancelled = Int64(figures.prefetchCancelled)
        prefetch_empty = Int64(figures.prefetchEmpty)
        prefetches_in_flight = Int64(figures.prefetchesInFlight)
        loads_in_flight = Int64(figures.loadsInFlight)
        mean_load_nanoseconds = figures.meanLoadNanoseconds
    }

    private mutating func takeTiers(of figures: Statistics) {
        demotions = Int64(figures.demotions)
        promotions = Int64(figures.promotions)
        incompressible = Int64(figures.incompressible)
        damaged_blocks = Int64(figures.damagedBlocks)
        encoded_payloads = Int64(figures.encodedPayloads)
        undecodable_payloads = Int64(figures.undecodablePayloads)
        func removed(_ cause: RemovalCause) -> Int64 { Int64(figures.removals[cause] ?? 0) }
        removed_for_room = removed(.capacity)
        removed_incompressible = removed(.incompressible)
        removed_replaced = removed(.replaced)
        removed_invalidated = removed(.invalidated)
        removed_trimmed = removed(.trimmed)
        removed_damaged = removed(.damaged)
        byte_limit = Int64(figures.byteLimit)
        shortfall_bytes = Int64(figures.shortfallBytes)
        used_bytes = Int64(figures.usedBytes)
        peak_bytes = Int64(figures.peakBytes)
        decoded_bytes = Int64(figures.decodedBytes)
        compressed_bytes = Int64(figures.compressedBytes)
        in_flight_bytes = Int64(figures.inFlightBytes)
        bookkeeping_bytes = Int64(figures.bookkeepingBytes)
        peak_decoded_bytes = Int64(figures.peakDecodedBytes)
        peak_compressed_bytes = Int64(figures.peakCompressedBytes)
        peak_in_flight_bytes = Int64(figures.peakInFlightBytes)
        decoded_tiles = Int64(figures.decodedTiles)
        compressed_tiles = Int64(figures.compressedTiles)
        unseen_tiles = Int64(figures.unseenTiles)
        unseen_prefetched_tiles = Int64(figures.unseenPrefetchedTiles)
    }
}

/// See `tilecache.h`.
@c(tilecache_get_statistics)
public func tileCacheGetStatistics(
    _ cache: OpaquePointer?,
    _ statistics: UnsafeMutablePointer<tilecache_statistics>?
) -> tilecache_status {
    attempt { () throws(Failure) in
        let handle = try cacheHandle(cache)
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
    attempt { () throws(Failure) in
        let handle = try cacheHandle(cache)
        try write(handle.cache.statistics.description, to: text, capacity: capacity, length: length)
    }
}
