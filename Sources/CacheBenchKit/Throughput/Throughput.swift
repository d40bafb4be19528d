import DemoWorld
import Foundation
import TileCache

/// Speed of the parts, each relative to its basis, in one run. Parts that an interrupted run did not reach are `null`.
package struct ThroughputReport: Encodable, Sendable {
    package var schema = 1
    package var codec: [CodecBenchmark.Row] = []
    package var codecTotal = CodecBenchmark.Total()
    /// The compressed tier relative to the codec alone; `null` without pictures.
    @Nullable package var pool: PoolReport? = nil
    /// Finding a resident tile.
    @Nullable package var lookup: LookupReport? = nil
    /// A frame of resident tiles.
    @Nullable package var frame: FrameReport? = nil
    /// Frames at 120 Hz beside other views.
    @Nullable package var pacedFrames: PacedFrameBenchmark.Figures? = nil
    /// A plan of the default policy for a 4K view.
    @Nullable package var plan: PlanBenchmark.Figures? = nil
    @Nullable package var trace: TraceHits? = nil
    /// Halving a tile for the next coarser level.
    @Nullable package var downsample: DownsampleReport? = nil
    /// Whether the run was stopped early. Medians of the last part are then of fewer rounds.
    package var interrupted = false
}

/// Measures the codec, the pool, look-ups and frames.
public struct Throughput: Sendable {
    private let directory: String?
    let rounds: Int

    /// Prepares a run.
    ///
    /// - Parameters:
    ///   - directory: Directory of tiles, `class_number.rgba` or `.f32`, 256 x 256 pixels; `nil` for tiles of the
    ///     built-in world.
    ///   - rounds: Number of rounds for medians, 1 or more.
    public init(directory: String?, rounds: Int) {
        self.directory = directory
        self.rounds = max(rounds, 1)
    }

    /// Runs all parts, which takes a few seconds to a minute.
    ///
    /// - Parameters:
    ///   - shouldStop: Called between rounds and parts; a stopped run reports its figures so far.
    ///   - progress: Called before each part with its name, its number from 1 and the number of parts.
    package func run(
        shouldStop: () -> Bool = { false },
        progress: (_ part: String, _ number: Int, _ of: Int) -> Void = { _, _, _ in }
    ) throws -> ThroughputReport {
        let tiles = try tiles()
        var report = ThroughputReport()
        var number = 0
        func measure(_ part: String, _ body: () throws -> Void) throws {
            guard !shouldStop() else { return }
            number += 1
            progress(part, number, 8)
            try body()
        }
        try measure("codec") {
            let codec = try CodecBenchmark(tiles).run(rounds: rounds, shouldStop: shouldStop)
            report.codec = codec.codec
            report.codecTotal = codec.codecTotal
        }
        try measure("pool") { report.pool = try PoolBenchmark(tiles)?.run(rounds: rounds, shouldStop: shouldStop) }
        try measure("look-ups") { report.lookup = try LookupBenchmark().lookup() }
        try measure("frames") { report.frame = try LookupBenchmark().frame() }
        try measure("frames at 120 Hz") {
            report.pacedFrames = try PacedFrameBenchmark().run(shouldStop: shouldStop)
        }
        try measure("plans") { report.plan = try PlanBenchmark().run() }
        try measure("trace") {
            report.trace = try TraceHits.measure(compressionRatio: report.codecTotal.ratio ?? 2)
        }
        try measure("downsampling") {
            report.downsample = try DownsampleBenchmark().run(rounds: rounds, shouldStop: shouldStop)
        }
        report.interrupted = shouldStop()
        return report
    }

    func tiles() throws -> [CodecBenchmark.Tile] {
        try directory.map { try CodecBenchmark.tiles(inDirectory: $0) } ?? Self.builtInTiles()
    }

    /// Tiles of both styles of the built-in world.
    static func builtInTiles() -> [CodecBenchmark.Tile] {
        DemoWorld.Style.allCases.flatMap { style -> [CodecBenchmark.Tile] in
            let world = DemoWorld(style: style)
            return (0..<12).map { number in
                let level = 1 + number * (world.maximumLevel - 1) / 11
                let side = 1 << level
                var pixels = [UInt8](repeating: 0, count: 256 * 256 * 4)
                pixels.withUnsafeMutableBytes {
                    world.draw(
                        level: level,
                        column: side * (3 + number % 5) / 8,
                        row: side * (2 + number % 3) / 8,
                        maximumLevel: world.maximumLevel,
                        into: $0,
                        bytesPerRow: 1024
                    )
                }
                return CodecBenchmark.Tile(className: "\(style)", pixels: pixels)
            }
        }
    }
}

extension ThroughputReport {
    /// A table of 80 columns.
    package var text: String {
        func percent(_ rate: Double?) -> Double? { rate.map { $0 * 100 } }
        func cell(_ value: Double?, _ digits: Int = 0, width: Int = 9) -> String {
            guard let value else { return "-".aligned(to: width) }
            return " " + String(format: "%.\(digits)f", value).aligned(to: width - 1)
        }
        var lines = ["class            ratio compress   decomp  LZ4: ratio compress   decomp   memcpy"]
        for row in codec {
            lines.append(
                row.class.printable.shortened(to: 13).padded(to: 13) + cell(row.ratio, 2)
                    + cell(row.compress) + cell(row.decompress) + cell(row.rawRatio, 2, width: 12)
                    + cell(row.rawCompress) + cell(row.rawDecompress) + cell(row.memcpy)
            )
        }
        lines += [
            "(MB/s)",
            "",
            "all pictures      " + cell(codecTotal.ratio, 2) + " : 1",
            "  compress        " + cell(codecTotal.compressToRaw, 2) + " of raw LZ4's speed",
            "  decompress      " + cell(codecTotal.decompressToRaw, 2) + " of raw LZ4's speed,"
                + cell(codecTotal.decompressToMemcpy, 2, width: 5) + " of memcpy's",
            "  two threads     " + cell(codecTotal.twoThreads?.compress, 2) + " of one, decompress"
                + cell(codecTotal.twoThreads?.decompress, 2, width: 5) + " (the machine"
                + cell(codecTotal.twoThreads?.spin, 2, width: 5) + ")",
            "pool: store       " + cell(pool?.storeToCodec, 2) + " of the codec's speed alone",
            "      fetch       " + cell(pool?.fetchToCodec, 2) + " of the codec's speed alone",
        ]
        if let lookup {
            lines += [
                "look-up           " + cell(lookup.nanoseconds, 1) + " ns, NSCache"
                    + cell(lookup.nsCacheNanoseconds, 1, width: 7) + " ns",
                "  two threads     " + cell(lookup.twoThreads, 2) + " of one, 2 us of work in between",
            ]
        }
        if let frame {
            lines += [
                "frame             " + cell(frame.microseconds, 2) + " us for \(frame.tiles) tiles with leases",
                "update            " + cell(frame.updateMicroseconds, 2) + " us",
            ]
        }
        if let pacedFrames {
            func row(_ name: String, _ spread: PacedFrameBenchmark.Spread) -> String {
                name + cell(spread.p50, 2) + " ms, p99" + cell(spread.p99, 2, width: 6) + ", p99.9"
                    + cell(spread.p999, 2, width: 6) + ", longest" + cell(spread.maximum, 2, width: 6)
            }
            lines += [
                row("at 120 Hz         ", pacedFrames.wall), row("  processor time  ", pacedFrames.processor),
            ]
        }
        if let plan {
            lines.append(
                "plan              " + cell(plan.meanMicroseconds, 1) + " us, p99" + cell(plan.p99Microseconds, 1)
                    + " us, for \(plan.maximumNeededTiles) tiles"
            )
        }
        if let trace {
            lines += [
                "trace: hits       " + cell(percent(trace.hitRate), 1) + " % of \(trace.demands) demands in "
                    + MemoryLimit.bytes(trace.byteLimit).description,
                "  decoded only    " + cell(percent(trace.decodedOnlyHitRate), 1) + " %, NSCache"
                    + cell(percent(trace.nsCacheHitRate), 1, width: 7) + " %",
            ]
        }
        if let downsample {
            lines += [
                "downsample        " + cell(downsample.toMemcpy, 2) + " of memcpy's speed a source byte, "
                    + String(format: "%.0f", downsample.megapixelsPerSecond) + " megapixels/s",
                "  portable        " + cell(downsample.portableToMemcpy, 2) + ", as light (sRGB)"
                    + cell(downsample.lightToMemcpy, 2, width: 5),
            ]
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
