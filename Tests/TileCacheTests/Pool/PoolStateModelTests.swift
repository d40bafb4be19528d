import Testing

@testable import TileCache

/// Random operations on a pool, with all invariants checked after each.
@Suite struct PoolStateModelTests {
    @Test(arguments: 1...5)
    func randomTrafficKeepsEveryPromise(seed: Int) throws {
        let model = model(seed: seed)
        for step in 0..<3000 {
            do {
                try model.operate()
            } catch {
                throw PoolModel.Problem(description: "step \(step), \(error)")
            }
        }
        // The traffic must contain every kind of event.
        let counters = model.pool.counters
        #expect(counters.loads.finished > 40 && counters.loads.absent > 0 && counters.loads.outdated > 0)
        #expect(counters.tiers.removed[TileCacheStatistics.RemovalCause.capacity.rawValue] > 0 && counters.refusals > 0)
        if model.pool.configuration.compressedTier {
            #expect(counters.tiers.demotions > 5 && counters.tiers.promotions > 0)
        }
        if model.pool.configuration.compressedTier { #expect(counters.tiers.encodedPayloads > 3) }
        #expect(counters.limitBreaches == 0)
        try model.windDown()
    }

    /// Odd seeds evict by age, even ones by value. Some have no compressed tier, some a large one.
    private func model(seed: Int) -> PoolModel {
        var configuration = PoolConfiguration(byteLimit: 400_000)
        configuration.maximumByteLimit = 500_000
        configuration.eviction = seed.isMultiple(of: 2) ? .value : .recency
        configuration.compressedTier = seed % 5 != 0
        configuration.compressedShare = seed % 3 == 0 ? 1 : 0.4
        configuration.workers = 5
        configuration.maximumCodecJobs = 1 + seed % 4
        configuration.fixedBytes = 10_000
        configuration.retryDelay = 5_000_000
        if seed % 4 > 1 {
            // Larger pages, and a limit that holds as many.
            configuration.pageBytes = seed % 4 == 2 ? 16_384 : 65_536
            configuration.byteLimit *= seed % 4 == 2 ? 2 : 5
            configuration.maximumByteLimit = configuration.byteLimit * 5 / 4
        }
        let model = PoolModel(configuration: configuration, seed: UInt64(seed))
        let isShared = seed % 3 == 1
        _ = model.pool.addLayer(tileBytes: 16_000)
        _ = model.pool.addLayer(
            tileBytes: 30_000,
            reservesLate: true,
            maximumShare: isShared ? 0.5 : 1
        )
        _ = model.pool.addLayer(tileBytes: 16_000, isCompressible: false)
        model.views = Array(repeating: ViewNeeds(), count: 4)
        return model
    }
}
