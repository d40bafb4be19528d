import Foundation
import TileCache

/// Cost of finding and leasing resident tiles.
package struct LookupReport: Encodable, Sendable, Hashable {
    /// Nanoseconds for one look-up in one thread: a resident tile is leased for an empty call.
    package var nanoseconds: Double
    /// The same from an `NSCache` with as many objects.
    package var nsCacheNanoseconds: Double
    /// Throughput of two threads relative to one, with 2 us of other work between look-ups.
    package var twoThreads: Double
}

/// Cost of a frame for the renderer's thread.
package struct FrameReport: Encodable, Sendable, Hashable {
    package var tiles: Int
    /// Microseconds for `frame()` with leases, and their release.
    package var microseconds: Double
    /// Microseconds for `update(_:at:)` of a viewport that has moved by a pixel.
    package var updateMicroseconds: Double
}

package struct LookupBenchmark: Sendable {
    private let cache: TileCache
    private let layer: TileLayer
    private let view: TileView
    /// Eight columns and five rows of tiles, also after moving right by some pixels.
    private let viewport = TileViewport(center: WorldPoint(x: 2048, y: 1216), width: 1900, height: 1020)

    /// Creates a cache with a view of 40 tiles, all of them resident.
    package init() throws {
        cache = try TileCache(byteLimit: .mebibytes(64))
        layer = try cache.addLayer(
            FirstByteSource(),
            pyramid: try .powerOfTwo(worldWidth: 65_536, worldHeight: 65_536),
            options: LayerOptions(isCompressible: false)
        )
        view = cache.makeView(layers: [layer])
        view.fill(viewport, within: 10)
    }

    package func lookup(rounds: Int = 7) -> LookupReport {
        let tiles = view.frame().map(\.tile.identity.tile)
        let keys = tiles.indices.map { NSNumber(value: $0) }
        let reference = NSCache<NSNumber, NSNumber>()
        // On Linux the entries retain each other; only emptying the cache releases them.
        defer { reference.removeAllObjects() }
        for key in keys { reference.setObject(key, forKey: key) }
        // Computed in advance, so that no division is measured.
        let order = (0..<1024).map { tiles[$0 % tiles.count] }
        let keyOrder = (0..<1024).map { keys[$0 % keys.count] }
        var own: [Double] = []
        var theirs: [Double] = []
        var scaling: [(work: Double, spin: Double)] = []
        for _ in 0..<rounds {
            own += nanoseconds(1000, batches: 200) { index in
                _ = layer.withTile(order[index & 1023]) { $0.count }
            }
            theirs += nanoseconds(200, batches: 100) { index in
                _ = reference.object(forKey: keyOrder[index & 1023])
            }
            scaling.append(twoThreads(tiles))
        }
        return LookupReport(
            nanoseconds: own.median,
            nsCacheNanoseconds: theirs.median,
            twoThreads: scaling.withBothCores.map(\.work).median
        )
    }

    package func frame(rounds: Int = 7) -> FrameReport {
        var frames: [Double] = []
        var updates: [Double] = []
        for round in 0..<rounds {
            frames += nanoseconds(100, batches: 200) { _ in _ = view.frame() }
            updates += nanoseconds(20, batches: 100) { index in
                var moved = viewport
                moved.center.x += Double(index & 31) + Double(round) / 16
                view.update(moved)
            }
        }
        view.update(viewport)
        return FrameReport(
            tiles: view.frame().count,
            microseconds: frames.median / 1000,
            updateMicroseconds: updates.median / 1000
        )
    }

    /// Throughput of two threads relative to one, with look-ups between the work. The work alone shows whether two
    /// cores were available.
    private func twoThreads(_ tiles: [TileCoordinate]) -> (work: Double, spin: Double) {
        let steps = Self.stepsOfTwoMicroseconds()
        @Sendable func work(_ start: Int, looksUp: Bool, count: Int) {
            var x = UInt64(start) + 1
            for index in 0..<count {
                if looksUp { _ = layer.withTile(tiles[(index + start) % tiles.count]) { $0.count } }
                x = Self.spin(x, steps: steps)
            }
            Self.sink(x)
        }
        func scaling(looksUp: Bool, count: Int) -> Double {
            let one = seconds { work(0, looksUp: looksUp, count: count) }
            let two = seconds {
                DispatchQueue.concurrentPerform(iterations: 2) { work($0 * 7, looksUp: looksUp, count: count) }
            }
            return 2 * one / two
        }
        let before = scaling(looksUp: false, count: 4000)
        let value = scaling(looksUp: true, count: 20_000)
        return (value, min(before, scaling(looksUp: false, count: 4000)))
    }

    private static func spin(_ seed: UInt64, steps: Int) -> UInt64 {
        var x = seed
        for _ in 0..<steps {
            x ^= x << 13
            x ^= x >> 7
            x ^= x << 17
        }
        return x
    }

    /// Number of steps that take 2 us now. The fastest of some tries, which was not interrupted.
    private static func stepsOfTwoMicroseconds() -> Int {
        let steps = 20_000
        let shortest: Int64 =
            (0..<20).map { number in
                let start = MonotonicTime.now.nanoseconds
                sink(spin(UInt64(number) + 1, steps: steps))
                return MonotonicTime.now.nanoseconds - start
            }.min() ?? 1
        return max(steps * 2000 / Int(max(shortest, 1)), 1)
    }

    @inline(never) private static func sink(_ value: UInt64) { if value == 42 { print("") } }

    /// Nanoseconds of one call, measured in batches. They are shorter than a scheduler's slice, so that most contain no
    /// pause. Each begins where the one before ended.
    private func nanoseconds(_ count: Int, batches: Int, _ body: (Int) -> Void) -> [Double] {
        (0..<batches).map { batch in
            seconds { for index in 0..<count { body(batch * count + index) } } * 1e9 / Double(count)
        }
    }
}
