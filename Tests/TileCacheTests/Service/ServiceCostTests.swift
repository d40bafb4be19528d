import Testing

@testable import TileCache

/// Operation counts of frames, plans and evictions, by tiles held. They depend little on the machine.
@Suite(.timeLimit(.minutes(45))) struct ServiceCostTests {
    private struct Cost: CustomStringConvertible {
        /// Lock acquisitions for a frame of a panning view, its plans and loads included.
        var frame = 0.0
        /// Acquisitions for an update and a frame of a view at rest.
        var rest = 0.0
        /// Tiles examined for each eviction.
        var eviction = 0.0
        var evictions = 0

        var description: String {
            "\(frame) acquisitions a frame, \(rest) at rest, \(eviction) steps for each of \(evictions) evictions"
        }
    }

    /// A view pans over a full cache, half of it pinned.
    private func cost(held: Int) throws -> Cost {
        let service = VirtualService()
        var configuration = TileCache.Configuration(byteLimit: .bytes(held * 16_640 + 1_500_000))
        configuration.usesCompressedTier = false
        service.drive(&configuration)
        let cache = try TileCache(configuration)
        let layer = try VirtualSource(service, latency: 1_000_000).add(to: cache, isBlocking: true)
        let view = cache.makeView(layers: [layer])
        let tiles = (0..<held).map { TileCoordinate(level: 6, column: $0 % 64, row: $0 / 64) }
        for first in stride(from: 0, to: held, by: 400) {
            let part = tiles[first..<min(first + 400, held)]
            view.update(needing: part.map { NeededTile(layer: layer.id, tile: $0) })
            while !part.allSatisfy({ layer.isResident($0) }) { service.advance(cache, by: 100_000_000) }
        }
        let pinned = PixelRect(minX: 0, minY: 0, maxX: 4096, maxY: Double(held / 128 * 64))
        try layer.pin(levels: 6...6, region: pinned)
        func state() -> (acquisitions: Int, steps: Int, evictions: Int) {
            cache.core.lock.withLock { state in
                let evictions = state.pool.counters.tiers.removed.reduce(0, +)
                return (Int(state.acquisitions), state.pool.evictionSteps, evictions)
            }
        }
        func draw(_ frames: Int, x: (Int) -> Double) -> Double {
            let before = state().acquisitions
            for frame in 0..<frames {
                view.update(ServiceSetup.viewport(x(frame), 3600))
                _ = view.frame()
                service.advance(cache, by: 8_333_333)
            }
            return Double(state().acquisitions - before) / Double(frames)
        }
        _ = draw(30) { 300 + Double($0) * 20 }
        let before = state()
        var cost = Cost()
        cost.frame = draw(100) { 900 + Double($0) * 20 }
        let after = state()
        cost.evictions = after.evictions - before.evictions
        cost.eviction = Double(after.steps - before.steps) / Double(max(cost.evictions, 1))
        _ = draw(500) { _ in 2900 }
        let rest = state().acquisitions
        for _ in 0..<100 {
            view.update(ServiceSetup.viewport(2900, 3600))
            _ = view.frame()
        }
        cost.rest = Double(state().acquisitions - rest) / 100
        return cost
    }

    @Test func framesAndEvictionsCostTheSameHoweverManyTilesAreHeld() throws {
        let few = try cost(held: 384)
        let many = try cost(held: 3072)
        #expect(few.evictions > 50 && many.evictions > 50, "\(few); \(many)")
        #expect(few.eviction >= 2 && many.eviction >= 2, "\(few); \(many)")
        #expect(many.eviction < 2 * few.eviction, "\(few); \(many)")
        #expect(many.frame < 1.5 * few.frame, "\(few); \(many)")
        // Thresholds for the additional cost of a change.
        #expect(many.frame < 30 && many.rest < 5 && many.eviction < 400, "\(many)")
    }
}
