import Foundation
import TileCache

/// Cost of calls, and other threads' waits for them, by the number of tiles held.
package struct HeldTilesBenchmark: Sendable {
    /// Figures of one number of tiles, in milliseconds.
    package struct Row: Encodable, Sendable, Hashable {
        package var tiles: Int
        package var calls: [String: Double] = [:]
        /// p99.9 of another thread's look-ups during each call.
        package var waits: [String: Double] = [:]
        /// p99.9 of the same thread's look-ups in an idle cache, for each call.
        package var idleWaits: [String: Double] = [:]
        /// Longest look-up of another thread during each call.
        package var longestWaits: [String: Double] = [:]
        /// Median of `update` and `frame()` of a panning view. The cache is full, half of it pinned.
        package var frame = 0.0
        package var longestFrame = 0.0
    }

    /// Durations of one thread's look-ups, in the cache and in an idle one.
    private final class Prober: Sendable {
        private struct State {
            var waits: [Int64] = []
            var idleWaits: [Int64] = []
            var isOver = false
        }

        private let state = Lock(State())
        private let done = DispatchSemaphore(value: 0)

        init(_ layer: TileLayer, idle: TileLayer) {
            @Sendable func lookUp(in layer: TileLayer) -> Int64 {
                usleep(20)
                let start = MonotonicTime.now.nanoseconds
                _ = layer.isResident(TileCoordinate(level: 0, column: 0, row: 0))
                return MonotonicTime.now.nanoseconds - start
            }
            let thread = Thread { [self] in
                var isOver = false
                while !isOver {
                    let waits = (lookUp(in: layer), lookUp(in: idle))
                    isOver = state.withLock { state in
                        state.waits.append(waits.0)
                        state.idleWaits.append(waits.1)
                        return state.isOver
                    }
                }
                done.signal()
            }
            thread.start()
        }

        /// Takes the figures since the last call, in milliseconds.
        func take() -> (usual: Double, longest: Double, idle: Double) {
            let (waits, idle) = state.withLock { state in
                defer { (state.waits, state.idleWaits) = ([], []) }
                return (state.waits, state.idleWaits)
            }
            let spread = PacedFrameBenchmark.Spread(waits)
            return (spread.p999, spread.maximum, PacedFrameBenchmark.Spread(idle).p999)
        }

        func end() {
            state.withLock { $0.isOver = true }
            done.wait()
        }
    }

    private static let side = 4096

    package static func run(tiles: Int) throws -> Row {
        var row = Row(tiles: tiles)
        // A slot is a page of the system, and the table has an entry for each.
        var configuration = TileCache.Configuration(byteLimit: .bytes(tiles * 4608 + (16 << 20)))
        configuration.workers = 2
        let cache = try TileCache(configuration)
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: side * 16, worldHeight: side * 16, tileSize: 16)
        let options = LayerOptions(format: .gray8, isCompressible: false)
        let layer = try cache.addLayer(FirstByteSource(), pyramid: pyramid, options: options)
        let view = cache.makeView(layers: [layer])
        let idle = try TileCache(byteLimit: .mebibytes(1), workers: 1)
        let tile = try TilePyramid.powerOfTwo(worldWidth: 16, worldHeight: 16, tileSize: 16)
        let prober = Prober(layer, idle: try idle.addLayer(FirstByteSource(), pyramid: tile, options: options))
        func measure(_ name: String, _ body: () throws -> Void) rethrows {
            _ = prober.take()
            let start = MonotonicTime.now.nanoseconds
            try body()
            row.calls[name] = Double(MonotonicTime.now.nanoseconds - start) / 1e6
            (row.waits[name], row.longestWaits[name], row.idleWaits[name]) = prober.take()
        }
        let level = pyramid.maximumLevel
        let rows = max(tiles / side, 2)
        // Whole rows of tiles, or a part of the first one: more than half of few tiles would not fit.
        let half = PixelRect(
            minX: 0,
            minY: 0,
            maxX: Double(min(tiles / 2, side) * 16),
            maxY: Double(rows / 2 * 16)
        )
        measure("load") { load(tiles, of: layer, level: level, view) }
        measure("statistics") { for _ in 0..<100 { _ = cache.statistics } }
        row.calls["statistics"]! /= 100
        measure("invalidate") {
            layer.invalidate(region: PixelRect(minX: 0, minY: 0, maxX: 16, maxY: 16))
        }
        try measure("pin half") { try layer.pin(levels: level...level, region: half) }
        let frames = pan(view, y: Double(rows * 16 + 600))
        row.frame = frames.sorted()[frames.count / 2]
        row.longestFrame = frames.max() ?? 0
        layer.unpin()
        let limit = cache.byteLimit.bytes
        measure("limit to a tenth") { cache.byteLimit = .bytes(limit / 10) }
        measure("trim to 0") { cache.trim(to: .bytes(0)) }
        prober.end()
        _ = cache.shutdown(timeout: .seconds(10))
        idle.shutdown()
        return row
    }

    /// Loads tiles, as many at a time as a large view needs.
    private static func load(_ tiles: Int, of layer: TileLayer, level: Int, _ view: TileView) {
        for first in stride(from: 0, to: tiles, by: 250) {
            let part = (first..<min(first + 250, tiles)).map {
                TileCoordinate(level: level, column: $0 % side, row: $0 / side)
            }
            view.update(needing: part.map { NeededTile(layer: layer.id, tile: $0) })
            while !part.allSatisfy({ layer.isResident($0) }) { usleep(200) }
        }
        view.update(needing: [])
    }

    /// Pans a view to the right; returns the times of its frames, in milliseconds.
    private static func pan(_ view: TileView, y: Double) -> [Double] {
        (0..<400).map { step in
            let center = WorldPoint(x: Double(400 + 12 * step), y: y)
            let time = seconds {
                view.update(TileViewport(center: center, width: 256, height: 192))
                _ = view.frame()
            }
            usleep(4000)
            return time * 1000
        }
    }

    /// A table of 80 columns.
    package static func text(_ rows: [Row]) -> String {
        func cells(_ value: (Row) -> Double?) -> String {
            rows.map { String(format: "%9.3f", value($0) ?? .nan) }.joined()
        }
        var lines = ["by tiles held    " + rows.map { String(format: "%9d", $0.tiles) }.joined() + "   (ms)"]
        for name in ["load", "statistics", "invalidate", "pin half", "limit to a tenth", "trim to 0"] {
            lines.append(name.padded(to: 17) + cells { $0.calls[name] } + "   the call")
            lines.append("                 " + cells { $0.waits[name] } + "   others wait, p99.9")
            lines.append("                 " + cells { $0.idleWaits[name] } + "   idle cache, p99.9")
        }
        lines.append("update, frame    " + cells(\.frame) + "   median")
        lines.append("                 " + cells(\.longestFrame) + "   longest")
        return lines.joined(separator: "\n") + "\n"
    }
}
