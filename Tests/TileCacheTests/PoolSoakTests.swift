import Foundation
import Testing

@testable import CacheBenchKit
@testable import TileCache

/// A short soak in each run; `TILECACHE_SOAK=200000` makes it a long one, and prints the figures.
@Suite struct PoolSoakTests {
    /// Contents from a single colour over line maps and photographs to noise.
    private func contents() -> [[UInt8]] {
        var random = SplitMix64(seed: 11)
        var tiles = Throughput.builtInTiles().map(\.pixels)
        tiles.append([UInt8](repeating: 200, count: 256 * 256 * 4))
        tiles.append((0..<256 * 256 * 4).map { _ in UInt8(truncatingIfNeeded: random.next()) })
        return tiles
    }

    @Test func thePoolNeverHasMoreThanItWasGiven() throws {
        let wanted = ProcessInfo.processInfo.environment["TILECACHE_SOAK"].flatMap(Int.init)
        let limit = wanted == nil ? 24 << 20 : 64 << 20
        let soak = PoolSoak(contents: contents(), byteLimit: limit, arrivals: wanted ?? 1500)
        let report = try soak.run()
        if wanted != nil { print(report) }
        #expect(report.peakBytes <= limit)
        #expect(report.wrongTiles == 0)
        #expect(report.demotions > 0)
        #expect(report.promotions > 0)
        #expect(report.leasesHeld > 0)
    }
}
