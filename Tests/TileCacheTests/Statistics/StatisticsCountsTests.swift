import Testing

@testable import TileCache

/// Counts are added and subtracted completely: no field may be missing.
@Suite struct StatisticsCountsTests {
    /// Sets all fields to random numbers.
    private func drawn<Counts: CountFields>(_ random: inout SplitMix64) -> Counts {
        var counts = Counts()
        for field in Counts.fields { counts[keyPath: field] = Int(random.next() >> 40) }
        return counts
    }

    /// Numbers stored in a value, those in arrays included.
    private func storedNumbers(_ value: Any) -> [Int] {
        if let number = value as? Int { return [number] }
        return Mirror(reflecting: value).children.flatMap { storedNumbers($0.value) }
    }

    private func check<Counts: CountFields & Equatable>(
        _ type: Counts.Type,
        seed: UInt64,
        _ add: (Counts, Counts) -> Counts,
        _ subtract: (Counts, Counts) -> Counts
    ) {
        var random = SplitMix64(seed: seed)
        let (a, b): (Counts, Counts) = (drawn(&random), drawn(&random))
        let sums = zip(storedNumbers(a), storedNumbers(b)).map { $0 + $1 }
        #expect(storedNumbers(add(a, b)) == sums && sums.count == Counts.fields.count, "\(type), seed \(seed)")
        #expect(subtract(add(a, b), b) == a && subtract(a, a) == Counts(), "\(type), seed \(seed)")
    }

    @Test func everyStoredNumberIsAddedAndSubtracted() {
        let seed = UInt64.random(in: 0...9999)
        check(TileCacheStatistics.DemandCounts.self, seed: seed, +, -)
        check(TileCacheStatistics.LoadCounts.self, seed: seed, +, -)
        check(TileCacheStatistics.PrefetchCounts.self, seed: seed, +, -)
        check(TileCacheStatistics.TierCounts.self, seed: seed, +, -)
        check(TileCacheStatistics.SynthesisCounts.self, seed: seed, +, -)
    }

    @Test func aDifferenceHasTheCountsInBetweenAndTheStateOfTheLaterMoment() {
        var random = SplitMix64(seed: 7)
        var earlier = TileCacheStatistics()
        earlier.pan = drawn(&random)
        earlier.zoom = drawn(&random)
        earlier.loads = drawn(&random)
        earlier.prefetches = drawn(&random)
        earlier.tiers = drawn(&random)
        earlier.synthesis = drawn(&random)
        (earlier.refusedViewports, earlier.slowCallbacks) = (3, 4)
        earlier.memory.used = .bytes(500)
        var later = earlier
        later.pan.total += 10
        later.pan.decodedHits += 4
        later.zoom.total += 2
        later.zoom.compressedHits += 2
        later.loads.started += 8
        later.loads.unseen += 2
        later.refusedViewports += 1
        later.slowCallbacks += 2
        later.memory.used = .bytes(100)
        later.loadsInFlight = 1
        later.memory.unseenTiles = 1
        let between = later - earlier
        #expect(between.demands.total == 12 && between.hitRate == 0.5)
        #expect(between.waste == 0.5)
        #expect(between.prefetches == TileCacheStatistics.PrefetchCounts() && between.tiers.removals[.capacity] == 0)
        #expect(between.refusedViewports == 1 && between.slowCallbacks == 2)
        #expect(between.memory == later.memory && between.loadsInFlight == 1)
    }

    @Test(arguments: [
        (Duration.zero, Int64(0)), (.nanoseconds(-1), -1), (.milliseconds(2), 2_000_000),
        (.seconds(9_223_372_036), 9_223_372_036_000_000_000), (.seconds(9_223_372_037), .max),
        (.seconds(-9_223_372_037), .min), (.seconds(Int64.max), .max), (.seconds(Int64.min), .min),
    ]) func durationsAreClampedToNanoseconds(duration: Duration, nanoseconds: Int64) {
        #expect(duration.nanoseconds == nanoseconds)
    }
}
