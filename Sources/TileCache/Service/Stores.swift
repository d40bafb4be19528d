/// Stores that the layers of a cache have named, and their counts. Only the layers and their work retain them.
struct Stores: Sendable {
    private struct Record: @unchecked Sendable {
        /// May be another store's after the end of this one.
        let id: ObjectIdentifier
        private(set) weak var store: (any TileStore)?
        /// Counts of removed layers.
        var closed = TileCacheStatistics.StoreCounts()

        init(_ store: any TileStore) { (id, self.store) = (ObjectIdentifier(store), store) }
    }

    private var records: [Record] = []
    /// Bytes of the stores at the last reading.
    private(set) var byteCount = 0
    /// When to read these bytes again.
    private(set) var heldMemory = HeldMemory()
    /// Invalidations that have not reached the stores yet, by data set.
    private var pending: [TileStoreNamespace: Int] = [:]

    var isEmpty: Bool { records.isEmpty }
    /// - Parameter store: Held by the caller.
    private func index(of store: any TileStore) -> Int? {
        let id = ObjectIdentifier(store)
        return records.firstIndex { $0.id == id && $0.store != nil }
    }

    /// Adds stores that no layer has named before, and their bytes.
    mutating func adopt(_ tiers: LayerTiers, bytes: Int) {
        for store in tiers.stores where index(of: store) == nil { records.append(Record(store)) }
        byteCount += bytes
        // The layer may be one that was removed after an invalidation: it must not read what that is to remove.
        if pending[tiers.namespace] != nil { tiers.wait() }
    }

    /// Notes an invalidation that has to reach the stores.
    mutating func beginInvalidation(of namespace: TileStoreNamespace) { pending[namespace, default: 0] += 1 }

    /// Notes the end of an invalidation; returns whether its data set has no other.
    mutating func endInvalidation(of namespace: TileStoreNamespace) -> Bool {
        let rest = (pending[namespace] ?? 1) - 1
        pending[namespace] = rest > 0 ? rest : nil
        return rest <= 0
    }

    /// Keeps the counts of a layer that is removed.
    mutating func close(_ tiers: LayerTiers) {
        for (store, counts) in zip(tiers.stores, tiers.counts) {
            if let index = index(of: store) { records[index].closed = records[index].closed + counts }
        }
    }

    /// Counts by store, over all layers.
    func counts(of layers: Layers) -> [TileCacheStatistics.StoreCounts] {
        var all = self
        for layer in layers { if let tiers = layer.tiers { all.close(tiers) } }
        return all.records.map(\.closed)
    }

    /// Whether to read the stores' bytes. At most once a second, or now if the time is `nil`.
    mutating func startMeasuring(now: Int64?) -> Bool {
        !records.isEmpty && heldMemory.startMeasuring(now: now)
    }

    mutating func postponeMeasuring(now: Int64) { heldMemory.postpone(now: now) }

    mutating func set(byteCount: Int) { self.byteCount = byteCount }
}
