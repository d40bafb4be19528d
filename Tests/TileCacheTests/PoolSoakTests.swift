import Foundation
import Testing

@testable import CacheBenchKit
@testable import TileCache

/// A short soak in each run; `TILECACHE_SOAK=200000` makes it a long one, and prints the figures. `TILECACHE_TILES` names
/// a directory of real tiles, which are then among the contents, and its line maps the only contents of another soak.
@Suite(.serialized) struct PoolSoakTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let arrivals = environment["TILECACHE_SOAK"].flatMap(Int.init)
    private static let tileDirectory = environment["TILECACHE_TILES"]

    /// Contents from a single colour over line maps and photographs to noise.
    private func mixed() throws -> [[UInt8]] {
        var random = SplitMix64(seed: 11)
        var tiles = Throughput.builtInTiles().map(\.pixels)
        tiles.append([UInt8](repeating: 200, count: 256 * 256 * 4))
        tiles.append((0..<256 * 256 * 4).map { _ in UInt8(truncatingIfNeeded: random.next()) })
        return try tiles + real { _ in true }
    }

    /// Pictures of the directory of real tiles.
    private func real(_ isIncluded: (CodecBenchmark.Tile) -> Bool) throws -> [[UInt8]] {
        guard let directory = Self.tileDirectory else { return [] }
        return try CodecBenchmark.tiles(inDirectory: directory)
            .filter { $0.format == .rgba8 && isIncluded($0) }.map(\.pixels)
    }

    @Test func thePoolNeverHasMoreThanItWasGiven() throws { try soak(mixed()) }

    @Test(.enabled(if: tileDirectory != nil, "TILECACHE_TILES names no directory of tiles"))
    func thePoolOfLineMapsIsAsFull() throws {
        let maps = try real { $0.className == "vmap" }
        try #require(!maps.isEmpty, "the directory has no tiles of class vmap")
        try soak(maps)
    }

    private func soak(_ contents: [[UInt8]]) throws {
        let limit = Self.arrivals == nil ? 24 << 20 : 64 << 20
        let soak = PoolSoak(contents: contents, byteLimit: limit, arrivals: Self.arrivals ?? 1500)
        let report = try soak.run()
        if Self.arrivals != nil { print(report) }
        #expect(report.peakBytes <= limit)
        #expect(report.limitBreaches == 0)
        #expect(report.wrongTiles == 0)
        #expect(report.demotions > 0)
        #expect(report.promotions > 0)
        #expect(report.leasesHeld > 0)
        // A short one is hardly ever full, and memory of what ran before it in the process counts with the rest.
        guard Self.arrivals != nil else { return }
        #expect(report.payloadShare >= 0.93)
        #expect(report.residentGrowth <= limit + limit / 100 + 8 << 20)
    }
}
