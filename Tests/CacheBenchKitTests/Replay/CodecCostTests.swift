import Testing

@testable import CacheBenchKit
@testable import TileCache

/// Time of the codec under the virtual clock.
@Suite struct CodecCostTests {
    private static let tileBytes = 262_144
    private static let millisecond: Int64 = 1_000_000

    /// Room for two decoded tiles and some compressed ones. A strip of 16 tiles, loads of 10 ms.
    private func strip(_ cost: CodecCost?) throws -> (look: (ClosedRange<Int>, Double) -> Void, cache: VirtualCache) {
        var options = VirtualCache.Options()
        options.byteLimit = 4 * Self.tileBytes
        options.grantsBookkeeping = true
        options.compressedShare = 0.5
        options.compressionRatio = 4
        options.codecCost = cost
        options.workers = 2
        let cache = VirtualCache(options: options, expectedLatency: 10_000_000, latency: { _, _ in 10_000_000 })
        let layer = try cache.addLayer(tileBytes: Self.tileBytes)
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 4096, worldHeight: 256)
        _ = cache.addView(layers: [(layer, pyramid, NoPrefetch())])
        func look(_ columns: ClosedRange<Int>, _ milliseconds: Double) {
            let width = Double(columns.count) * 256
            let center = WorldPoint(x: Double(columns.lowerBound) * 256 + width / 2, y: 128)
            cache.frame(
                view: 0,
                TileViewport(center: center, width: width - 2, height: 200),
                at: Int64(milliseconds * 1e6)
            )
        }
        return (look, cache)
    }

    /// Shows ten single tiles, then the third again, which is compressed by then.
    private func walk(_ cost: CodecCost?) throws -> VirtualCache {
        let strip = try strip(cost)
        for column in 0..<10 { strip.look(column...column, Double(column) * 100) }
        strip.look(7...7, 1000)
        return strip.cache
    }

    @Test func withoutACostCompressedIsAsGoodAsDecoded() throws {
        let cache = try walk(nil)
        #expect(cache.panDemands.compressedHits + cache.panDemands.decodedHits == 1)
        #expect(cache.coverage.missingTiles == 0)
    }

    /// Every slot is taken. A worker compresses another tile before it decompresses this one.
    @Test func aCompressedHitIsDrawnWhenItIsDecompressed() throws {
        let strip = try strip(CodecCost(compressBytesPerSecond: 1e9, decompressBytesPerSecond: 1e9))
        for column in 0..<10 { strip.look(column...column, Double(column) * 100) }
        strip.look(7...7, 1000)
        let cache = strip.cache
        #expect(cache.panDemands.compressedHits == 1)
        #expect(cache.drawableHits == 0)
        #expect(cache.coverage.missingTiles == 1)
        // 0.27 ms to compress the other tile, and the same to decompress this one.
        strip.look(7...7, 1000.5)
        #expect(cache.coverage.missingTiles == 1)
        strip.look(7...7, 1000.6)
        #expect(cache.coverage.missingTiles == 0)
    }

    @Test func spansAreRoundedUp() {
        let cost = CodecCost(compressBytesPerSecond: 3, decompressBytesPerSecond: 1e9)
        #expect(cost.compression(ofBytes: 1) == 333_333_334)
        #expect(cost.decompression(ofBytes: 262_144) == 262_144)
    }

    @Test func chargesAreReadAndWritten() throws {
        #expect(CodecCharge("none") == CodecCharge.none)
        #expect(CodecCharge("measured") == .measured)
        let rates = try #require(CodecCharge("decompress=2.5GB,compress=900MB"))
        #expect(rates == .rates(compress: 9e8, decompress: 2.5e9))
        #expect(CodecCharge(rates.description) == rates)
        for text in ["", "compress=1MB", "compress=0,decompress=1", "a=1,b=2", "compress=1,compress=2,decompress=1"] {
            #expect(CodecCharge(text) == nil, "\(text)")
        }
    }

    @Test func measuredRatesAreRates() throws {
        guard case .rates(let compress, let decompress) = try CodecCharge.measured.resolved() else {
            Issue.record("nothing was measured")
            return
        }
        #expect(compress >= 1e7 && decompress >= 1e7)
    }

    /// The lively session at a tight limit, with increasing codec times.
    @Test func theDearerTheFewerAreDrawnAtOnce() throws {
        func report(_ cost: CodecCharge) throws -> ReplayReport {
            var options = ReplayOptions()
            options.memoryLimit = .bytes(24 << 20)
            options.prefetch = .velocity
            options.eviction = .lru
            options.cost = cost
            options.duration = 20_000_000_000
            return try livelyReport(options)
        }
        let free = try report(.none)
        let usual = try report(.rates(compress: 1e9, decompress: 2e9))
        let dear = try report(.rates(compress: 2e7, decompress: 2e7))
        #expect(free.demands.drawableHits == free.demands.decodedHits + free.demands.compressedHits)
        #expect(free.demands.compressedHits > 20)
        let hits = usual.demands.decodedHits + usual.demands.compressedHits
        #expect(usual.demands.drawableHits <= hits)
        #expect(dear.demands.drawableHits < usual.demands.drawableHits)
        #expect(usual.demands.total == free.demands.total)
    }
}
