public import CTileCache
internal import TileCache

extension tilecache_view_statistics: VersionedStructure {
    init(_ figures: TileViewStatistics) {
        self.init()
        (pan_demands, pan_decoded_hits, pan_compressed_hits, pan_late, pan_missed) = numbers(figures.pan)
        (zoom_demands, zoom_decoded_hits, zoom_compressed_hits, zoom_late, zoom_missed) = numbers(figures.zoom)
        hit_rate = figures.hitRate ?? .nan
        frames = Int64(figures.frames)
        busy_frames = Int64(figures.busyFrames)
        incomplete_frames = Int64(figures.incompleteFrames)
        let area = figures.area
        (sharp_pixels, fallback_pixels, blank_pixels) = (area.sharp, area.fallback, area.blank)
        deficit_pixels = area.deficit
        let shares = figures.shares
        (sharp, fallback) = (shares?.sharp ?? .nan, shares?.fallback ?? .nan)
        (blank, deficit) = (shares?.blank ?? .nan, shares?.deficit ?? .nan)
    }
}

extension tilecache_layer_statistics: VersionedStructure {
    init(_ figures: TileLayerStatistics) {
        self.init()
        (pan_demands, pan_decoded_hits, pan_compressed_hits, pan_late, pan_missed) = numbers(figures.pan)
        (zoom_demands, zoom_decoded_hits, zoom_compressed_hits, zoom_late, zoom_missed) = numbers(figures.zoom)
        hit_rate = figures.hitRate ?? .nan
        let loads = figures.loads
        (loads_started, loads_finished) = (Int64(loads.started), Int64(loads.finished))
        (loads_absent, loads_failed) = (Int64(loads.absent), Int64(loads.failed))
        (loads_postponed, loads_cancelled) = (Int64(loads.postponed), Int64(loads.cancelled))
        (loads_outdated, loads_refused) = (Int64(loads.outdated), Int64(loads.refused))
        (loads_retried, loads_drawn) = (Int64(loads.retried), Int64(loads.drawn))
        loads_unseen = Int64(loads.unseen)
        loaded_bytes = Int64(loads.bytes.bytes)
        decoded_bytes = Int64(figures.decoded.bytes)
        compressed_bytes = Int64(figures.compressed.bytes)
    }
}

private func numbers(_ counts: TileCacheStatistics.DemandCounts) -> (Int64, Int64, Int64, Int64, Int64) {
    (
        Int64(counts.total), Int64(counts.decodedHits), Int64(counts.compressedHits), Int64(counts.late),
        Int64(counts.missed)
    )
}

/// See `tilecache.h`.
@c(tilecache_view_get_statistics)
public func tileCacheViewGetStatistics(
    _ view: OpaquePointer?,
    _ statistics: UnsafeMutablePointer<tilecache_view_statistics>?
) -> tilecache_status {
    attempt(on: try viewHandle(view)) { handle throws(Failure) in
        try write(tilecache_view_statistics(handle.view.statistics), to: statistics, "statistics")
    }
}

/// See `tilecache.h`.
@c(tilecache_get_layer_statistics)
public func tileCacheGetLayerStatistics(
    _ cache: OpaquePointer?,
    _ layer: tilecache_layer,
    _ statistics: UnsafeMutablePointer<tilecache_layer_statistics>?
) -> tilecache_status {
    withLayer(layer, of: cache) { (layer) throws(Failure) in
        guard let figures = layer.statistics else { throw .argument("the layer was removed") }
        try write(tilecache_layer_statistics(figures), to: statistics, "statistics")
    }
}
