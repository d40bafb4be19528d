import Testing

@testable import TileCache

/// State that a view keeps between updates, worked out by hand.
@Suite struct ViewModelTests {
    private func model(layers: Int = 1) throws -> ViewModel {
        let pyramid = try ServiceSetup.pyramid()
        return ViewModel(
            layers: (0..<layers).map { ViewLayer(id: LayerID($0), pyramid: pyramid) },
            selection: TileLevelSelection()
        )
    }

    private func list(_ columns: [Int], layer: Int = 0, importance: Float = 1) -> [NeededTile] {
        columns.map {
            NeededTile(
                layer: LayerID(layer),
                tile: TileCoordinate(level: 6, column: $0, row: 0),
                importance: importance
            )
        }
    }

    /// A policy learns frames at rest afterwards. Those within a tenth of a second, one more, and at least eight.
    @Test(arguments: [10, 256, 300], [10, 50]) func restsAreLearnedFromAfterwards(frames: Int, span: Int) throws {
        let small = TilePool(tiles: 100)
        var view = try model()
        let milliseconds: Int64 = 1_000_000
        _ = view.update(ServiceSetup.viewport(900, 900), now: 0, pool: &small.pool)
        #expect(view.hasMoved && view.restTime == 1000 * milliseconds)
        for frame in 1...frames { view.rest(at: Int64(frame * span) * milliseconds) }
        #expect(!view.hasMoved && view.restTime == 1000 * milliseconds)
        let learned = view.takeSnapshot(at: 0, small.pool).layers[0].observations.map { Int($0.time / milliseconds) }
        let kept = min(max(100 / span + 2, 8), frames)
        #expect(learned == [0] + (frames - kept + 1...frames).map { $0 * span })
        let rest = view.takeSnapshot(at: 0, small.pool).layers[0].observations
        #expect(rest.isEmpty)
    }

    /// A planner that is late gets the newest frames.
    @Test func theOldestFramesThatWaitAreDropped() throws {
        var layer = ViewLayer(id: LayerID(0), pyramid: try ServiceSetup.pyramid())
        let most = ViewLayer.maximumObservations
        for now in 0...most { layer.observe(ServiceSetup.viewport(900, 900), now: Int64(now)) }
        #expect(layer.observations.map(\.time) == (1...most).map { Int64($0) })
    }

    /// The limit does not count the lists of frames that wait. Frames of the same tiles share one. The newest frame is kept
    /// in any case.
    @Test func fewerFramesOfManyTilesWait() throws {
        var layer = ViewLayer(id: LayerID(0), pyramid: try ServiceSetup.pyramid())
        let tiles = (0..<70_000).map { TileKey(layer: 0, TileCoordinate(level: 6, column: $0, row: 0)) }
        for (now, count) in [20_000, 20_000, 20_001, 20_002, 5_533, 1, 70_000, 10, 10].enumerated() {
            layer.needs.tiles = Array(tiles.prefix(count))
            layer.observe(ServiceSetup.viewport(900, 900), now: Int64(now))
            let first = [0, 0, 0, 0, 0, 2, 6, 7, 7][now]
            #expect(layer.observations.map { Int($0.time) } == Array(first...now))
        }
    }

    private func needed(_ list: [NeededTile], by view: ViewModel) -> NeededList {
        let pyramids = Dictionary(view.layers.map { ($0.id, $0.pyramid) }) { first, _ in first }
        return NeededList(list, pyramids: pyramids)
    }

    /// A list moves the view if it is the first one or differs. It differs in tiles, order or importance, for any of
    /// its layers.
    @Test func anotherListIsAMove() throws {
        let small = TilePool(tiles: 100)
        _ = small.pool.addLayer(tileBytes: TilePool.tileBytes)
        for layers in 1...2 {
            var view = try model(layers: layers)
            var now: Int64 = 0
            func moves(_ list: [NeededTile]) -> Bool {
                now += 1
                view.update(needed(list, by: view), now: now, pool: &small.pool)
                return view.hasMoved
            }
            #expect(moves([]) && !moves([]))
            #expect(moves(list([1, 2])) && !moves(list([1, 2])))
            #expect(moves(list([2, 1])) && !moves(list([2, 1])))
            #expect(moves(list([2, 1], importance: 3)) && !moves(list([2, 1], importance: 3)))
            guard layers == 2 else { continue }
            #expect(moves(list([1]) + list([5], layer: 1)))
            #expect(!moves(list([1]) + list([5], layer: 1)))
            #expect(moves(list([2]) + list([5], layer: 1)))
            #expect(moves(list([2]) + list([6], layer: 1)))
        }
    }

    /// The tables leave no room for a list. The same list again is no move: the view would never rest.
    @Test func aListWithoutRoomRests() throws {
        let small = TilePool(tiles: 1) { $0.grantsBookkeeping = false }
        var view = try model()
        view.update(needed(list([1, 2]), by: view), now: 0, pool: &small.pool)
        #expect(view.hasMoved && view.isTruncated && view.layers[0].needs.tiles.isEmpty)
        view.update(needed(list([1, 2]), by: view), now: 1, pool: &small.pool)
        #expect(!view.hasMoved && view.isTruncated && view.shortfallBytes == 2 * TilePool.tileBytes)
    }

    /// A list takes the place of the viewport and its destination. Layers that are added later need nothing of them.
    @Test func aListReplacesTheViewport() throws {
        let small = TilePool(tiles: 100)
        _ = small.pool.addLayer(tileBytes: TilePool.tileBytes)
        var view = try model()
        _ = view.update(ServiceSetup.viewport(900, 900), now: 0, pool: &small.pool)
        let end = MonotonicTime(nanoseconds: 9)
        view.destination = ViewportDestination(viewport: ServiceSetup.viewport(3000, 3000), time: end)
        view.update(needed(list([1]), by: view), now: 1, pool: &small.pool)
        #expect(view.viewport == nil && !view.isHeadingElsewhere(at: 2))
        let pyramid = try ServiceSetup.pyramid()
        view.setLayers((0..<2).map { (id: LayerID($0), pyramid: pyramid) }, now: 2, pool: &small.pool)
        #expect(view.layers.map(\.needs.tiles.count) == [1, 0])
    }

    /// Equally important tiles keep the order of the list.
    @Test func aListIsOrderedByImportanceAlone() throws {
        let small = TilePool(tiles: 100)
        var view = try model()
        let columns = [7, 3, 9, 1, 5, 0, 2]
        let list = needed(list(columns) + list([20, 11], importance: 2), by: view)
        view.update(list, now: 0, pool: &small.pool)
        #expect(view.layers[0].needs.tiles.map(\.coordinate.column) == [20, 11] + columns)
    }

    /// In a pyramid that is not of powers of two a needed tile lies in two coarser ones.
    @Test func allOfTheCoarsestTilesOverTheScreenAreUpcoming() throws {
        let levels = [(256, 26, 2.5), (640, 64, 1.0)].map { width, height, scale in
            PyramidLevel(width: width, height: height, tileWidth: 64, tileHeight: 64, worldPixelsPerPixel: scale)
        }
        let pyramid = try TilePyramid(worldWidth: 640, worldHeight: 64, levels: levels)
        let small = TilePool(tiles: 16)
        let coarse = (0...1).map { TileCoordinate(level: 0, column: $0, row: 0) }
        for tile in coarse { small.load(TileKey(layer: 0, tile)) }
        var view = ViewModel(layers: [ViewLayer(id: LayerID(0), pyramid: pyramid)], selection: TileLevelSelection())
        let viewport = TileViewport(center: WorldPoint(x: 160, y: 32), width: 64, height: 64)
        _ = view.update(viewport, now: 0, pool: &small.pool)
        let found = view.upcoming(limit: 8, in: small.pool, drawsCompressed: false)
        #expect(view.layers[0].needs.tiles.map(\.coordinate) == [TileCoordinate(level: 1, column: 2, row: 0)])
        #expect(found.map(\.tile) == coarse && found.allSatisfy { $0.worth == .infinity })
    }

    /// The limit is for the layers that were asked for: others take no place.
    @Test func upcomingTilesAreListedByLayer() throws {
        let small = TilePool(tiles: 16)
        let layers = try (0...1).map { ViewLayer(id: LayerID($0), pyramid: try ServiceSetup.pyramid()) }
        _ = small.pool.addLayer(tileBytes: TilePool.tileBytes)
        let top = TileCoordinate(level: 0, column: 0, row: 0)
        for layer in layers { small.load(TileKey(layer: layer.layer, top)) }
        var view = ViewModel(layers: layers, selection: TileLevelSelection())
        _ = view.update(ServiceSetup.viewport(100, 100), now: 0, pool: &small.pool)
        func found(limit: Int, _ chosen: Set<LayerID>?) -> [LayerID] {
            view.upcoming(limit: limit, of: chosen, in: small.pool, drawsCompressed: false).map(\.layer)
        }
        #expect(found(limit: 1, nil) == [LayerID(0)] && found(limit: 2, nil) == [LayerID(0), LayerID(1)])
        #expect(found(limit: 1, [LayerID(1)]) == [LayerID(1)] && found(limit: 8, [LayerID(1)]) == [LayerID(1)])
        #expect(found(limit: 8, []) == [])
    }

    /// Without a coarser level the needed tiles stay, and what they would take is reported all the same.
    @Test func aShortfallOfTheCoarsestLevelIsReported() throws {
        let small = TilePool(tiles: 16)
        let pyramid = try ServiceSetup.pyramid().keepingFinestLevels(1)
        var view = ViewModel(
            layers: [ViewLayer(id: LayerID(0), pyramid: pyramid)],
            selection: TileLevelSelection(),
            fitsBudget: true
        )
        _ = view.update(ServiceSetup.viewport(900, 900), now: 0, pool: &small.pool)
        #expect(view.layers[0].needs.tiles.count == 20 && view.shortfallBytes == 20 * TilePool.tileBytes)
    }

    /// A level that had no room may have had far more tiles. The limit does not count the memory of its list.
    @Test func listsOfLevelsWithoutRoomAreGivenBack() throws {
        let small = TilePool(tiles: 100)
        var view = ViewModel(
            layers: [ViewLayer(id: LayerID(0), pyramid: try ServiceSetup.pyramid())],
            selection: TileLevelSelection(),
            fitsBudget: true
        )
        for now in 0..<3 {
            let center = WorldPoint(x: 2048, y: 2048 + Double(now * 64))
            _ = view.update(TileViewport(center: center, width: 4000, height: 4000), now: Int64(now), pool: &small.pool)
            let layer = view.layers[0]
            let asked = ViewportCover(
                pyramid: layer.pyramid,
                viewport: try #require(view.viewport),
                levelIndex: layer.askedLevel
            )
            let most = 4 * layer.needs.tiles.count + 256
            #expect(layer.isCoarsened && asked.tileCount > 2 * most)
            #expect(layer.needs.tiles.capacity <= most && layer.visible.capacity <= most)
            #expect(view.scratch.capacity <= most && view.scratchVisible.capacity <= most)
        }
    }

    /// Twelve views of one room. Levels that have no room, alone or beside other views, are judged without a list of their
    /// tiles, which the limit does not count.
    @Test(arguments: [false, true], [0, 0.4] as [Double])
    func onlyTilesOfTheChosenLevelAreListed(wraps: Bool, rotation: Double) throws {
        let small = TilePool(tiles: 600)
        let pyramid = try ServiceSetup.pyramid(wraps: wraps)
        var views = (0..<12).map { _ in
            ViewModel(
                layers: [ViewLayer(id: LayerID(0), pyramid: pyramid)],
                selection: TileLevelSelection(),
                fitsBudget: true
            )
        }
        var (listed, coarsened) = (0, 0)
        for frame in 0..<4 {
            for place in views.indices {
                let viewport = TileViewport(
                    center: WorldPoint(x: 700 + Double(place * 220 + frame * 70), y: 1400 + Double(frame * 70)),
                    width: 1200,
                    height: 1000,
                    rotation: rotation
                )
                let before = views[place].listedCount
                _ = views[place].update(viewport, now: Int64(frame), pool: &small.pool)
                let count = views[place].listedCount - before
                let layer = views[place].layers[0]
                #expect(count == layer.needs.tiles.count || (count == 0 && layer.range != nil))
                listed += count
                if layer.isCoarsened { coarsened += 1 }
            }
        }
        #expect(coarsened > 24 && listed > 0, "\(coarsened) of 48 coarser, \(listed) listed")
    }

    /// A layer that leaves a view at rest gives its part of the limit to the others, and its shortfall is over.
    @Test func layersThatStayHaveTheRoomOfThoseThatGo() throws {
        // Room for 38 tiles: for the twenty of one layer, not for those of both.
        let small = TilePool(tiles: 38 * 4)
        let ids = (0..<2).map { _ in LayerID(small.pool.addLayer(tileBytes: 4 * TilePool.tileBytes)) }
        let pyramid = try ServiceSetup.pyramid()
        var view = ViewModel(
            layers: ids.map { ViewLayer(id: $0, pyramid: pyramid) },
            selection: TileLevelSelection(),
            fitsBudget: true
        )
        _ = view.update(ServiceSetup.viewport(900, 900), now: 0, pool: &small.pool)
        #expect(view.layers.map(\.needs.level) == [5, 5] && view.shortfallBytes > 0)
        view.setLayers([(id: ids[0], pyramid: pyramid)], now: 1, pool: &small.pool)
        #expect(view.layers.map(\.needs.level) == [6] && view.shortfallBytes == 0)
        view.setLayers(ids.map { (id: $0, pyramid: pyramid) }, now: 2, pool: &small.pool)
        #expect(view.layers.map(\.needs.level) == [5, 5] && view.shortfallBytes > 0)
        view.setLayers([], now: 3, pool: &small.pool)
        #expect(view.shortfallBytes == 0)
    }

    /// Within 0...8 octaves. The same bias again changes nothing, so that the view goes on resting.
    @Test func levelBiasesAreClamped() throws {
        let small = TilePool(tiles: 100)
        var view = try model()
        _ = view.update(ServiceSetup.viewport(900, 900), now: 0, pool: &small.pool)
        view.rest(at: 1_000_000_000)
        var changes: [Bool] = []
        var levels: [Int] = []
        for bias in [0, 1, 1, .nan, -3, 9, 100] as [Double] {
            changes.append(view.setLevelBias(bias, now: 2_000_000_000, pool: &small.pool))
            levels.append(view.layers[0].needs.level)
            #expect(view.restTime == (changes == [false] ? 1_000_000_000 : 3_000_000_000))
        }
        #expect(changes == [false, true, false, true, false, true, false])
        #expect(levels == [6, 5, 5, 6, 6, 0, 0] && view.levelBias == 8)
    }

    /// The larger of a layer's own bias and the view's applies. Layers that the view does not show have none.
    @Test func aLayersBiasIsItsOwn() throws {
        let small = TilePool(tiles: 100)
        let other = LayerID(small.pool.addLayer(tileBytes: TilePool.tileBytes))
        let pyramid = try ServiceSetup.pyramid()
        var view = try model()
        _ = view.update(ServiceSetup.viewport(900, 900), now: 0, pool: &small.pool)
        let own = view.layers[0].id
        view.setLayers([own, other].map { (id: $0, pyramid: pyramid) }, now: 0, pool: &small.pool)
        var levels: [[Int]] = []
        func set(_ bias: Double, of layer: LayerID? = nil, changes: Bool = true) {
            #expect(view.setLevelBias(bias, of: layer, now: 1, pool: &small.pool) == changes)
            levels.append(view.layers.map(\.needs.level))
        }
        set(1, of: other)
        set(1, of: other, changes: false)
        set(2)
        set(3, of: own)
        set(0)
        set(-1, of: other)
        set(4, of: LayerID(99), changes: false)
        #expect(levels == [[6, 5], [6, 5], [4, 4], [3, 4], [3, 5], [3, 6], [3, 6]])
        // A plan chooses levels in the same way.
        let snapshot = view.takeSnapshot(at: 2, small.pool)
        #expect(snapshot.layers.map(\.selection.bias) == [3, 0])
        for layers in [[other], [own, other]] {
            view.setLayers(layers.map { (id: $0, pyramid: pyramid) }, now: 2, pool: &small.pool)
        }
        #expect(view.layers.map(\.levelBias) == [0, 0])
    }

    /// Tiles without an entry are looked up once memory is available. The view is then complete.
    @Test func aViewIsTruncatedUntilThereIsMemory() throws {
        let small = TilePool(tiles: 16) { $0.grantsBookkeeping = false }
        var view = try model()
        let wide = TileViewport(center: WorldPoint(x: 2048, y: 2048), width: 1280, height: 1280)
        _ = view.update(wide, now: 0, pool: &small.pool)
        #expect(view.isTruncated && view.shortfallBytes > 0 && view.layers[0].needs.tiles.count < 400)
        small.pool.setByteLimit(1 << 20)
        view.refit(now: 0, pool: &small.pool)
        #expect(!view.isTruncated && view.shortfallBytes == 0 && view.layers[0].needs.tiles.count >= 400)
    }
}
