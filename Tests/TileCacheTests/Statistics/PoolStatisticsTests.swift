import Testing

@testable import TileCache

/// Each figure matches its name.
@Suite struct PoolStatisticsTests {
    @Test func figuresAreThePoolsCounters() {
        let small = TilePool(tiles: 4)
        var number = 100
        func numbered<Counts: CountFields>() -> Counts {
            var counts = Counts()
            for field in Counts.fields { (counts[keyPath: field], number) = (number, number + 1) }
            return counts
        }
        small.pool.counters.loads = numbered()
        small.pool.counters.prefetches = numbered()
        small.pool.counters.tiers = numbered()
        small.pool.counters.peakBytes = 1
        small.pool.counters.peakDecodedBytes = 2
        small.pool.counters.peakCompressedBytes = 3
        small.pool.counters.peakInFlightBytes = 4
        let (figures, counters) = (TileCacheStatistics(of: small.pool), small.pool.counters)
        #expect(figures.loads == counters.loads && figures.prefetches == counters.prefetches)
        #expect(figures.tiers == counters.tiers)
        let memory = figures.memory
        let peaks = [memory.peak, memory.peakDecoded, memory.peakCompressed, memory.peakInFlight]
        #expect(peaks == (1...4).map { .bytes($0) })
        #expect(figures.loads.bytes.bytes == counters.loads.byteTotal)
        let raw = Double(counters.tiers.demotedRawBytes)
        #expect(figures.tiers.compressionRatio == raw / Double(counters.tiers.demotedBlockBytes))
        for cause in TileCacheStatistics.RemovalCause.allCases {
            #expect(figures.tiers.removals[cause] == counters.tiers.removed[cause.rawValue])
        }
    }

    /// Two tiles decoded, one compressed, one in flight.
    @Test func figuresOfTheMomentAreExact() throws {
        let small = TilePool(tiles: 8) { $0.compressedTier = true }
        small.load(0, 1, 2)
        small.demote(small.pool.beginDemotion(small.pool.table.find(key(0))))
        small.install([small.wish(5, 1)])
        let ticket = try #require(small.beginLoad())
        let figures = TileCacheStatistics(of: small.pool)
        #expect(
            figures.memory.decodedTiles == 2 && figures.memory.compressedTiles == 1 && figures.memory.unseenTiles == 3
        )
        #expect(
            figures.memory.decoded.bytes == 3 * 4096 && figures.memory.inFlight.bytes == 4096
                && figures.memory.compressed.bytes == 4096
        )
        #expect(figures.loadsInFlight == 1 && figures.prefetchesInFlight == 1 && figures.memory.limit.bytes == 8 * 4096)
        #expect(
            figures.memory.used.bytes == 4 * 4096 && figures.memory.bookkeeping.bytes == small.pool.bookkeepingBytes
        )
        small.end(ticket)
        #expect(TileCacheStatistics(of: small.pool).memory.unseenPrefetchedTiles == 1)
        #expect(TileCacheStatistics(of: small.pool).prefetchesInFlight == 0)
    }
}
