import TestSupport
import Testing
import TileCache

@testable import TileDiskStore

@Suite struct CuckooFilterTests {
    @Test(arguments: [0, 100, 5000, 100_000])
    func noAbsenceIsFalse(count: Int) {
        let seed = UInt64(count + 7)
        var random = SplitMix64(seed: seed)
        var filter = CuckooFilter(expecting: count)
        var set: Set<UInt64> = []
        while set.count < count {
            // Adjacent numbers, as in keys of neighbouring tiles.
            let block = random.next() & ~63
            let places = 1 + random.below(64)
            for place in 0..<UInt64(places) where set.insert(block | place).inserted {
                let isAdded = filter.insert(block | place)
                #expect(isAdded, "seed \(seed)")
            }
            if random.oneIn(3) {
                let some = block | UInt64(random.below(places))
                set.remove(some)
                filter.remove(some)
            }
        }
        #expect(filter.count == set.count)
        #expect(set.allSatisfy { filter.contains($0) }, "seed \(seed)")
        var wrong = 0
        for _ in 0..<20_000 where filter.contains(random.next()) { wrong += 1 }
        #expect(wrong < 200, "seed \(seed): \(wrong) of 20000 random numbers are reported as present")
        #expect(filter.byteCount <= max(count * 2, 1536))
        for number in set { filter.remove(number) }
        #expect(filter.count == 0)
        #expect(!set.contains { filter.contains($0) })
    }

    @Test func aQuarterMoreFits() {
        var random = SplitMix64(seed: 3)
        var filter = CuckooFilter(expecting: 20_000)
        var count = 0
        while filter.insert(random.next()) { count += 1 }
        #expect(count >= 23_500 && count <= filter.capacity)
    }

    @Test func sparse() {
        var filter = CuckooFilter(expecting: 40_000)
        #expect(filter.capacity == 50_000)
        var kept = 0
        for number in 0..<UInt64(40_000) where filter.insert(number) { kept += 1 }
        #expect(kept == 40_000 && !filter.isSparse)
        for number in 0..<UInt64(40_000 - (37_500 - 4096)) { filter.remove(number) }
        #expect(filter.count == 33_404 && !filter.isSparse)
        filter.remove(39_999)
        #expect(filter.isSparse)
    }
}
