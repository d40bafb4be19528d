import Testing

@testable import TileCache

/// Diagnostics of a view.
@Suite(.timeLimit(.minutes(45))) struct ServiceDiagnosticsTests {
    private func tile(_ column: Int, _ row: Int) -> TileCoordinate {
        TileCoordinate(level: 6, column: column, row: row)
    }

    /// Shows 256 x 192 pixels around a tile's corner, at scale 1. These are at most 4 x 4 tiles.
    @Test func statesFollowATileFromTheSourceToTheScreen() throws {
        let cache = try TileCache(byteLimit: .mebibytes(4), workers: 1)
        let source = PlainSource(isGated: true) { $0.column == 9 }
        let layer = try cache.addLayer(source, pyramid: try ServiceSetup.pyramid())
        let view = ServiceSetup.quiet(cache, [layer])
        #expect(view.diagnostics() == TileViewDiagnostics())
        // Columns 7 to 10, rows 7 to 9.
        view.update(ServiceSetup.viewport(576, 544))
        let needed = Set(try ServiceSetup.pyramid().neededTiles(under: ServiceSetup.viewport(576, 544), at: 6))
        #expect(eventually { source.inside == 1 && view.diagnostics().planTime != nil })
        var seen = view.diagnostics()
        #expect(seen.viewport == ServiceSetup.viewport(576, 544))
        #expect(Set(seen.tiles.filter(\.isNeeded).map(\.tile)) == needed)
        #expect(seen.tiles.filter { $0.state == .loading }.count == 1)
        #expect(seen.tiles.filter { $0.isNeeded && $0.state == .missing }.count == needed.count - 1)
        #expect(Set(seen.plan.map(\.tile)) == needed)
        #expect(Set(seen.plan.map(\.reason)) == [.demand])
        #expect(seen.plan.filter { $0.state == .loading }.count == 1)
        #expect(view.diagnostics(maximumPlannedTiles: 3).plan == Array(seen.plan.prefix(3)))
        source.open(needed.count)
        #expect(eventually { cache.statistics.loads.finished + cache.statistics.loads.absent >= needed.count })
        seen = view.diagnostics()
        // The ancestors of the absent ones are the final result there.
        #expect(seen.plan.allSatisfy { $0.reason == .fallback && $0.tile.level < 6 })
        for tile in seen.tiles where tile.isNeeded {
            #expect(tile.state == (tile.tile.column == 9 ? .absent : .decoded))
        }
        layer.invalidate(region: PixelRect(minX: 512, minY: 512, maxX: 513, maxY: 513))
        #expect(view.diagnostics().tiles.first { $0.tile == self.tile(8, 8) }?.state == .stale)
        source.open(8)
        #expect(
            eventually {
                view.update(ServiceSetup.viewport(576, 544))
                return view.diagnostics().tiles.first { $0.tile == self.tile(8, 8) }?.state == .decoded
            }
        )
        #expect(cache.shutdown())
        #expect(view.diagnostics() == TileViewDiagnostics())
    }

    /// A margin of one viewport around 256 x 192 pixels is 768 x 576 pixels. It lies from (192, 256) to (960, 832).
    @Test func theMarginIsInViewports() throws {
        let cache = try TileCache(byteLimit: .mebibytes(4))
        let layer = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid())
        let view = ServiceSetup.quiet(cache, [layer])
        view.update(ServiceSetup.viewport(576, 544))
        func grid(_ margin: Double) -> (columns: ClosedRange<Int>, rows: ClosedRange<Int>, count: Int) {
            let tiles = view.diagnostics(margin: margin).tiles
            let (columns, rows) = (tiles.map(\.tile.column), tiles.map(\.tile.row))
            return (columns.min()!...columns.max()!, rows.min()!...rows.max()!, tiles.count)
        }
        #expect(grid(1) == (3...14, 4...12, 12 * 9))
        #expect(grid(0) == (7...10, 7...9, 4 * 3))
        #expect(grid(-1) == grid(0))
        #expect(grid(.nan) == grid(0.5))
        #expect(grid(.infinity) == grid(4))
    }

    @Test func expectationsFollowTheMotion() throws {
        let scene = try StillScene(tiles: 256)
        let view = scene.cache.makeView(layers: [try scene.plainLayer()])
        var expected: PixelRect?
        // 2 pixels a frame to the right; diagnostics are collected from the first request on.
        for frame in 1...30 {
            view.update(
                ServiceSetup.viewport(600 + Double(frame) * 2, 600),
                at: MonotonicTime(nanoseconds: scene.scheduler.now)
            )
            scene.run()
            expected = view.diagnostics().expectedRectangle
            scene.scheduler.spend(nanoseconds: 16_666_667)
        }
        let rectangle = try #require(expected)
        let right = 600 + 60 + 128.0
        #expect(rectangle.maxX > right + 1 && rectangle.minX > right - 256 + 1 && rectangle.minY == 504)
    }

    /// Its tiles are the first prefetches, those of a coarser level before others. Each tile has one reason.
    @Test func aDestinationIsExpected() throws {
        let scene = try StillScene(tiles: 64)
        let view = scene.cache.makeView(layers: [try scene.cache.addLayer(QueuedSource(), pyramid: scene.pyramid)])
        let time = MonotonicTime(nanoseconds: scene.scheduler.now + 60_000_000_000)
        let destination = ServiceSetup.viewport(3000, 2000, scale: 0.5)
        _ = view.diagnostics()
        view.update(
            ServiceSetup.viewport(600, 600),
            destination: ViewportDestination(viewport: destination, time: time)
        )
        scene.run()
        let seen = view.diagnostics()
        #expect(seen.expectedRectangle == PixelRect(minX: 2744, minY: 1808, maxX: 3256, maxY: 2192))
        let expected = [3, 5].flatMap { scene.pyramid.neededTiles(under: destination, at: $0) }
        let ahead = seen.plan.filter { $0.reason == .prefetch }.prefix(expected.count)
        #expect(ahead.map(\.tile) == expected && seen.plan.contains { $0.reason == .demand })
        #expect(seen.plan.allSatisfy { $0.worth > 0 })
        #expect(Set(seen.plan.map(\.tile)).count == seen.plan.count)
    }

    /// A request keeps the collection on for a second.
    @Test func viewsAreWatchedForASecond() throws {
        let scene = try StillScene(tiles: 16)
        let view = ServiceSetup.quiet(scene.cache, [try scene.plainLayer()])
        defer { withExtendedLifetime(view) {} }
        let start = scene.scheduler.now
        func isWatched(after time: Int64) -> Bool? {
            scene.cache.core.read { $0.views[0]?.isDiagnosed(at: start + time) }
        }
        #expect(isWatched(after: 0) == false)
        _ = view.diagnostics()
        #expect(isWatched(after: 0) == true && isWatched(after: 999_999_999) == true)
        #expect(isWatched(after: 1_000_000_000) == false)
    }

    /// Without a request nothing is collected.
    @Test func plansOfUnwatchedViewsNoteNothing() throws {
        let steps = StepScheduler.calm()
        let cache = try steps.cache(byteLimit: .mebibytes(4))
        let layer = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid())
        let view = cache.makeView(layers: [layer])
        view.update(ServiceSetup.viewport(600, 600))
        #expect(steps.reaches { view.frame().missingTileCount == 0 && !view.frame().isEmpty })
        #expect(cache.core.lock.withLock { state in state.views.allSatisfy { $0?.expectedRectangle == nil } })
    }

    /// At the seam both visible copies of a tile are reported, each at its place.
    @Test func tilesLieInTheCopyNextToTheView() throws {
        let cache = try TileCache(byteLimit: .mebibytes(4), workers: 1)
        let source = PlainSource(isGated: true)
        let layer = try cache.addLayer(source, pyramid: try ServiceSetup.pyramid(wraps: true))
        let view = ServiceSetup.quiet(cache, [layer])
        view.update(ServiceSetup.viewport(4096, 600))
        #expect(eventually { !view.diagnostics().plan.isEmpty })
        let seen = view.diagnostics(margin: 0)
        let bounds = PixelRect(minX: 3968, minY: 448, maxX: 4224, maxY: 704)
        for rectangle in seen.tiles.map(\.worldRectangle) + seen.plan.map(\.worldRectangle) {
            #expect(rectangle.intersection(bounds) == rectangle, "\(rectangle)")
        }
        source.open(100)
    }
}
