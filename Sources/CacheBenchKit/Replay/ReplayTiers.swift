import PanTraces
package import TileCache

extension ReplayReport {
    /// A tier below memory: a store, or one of the virtual clock.
    package struct Tier: Encodable, Sendable, Hashable {
        package var name: String
        /// Loads that it served, of pixels or absences.
        package var hits = 0
        /// Loads for which it had nothing.
        package var misses = 0
        package var writes = 0
        /// Entries removed for others.
        package var evictions = 0
        /// Tiles that it did not take.
        package var refusals = 0
        package var bytesRead = 0
        package var bytesWritten = 0
        /// Sum of the waits for look-ups.
        package var waitMilliseconds = 0.0

        mutating func add(_ other: Self) {
            for field in [\Self.hits, \.misses, \.writes, \.evictions, \.refusals, \.bytesRead, \.bytesWritten] {
                self[keyPath: field] += other[keyPath: field]
            }
            waitMilliseconds += other.waitMilliseconds
        }
    }
}

/// Parses tiers of the virtual clock: `disk=2ms:256MiB,shared=5ms`; `nil` for other text.
package func virtualTiers(_ text: String) -> [VirtualTiers.Tier]? {
    let tiers = text.split(separator: ",", omittingEmptySubsequences: false).map { part -> VirtualTiers.Tier? in
        let words = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard words.count == 2, !words[0].isEmpty, words[0].allSatisfy({ $0.isLetter || $0.isNumber }) else {
            return nil
        }
        let values = words[1].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let latency = QuantityText.duration(values[0]) else { return nil }
        guard values.count == 2 else { return VirtualTiers.Tier(name: String(words[0]), latency: latency) }
        guard let limit = QuantityText.bytes(values[1]), limit > 0 else { return nil }
        return VirtualTiers.Tier(name: String(words[0]), latency: latency, byteLimit: limit)
    }
    let known = tiers.compactMap { $0 }
    return known.count == tiers.count && Set(known.map(\.name)).count == known.count && known.count <= 8 ? known : nil
}

/// Counts of a replay's stores under the real clock, between two moments.
struct StoreReading {
    private let stores: [any TileStore]
    private let before: [TileStoreStatistics]

    init(_ stores: [any TileStore]) {
        self.stores = stores
        before = stores.map(\.statistics)
    }

    /// Rows of a cache that has used the stores since.
    func tiers(_ counts: [TileCacheStatistics.StoreCounts]) -> [ReplayReport.Tier] {
        zip(zip(stores, before), counts).map { store, counts in
            let (now, before) = (store.0.statistics, store.1)
            var tier = ReplayReport.Tier(name: store.0.label)
            tier.hits = counts.hits
            tier.misses = counts.misses + counts.absences
            tier.writes = counts.writes
            tier.refusals = counts.dropped + counts.refused
            tier.evictions = now.evictions - before.evictions
            tier.bytesRead = now.bytesRead.bytes - before.bytesRead.bytes
            tier.bytesWritten = now.bytesWritten.bytes - before.bytesWritten.bytes
            tier.waitMilliseconds = Double(counts.waits.nanoseconds) / 1e6
            return tier
        }
    }
}

extension ReplayReport.Tier {
    /// The counts of a tier under the virtual clock.
    init(_ tier: VirtualTiers.Tier, _ counts: VirtualTiers.Counts) {
        self.init(name: tier.name)
        hits = counts.hits
        misses = counts.misses
        writes = counts.writes
        evictions = counts.evictions
        bytesRead = counts.bytesRead
        bytesWritten = counts.bytesWritten
        waitMilliseconds = Double(counts.waitNanoseconds) / 1e6
    }

    /// Part of the look-ups that were hits, and the bytes read and written.
    var summary: String {
        "\(percent: hits, of: hits + misses); \(bytes: bytesRead) read, \(bytes: bytesWritten) written"
    }

    /// Evictions and refusals; `nil` if there were none.
    var losses: String? {
        let parts = [(evictions, "evicted"), (refusals, "not taken")].filter { $0.0 > 0 }
        return parts.isEmpty ? nil : parts.map { "\(count: $0.0) \($0.1)" }.joined(separator: ", ")
    }
}
