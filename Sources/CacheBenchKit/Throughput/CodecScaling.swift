import Dispatch
import Foundation
import TileCache

/// Scaling to a second thread. Each of two threads does the work of one, with its own codec.
final class CodecScaling: @unchecked Sendable {
    // Unchecked: each lane belongs to one thread at a time, and the tiles are only read.
    private final class Lane {
        let codec: TileCodec
        var target: [UInt8]
        var spun: UInt64 = 1

        init(maximumTileBytes: Int) throws {
            codec = try TileCodec(maximumTileBytes: maximumTileBytes)
            target = [UInt8](repeating: 0, count: maximumTileBytes)
        }
    }

    private let tiles: [CodecBenchmark.Tile]
    private let stored: [CodecRun.Stored]
    private let lanes: [Lane]

    init(tiles: [CodecBenchmark.Tile], maximumTileBytes: Int) throws {
        lanes = try (0..<2).map { _ in try Lane(maximumTileBytes: maximumTileBytes) }
        self.tiles = tiles
        stored = tiles.map { [lanes] in CodecRun.store($0, with: lanes[0].codec) }
    }

    /// Approximate duration of the work. If it is shorter, the start of the second thread matters.
    private static let sampleSeconds = 0.06

    /// Measures each kind of work between two checks of the machine. Rounds with only one core available are left out,
    /// unless all are.
    func measure(rounds: Int, shouldStop: () -> Bool) -> CodecBenchmark.Scaling {
        func compress(_ lane: Lane) {
            for tile in tiles { tile.compress(with: lane.codec) { _ in } }
        }
        func decompress(_ lane: Lane) {
            for index in tiles.indices {
                try? CodecRun.restore(stored[index], of: tiles[index], into: &lane.target, with: lane.codec)
            }
        }
        func spin(_ lane: Lane) {
            for _ in 0..<1_000_000 {
                lane.spun = lane.spun &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            }
        }
        let compressed = scaling(rounds: rounds, shouldStop, compress, spin)
        let decompressed = scaling(rounds: rounds, shouldStop, decompress, spin)
        return CodecBenchmark.Scaling(
            compress: compressed.work,
            decompress: decompressed.work,
            spin: min(compressed.spin, decompressed.spin)
        )
    }

    private func scaling(
        rounds: Int,
        _ shouldStop: () -> Bool,
        _ work: @escaping (Lane) -> Void,
        _ spin: @escaping (Lane) -> Void
    ) -> (work: Double, spin: Double) {
        var samples: [(work: Double, spin: Double)] = []
        var before = scaling(spin)
        for round in 0..<rounds {
            if round > 0, shouldStop() { break }
            let value = scaling(work)
            let after = scaling(spin)
            samples.append((value, min(before, after)))
            before = after
        }
        let counted = samples.withBothCores
        return (counted.map(\.work).median, counted.map(\.spin).median)
    }

    private func scaling(_ work: @escaping (Lane) -> Void) -> Double {
        let once = max(seconds { work(lanes[0]) }, 1e-6)
        let repetitions = max(1, Int(Self.sampleSeconds / once))
        let alone = seconds { for _ in 0..<repetitions { work(lanes[0]) } }
        let both = seconds { concurrently { for _ in 0..<repetitions { work($0) } } }
        return 2 * alone / both
    }

    /// Runs `work` once on each lane, at the same time.
    private func concurrently(_ work: @escaping (Lane) -> Void) {
        // Each iteration uses its own lane only, which the compiler cannot check.
        nonisolated(unsafe) let work = work
        DispatchQueue.concurrentPerform(iterations: 2) { work(lanes[$0]) }
    }
}
