import Foundation
import Testing

@testable import CacheBenchKit
@testable import TileCache

/// `cachebench warm`: what it fills stores with, and what it says of tiles that they do not take.
@Suite(.timeLimit(.minutes(45))) struct WarmTests {
    /// Runs over 341 tiles.
    private func run(
        _ store: BufferedStore,
        _ source: any BlockingTileSource = FirstByteSource(),
        progress: (Int) -> Void = { _ in }
    ) throws -> WarmReport {
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 512, worldHeight: 512, tileSize: 32)
        let cache = try TileCache(byteLimit: .bytes(Warm.byteLimit(tileBytes: 4096)))
        let options = LayerOptions(stores: LayerStores([store], dataSet: ["warm"]))
        let layer = try cache.addLayer(source, pyramid: pyramid, options: options)
        let warm = try Warm(WarmOptions(), cache: cache, layer: layer, pyramid: pyramid)
        var report = warm.run(shouldStop: { false }, flush: { store.flush() }, progress: { done, _ in progress(done) })
        cache.shutdown()
        warm.note([store], in: &report)
        return report
    }

    /// The store has room for fewer tiles than there are, until it writes them.
    @Test func eachBatchIsWrittenBeforeTheNext() throws {
        let store = BufferedStore(room: 256)
        let report = try run(store)
        #expect(report.tiles == 341 && report.loaded == 341 && report.unstored == 0)
        #expect(store.count == 341)
    }

    /// The store has all tiles, and all are out of date. They are drawn at once, and loaded all the same.
    @Test func staleTilesAreAwaited() throws {
        let (store, source) = (BufferedStore(room: 256, lendsStale: true), SlowSource())
        var early = 0
        let report = try run(store, source) { done in if source.count < done { early += 1 } }
        #expect(report.stored >= 341 && report.failed == 0 && early == 0)
        #expect(source.count >= 341 && store.count == 341)
    }

    @Test func tilesThatAreNotStoredAreReported() throws {
        let report = try run(BufferedStore(room: 0))
        #expect(report.unstored == 341 && report.failed == 0)
        #expect(report.text.contains("0 failed, 341 not stored"))
    }
}

/// A source that is slower than a store, and counts its loads.
private final class SlowSource: BlockingTileSource {
    private let loads = Lock(0)
    var count: Int { loads.withLock { $0 } }

    func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
        usleep(500)
        let outcome = try FirstByteSource().load(tile, into: &pixels)
        loads.withLock { $0 += 1 }
        return outcome
    }
}

/// A store that drops what its buffer has no room for.
private final class BufferedStore: TileStore {
    private struct State {
        var kept: Set<TileStoreKey> = []
        var buffered = 0
        var dropped = 0
    }

    private let state = Lock(State())
    private let room: Int
    /// Whether it has a stale entry of each tile.
    private let lendsStale: Bool

    init(room: Int, lendsStale: Bool = false) { (self.room, self.lendsStale) = (room, lendsStale) }

    /// Tiles that it has taken.
    var count: Int { state.withLock { $0.kept.count } }

    func flush() { state.withLock { $0.buffered = 0 } }

    var statistics: TileStoreStatistics {
        var statistics = TileStoreStatistics()
        statistics.dropped = state.withLock { $0.dropped }
        return statistics
    }

    func put(_ entry: TileStoreEntry, cost: Duration) -> TileStorePut {
        state.withLock { state in
            guard state.buffered < room else {
                state.dropped += 1
                return .dropped
            }
            state.buffered += 1
            state.kept.insert(entry.key)
            return .accepted
        }
    }

    func get(
        _ key: TileStoreKey,
        shape: TileStoreShape,
        deadline: MonotonicTime?,
        _ body: (TileStoreEntry) -> Void
    ) -> TileStoreMiss? {
        guard lendsStale else { return .absent }
        let freshness = TileStoreFreshness(stored: 1, expires: 2, usableUntil: Int64.max - 1)
        let colour: [UInt8] = [1, 2, 3, 255, 1, 2, 3, 255]
        colour.withUnsafeBytes {
            body(
                TileStoreEntry(
                    key: key,
                    shape: shape,
                    generation: 0,
                    freshness: freshness,
                    kind: .solid,
                    payload: $0
                )
            )
        }
        return nil
    }

    func presence(of key: TileStoreKey) -> TileStorePresence { lendsStale ? .present : .absent }
    func renew(_ key: TileStoreKey, _ freshness: TileStoreFreshness) {}
    func remove(_ keys: [TileStoreKey]) -> Bool { true }
    func remove(_ namespace: TileStoreNamespace) -> Bool { true }
    func generation(of namespace: TileStoreNamespace) -> UInt64 { 0 }
    func raiseGeneration(of namespace: TileStoreNamespace, to generation: UInt64) -> Bool { true }
    func close() {}
}
