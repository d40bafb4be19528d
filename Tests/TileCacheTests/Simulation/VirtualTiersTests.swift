import Testing

@testable import TileCache

/// Tiers under the virtual clock, against lists in order of use.
@Suite struct VirtualTiersTests {
    private struct Model {
        var keys: [TileKey] = []
        var limit: Int?
        var counts = VirtualTiers.Counts()

        mutating func use(_ key: TileKey) {
            keys.removeAll { $0 == key }
            keys.append(key)
        }
    }

    @Test(arguments: 0..<4) func leastRecentlyUsedEntriesAreEvicted(run: Int) {
        var random = SplitMix64(seed: UInt64(run))
        let limits: [Int?] = [7, 40, nil]
        let tiers = VirtualTiers(
            limits.enumerated().map {
                VirtualTiers.Tier(name: "\($0)", latency: Int64($0), byteLimit: $1.map { $0 * 10 + 3 })
            }
        )
        var models = limits.map { Model(limit: $0) }
        for _ in 0..<5000 {
            let tile = TileCoordinate(level: 6, column: Int(random.next() % 60), row: 0)
            let key = TileKey(layer: 0, tile)
            let expected = models.firstIndex { $0.keys.contains(key) }
            #expect(tiers.nearest(key) == expected)
            #expect(tiers.load(key, bytes: 10) == expected)
            for index in 0..<(expected ?? models.count) { models[index].counts.misses += 1 }
            if let expected {
                models[expected].counts.hits += 1
                models[expected].counts.bytesRead += 10
                models[expected].counts.waitNanoseconds += Int64(expected)
                models[expected].use(key)
            }
            guard random.next() % 4 > 0 else { continue }
            tiers.write(key, bytes: 10, before: expected)
            for index in 0..<(expected ?? models.count) {
                if models[index].keys.count == models[index].limit {
                    models[index].keys.removeFirst()
                    models[index].counts.evictions += 1
                }
                models[index].counts.writes += 1
                models[index].counts.bytesWritten += 10
                models[index].use(key)
            }
            #expect(tiers.entries == models.map(\.keys.count))
        }
        #expect(tiers.counts == models.map(\.counts))
    }

    /// A full tier remembers no more uses, however many tiles it is given.
    @Test func evictedTilesAreForgotten() {
        let tiers = VirtualTiers([.init(name: "disk", latency: 1, byteLimit: 100)])
        for column in 0..<2000 {
            let tile = TileCoordinate(level: 20, column: column, row: 0)
            tiers.write(TileKey(layer: 0, tile), bytes: 10, before: nil)
        }
        #expect(tiers.entries == [10] && tiers.useCounts[0] <= 2 * 10 + 64)
    }

    @Test func anEntryLargerThanTheLimitIsNotWritten() {
        let tiers = VirtualTiers([.init(name: "disk", latency: 1, byteLimit: 9)])
        let key = TileKey(layer: 0, TileCoordinate(level: 0, column: 0, row: 0))
        tiers.write(key, bytes: 10, before: nil)
        #expect(tiers.entries == [0])
        tiers.write(key, bytes: 9, before: nil)
        #expect(tiers.entries == [1])
    }
}
