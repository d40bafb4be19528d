import Benchmark
import CacheBenchKit
import Foundation

/// One benchmark for each part of `cachebench throughput`, by the same code. `TILECACHE_TILES` names a directory of
/// tiles. Default: the built-in world.
///
/// Ratios to a reference (LZ4, memcpy, NSCache) hardly depend on the machine and have tighter thresholds than times.
/// Counts do not depend on it.
let benchmarks: @Sendable () -> Void = {
    let throughput = Throughput(directory: ProcessInfo.processInfo.environment["TILECACHE_TILES"], rounds: 5)
    for part in Throughput.Part.allCases {
        let names = FigureMetric.names(of: part)
        var thresholds: [BenchmarkMetric: BenchmarkThresholds] = [:]
        for metric in names {
            thresholds[metric] = BenchmarkThresholds(relative: [.p90: FigureMetric.tolerance(of: metric)])
        }
        Benchmark(
            part.rawValue,
            configuration: .init(
                metrics: names,
                warmupIterations: 1,
                scalingFactor: .one,
                maxDuration: .seconds(60),
                maxIterations: 5,
                thresholds: thresholds
            )
        ) { benchmark in
            do {
                for (metric, figure) in zip(names, try throughput.figures(of: part)) {
                    benchmark.measurement(metric, figure)
                }
            } catch {
                benchmark.error("\(error)")
            }
        }
    }
}

/// Metrics of the benchmark library, which needs their names before the run.
enum FigureMetric {
    static func names(of part: Throughput.Part) -> [BenchmarkMetric] { part.figureNames.map(metric) }

    static func metric(_ name: String) -> BenchmarkMetric {
        .custom(name, polarity: isRatio(name) ? .prefersLarger : .prefersSmaller, useScalingFactor: false)
    }

    /// Thresholds in per cent: for ratios to a reference, for counts and for times.
    static func tolerance(of metric: BenchmarkMetric) -> Double {
        let name = metric.rawDescription
        return isRatio(name) ? 25 : name.hasSuffix("(#)") ? 10 : 100
    }

    private static func isRatio(_ name: String) -> Bool { name.hasSuffix("(%)") }
}
