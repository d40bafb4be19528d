import Testing
import TileDiskStore

@testable import TileCache
@testable import TileSources

/// Draws the finest level of a source; returns how many tiles a store took. Waits until it took a number of them.
///
/// - Parameters:
///   - folder: Folder of the store. Default: a new one.
///   - later: Seconds by which the cache's clock is ahead of the source's. Default: 0.
func writes(
    of source: some PyramidTileSource,
    expecting count: Int,
    in folder: ScratchFolder = ScratchFolder(),
    later: Int64 = 0
) throws -> Int {
    let store = try TileDiskStore(path: "\(folder.path)/store", byteLimit: .mebibytes(8))
    defer { store.close() }
    var configuration = TileCache.Configuration(byteLimit: .mebibytes(16), workers: 4)
    let clock = configuration.wallClock
    configuration.wallClock = { clock() + later }
    let cache = try TileCache(configuration)
    let layer = try source.addLayer(to: cache, stores: [store])
    let view = cache.makeView(layers: [layer], selection: TileLevelSelection(), policy: { NoPrefetch() })
    let (width, height) = (source.pyramid.worldWidth, source.pyramid.worldHeight)
    let middle = WorldPoint(x: width / 2, y: height / 2)
    #expect(
        settled {
            view.update(TileViewport(center: middle, width: width, height: height))
            return view.frame().missingTileCount == 0 && cache.statistics.stores[0].writes >= count
        }
    )
    #expect(cache.shutdown())
    return cache.statistics.stores[0].writes
}

/// One run of a program: a separate store, source and cache. The world has one level.
final class StoredRun {
    /// Seconds since 1970, as the test sets them.
    final class Clock: Sendable {
        private let value: Lock<Int64>

        init(_ start: Int64 = 1_000_000) { value = Lock(start) }

        var now: Int64 {
            get { value.withLock { $0 } }
            set { value.withLock { $0 = newValue } }
        }
    }

    let store: TileDiskStore
    let source: HTTPTileSource
    let cache: TileCache
    let layer: TileLayer
    let view: TileView
    private let side: Double
    /// Folder of the store, kept as long as the run.
    private let folder: ScratchFolder

    init(
        _ template: String,
        _ folder: ScratchFolder,
        _ clock: Clock,
        zoom: Int = 0,
        source: HTTPTileSource? = nil,
        over wrap: (TileDiskStore) -> any TileStore = { $0 },
        _ change: (inout HTTPTileOptions) -> Void = { _ in }
    ) throws {
        self.folder = folder
        store = try TileDiskStore(path: "\(folder.path)/store", byteLimit: .mebibytes(8))
        let store = store
        let key = TileStoreKey(
            namespace: TileStoreNamespace(high: 0, low: 0),
            tile: TileCoordinate(level: 0, column: 0, row: 0)
        )
        // So that no look-up is skipped because the store might be slower than the server.
        #expect(settled { store.presence(of: key) != .unknown })
        var http = HTTPTileOptions(zooms: zoom...zoom, timeout: .seconds(60), retries: 0)
        change(&http)
        self.source =
            try source
            ?? HTTPTileSource(
                template: template,
                http: http,
                options: TileSourceOptions(tileSize: 32),
                wallClock: { clock.now }
            )
        var configuration = TileCache.Configuration(byteLimit: .mebibytes(32))
        configuration.wallClock = { clock.now }
        // In memory a second lasts a thousand: nothing expires there during a run, however slow the machine is.
        configuration.clock = { MonotonicTime.now.nanoseconds / 1000 }
        cache = try TileCache(configuration)
        layer = try self.source.addLayer(to: cache, stores: [wrap(store)])
        view = cache.makeView(layers: [layer], selection: TileLevelSelection(), policy: { NoPrefetch() })
        side = Double(32 << zoom)
    }

    /// Drawn pixels, by tile.
    func drawn() -> [TileCoordinate: (pixels: [UInt8], isStale: Bool)] {
        let middle = WorldPoint(x: side / 2, y: side / 2)
        view.update(TileViewport(center: middle, width: side, height: side))
        var tiles: [TileCoordinate: (pixels: [UInt8], isStale: Bool)] = [:]
        for placement in view.frame() {
            let pixels = placement.tile.withUnsafeBytes { Array($0) }
            tiles[placement.tile.identity.tile] = (pixels, placement.tile.isStale)
        }
        return tiles
    }

    /// Waits until this many tiles are drawn, none of them stale.
    func draws(_ count: Int) -> Bool {
        settled {
            let tiles = drawn()
            return tiles.count == count && tiles.values.allSatisfy { !$0.isStale }
        }
    }

    var counts: TileCacheStatistics.StoreCounts { cache.statistics.stores[0] }

    /// Ends the run, with all writes on disk.
    func end() {
        #expect(cache.shutdown())
        #expect(cache.statistics.contradictions.isEmpty)
        store.close()
    }
}
