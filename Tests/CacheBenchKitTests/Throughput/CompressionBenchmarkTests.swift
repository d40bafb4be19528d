import Foundation
import TestSupport
import Testing

@testable import CacheBenchKit
@testable import TileCache

/// Report of the codec's benchmark.
@Suite struct CompressionBenchmarkTests {
    private static func drawn() -> [CodecBenchmark.Tile] {
        var random = SplitMix64(seed: 1)
        return [("b", TileContents.slopes), ("a", .drawing), ("noise", .noise), ("flat", .speck)].map {
            name,
            contents in
            CodecBenchmark.Tile(
                className: name,
                width: 64,
                height: 64,
                format: .rgba8,
                pixels: contents.pixels(width: 64, height: 64, bytesPerPixel: 4, random: &random)
            )
        }
    }

    @Test func reportsEachClassAndTheTotalOfPictures() throws {
        let report = try CodecBenchmark(Self.drawn()).run(rounds: 3, scalingRounds: 0)
        #expect(report.codec.map(\.class) == ["a", "b", "flat", "noise"])
        #expect(report.codec[3].ratio == 1 && report.codec[3].rawRatio == 1)
        for row in report.codec { #expect(row.compress > 0 && row.decompress > 0 && row.rawCompress > 0) }
        // Both pictures have equally many bytes, so their ratio is the harmonic mean.
        let mean = 2 / (1 / report.codec[0].ratio + 1 / report.codec[1].ratio)
        #expect(try abs(#require(report.codecTotal.ratio) - mean) < 1e-9)
        #expect(report.codecTotal.twoThreads == nil)

        let json = try #require(
            JSONSerialization.jsonObject(with: JSONEncoder().encode(report)) as? [String: Any]
        )
        let row = try #require((json["codec"] as? [[String: Any]])?.first)
        let names = ["class", "ratio", "compress", "decompress", "rawRatio", "rawCompress", "rawDecompress", "memcpy"]
        #expect(Set(row.keys) == Set(names))
        let total = try #require(json["codecTotal"] as? [String: Any])
        let relative = [
            "ratio", "compressToRaw", "decompressToRaw", "compressToMemcpy", "decompressToMemcpy", "twoThreads",
        ]
        #expect(Set(total.keys) == Set(relative))
    }

    @Test func nothingToMeasureIsNoFigure() throws {
        let report = try CodecBenchmark([]).run(rounds: 1)
        #expect(report.codec.isEmpty && report.codecTotal.ratio == nil)
        #expect(try JSONText.of(report).contains("\"compressToRaw\" : null"))
        #expect(throws: ReplayError.self) { try CodecBenchmark.tiles(inDirectory: "/no/such/directory") }
    }

    @Test func theFlagOfATileIsNamed() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tiles-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let none = #expect(throws: ReplayError.self) { try CodecBenchmark.tiles(inDirectory: folder.path) }
        #expect(none?.description.hasPrefix("--tiles \(folder.path): .rgba or") == true)
        try Data(count: 4).write(to: folder.appendingPathComponent("map_1.rgba"))
        let short = #expect(throws: ReplayError.self) { try CodecBenchmark.tiles(inDirectory: folder.path) }
        #expect(short?.description.hasPrefix("--tiles \(folder.path)/map_1.rgba: a file of 262144 bytes") == true)
    }
}
