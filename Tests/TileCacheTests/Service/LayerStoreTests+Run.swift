@testable import TileCache

/// What the tests of stores share: a source, and one run of a program.
extension LayerStoreTests {
    /// A source whose answers a test sets, blocking or not.
    final class Origin: BlockingTileSource, TileSource, @unchecked Sendable {
        // Used by one thread only.
        var loads: [TileCoordinate] = []
        var freshness: TileStoreFreshness?
        var outcome = TileOutcome.pixels
        var colour: UInt32 = 7
        var validators: [TileStoreFreshness?] = []
        /// Confirms stored tiles until this time.
        var confirms: TileStoreFreshness?
        var whileLoading: (() -> Void)?
        /// A tile that fails for good.
        var lost: TileCoordinate?

        func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
            loads.append(tile)
            if tile == lost { throw TileFailure.permanent }
            validators.append(pixels.cached)
            whileLoading?()
            if let confirms, pixels.cached != nil {
                pixels.freshness = confirms
                return .unchanged
            }
            pixels.freshness = freshness
            fill(&pixels, with: colour)
            return outcome
        }

        func requestTile(_ request: TileRequest) {
            if outcome == .absent {
                loads.append(request.tile)
                request.completeAbsent(freshness: freshness)
            } else {
                request.complete { try load(request.tile, into: &$0) }
            }
        }
    }

    final class Clock: @unchecked Sendable {
        var seconds: Int64 = 1_000_000
    }

    /// One run of a program.
    struct Run {
        let scene: StillScene
        let layer: TileLayer
        let view: TileView
        let clock: Clock

        init(
            _ stores: [any TileStore],
            _ origin: Origin,
            clock: Clock = Clock(),
            isBlocking: Bool = true,
            data: String = "world",
            workers: Int = 2,
            tiles: Int = 64,
            made: Int = 0
        ) throws {
            self.clock = clock
            scene = try StillScene(tiles: tiles, workers: workers) { $0.wallClock = { clock.seconds } }
            let options = LayerOptions(synthesizedLevels: made, stores: LayerStores(stores, dataSet: [data]))
            layer =
                isBlocking
                ? try scene.cache.addLayer(origin as any BlockingTileSource, pyramid: scene.pyramid, options: options)
                : try scene.cache.addLayer(origin as any TileSource, pyramid: scene.pyramid, options: options)
            view = ServiceSetup.quiet(scene.cache, [layer])
        }

        func need(_ columns: Range<Int>) { scene.need(columns, of: layer, view) }

        func need(_ tiles: [TileCoordinate]) {
            view.update(needing: tiles.map { NeededTile(layer: layer.id, tile: $0) })
            scene.run()
        }

        /// A tile of the level above that of the others, and the tiles below it.
        static let parent = TileCoordinate(level: 5, column: 0, row: 0)
        static let children = [0, 1].flatMap { row in
            [0, 1].map { TileCoordinate(level: 6, column: $0, row: row) }
        }

        var counts: [TileCacheStatistics.StoreCounts] { scene.cache.statistics.stores }

        /// The last pixel of each drawn tile.
        var lastPixels: [UInt32] {
            view.frame().map { placement in
                placement.tile.withUnsafeBytes {
                    $0.loadUnaligned(fromByteOffset: $0.count - 4, as: UInt32.self)
                }
            }
        }

        /// Colours of the drawn tiles, and whether they are stale.
        var drawn: [(colour: UInt32, isStale: Bool)] { Self.drawn(view) }

        static func drawn(_ view: TileView) -> [(colour: UInt32, isStale: Bool)] {
            view.frame().map { placement in
                (~placement.tile.withUnsafeBytes { $0.load(as: UInt32.self) }, placement.tile.isStale)
            }
        }
    }
}

extension MemoryStore {
    /// The only namespace of its entries.
    var onlyNamespace: TileStoreNamespace { firstKey!.namespace }
}
