import Testing

@testable import TileCache

/// Each figure is what it is called.
@Suite struct PoolStatisticsTests {
    @Test func figuresAreTheirOwnCounters() {
        let pairs: [(WritableKeyPath<PoolCounters, Int>, KeyPath<Statistics, Int>)] = [
            (\.loadsStarted, \.loadsStarted), (\.loadsRetried, \.loadsRetried), (\.loadsFinished, \.loadsFinished),
            (\.loadsAbsent, \.loadsAbsent), (\.loadsFailed, \.loadsFailed), (\.loadsCancelled, \.loadsCancelled),
            (\.loadsRefused, \.loadsRefused), (\.loadsOutdated, \.loadsOutdated), (\.loadedBytes, \.loadedBytes),
            (\.loadsDrawn, \.loadsDrawn), (\.loadsUnseen, \.loadsUnseen), (\.prefetchStarted, \.prefetchStarted),
            (\.prefetchUseful, \.prefetchUseful), (\.prefetchLate, \.prefetchLate),
            (\.prefetchWasted, \.prefetchWasted), (\.prefetchCancelled, \.prefetchCancelled),
            (\.prefetchEmpty, \.prefetchEmpty), (\.demotions, \.demotions), (\.promotions, \.promotions),
            (\.storedRaw, \.incompressible), (\.damagedBlocks, \.damagedBlocks), (\.encodedKept, \.encodedPayloads),
            (\.undecodable, \.undecodablePayloads), (\.peakBytes, \.peakBytes),
            (\.peakDecodedBytes, \.peakDecodedBytes), (\.peakCompressedBytes, \.peakCompressedBytes),
            (\.peakInFlightBytes, \.peakInFlightBytes),
        ]
        let small = TilePool(tiles: 4)
        for (index, pair) in pairs.enumerated() { small.pool.counters[keyPath: pair.0] = 100 + index }
        for cause in RemovalCause.allCases { small.pool.counters.removals[cause.rawValue] = 200 + cause.rawValue }
        small.pool.counters.demotedRawBytes = 900
        small.pool.counters.demotedBlockBytes = 300
        let figures = Statistics(of: small.pool)
        for (index, pair) in pairs.enumerated() { #expect(figures[keyPath: pair.1] == 100 + index, "\(index)") }
        for cause in RemovalCause.allCases { #expect(figures.removals[cause] == 200 + cause.rawValue) }
        #expect(figures.compressionRatio == 3)
    }

    /// Two tiles decoded, one compressed, one on its way.
    @Test func figuresOfTheMomentAreExact() throws {
        let small = TilePool(tiles: 8) { $0.compressedTier = true }
        small.load(0, 1, 2)
        small.demote(small.pool.beginDemotion(small.pool.find(key(0))))
        small.install([small.wish(5, 1)])
        let ticket = try #require(small.beginLoad())
        let figures = Statistics(of: small.pool)
        #expect(figures.decodedTiles == 2 && figures.compressedTiles == 1 && figures.unseenTiles == 3)
        #expect(figures.decodedBytes == 3 * 4096 && figures.inFlightBytes == 4096 && figures.compressedBytes == 4096)
        #expect(figures.loadsInFlight == 1 && figures.prefetchesInFlight == 1 && figures.byteLimit == 8 * 4096)
        #expect(figures.usedBytes == 4 * 4096 && figures.bookkeepingBytes == small.pool.bookkeepingBytes)
        small.end(ticket)
        #expect(Statistics(of: small.pool).unseenPrefetchedTiles == 1)
        #expect(Statistics(of: small.pool).prefetchesInFlight == 0)
    }
}
