import Testing

@testable import TileCache

/// Levels of several views that share a limit.
@Suite struct ViewBudgetTests {
    /// Views over one pool without tiles, and a limit in tiles beside the tables.
    final class Scene {
        let small = TilePool(tiles: 2000)
        var views: [ViewModel] = []
        /// The same, chosen by `NaiveBudget`.
        var naive = NaiveBudget()
        private(set) var room = 0

        init(views count: Int, layers: Int = 1, room: Int) throws {
            let pyramid = try ServiceSetup.pyramid()
            if layers > 1 { _ = small.pool.addLayer(tileBytes: 2 * TilePool.tileBytes) }
            for _ in 0..<count {
                views.append(
                    ViewModel(
                        layers: (0..<layers).map { ViewLayer(id: LayerID($0), pyramid: pyramid) },
                        selection: TileLevelSelection(),
                        fitsBudget: true
                    )
                )
            }
            naive.views = views.map { view in view.layers.map { _ in NaiveBudget.Layer() } }
            setRoom(room)
        }

        // Expectations cannot capture the pool itself, which is not copyable.
        var unpinnedBytes: Int { small.pool.unpinnedBytes }
        var claims: [Int] { [small.pool.claimCount, small.pool.leastBytes] }
        var levels: [Int] { views.map { $0.layers.first?.needs.level ?? -1 } }
        var allLevels: [[Int]] { views.map { $0.layers.map(\.needs.level) } }
        var neededTiles: Int { small.pool.layers[0].neededBytes / TilePool.tileBytes }

        /// Sets the limit to tiles beside the tables, which the needs of views change.
        func setRoom(_ tiles: Int) {
            room = tiles
            small.pool.setByteLimit(tiles * TilePool.tileBytes + small.pool.bookkeepingBytes)
        }

        func look(_ view: Int, _ viewport: TileViewport) {
            setRoom(room)
            if viewport != views[view].viewport { naive.look(view, viewport, of: views[view], small.pool) }
            _ = views[view].update(viewport, now: 0, pool: &small.pool)
            setRoom(room)
        }

        func close(_ view: Int) { views[view].setLayers([], now: 0, pool: &small.pool) }

        /// What each plan does first. Returns the number of views whose levels have changed.
        func plan() -> Int {
            var changed = 0
            for index in views.indices {
                setRoom(room)
                guard views[index].mayBecomeFiner(small.pool) || views[index].isCrowded(&small.pool) else { continue }
                let before = allLevels
                if let viewport = views[index].viewport { naive.look(index, viewport, of: views[index], small.pool) }
                views[index].refit(now: 0, pool: &small.pool)
                if allLevels != before { changed += 1 }
            }
            setRoom(room)
            return changed
        }

        /// Plans until none would change anything; returns whether that came soon.
        func rests() -> Bool {
            for _ in 0..<20 where plan() == 0 && !views.contains(where: { $0.mayBecomeFiner(small.pool) }) {
                return true
            }
            return false
        }

        /// Every view tries to become finer, as after memory was given back.
        func refitShort() {
            for index in views.indices where views[index].shortfallBytes > 0 {
                if let viewport = views[index].viewport { naive.look(index, viewport, of: views[index], small.pool) }
                views[index].refit(now: 0, pool: &small.pool)
            }
        }
    }

    /// The rule, with sets.
    struct NaiveBudget {
        struct Layer {
            var tiles: Set<TileKey> = []
            var level = -1
            var least = 0
            var gaveWay = false
        }

        var views: [[Layer]] = []

        /// The largest share with which all have room, if each takes no more than it asks for.
        static func share(of room: Int, for asked: [Int]) -> Int {
            if asked.reduce(0, +) <= room { return room }
            return (0..<room + 1).partitioningIndex { share in asked.reduce(0) { $0 + min($1, share) } > room } - 1
        }

        mutating func look(_ view: Int, _ viewport: TileViewport, of model: ViewModel, _ pool: borrowing PoolState) {
            func needed(of layer: Int, _ level: Int) -> Set<TileKey> {
                let tiles = model.layers[layer].pyramid.neededTiles(under: viewport, at: level)
                return Set(tiles.map { TileKey(layer: layer, $0) })
            }
            var asked: [Int] = []
            for layer in views[view].indices {
                let (pyramid, previous) = (model.layers[layer].pyramid, views[view][layer].level)
                let level = model.selection(of: model.layers[0]).level(
                    for: viewport.scale,
                    in: pyramid,
                    previous: previous
                )
                asked.append(needed(of: layer, level).count * pool.slotBytes(ofLayer: layer))
                views[view][layer].least = needed(of: layer, 0).count * pool.slotBytes(ofLayer: layer)
            }
            let share = Self.share(of: pool.unpinnedBytes, for: asked)
            for layer in views[view].indices {
                let pyramid = model.layers[layer].pyramid
                let slot = pool.slotBytes(ofLayer: layer)
                func tiles(_ level: Int) -> Set<TileKey> { needed(of: layer, level) }
                let before = views[view][layer]
                var others: Set<TileKey> = []
                for index in views.indices {
                    for each in views[index].indices where index != view || each != layer {
                        others.formUnion(views[index][each].tiles)
                    }
                }
                let claims = views.joined().filter { $0.least > 0 }
                let isAlone = claims.count == views[view].count { $0.least > 0 }
                let rest = max(pool.unpinnedBytes - claims.reduce(0) { $0 + $1.least }, 0)
                let part = views[view][layer].least + (claims.isEmpty ? 0 : rest / claims.count)
                var level = model.selection(of: model.layers[0]).level(
                    for: viewport.scale,
                    in: pyramid,
                    previous: before.level
                )
                views[view][layer].gaveWay = false
                while level > 0 {
                    let own = tiles(level)
                    if own.count * slot <= share {
                        if isAlone { break }
                        let isReturn = before.gaveWay && level > before.level
                        func usable(_ bytes: Int) -> Int { isReturn ? bytes - bytes / 8 : bytes }
                        let all = others.union(own).reduce(0) { $0 + pool.slotBytes(ofLayer: $1.layer) }
                        if own.count * slot <= usable(part) || all <= usable(pool.unpinnedBytes) { break }
                        views[view][layer].gaveWay = true
                    }
                    level -= 1
                }
                views[view][layer].tiles = tiles(level)
                views[view][layer].level = level
            }
        }
    }

    /// Twenty tiles at level 6, six at level 5.
    private let here = ServiceSetup.viewport(900, 900)
    /// Twenty, and nine.
    private let there = ServiceSetup.viewport(3000, 3000)

    /// Exact figures at both sides of each bound.
    @Test(
        arguments: [
            (40, [6, 6]), (39, [6, 5]), (29, [6, 5]), (28, [5, 5]), (15, [5, 5]), (14, [5, 4]), (2, [1, 1]),
        ]
    )
    func viewsOfTwentyTilesEach(room: Int, expected: [Int]) throws {
        let scene = try Scene(views: 2, room: room)
        scene.look(0, here)
        scene.look(1, there)
        #expect(scene.rests())
        #expect(scene.levels == expected)
        #expect(scene.neededTiles <= room)
        #expect((scene.views[1].shortfallBytes > 0) == (room < 40))
    }

    /// Tiles that both need count once.
    @Test(arguments: [(20, [6, 6]), (19, [5, 5])]) func whatTwoViewsShareCountsOnce(room: Int, expected: [Int]) throws {
        let scene = try Scene(views: 2, room: room)
        for view in 0..<2 { scene.look(view, here) }
        #expect(scene.rests())
        #expect(scene.levels == expected && scene.neededTiles == (room == 20 ? 20 : 6))
        scene.close(0)
        #expect(scene.neededTiles == (room == 20 ? 20 : 6))
        scene.close(1)
        #expect(scene.neededTiles == 0 && scene.claims == [0, 0])
    }

    /// A view that gave way is finer again as soon as an eighth of the room would be left, whether the limit rises or
    /// the other view needs less. Without another view it needs no such margin.
    @Test func viewsBecomeFinerAgain() throws {
        let scene = try Scene(views: 2, room: 28)
        scene.look(0, here)
        scene.look(1, there)
        #expect(scene.rests() && scene.levels == [5, 5])
        for (room, expected) in [(29, [5, 5]), (30, [5, 6]), (45, [5, 6]), (46, [6, 6])] {
            scene.setRoom(room)
            scene.refitShort()
            #expect(scene.rests() && scene.levels == expected, "\(room)")
        }
        scene.setRoom(30)
        #expect(scene.rests() && scene.levels == [5, 6])
        // One tile beside twenty.
        scene.look(1, TileViewport(center: WorldPoint(x: 32, y: 32), width: 32, height: 32))
        #expect(scene.rests() && scene.levels == [6, 6] && scene.views[0].shortfallBytes == 0)
        // The view over the other's place needs nothing in addition.
        scene.look(1, there)
        #expect(scene.rests() && scene.levels == [6, 5])
        scene.look(0, there)
        #expect(scene.rests() && scene.levels == [6, 6] && scene.neededTiles == 20)
        scene.look(0, here)
        #expect(scene.rests() && scene.levels == [5, 6])
        scene.setRoom(20)
        #expect(scene.rests() && scene.levels == [5, 5])
        scene.close(1)
        #expect(scene.rests() && scene.levels[0] == 6 && scene.views[0].shortfallBytes == 0)
    }

    /// What a renderer lists itself cannot be made less: other views leave it, down to their coarsest level.
    @Test(arguments: [(40, 6), (39, 5), (29, 5), (28, 4)]) func listsStayWhole(room: Int, level: Int) throws {
        let scene = try Scene(views: 2, room: room)
        let list = (0..<20).map { NeededTile(layer: LayerID(0), tile: TileCoordinate(level: 6, column: $0, row: 0)) }
        let pyramid = try ServiceSetup.pyramid()
        scene.views[0].update(NeededList(list, pyramids: [LayerID(0): pyramid]), now: 0, pool: &scene.small.pool)
        scene.look(1, there)
        #expect(scene.rests() && scene.levels == [6, level] && scene.neededTiles <= room)
    }

    /// Pinned tiles have their room, whichever view needs them.
    @Test func pinnedTilesAreNoNeedsOfViews() throws {
        let scene = try Scene(views: 2, room: 60)
        let tiles = try ServiceSetup.pyramid().neededTiles(under: here, at: 6).map { TileKey(layer: 0, $0) }
        for tile in tiles.prefix(12) {
            _ = scene.small.pool.enter(tile, for: .pin)
            scene.small.load(tile)
        }
        scene.setRoom(28 + 12)
        #expect(scene.unpinnedBytes == 28 * TilePool.tileBytes)
        scene.look(0, here)
        scene.look(1, there)
        #expect(scene.rests() && scene.levels == [6, 6] && scene.neededTiles == 8 + 20)
        scene.setRoom(27 + 12)
        #expect(scene.rests() && scene.levels == [6, 5] && scene.neededTiles == 8 + 9)
    }

    /// A layer at its maximum.
    @Test func sharesBoundWhatViewsNeedTogether() throws {
        let small = TilePool(tiles: 100)
        let pyramid = try ServiceSetup.pyramid()
        func levels(_ share: Double) -> [Int] {
            let layer = small.pool.addLayer(tileBytes: TilePool.tileBytes, maximumShare: share)
            defer { small.pool.beginRemoval(ofLayer: layer) }
            var views = [here, there].map { _ in
                ViewModel(
                    layers: [ViewLayer(id: LayerID(layer), pyramid: pyramid)],
                    selection: TileLevelSelection(),
                    fitsBudget: true
                )
            }
            for (index, viewport) in [here, there].enumerated() {
                _ = views[index].update(viewport, now: 0, pool: &small.pool)
            }
            for index in views.indices where views[index].isCrowded(&small.pool) {
                views[index].refit(now: 0, pool: &small.pool)
            }
            let levels = views.map { $0.layers[0].needs.level }
            for index in views.indices { views[index].setLayers([], now: 0, pool: &small.pool) }
            return levels
        }
        #expect(levels(1) == [6, 6])
        #expect(levels(0.4) == [6, 6])
        #expect(levels(0.39) == [6, 5])
        #expect(levels(0.28) == [5, 5])
    }

    /// Tiles that are absent, or failed for good, take no room. An answer lets other views become finer.
    @Test(arguments: [true, false]) func unavailableTilesTakeNoRoom(isAbsent: Bool) throws {
        let scene = try Scene(views: 2, room: 30)
        scene.look(0, ServiceSetup.viewport(900, 900))
        scene.look(1, ServiceSetup.viewport(3000, 900))
        #expect(scene.rests() && scene.levels == [6, 5] && scene.views[1].shortfallBytes > 0)
        for number in scene.views[0].layers[0].needs.entries {
            scene.small.pool.change(number) {
                $0.flags.insert(isAbsent ? .absent : .failed)
                $0.retryAt = isAbsent ? 0 : .max
            }
        }
        let mayBecomeFiner = scene.views[1].mayBecomeFiner(scene.small.pool)
        #expect(mayBecomeFiner)
        #expect(scene.rests() && scene.levels == [6, 6] && scene.neededTiles == 20)
        #expect(scene.views[1].shortfallBytes == 0)
        // They are asked for again.
        let tiles = scene.views[0].layers[0].needs.tiles.map(\.coordinate)
        scene.small.pool.invalidate(tiles: tiles, layer: 0, dropsAtOnce: false)
        #expect(scene.neededTiles == 40 && scene.rests() && scene.neededTiles <= 30)
    }

    /// A layer that gave way to another one of its view is finer again as soon as that one needs less.
    @Test func layersOfOneViewShareTheRoom() throws {
        let small = TilePool(tiles: 2000)
        _ = small.pool.addLayer(tileBytes: TilePool.tileBytes)
        let wide = ViewLayer(id: LayerID(0), pyramid: try ServiceSetup.pyramid())
        let narrow = try TilePyramid.powerOfTwo(worldWidth: 1024, worldHeight: 1024, tileSize: 64)
        func view(_ layers: [ViewLayer]) -> ViewModel {
            ViewModel(layers: layers, selection: TileLevelSelection(), fitsBudget: true)
        }
        var views = [view([wide]), view([wide, ViewLayer(id: LayerID(1), pyramid: narrow)])]
        func look(_ index: Int, _ x: Double, _ y: Double) {
            small.pool.setByteLimit(42 * TilePool.tileBytes + small.pool.bookkeepingBytes)
            _ = views[index].update(ServiceSetup.viewport(x, y), now: 0, pool: &small.pool)
            small.pool.setByteLimit(42 * TilePool.tileBytes + small.pool.bookkeepingBytes)
        }
        // Twelve tiles in each layer, 36 in all.
        look(0, 3072, 480)
        look(1, 512, 480)
        #expect(views[1].layers.map(\.needs.level) == [6, 4] && views[1].shortfallBytes == 0)
        // Twenty and four: the first layer is fitted beside the twelve tiles that the second one needed.
        look(1, 1100, 500)
        #expect(views[1].layers.map(\.needs.level) == [5, 4])
        let mayBecomeFiner = views[1].mayBecomeFiner(small.pool)
        #expect(mayBecomeFiner)
        views[1].refit(now: 0, pool: &small.pool)
        #expect(views[1].layers.map(\.needs.level) == [6, 4] && views[1].shortfallBytes == 0)
    }

    /// The same tiles are no change, also if there is no memory to list all of them.
    @Test func theSameNeedsAreNoChange() throws {
        let small = TilePool(tiles: 2000)
        var needs = ViewNeeds()
        var (pan, zoom) = (TileCacheStatistics.DemandCounts(), TileCacheStatistics.DemandCounts())
        func version(_ tiles: [TileKey]) -> UInt64 {
            small.pool.update(&needs, tiles: tiles, level: 6, pan: &pan, zoom: &zoom, now: 0)
            return small.pool.needVersion
        }
        let first = version([key(1), key(2)])
        #expect(version([key(1), key(2)]) == first)
        #expect(version([key(1), key(3)]) != first)
    }

    /// Views that move, rest, close and zoom, and limits that rise and fall: the levels are those of the rule, all tiles
    /// have room together, no layer has less than its part, and at rest no level changes.
    @Test(arguments: 1...4, [1, 2]) func randomViewsShareTheRoom(count: Int, layers: Int) throws {
        var random = SplitMix64(seed: UInt64(count * 10 + layers))
        func number(_ range: ClosedRange<Int>) -> Int {
            range.lowerBound + Int(random.next() % UInt64(range.count))
        }
        let scene = try Scene(views: count, layers: layers, room: 60)
        var problems: [String] = []
        for step in 0..<400 {
            if number(0...5) == 0 {
                scene.setRoom(number(8 * count...40 * count))
                scene.refitShort()
            } else {
                let scale = [0.25, 0.5, 1, 1.5, 3][number(0...4)]
                // Often over the same places.
                let (x, y) = (Double(number(1...6) * 600), Double(number(1...6) * 600))
                scene.look(number(0...count - 1), ServiceSetup.viewport(x, y, scale: scale, rotation: scale))
            }
            func note(_ isRight: Bool, _ text: String) { if !isRight { problems.append("\(step): \(text)") } }
            note(scene.rests(), "levels change at rest")
            let levels = scene.allLevels
            // The tables grow between the layers of a view, so that the two rules differ.
            let naive = scene.naive.views.map { $0.map(\.level) }
            if layers == 1 { note(levels == naive, "\(levels), not \(naive)") }
            let pool = scene.small.pool.unpinnedBytes
            let needed = scene.small.pool.layers.indices.reduce(0) { $0 + scene.small.pool.layers[$1].neededBytes }
            let least = scene.small.pool.leastBytes
            note(needed <= max(pool, least), "\(needed) of \(pool) bytes")
            // Memory that comes and goes changes nothing from the second time on.
            var seen: Set<[[Int]]> = []
            let room = scene.room
            let fits = scene.views.allSatisfy { view in
                view.layers.allSatisfy { $0.needs.tiles.isEmpty || view.shortfallBytes == 0 || $0.gaveWay }
            }
            guard fits, room >= 40, layers == 1 else { continue }
            for swing in 0..<4 {
                scene.setRoom(room - room / 16)
                note(scene.rests(), "levels change at rest")
                if swing > 0 { seen.insert(scene.allLevels) }
                scene.setRoom(room)
                scene.refitShort()
                note(scene.rests(), "levels change at rest")
                if swing > 0 { seen.insert(scene.allLevels) }
            }
            if count > 1 { note(seen.count == 1, "levels alternate: \(seen)") }
        }
        #expect(problems.isEmpty, "\(problems.prefix(5))")
    }

    /// Shares by hand: what a layer does not ask for is left to the others, and one that needs nothing takes no part.
    @Test(
        arguments: [
            ([100], 100), ([200], 100), ([0, 0, 90], 100), ([0, 0, 0, 101], 100), ([10, 60, 60], 45), ([50, 50], 50),
            ([51, 51], 50), ([40, 40, 40], 33), ([30, 30, 40], 40), ([], 100), ([0, 0], 100),
        ]
    )
    func shareOfEachLayer(asked: [Int], share: Int) {
        #expect(ViewModel.share(of: 100, for: asked) == share)
        #expect(NaiveBudget.share(of: 100, for: asked) == share || asked.reduce(0, +) <= 100)
    }

    /// Sixteen layers side by side, of which one is in view with 64 tiles, or two with 64 each. A limit of 100 tiles.
    @Test(arguments: [(512.0, 1, 4), (1024, 2, 3)])
    func layersOffTheScreenTakeNoRoom(x: Double, shown: Int, level: Int) throws {
        let small = TilePool(tiles: 2000)
        for _ in 1..<16 { _ = small.pool.addLayer(tileBytes: TilePool.tileBytes) }
        let layers = try (0..<16).map { number in
            let levels = (0..<5).map { level in
                PyramidLevel(
                    width: 64 << level,
                    height: 64 << level,
                    tileWidth: 64,
                    tileHeight: 64,
                    worldPixelsPerPixel: Double(1 << (4 - level)),
                    origin: WorldPoint(x: 1024 * Double(number), y: 0)
                )
            }
            let pyramid = try TilePyramid(worldWidth: 16 * 1024, worldHeight: 1024, levels: levels)
            return ViewLayer(id: LayerID(number), pyramid: pyramid)
        }
        var view = ViewModel(layers: layers, selection: TileLevelSelection(), fitsBudget: true)
        small.pool.setByteLimit(100 * TilePool.tileBytes + small.pool.bookkeepingBytes)
        let viewport = TileViewport(center: WorldPoint(x: x, y: 256), width: 512 * Double(shown), height: 512)
        for _ in 0..<2 {
            _ = view.update(viewport, now: 0, pool: &small.pool)
            small.pool.setByteLimit(100 * TilePool.tileBytes + small.pool.bookkeepingBytes)
            view.refit(now: 0, pool: &small.pool)
        }
        let drawn = view.layers.filter { !$0.needs.tiles.isEmpty }
        #expect(drawn.count == shown && small.pool.claimCount == shown)
        #expect(drawn.allSatisfy { $0.needs.level == level && $0.isCoarsened == (level < 4) })
        #expect(view.layers.count(where: \.isCoarsened) == (level < 4 ? shown : 0))
        #expect((view.shortfallBytes > 0) == (level < 4))
    }
}
