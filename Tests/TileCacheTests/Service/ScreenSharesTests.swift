import Testing

@testable import TileCache

/// What frames show of the screen, and the figures of a view and of a layer, worked out by hand.
@Suite struct ScreenSharesTests {
    /// Four by three whole tiles of level 6 at this place.
    private static func place(_ column: Int) -> TileViewport { ServiceSetup.viewport(640 + Double(column) * 64, 608) }

    private static func scene(
        _ source: any BlockingTileSource = PlainSource()
    ) throws -> (steps: StepScheduler, cache: TileCache, layer: TileLayer, view: TileView) {
        let steps = StepScheduler.calm()
        let cache = try steps.cache(byteLimit: .mebibytes(4))
        let layer = try cache.addLayer(source, pyramid: try ServiceSetup.pyramid())
        return (steps, cache, layer, ServiceSetup.quiet(cache, [layer]))
    }

    @Test func aViewCountsWhatItsFramesShow() throws {
        let (steps, cache, layer, view) = try Self.scene()
        #expect(view.frame().shares == nil && view.statistics.shares == nil)
        let start = view.statistics
        #expect(start.frames == 1 && start.busyFrames == 0)

        // Nothing is there: twelve blank tiles, of seven levels.
        view.update(Self.place(0))
        let blank = try #require(view.frame().shares)
        #expect(blank.blank == 1 && blank.sharp == 0 && blank.fallback == 0 && blank.deficit == 7)
        #expect(steps.runAll())
        // A complete frame at rest is not counted, however often it is drawn.
        for _ in 0..<3 { #expect(view.frame().shares == .whole) }
        var figures = view.statistics
        #expect(figures.frames == 5 && figures.busyFrames == 1 && figures.incompleteFrames == 1)
        #expect(figures.shares == blank && figures.demands.total == 0 && figures.hitRate == nil)

        // One column of four is new.
        view.update(Self.place(1))
        let quarter = try #require(view.frame().shares)
        #expect(quarter.sharp == 0.75 && quarter.blank == 0.25 && quarter.deficit == 7.0 / 4)
        figures = view.statistics
        #expect(figures.busyFrames == 2 && figures.incompleteFrames == 2)
        #expect(figures.shares?.sharp == 0.375 && figures.shares?.blank == 0.625 && figures.shares?.deficit == 4.375)
        #expect(figures.pan.total == 3 && figures.pan.missed == 3)

        // Back, where all is there. Two updates before a frame are one movement.
        let earlier = figures
        #expect(steps.runAll())
        view.update(Self.place(1))
        view.update(Self.place(0))
        #expect(view.frame().shares == .whole)
        figures = view.statistics
        #expect(figures.busyFrames == 3 && figures.incompleteFrames == 2 && figures.frames == 7)
        #expect(figures.pan.total == 6 && figures.pan.decodedHits == 3 && figures.hitRate == 0.5)
        let between = figures - earlier
        #expect(between.shares == .whole && between.busyFrames == 1 && between.frames == 1 && between.pan.total == 3)

        // Ancestors three levels above are drawn for all, once they are there.
        try layer.pin(levels: 3...3)
        #expect(steps.runAll())
        view.update(ServiceSetup.viewport(2560, 2560))
        let coarse = try #require(view.frame().shares)
        #expect(coarse.fallback == 1 && coarse.blank == 0 && coarse.deficit == 3)

        // The area of tiles that the renderer lists is unknown.
        view.update(needing: [NeededTile(layer: layer.id, tile: TileCoordinate(level: 6, column: 60, row: 60))])
        #expect(view.frame().shares == nil)
        #expect(view.statistics.incompleteFrames == 4 && (view.statistics - figures).shares?.fallback == 1)
        cache.shutdown()
    }

    /// Fails in odd columns of the finest level, and has no row 9.
    private struct Troubled: BlockingTileSource {
        func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
            if tile.row == 9 { return .absent }
            if !tile.column.isMultiple(of: 2) { throw TileFailure.permanent }
            fill(&pixels, with: 1)
            return .pixels
        }
    }

    /// Each layer has its part of the cache's figures.
    @Test func layersHaveTheirPartOfTheFigures() throws {
        let (steps, cache, good, view) = try Self.scene()
        let bad = try cache.addLayer(Troubled(), pyramid: try ServiceSetup.pyramid())
        view.layers = [good, bad]
        for column in [0, 1, 2, 0] {
            view.update(Self.place(column))
            _ = view.frame()
            #expect(steps.runAll())
        }
        let (one, two, all) = (try #require(good.statistics), try #require(bad.statistics), cache.statistics)
        #expect(one.loads + two.loads == all.loads)
        #expect(one.pan + two.pan == all.pan && one.zoom + two.zoom == all.zoom)
        // Six columns of three rows, with pixels of 16 KiB.
        #expect(one.loads.finished == 18 && one.loads.failed == 0 && one.loads.bytes == .kibibytes(18 * 16))
        #expect(one.demands.total == 3 + 3 + 6 && one.demands.hits == 6 && one.hitRate == 0.5)
        #expect(one.decoded == .kibibytes(18 * 16) && one.compressed == .bytes(0))
        // Rows 8, 9 and 10. Ancestors are asked for what is missing.
        #expect(two.loads.failed >= 6 && two.loads.absent >= 6 && two.loads.finished >= 6)
        #expect(one.prefetches == LayerPrefetchCounts())

        let before = one
        view.update(Self.place(8))
        _ = view.frame()
        #expect(steps.runAll())
        let between = try #require(good.statistics) - before
        #expect(between.loads.finished == 12 && between.demands.total == 12 && between.demands.hits == 0)
        #expect(between.decoded == .kibibytes(30 * 16))
        bad.remove()
        #expect(bad.statistics == nil && good.statistics != nil)
        cache.shutdown()
    }
}
