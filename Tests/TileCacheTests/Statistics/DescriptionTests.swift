import Testing

@testable import TileCache

/// Descriptions start with the problem.
@Suite(.timeLimit(.minutes(45))) struct DescriptionTests {
    /// Some tiles are absent, some fail permanently, one fails once.
    private struct TroubledSource: BlockingTileSource {
        let failsOnce = FailingOnce()

        func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
            // Nothing is drawn in place of what will not come.
            guard tile.level == 6 else { return .absent }
            switch tile.column {
            case 0: return .absent
            case 1: throw TileFailure.permanent
            case 2: try failsOnce.fail()
            default: break
            }
            fill(&pixels, with: 1)
            return .pixels
        }
    }

    private final class FailingOnce: Sendable {
        private let hasFailed = Lock(false)

        func fail() throws {
            let isFirst = hasFailed.withLock { hasFailed in
                defer { hasFailed = true }
                return !hasFailed
            }
            if isFirst { throw TileFailure.transient(retryAfter: .zero) }
        }
    }

    @Test func whatFailedComesBeforeTheRates() throws {
        var configuration = TileCache.Configuration(byteLimit: .mebibytes(4))
        configuration.retryDelay = .milliseconds(1)
        let cache = try TileCache(configuration)
        #expect(cache.statistics.description.hasPrefix("hit rate none"))
        let layer = try cache.addLayer(TroubledSource(), pyramid: try ServiceSetup.pyramid())
        let view = ServiceSetup.quiet(cache, [layer])
        let empty = view.frame().description
        #expect(empty == "no tiles")
        view.update(TileViewport(center: WorldPoint(x: 128, y: 32), width: 250, height: 60))
        // Of two tiles six ancestors are absent too.
        #expect(eventually { cache.statistics.loads.started == 11 && cache.statistics.loadsInFlight == 0 })
        let text = cache.statistics.description
        #expect(text.hasPrefix("loads: 2 failed, 7 absent, 1 retried; hit rate none"), "\(text)")
        let frame = view.frame()
        #expect("\(frame)" == "tiles: 2 exact, 1 absent, 1 failed for good")
        let expected = [
            UnavailableTile(
                layer: layer.id,
                tile: TileCoordinate(level: 6, column: 0, row: 0),
                worldRectangle: PixelRect(minX: 0, minY: 0, maxX: 64, maxY: 64),
                cause: .absent
            ),
            UnavailableTile(
                layer: layer.id,
                tile: TileCoordinate(level: 6, column: 1, row: 0),
                worldRectangle: PixelRect(minX: 64, minY: 0, maxX: 128, maxY: 64),
                cause: .failed
            ),
        ]
        #expect(frame.unavailable == expected)
    }

    @Test func whatTheLimitLacksComesFirst() throws {
        let cache = try TileCache(byteLimit: .kibibytes(256))
        let layer = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid())
        let view = ServiceSetup.quiet(cache, [layer])
        view.update(ServiceSetup.viewport(500, 500))
        // Twenty tiles of 16 KiB.
        let figures = cache.statistics
        #expect(view.shortfall.bytes == 20 << 14 && figures.memory.shortfall.bytes == 20 << 14)
        let missing = (20 << 14) + figures.memory.bookkeeping.bytes - (256 << 10)
        let expected = "limit too small: one screen needs 327680 bytes of tiles, \(missing) bytes more than there is; "
        #expect(figures.description.hasPrefix(expected), "\(figures)")
    }

    /// A load that was refused memory is tried again: it is news only where one screen has no room.
    @Test func refusedMemoryIsNamedBesideAShortfallOnly() throws {
        var figures = try TileCache(byteLimit: .mebibytes(64)).statistics
        figures.loads.refused = 3
        #expect(figures.description.hasPrefix("hit rate none"), "\(figures)")
        figures.memory.shortfall = .mebibytes(1)
        #expect(figures.description.contains("; loads: 3 refused memory; "), "\(figures)")
    }

    @Test func whatStoresTakeOfTheLimitIsNamed() throws {
        let cache = try TileCache(byteLimit: .kibibytes(256))
        let store = MemoryStore(memorySize: .kibibytes(64))
        let options = LayerOptions(stores: LayerStores([store], dataSet: ["world"]))
        let layer = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid(), options: options)
        let view = ServiceSetup.quiet(cache, [layer])
        view.update(ServiceSetup.viewport(500, 500))
        let figures = cache.statistics
        #expect(figures.memory.stores == .kibibytes(64) && figures.memory.bookkeeping > figures.memory.stores)
        let missing = (20 << 14) + figures.memory.bookkeeping.bytes - (256 << 10)
        let expected = "327680 bytes of tiles, \(missing) bytes more than there is, where stores take 65536 bytes; "
        #expect(figures.description.contains(expected), "\(figures)")
    }
}
