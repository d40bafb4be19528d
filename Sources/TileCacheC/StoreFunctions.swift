public import CTileCache
package import TileCache

/// Object behind `tilecache_store`.
package final class StoreHandle: Sendable {
    package let store: any TileStore

    package init(_ store: any TileStore) { self.store = store }
}

extension tilecache_store_statistics: VersionedStructure {
    init(_ figures: TileStoreStatistics) {
        self.init()
        hits = Int64(figures.hits)
        misses = Int64(figures.allMisses)
        writes = Int64(figures.writes)
        evictions = Int64(figures.evictions)
        dropped = Int64(figures.dropped)
        refused = Int64(figures.refused)
        failures = Int64(figures.failures)
        bytes_read = Int64(figures.bytesRead.bytes)
        bytes_written = Int64(figures.bytesWritten.bytes)
        disk_bytes = figures.diskSize.map { Int64($0.bytes) } ?? -1
        memory_bytes = Int64(figures.memorySize.bytes)
    }
}

extension tilecache_store_counts: VersionedStructure {
    init(_ counts: TileCacheStatistics.StoreCounts) {
        self.init()
        hits = Int64(counts.hits)
        stale_hits = Int64(counts.staleHits)
        misses = Int64(counts.misses)
        absences = Int64(counts.absences)
        skipped = Int64(counts.skipped)
        writes = Int64(counts.writes)
        dropped = Int64(counts.dropped)
        refused = Int64(counts.refused)
        wait_nanoseconds = counts.waits.nanoseconds
    }
}

/// The stores of a layer's options, at most 32.
package func storeList(
    _ stores: UnsafePointer<OpaquePointer?>?,
    count: Int
) throws(Failure) -> [any TileStore] {
    guard count != 0 else { return [] }
    guard let stores else { throw .isNull("options->stores") }
    // Checked before any of them is read.
    guard (1...32).contains(count) else {
        throw Failure(.invalidLayer("a layer has at most 32 stores, not \(UInt(bitPattern: count))"))
    }
    var list: [any TileStore] = []
    for index in 0..<count {
        list.append(try object(stores[index], as: StoreHandle.self, "options->stores[\(index)]").store)
    }
    return list
}

extension tilecache_layer_options {
    /// Maximum number of texts that identify a layer's data.
    private static let mostNames = 1024

    /// The layer's stores; `nil` if it has none. The library checks the rest.
    func layerStores() throws(Failure) -> LayerStores? {
        let list = try storeList(stores, count: store_count)
        return list.isEmpty ? nil : LayerStores(list, dataSet: try names())
    }

    private func names() throws(Failure) -> [String] {
        guard data_set_count != 0 else { return [] }
        guard let data_set else { throw .isNull("options->data_set") }
        guard (1...Self.mostNames).contains(data_set_count) else {
            let count = UInt(bitPattern: data_set_count)
            throw .argument("options->data_set_count must be 0 to \(Self.mostNames), not \(count)")
        }
        var names: [String] = []
        for index in 0..<data_set_count {
            guard let text = data_set[index] else { throw .isNull("options->data_set[\(index)]") }
            // Repaired texts of different data could be equal.
            guard let name = String(validatingCString: text) else {
                throw .argument("options->data_set[\(index)] must be UTF-8")
            }
            names.append(name)
        }
        return names
    }
}

/// See `tilecache.h`.
@c(tilecache_store_close)
public func tileCacheStoreClose(_ store: OpaquePointer?) { giveBack(store, as: StoreHandle.self)?.store.close() }

/// See `tilecache.h`.
@c(tilecache_store_get_statistics)
public func tileCacheStoreGetStatistics(
    _ store: OpaquePointer?,
    _ statistics: UnsafeMutablePointer<tilecache_store_statistics>?
) -> tilecache_status {
    attempt(on: try object(store, as: StoreHandle.self, "store").store.statistics) { figures throws(Failure) in
        try write(tilecache_store_statistics(figures), to: statistics, "statistics")
    }
}

/// See `tilecache.h`.
@c(tilecache_get_store_counts)
public func tileCacheGetStoreCounts(
    _ cache: OpaquePointer?,
    _ index: Int,
    _ counts: UnsafeMutablePointer<tilecache_store_counts>?
) -> tilecache_status {
    attempt(on: try cacheHandle(cache).cache.statistics.stores) { stores throws(Failure) in
        guard stores.indices.contains(index) else {
            throw .argument("index must be below \(stores.count), not \(UInt(bitPattern: index))")
        }
        try write(tilecache_store_counts(stores[index]), to: counts, "counts")
    }
}
