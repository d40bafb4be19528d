import Testing

@testable import TileCache

/// Each figure is what it is called.
@Suite struct PoolStatisticsTests {
    @Test func figuresAreTheirOwnCounters() {
        let pairs: [(WritableKeyPath<PoolCounters, Int>, KeyPath<TileCacheStatistics, Int>)] = [
            (\.loads.started, \.loads.started), (\.loads.retried, \.loads.retried),
            (\.loads.finished, \.loads.finished),
            (\.loads.absent, \.loads.absent), (\.loads.failed, \.loads.failed), (\.loads.cancelled, \.loads.cancelled),
            (\.loads.refused, \.loads.refused), (\.loads.outdated, \.loads.outdated), (\.loadedBytes, \.loadedBytes),
            (\.loads.drawn, \.loads.drawn), (\.loads.unseen, \.loads.unseen),
            (\.prefetches.started, \.prefetches.started),
            (\.prefetches.useful, \.prefetches.useful), (\.prefetches.late, \.prefetches.late),
            (\.prefetches.wasted, \.prefetches.wasted), (\.prefetches.cancelled, \.prefetches.cancelled),
            (\.prefetches.empty, \.prefetches.empty), (\.demotions, \.demotions), (\.promotions, \.promotions),
            (\.storedRaw, \.incompressible), (\.damagedBlocks, \.damagedBlocks), (\.encodedKept, \.encodedPayloads),
            (\.undecodable, \.undecodablePayloads), (\.peakBytes, \.peakBytes),
            (\.peakDecodedBytes, \.peakDecodedBytes), (\.peakCompressedBytes, \.peakCompressedBytes),
            (\.peakInFlightBytes, \.peakInFlightBytes),
        ]
        let small = TilePool(tiles: 4)
        for (index, pair) in pairs.enumerated() { small.pool.counters[keyPath: pair.0] = 100 + index }
        for cause in TileCacheStatistics.RemovalCause.allCases {
            small.pool.counters.tiers.removed[cause.rawValue] = 200 + cause.rawValue
        }
        small.pool.counters.tiers.demotedRawBytes = 900
        small.pool.counters.tiers.demotedBlockBytes = 300
        let figures = TileCacheStatistics(of: small.pool)
        for (index, pair) in pairs.enumerated() { #expect(figures[keyPath: pair.1] == 100 + index, "\(index)") }
        for cause in TileCacheStatistics.RemovalCause.allCases {
            #expect(figures.tiers.removals[cause] == 200 + cause.rawValue)
        }
        #expect(figures.tiers.compressionRatio == 3)
    }

    /// Two tiles decoded, one compressed, one on its way.
    @Test func figuresOfTheMomentAreExact() throws {
        let small = TilePool(tiles: 8) { $0.compressedTier = true }
        small.load(0, 1, 2)
        small.demote(small.pool.beginDemotion(small.pool.find(key(0))))
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
        #expect(TileCacheStatistics(of: small.pool).unseenPrefetchedTiles == 1)
        #expect(TileCacheStatistics(of: small.pool).prefetchesInFlight == 0)
    }
}
