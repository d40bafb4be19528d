public import CTileCache
internal import TileCache

extension tilecache_prefetch_allowance: VersionedStructure {
    package static var defaults: tilecache_prefetch_allowance {
        var allowance = tilecache_prefetch_allowance()
        allowance.kind = tilecache_prefetch_kind(TILECACHE_PREFETCH_PRICED)
        (allowance.price, allowance.effort) = (-1, -1)
        (allowance.requests_per_minute, allowance.bytes_per_minute) = (-1, -1)
        return allowance
    }

    fileprivate func allowance() throws(Failure) -> PrefetchAllowance {
        switch Int(kind) {
        case Int(TILECACHE_PREFETCH_RESIDENT): return .resident
        case Int(TILECACHE_PREFETCH_NEVER): return .never
        case Int(TILECACHE_PREFETCH_PRICED):
            guard bytes_per_minute >= -1 else {
                throw .argument("allowance->bytes_per_minute must be 0 or more, or -1, not \(bytes_per_minute)")
            }
            return .priced(
                PrefetchTerms(
                    price: price == -1 ? nil : price,
                    effort: effort == -1 ? nil : effort,
                    requestsPerMinute: requests_per_minute == -1 ? nil : Int(requests_per_minute),
                    bytesPerMinute: bytes_per_minute == -1 ? nil : .bytes(Int(bytes_per_minute))
                )
            )
        default: throw .argument("allowance->kind must be a TILECACHE_PREFETCH value, not \(kind)")
        }
    }
}

extension tilecache_prefetch_counts: VersionedStructure {}

/// See `tilecache.h`.
@c(tilecache_prefetch_allowance_init)
public func tileCachePrefetchAllowanceInit(
    _ allowance: UnsafeMutablePointer<tilecache_prefetch_allowance>?,
    _ structSize: Int
) -> tilecache_status {
    initialize(allowance, size: structSize, "allowance")
}

/// See `tilecache.h`.
@c(tilecache_set_prefetch_allowance)
public func tileCacheSetPrefetchAllowance(
    _ cache: OpaquePointer?,
    _ layer: tilecache_layer,
    _ allowance: UnsafePointer<tilecache_prefetch_allowance>?
) -> tilecache_status {
    withLayer(layer, of: cache) { (layer) throws(Failure) in
        let value = try readOrDefaults(allowance, "allowance").allowance()
        try library { () throws(TileCacheError) in try layer.setPrefetchAllowance(value) }
    }
}

/// See `tilecache.h`.
@c(tilecache_get_prefetch_counts)
public func tileCacheGetPrefetchCounts(
    _ cache: OpaquePointer?,
    _ layer: tilecache_layer,
    _ counts: UnsafeMutablePointer<tilecache_prefetch_counts>?
) -> tilecache_status {
    withLayer(layer, of: cache) { (layer) throws(Failure) in
        let found = layer.prefetchCounts ?? LayerPrefetchCounts()
        var values = tilecache_prefetch_counts()
        values.started = Int64(found.started)
        values.bytes = Int64(found.bytes.bytes)
        values.requests = Int64(found.requests)
        values.drawn = Int64(found.drawn)
        values.drawn_bytes = Int64(found.drawnBytes.bytes)
        values.late = Int64(found.late)
        values.held_back = Int64(found.heldBack)
        try write(values, to: counts, "counts")
    }
}
