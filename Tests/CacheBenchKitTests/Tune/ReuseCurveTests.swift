import PanTraces
import Testing
import TileCache

@testable import CacheBenchKit

/// Stack distances and their curves, against simulated caches.
@Suite struct ReuseCurveTests {
    /// A plain LRU cache: a list, most recently used first.
    private struct NaiveLRU<Key: Equatable> {
        let size: Int
        var keys: [Key] = []

        mutating func isHit(_ key: Key) -> Bool {
            let place = keys.firstIndex(of: key)
            if let place { keys.remove(at: place) }
            keys.insert(key, at: 0)
            if keys.count > size { keys.removeLast() }
            return place != nil
        }
    }

    @Test func aSequenceByHand() {
        var distances = StackDistances<String>(capacity: 2)
        let found = ["a", "b", "a", "a", "c", "b", "a", "d", "c"].map { distances.access($0) }
        #expect(found == [nil, nil, 2, 1, nil, 3, 3, nil, 4])
        #expect(distances.distinctCount == 4)
    }

    @Test(arguments: 0..<12)
    func anySequenceAgreesWithCachesOfManySizes(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let kinds = [3, 17, 60, 200][Int(seed) % 4]
        // Skewed keys, with repeated sequences.
        var keys: [Int] = []
        while keys.count < 3000 {
            if random.next() % 4 == 0, keys.count > 50 {
                let start = Int(random.next() % UInt64(keys.count - 40))
                keys += keys[start..<(start + 40)]
            } else {
                let a = Int(random.next() % UInt64(kinds))
                keys.append(random.next() & 1 == 0 ? a : a * a / kinds)
            }
        }
        var distances = StackDistances<Int>(capacity: Int(seed) + 2)
        let found = keys.map { distances.access($0) }
        for size in [1, 2, 3, 5, 8, 16, 17, 40, 59, 60, 61, 150, 199, 200, 201] {
            var cache = NaiveLRU<Int>(size: size)
            let hits = keys.map { cache.isHit($0) }
            #expect(hits == found.map { $0.map { $0 <= size } ?? false }, "size \(size)")
        }
    }

    @Test func memoryIsBoundedByDistinctKeys() {
        var distances = StackDistances<Int>(capacity: 2)
        for index in 0..<200_000 { _ = distances.access(index % 100) }
        #expect(distances.lineCount <= 256)
        #expect(distances.access(0) == 100)
    }

    @Test(arguments: [UInt64(1), 2])
    func aSessionAgreesWithCachesOfManySizes(seed: UInt64) throws {
        var options = ReplayOptions()
        options.duration = 12_000_000_000
        options.seed = seed
        let curve = try ReuseCurve(ReplayInput(lively: options), options: options)
        var text: [UInt8] = []
        let count = try KeyExport.run(ReplayInput(lively: options), options: options) { text += $0 }
        let keys = String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
        #expect(keys.count == count && count == curve.accesses)
        #expect(Set(keys).count == curve.distinctTiles)
        let sizes = [1, 7, 15, 20, 23, 24, 30, 48, 90, 200, 1000]
        for point in curve.points(at: sizes) {
            var cache = NaiveLRU<String>(size: point.tiles)
            let hits = keys.count { cache.isHit($0) }
            #expect(point.hits == hits, "\(point.tiles) tiles")
            #expect(point.hitRate == Double(hits) / Double(keys.count))
        }
    }

    @Test func demandsAreThoseOfAReplayThatWaitsForNothing() throws {
        var options = ReplayOptions()
        options.prefetch = .none
        options.eviction = .lru
        options.compressedTier = false
        options.loadLatency = 0
        options.seed = 3
        // A size larger than the whole working set: every key hits after its first use.
        options.memoryLimit = .tiles(5000)
        let report = try Replay(options).run(ReplayInput(lively: options)).total
        let curve = try ReuseCurve(ReplayInput(lively: options), options: options)
        #expect(curve.demands == report.demands.total)
        #expect(curve.points(at: [5000])[0].demandHitRate == report.demands.hitRate)
    }

    @Test func poolingIsAddingUp() throws {
        let one = try ReuseCurve(ReplayInput(lively: ReplayOptions()), options: ReplayOptions())
        var two = one
        two.add(one)
        #expect(two.accesses == 2 * one.accesses && two.distinctTiles == one.distinctTiles)
        #expect(two.points(at: [10, 90]).map(\.hits) == one.points(at: [10, 90]).map { 2 * $0.hits })
        #expect(two.points(at: [90])[0].demandHitRate == one.points(at: [90])[0].demandHitRate)
    }
}
