import TestSupport
import Testing

@testable import TileCache

/// Tiles that change at their source.
@Suite(.timeLimit(.minutes(45))) struct ServiceInvalidationTests {
    @Test func aLoadThatBeganBeforeAnInvalidationNeverLands() throws {
        let cache = try TileCache(byteLimit: .mebibytes(4), workers: 2)
        let source = PlainSource(isGated: true)
        let layer = try cache.addLayer(source, pyramid: try ServiceSetup.pyramid())
        let view = ServiceSetup.quiet(cache, [layer])
        // One tile.
        let small = TileViewport(center: WorldPoint(x: 32, y: 32), width: 32, height: 32)
        view.update(small)
        #expect(eventually { source.inside == 1 })
        source.version = 1
        layer.invalidate()
        source.open()
        #expect(eventually { source.inside == 1 && source.loads.values.first == 2 })
        #expect(view.frame().isEmpty)
        source.open()
        #expect(eventually { view.frame().count == 1 })
        let tile = view.frame()[0].tile
        #expect(holds(tile, expectedPixel(layer: 0, tile.identity.tile, version: 1)))
        #expect(cache.statistics.loads.outdated == 1)
    }

    @Test func oldPixelsAreDrawnAsStaleUntilNewOnesLand() throws {
        let cache = try TileCache(byteLimit: .mebibytes(4), workers: 1)
        let source = PlainSource(isGated: true)
        let layer = try cache.addLayer(source, pyramid: try ServiceSetup.pyramid())
        let view = ServiceSetup.quiet(cache, [layer])
        let small = TileViewport(center: WorldPoint(x: 32, y: 32), width: 32, height: 32)
        view.update(small)
        source.open()
        #expect(eventually { view.frame().count == 1 })
        let held = view.frame()[0].tile.retained()
        source.version = 1
        layer.invalidate()
        #expect(eventually { source.inside == 1 })
        let stale = view.frame()[0].tile
        #expect(stale.isStale)
        #expect(stale.identity == held.identity)
        source.open()
        #expect(eventually { view.frame().first?.tile.isStale == false })
        let fresh = view.frame()[0].tile
        #expect(fresh.identity != held.identity)
        #expect(holds(fresh, expectedPixel(layer: 0, fresh.identity.tile, version: 1)))
        // Held old pixels stay valid.
        #expect(holds(held, expectedPixel(layer: 0, held.identity.tile)))
        #expect(cache.statistics.memory.decoded.bytes == 2 * 64 * 64 * 4)
    }

    /// A region marks exactly the tiles that overlap it. They are looked up, or the table is walked.
    @Test(arguments: 1...20) func aRegionMarksWhatOverlapsIt(seed: UInt64) throws {
        let steps = StepScheduler.calm()
        var dice = SplitMix64(seed: seed)
        let cache = try steps.cache(byteLimit: .mebibytes(16), workers: 2)
        let pyramid = try ServiceSetup.pyramid()
        let layers = try (0..<2).map { _ in try cache.addLayer(PlainSource(), pyramid: pyramid) }
        let view = ServiceSetup.quiet(cache, layers)
        let tiles = Set(
            (0..<60).map { _ -> TileCoordinate in
                let level = dice.below(7)
                return TileCoordinate(level: level, column: dice.below(1 << level), row: dice.below(1 << level))
            }
        )
        view.update(needing: layers.flatMap { layer in tiles.map { NeededTile(layer: layer.id, tile: $0) } })
        #expect(steps.reaches { layers.allSatisfy { layer in tiles.allSatisfy { layer.isResident($0) } } })
        view.update(needing: [])
        let side = PortableMath.exp2(dice.nextUnit() * 13)
        let (x, y) = (dice.nextUnit() * 4600 - 300, dice.nextUnit() * 4600 - 300)
        // Sometimes edges of tiles: touching is not overlapping.
        let isAligned = dice.oneIn(2)
        func place(_ value: Double) -> Double { isAligned ? (value / 64).rounded() * 64 : value }
        let region = PixelRect(minX: place(x), minY: place(y), maxX: place(x + side), maxY: place(y + side))
        layers[0].invalidate(region: region)
        for tile in tiles {
            let overlaps = !pyramid.worldRectangle(of: tile).intersection(region).isEmpty
            let isStale = cache.core.lock.withLock { state in
                (0..<2).map { layer -> Bool in
                    let number = state.pool.table.find(TileKey(layer: layer, tile))
                    return number != .none && state.pool.table[number].flags.contains(.stale)
                }
            }
            #expect(isStale == [overlaps, false], "\(tile) of seed \(seed), \(region)")
        }
    }
}
