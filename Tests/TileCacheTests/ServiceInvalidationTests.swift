import Testing

@testable import TileCache

/// Tiles that change at their source.
@Suite(.timeLimit(.minutes(15))) struct ServiceInvalidationTests {
    @Test func aLoadThatBeganBeforeAnInvalidationNeverLands() throws {
        let cache = try TileCache(byteLimit: .mebibytes(4), workers: 2)
        let source = PlainSource(isGated: true)
        let layer = try cache.addLayer(source, pyramid: try ServiceSetup.pyramid())
        let view = ServiceSetup.quiet(cache, [layer])
        // One tile.
        let small = Viewport(center: WorldPoint(x: 32, y: 32), width: 32, height: 32)
        view.update(small)
        #expect(eventually { source.inside == 1 })
        source.version = 1
        cache.invalidate(layer)
        source.open()
        #expect(eventually { source.inside == 1 && source.loads.values.first == 2 })
        #expect(view.frame().isEmpty)
        source.open()
        #expect(eventually { view.frame().count == 1 })
        let tile = view.frame()[0].tile
        #expect(holds(tile, expectedPixel(layer: 0, tile.identity.tile, version: 1)))
        #expect(cache.statistics.loadsOutdated == 1)
    }

    @Test func oldPixelsAreDrawnAsStaleUntilNewOnesLand() throws {
        let cache = try TileCache(byteLimit: .mebibytes(4), workers: 1)
        let source = PlainSource(isGated: true)
        let layer = try cache.addLayer(source, pyramid: try ServiceSetup.pyramid())
        let view = ServiceSetup.quiet(cache, [layer])
        let small = Viewport(center: WorldPoint(x: 32, y: 32), width: 32, height: 32)
        view.update(small)
        source.open()
        #expect(eventually { view.frame().count == 1 })
        let held = view.frame()[0].tile.retained()
        source.version = 1
        cache.invalidate(layer)
        #expect(eventually { source.inside == 1 })
        let stale = view.frame()[0].tile
        #expect(stale.isStale)
        #expect(stale.identity == held.identity)
        source.open()
        #expect(eventually { view.frame().first?.tile.isStale == false })
        let fresh = view.frame()[0].tile
        #expect(fresh.identity != held.identity)
        #expect(holds(fresh, expectedPixel(layer: 0, fresh.identity.tile, version: 1)))
        // Who held the old pixels still has them.
        #expect(holds(held, expectedPixel(layer: 0, held.identity.tile)))
        #expect(cache.statistics.decodedBytes == 2 * 64 * 64 * 4)
    }
}
