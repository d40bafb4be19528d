import Dispatch
import Foundation
import TileCache

/// What a second thread adds: each of two threads does what one did alone, each with a codec of its own.
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

    /// Rounds in which the machine had only one core to give are left out, unless all were such.
    func measure(rounds: Int) -> CodecBenchmark.Scaling {
        let samples = (0..<rounds).map { _ in
            CodecBenchmark.Scaling(
                compress: scaling { [tiles] lane in
                    for tile in tiles { _ = CodecRun.compress(tile, with: lane.codec) }
                },
                decompress: scaling { [tiles, stored] lane in
                    for _ in 0..<4 {
                        for index in tiles.indices {
                            try? CodecRun.restore(stored[index], of: tiles[index], into: &lane.target, with: lane.codec)
                        }
                    }
                },
                spin: scaling { lane in
                    for _ in 0..<4_000_000 {
                        lane.spun = lane.spun &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                    }
                }
            )
        }
        let whole = samples.filter { $0.spin > 1.85 }
        let counted = whole.isEmpty ? samples : whole
        return CodecBenchmark.Scaling(
            compress: median(counted.map(\.compress)),
            decompress: median(counted.map(\.decompress)),
            spin: median(counted.map(\.spin))
        )
    }

    private func scaling(_ work: @Sendable @escaping (Lane) -> Void) -> Double {
        let alone = seconds { work(lanes[0]) }
        let both = seconds {
            DispatchQueue.concurrentPerform(iterations: 2) { work(lanes[$0]) }
        }
        return 2 * alone / both
    }
}
