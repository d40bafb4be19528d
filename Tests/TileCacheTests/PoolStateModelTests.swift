import Testing

@testable import TileCache

/// Random operations on a pool, with everything that must hold checked after each.
@Suite struct PoolStateModelTests {
    @Test(arguments: 1...8)
    func randomTrafficKeepsEveryPromise(seed: Int) throws {
        let model = model(seed: seed)
        for step in 0..<600 {
            do { try model.operate() } catch { throw PoolModel.Problem(description: "step \(step), \(error)") }
        }
        try model.windDown()
    }

    /// Odd seeds evict by age, even ones by value; some have no compressed tier, some a large one.
    private func model(seed: Int) -> PoolModel {
        var configuration = PoolConfiguration(byteLimit: 700_000)
        configuration.maximumByteLimit = 900_000
        configuration.eviction = seed.isMultiple(of: 2) ? .value : .recency
        configuration.compressedTier = seed % 5 != 0
        configuration.compressedShare = seed % 3 == 0 ? 1 : 0.4
        configuration.workers = 5
        configuration.reservedWorkers = seed % 3
        configuration.maximumCodecJobs = 1 + seed % 4
        configuration.fixedBytes = 10_000
        configuration.retryDelay = 5_000_000
        let model = PoolModel(configuration: configuration, seed: UInt64(seed))
        _ = model.pool.addLayer(tileBytes: 16_000)
        _ = model.pool.addLayer(tileBytes: 30_000, reservesLate: true)
        _ = model.pool.addLayer(tileBytes: 16_000, isCompressible: false)
        model.views = Array(repeating: ViewNeeds(), count: 4)
        return model
    }
}
