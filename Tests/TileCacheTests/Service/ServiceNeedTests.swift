import Testing

@testable import TileCache

/// Needs stated by the renderer: lists of tiles, destinations.
@Suite(.timeLimit(.minutes(45))) struct ServiceNeedTests {
    @Test func renderersMayNameTheirOwnTiles() throws {
        let steps = StepScheduler.calm()
        let cache = try steps.cache(byteLimit: .mebibytes(4), workers: 1)
        let source = QueuedSource(atATime: 1)
        let layer = try cache.addLayer(source, pyramid: try ServiceSetup.pyramid())
        let view = ServiceSetup.quiet(cache, [layer])
        let tiles = [(3, Float(1)), (5, 9), (4, 5)].map {
            NeededTile(layer: layer.id, tile: TileCoordinate(level: $0.0, column: 1, row: 1), importance: $0.1)
        }
        view.update(ServiceSetup.viewport(1000, 1000))
        view.update(needing: tiles + [NeededTile(layer: layer.id, tile: TileCoordinate(level: 3, column: 99, row: 0))])
        var asked: [Int] = []
        #expect(
            steps.reaches {
                for request in source.take() {
                    // Loads in flight for the viewport may land first.
                    if request.tile.level < 6 { asked.append(request.tile.level) }
                    source.answer(request)
                }
                return asked.count == 3
            }
        )
        #expect(asked == [5, 4, 3])
    }

    /// Layers take turns, the one of the most important tile first, each in the order of importance; NaN comes last.
    @Test func whatMattersMostInALayerIsAskedForFirst() throws {
        let steps = StepScheduler.calm()
        let cache = try steps.cache(byteLimit: .mebibytes(4), workers: 1)
        let source = QueuedSource(atATime: 1)
        let pyramid = try ServiceSetup.pyramid()
        let layers = [try cache.addLayer(source, pyramid: pyramid), try cache.addLayer(source, pyramid: pyramid)]
        let view = ServiceSetup.quiet(cache, layers)
        let wishes: [(layer: Int, column: Int, importance: Float)] = [
            (0, 1, .nan), (0, 2, 5), (0, 3, 1), (1, 4, 9), (1, 5, 3), (1, 6, .infinity), (1, 7, -1),
        ]
        view.update(
            needing: wishes.map {
                NeededTile(
                    layer: layers[$0.layer].id,
                    tile: TileCoordinate(level: 4, column: $0.column, row: 1),
                    importance: $0.importance
                )
            }
        )
        var asked: [Int] = []
        #expect(
            steps.reaches {
                for request in source.take() {
                    asked.append(request.tile.column)
                    // All loads take the same time.
                    steps.spend(nanoseconds: 40_000_000)
                    source.answer(request)
                }
                return asked.count == 7
            }
        )
        #expect(asked == [6, 2, 4, 3, 5, 1, 7])
    }

    /// The ledger counts at least a view's lists. Its needs, its draw list and a frame's hold.
    @Test func viewsAreChargedForTheirLists() throws {
        let steps = StepScheduler.calm()
        let cache = try steps.cache(byteLimit: .mebibytes(16))
        let layer = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid())
        let view = ServiceSetup.quiet(cache, [layer])
        view.update(TileViewport(center: WorldPoint(x: 2000, y: 2000), width: 1000, height: 800))
        #expect(steps.reaches { view.frame().missingTileCount == 0 })
        let lists = cache.core.read { state -> (charged: Int, held: Int)? in
            guard let view = state.views[0], let contents = view.contents else { return nil }
            func bytes<Element>(_ list: [Element]) -> Int { list.count * MemoryLayout<Element>.stride }
            let layer = view.model.layers[0]
            let needs = bytes(layer.needs.tiles) + bytes(layer.needs.entries) + bytes(layer.needs.missingSince)
            let drawn = bytes(contents.tiles) + bytes(contents.tokens) + bytes(contents.identities)
            return (state.pool.ledger[.demand], needs + bytes(layer.visible) + drawn)
        }
        let (charged, held) = try #require(lists)
        #expect(charged >= held && charged <= 3 * held)
    }

    @Test func aListOfNothingIsAListAndTheViewportComesBack() throws {
        let steps = StepScheduler.calm()
        let cache = try steps.cache(byteLimit: .mebibytes(4))
        let layer = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid())
        let view = ServiceSetup.quiet(cache, [layer])
        let place = ServiceSetup.viewport(600, 600)
        view.update(place)
        #expect(steps.reaches { view.frame().missingTileCount == 0 })
        view.update(needing: [])
        #expect(view.frame().isEmpty)
        view.update(place)
        #expect(view.frame().count == 20)
        // Policies receive the view again.
        #expect(cache.core.read { $0.views[0]?.model.layers[0].hasOwnList } == false)
    }

    @Test func aDeclaredDestinationIsThereBeforeTheViewIs() throws {
        let cache = try TileCache(byteLimit: .mebibytes(4))
        let layer = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid())
        let view = ServiceSetup.quiet(cache, [layer])
        let pyramid = try ServiceSetup.pyramid()
        let there = ServiceSetup.viewport(3000, 3000)
        view.update(
            ServiceSetup.viewport(500, 500),
            at: MonotonicTime.now,
            destination: ViewportDestination(
                viewport: there,
                time: MonotonicTime(nanoseconds: MonotonicTime.now.nanoseconds + 60_000_000_000)
            )
        )
        #expect(
            eventually {
                pyramid.neededTiles(under: there, at: 6).allSatisfy { layer.isResident($0) }
            }
        )
        view.update(there)
        #expect(view.frame().missingTileCount == 0)
        #expect(cache.statistics.demands.decodedHits == 20)
    }

    /// The limit has room for six tiles of level 5 there, not for the twenty of level 6: these were loaded in vain.
    @Test(arguments: [true, false]) func aDestinationIsLoadedAtTheLevelThatFits(predicts: Bool) throws {
        let scene = try StillScene(tiles: 18)
        let source = PlainSource()
        let layer = try scene.cache.addLayer(source, pyramid: scene.pyramid)
        let view = predicts ? scene.cache.makeView(layers: [layer]) : ServiceSetup.quiet(scene.cache, [layer])
        let there = ServiceSetup.viewport(2800, 2800)
        let time = MonotonicTime(nanoseconds: scene.scheduler.now + 60_000_000_000)
        view.update(
            ServiceSetup.viewport(900, 900),
            destination: ViewportDestination(viewport: there, time: time)
        )
        scene.run()
        let loads = Set(source.loads.keys)
        #expect(loads.allSatisfy { $0.level < 6 })
        #expect(loads.isSuperset(of: scene.pyramid.neededTiles(under: there, at: 5)))
        view.update(there)
        #expect(view.frame().missingTileCount == 0)
    }

    @Test func aViewOfNamedTilesAloneDrawsThem() throws {
        let steps = StepScheduler.calm()
        let cache = try steps.cache(byteLimit: .mebibytes(4))
        let layer = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid())
        let view = ServiceSetup.quiet(cache, [layer])
        let tiles = (0..<3).map { NeededTile(layer: layer.id, tile: TileCoordinate(level: 3, column: $0, row: 1)) }
        view.update(needing: tiles)
        #expect(steps.reaches { view.frame().missingTileCount == 0 && view.frame().count == 3 })
        #expect(view.frame().allSatisfy { $0.isExact })
    }

    /// Levels of tile servers may be larger than the world.
    @Test func listedTilesOutsideOfTheWorldAreNotDrawn() throws {
        let steps = StepScheduler.calm()
        let cache = try steps.cache(byteLimit: .mebibytes(4))
        let level = PyramidLevel(width: 256, height: 64, tileWidth: 64, tileHeight: 64, worldPixelsPerPixel: 1)
        let pyramid = try TilePyramid(worldWidth: 100, worldHeight: 64, levels: [level])
        let layer = try cache.addLayer(PlainSource(), pyramid: pyramid)
        let view = ServiceSetup.quiet(cache, [layer])
        view.update(
            needing: (0..<4).map { NeededTile(layer: layer.id, tile: TileCoordinate(level: 0, column: $0, row: 0)) }
        )
        #expect(steps.reaches { view.frame().missingTileCount == 0 })
        #expect(
            view.frame().map(\.worldRectangle) == [
                PixelRect(minX: 0, minY: 0, maxX: 64, maxY: 64), PixelRect(minX: 64, minY: 0, maxX: 100, maxY: 64),
            ]
        )
    }
}
