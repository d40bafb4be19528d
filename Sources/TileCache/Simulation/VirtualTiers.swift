/// Tiers below memory under the virtual clock: their tiles, and the times they take.
///
/// A tile of the source is written as in the service: at once if a view needs it or it was expensive, else once it is
/// drawn. The least recently used entries of a tier are evicted.
package final class VirtualTiers {
    /// One tier.
    package struct Tier: Hashable, Sendable {
        /// Name in reports.
        package var name: String
        /// Duration of a load from it, in nanoseconds.
        package var latency: Int64
        /// Limit of its entries; `nil` for none.
        package var byteLimit: Int?

        package init(name: String, latency: Int64, byteLimit: Int? = nil) {
            self.name = name
            self.latency = latency
            self.byteLimit = byteLimit
        }
    }

    /// Counts of one tier.
    package struct Counts: Hashable, Sendable {
        package var hits = 0
        package var misses = 0
        package var writes = 0
        package var evictions = 0
        package var bytesRead = 0
        package var bytesWritten = 0
        package var waitNanoseconds: Int64 = 0
    }

    /// Tiles of one tier, in order of use.
    private struct Contents {
        var stamps: [TileKey: UInt64] = [:]
        /// Uses, the oldest first; only the last one of a tile counts.
        var uses: [(key: TileKey, stamp: UInt64)] = []
        var first = 0
        var bytes = 0
        var counts = Counts()
    }

    package let tiers: [Tier]
    private var contents: [Contents]
    private var stamp: UInt64 = 0

    package init(_ tiers: [Tier]) {
        self.tiers = tiers
        contents = tiers.map { _ in Contents() }
    }

    package var counts: [Counts] { contents.map(\.counts) }
    package var entries: [Int] { contents.map(\.stamps.count) }
    /// Number of uses that each tier remembers.
    var useCounts: [Int] { contents.map(\.uses.count) }

    /// Sets all counts to 0. The tiles stay.
    package func resetCounts() {
        for index in contents.indices { contents[index].counts = Counts() }
    }

    /// Nearest tier that has a tile; `nil` for the source.
    func nearest(_ key: TileKey) -> Int? { contents.firstIndex { $0.stamps[key] != nil } }

    /// Loads a tile; returns the tier that has it.
    func load(_ key: TileKey, bytes: Int) -> Int? {
        for index in contents.indices {
            guard contents[index].stamps[key] != nil else {
                contents[index].counts.misses += 1
                continue
            }
            contents[index].counts.hits += 1
            contents[index].counts.bytesRead += bytes
            contents[index].counts.waitNanoseconds += tiers[index].latency
            use(key, index)
            return index
        }
        return nil
    }

    /// Writes a tile to the tiers before one; all of them if it is `nil`.
    func write(_ key: TileKey, bytes: Int, before end: Int?) {
        for index in 0..<(end ?? tiers.count) where contents[index].stamps[key] == nil {
            if let limit = tiers[index].byteLimit {
                guard bytes <= limit else { continue }
                while contents[index].bytes > limit - bytes { evict(index, bytes: bytes) }
            }
            contents[index].bytes += bytes
            contents[index].counts.writes += 1
            contents[index].counts.bytesWritten += bytes
            use(key, index)
        }
    }

    private func use(_ key: TileKey, _ index: Int) {
        stamp += 1
        contents[index].stamps[key] = stamp
        contents[index].uses.append((key, stamp))
        // Outdated uses, and those of evicted tiles, are removed before they are more than the others.
        guard contents[index].uses.count > 2 * contents[index].stamps.count + 64 else { return }
        let stamps = contents[index].stamps
        contents[index].uses.removeAll { stamps[$0.key] != $0.stamp }
        contents[index].first = 0
    }

    /// All entries of a replay have the same size.
    private func evict(_ index: Int, bytes: Int) {
        while contents[index].first < contents[index].uses.count {
            let (key, stamp) = contents[index].uses[contents[index].first]
            contents[index].first += 1
            guard contents[index].stamps[key] == stamp else { continue }
            contents[index].stamps[key] = nil
            contents[index].bytes -= bytes
            contents[index].counts.evictions += 1
            return
        }
    }
}
