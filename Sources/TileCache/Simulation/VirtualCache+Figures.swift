/// What a replay reads of the cache.
extension VirtualCache {
    package var panDemands: TileCacheStatistics.DemandCounts {
        views.reduce(TileCacheStatistics.DemandCounts()) { $0 + $1.pan }
    }
    package var zoomDemands: TileCacheStatistics.DemandCounts {
        views.reduce(TileCacheStatistics.DemandCounts()) { $0 + $1.zoom }
    }
    package var counters: PoolCounters { pool.counters }
    package var bookkeepingBytes: Int { pool.bookkeepingBytes }
    package var loadsInFlight: Int { pool.loads.count - pool.loads.revalidationCount }
    /// Prefetches in flight whose tile has not been needed; those that are late are counted already.
    package var prefetchLoadsInFlight: Int { pool.loads.all.count { !$0.load.isDemand && !$0.load.wasLate } }

    /// Resident tiles that were never drawn.
    package var unseen: (all: Int, prefetched: Int) { (pool.table.counts.unseen, pool.table.counts.unseenPrefetched) }

    /// Present bytes by use.
    package var tierBytes: TierBytes {
        let decoded = pool.slots.usedBytes - pool.ledger.inFlightBytes
        let bookkeeping = pool.bookkeepingBytes
        return TierBytes(
            decoded: decoded,
            compressed: pool.pages.usedBytes,
            inFlight: pool.ledger.inFlightBytes,
            bookkeeping: bookkeeping,
            unused: pool.committedBytes - pool.countedBookkeepingBytes - decoded - pool.ledger.inFlightBytes
                - pool.pages.usedBytes
        )
    }

    /// Bytes of a tile's slot: whole pages of 4 KiB on any system. Figures are then reproducible.
    package static func slotBytes(ofTile bytes: Int) -> Int { PoolConfiguration(byteLimit: 0).paged(bytes) }

    /// Bytes of a view's needed tiles if they exceed the limit; otherwise 0.
    package func shortfallBytes(view: Int) -> Int { views[view].shortfallBytes }

    /// Number of tiles needed by a view's last frame.
    package func neededTileCount(view: Int) -> Int { views[view].layers.reduce(0) { $0 + $1.needs.tiles.count } }

    /// Needed tiles of a view on screen, in the order of drawing.
    package func screenTiles(view: Int) -> [ScreenTile] {
        var tiles: [ScreenTile] = []
        for layer in views[view].layers {
            layer.forEachOnScreen(in: pool, drawsCompressed: drawsCompressed) { tiles.append($0) }
        }
        return tiles
    }

    /// Resident tiles that a view may draw soon, the most valuable first.
    package func upcoming(view: Int, limit: Int) -> [UpcomingTile] {
        views[view].upcoming(limit: limit, in: pool, drawsCompressed: drawsCompressed)
    }

    /// Calls `body` with each needed tile of a view. With it: whether it is drawable, and whether it is loading.
    package func forEachNeeded(view: Int, _ body: (TileCoordinate, _ isDrawable: Bool, _ isLoading: Bool) -> Void) {
        for layer in views[view].layers {
            for (key, number) in zip(layer.needs.tiles, layer.needs.entries) {
                let isKnown = number != .none
                body(
                    key.coordinate,
                    isKnown && pool.table[number].residency.isResident,
                    isKnown && pool.table[number].load != .none
                )
            }
        }
    }
}

/// Bytes by use.
package struct TierBytes: Hashable, Sendable {
    /// Decoded tiles.
    package var decoded: Int
    /// Pages of compressed blocks.
    package var compressed: Int
    /// Slots that loads write into.
    package var inFlight: Int
    /// Tables and scratch memory.
    package var bookkeeping: Int
    /// Committed but unused.
    package var unused: Int

    package init(decoded: Int = 0, compressed: Int = 0, inFlight: Int = 0, bookkeeping: Int = 0, unused: Int = 0) {
        self.decoded = decoded
        self.compressed = compressed
        self.inFlight = inFlight
        self.bookkeeping = bookkeeping
        self.unused = unused
    }

    /// Sum of all.
    package var total: Int { decoded + compressed + inFlight + bookkeeping + unused }
}
