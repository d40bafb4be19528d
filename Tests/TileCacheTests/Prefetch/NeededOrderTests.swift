import TestSupport
import Testing

@testable import TileCache

/// Order of the needed tiles, and those that are not worth a load, against one tile at a time.
@Suite struct NeededOrderTests {
    @Test(arguments: UInt64(1)...8) func columnsAndRowsGiveWhatTilesGive(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let wraps = seed % 2 == 0
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 65_536, worldHeight: 16_384, wrapsX: wraps)
        var policy = AdaptivePolicy()
        var view = TileViewport(center: WorldPoint(x: 500, y: 8000), width: 1500, height: 900)
        var speed = WorldPoint(x: 0, y: 0)
        var (hopelessCount, orderedCount) = (0, 0)
        for frame in 0..<300 {
            if random.oneIn(20) {
                speed = WorldPoint(x: Double(random.below(401) - 200), y: Double(random.below(201) - 100))
            }
            if random.oneIn(40) { view.rotation = random.oneIn(2) ? 0.3 : 0 }
            if random.oneIn(40) { view.scale = random.element(of: [0.2, 0.5, 1]) }
            view.center.x += speed.x / view.scale
            if !wraps, !(0...65_536).contains(view.center.x) { speed.x = view.center.x < 0 ? 150 : -150 }
            view.center.y = min(max(view.center.y + speed.y / view.scale, 500), 16_000)
            let level = TileLevelSelection().level(for: view.scale, in: pyramid, previous: nil)
            let needed = pyramid.neededTiles(under: view, at: level).map { TileKey(layer: 0, $0) }
            let time = Double(frame) / 60
            policy.observe(
                FrameObservation(
                    time: Int64(time * 1e9),
                    viewport: view,
                    level: level,
                    needed: needed,
                    pyramid: pyramid
                )
            )
            let target = PlanTarget(
                layer: 0,
                pyramid: pyramid,
                viewport: view,
                level: level,
                needed: needed,
                destination: nil,
                selection: TileLevelSelection()
            )
            let outlook = policy.motion.outlook(on: target, now: Int64(time * 1e9))
            let least = outlook.latency + (outlook.isSaturated ? Judgement.leastStay : 0)
            let leaving = needed.indices.filter { number in
                let (tile, travel) = (outlook.rectangle(of: needed[number]), outlook.travel)
                let exit = min(
                    travel.across.exit(from: tile.minX, to: tile.maxX),
                    travel.down.exit(from: tile.minY, to: tile.maxY)
                )
                return travel.isMoving && travel.time(forShare: exit) < least
            }
            let hopeless = Judgement.hopelessTiles(outlook, shown: policy.bins.visits.shown)
            #expect(hopeless == leaving, "frame \(frame)")
            let missing = needed.indices.filter { _ in !random.oneIn(3) }
            let ordered = Judgement.order(outlook, missing: missing, hopeless: hopeless)
            let (left, lacking) = (Set(hopeless), Set(missing))
            func area(_ number: Int) -> Double {
                let tile = outlook.rectangle(of: needed[number])
                return tile.intersection(outlook.view).area + tile.intersection(outlook.landing).area
            }
            let there = needed.indices.filter { !left.contains($0) && !lacking.contains($0) }
            let loads = missing.filter { !left.contains($0) }.map { (area: area($0), number: $0) }
                .sorted { ($1.area, $0.number) < ($0.area, $1.number) }
            let order = missing.isEmpty ? [] : there + loads.map(\.number)
            #expect(ordered == order.map { needed[$0] }, "frame \(frame)")
            hopelessCount += hopeless.count
            orderedCount += loads.count
        }
        #expect(hopelessCount > 100 && orderedCount > 1000, "\(hopelessCount) hopeless, \(orderedCount) ordered")
    }

    /// The nearest resident ancestor of each tile, and which ancestors are compressed or loading, one tile at a time.
    @Test(arguments: UInt64(1)...8) func ancestorsAreThoseOfEachTile(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        // Steps of four and an odd one, beside powers of two.
        let scales: [Double] = seed % 2 == 0 ? [32, 16, 8, 4, 2, 1] : [32, 8, 5, 2, 1]
        let pyramid = try TilePyramid(
            worldWidth: 8000,
            worldHeight: 5000,
            wrapsX: seed % 3 == 0,
            levels: scales.map {
                PyramidLevel(
                    width: Int((8000 / $0).rounded(.up)),
                    height: Int((5000 / $0).rounded(.up)),
                    tileWidth: 128,
                    tileHeight: 128,
                    worldPixelsPerPixel: $0
                )
            }
        )
        let level = pyramid.maximumLevel
        for round in 0..<40 {
            let view = TileViewport(
                center: WorldPoint(x: Double(random.below(8000)), y: Double(random.below(5000))),
                width: 2000,
                height: 1200,
                rotation: random.oneIn(3) ? 0.5 : 0
            )
            let tiles = pyramid.neededTiles(under: view, at: level).map { TileKey(layer: 3, $0) }
                .filter { _ in !random.oneIn(4) }
            var states: [TileKey: TileResidency] = [:]
            func state(_ key: TileKey) -> TileResidency {
                if let known = states[key] { return known }
                let residency: Residency = random.oneIn(4) ? .decoded : random.oneIn(4) ? .compressed : .none
                let drawn = TileResidency(residency: residency, isKnown: true, isLoading: random.oneIn(4))
                states[key] = drawn
                return drawn
            }
            func ancestors(_ key: TileKey) -> [TileKey] {
                (0..<level).reversed().reduce(into: [key]) { chain, _ in
                    guard let parent = pyramid.parent(of: chain[chain.count - 1].coordinate) else { return }
                    chain.append(TileKey(layer: 3, parent))
                }.dropFirst().map { $0 }
            }
            let all = Set(tiles.flatMap(ancestors)).sorted { ($0.high, $0.low) < ($1.high, $1.low) }
            for key in all { _ = state(key) }
            let known = states
            var context = PlanContext.empty()
            context.lookUpMany = { keys in keys.compactMap { known[$0] } }
            let found = ResidentAncestors(
                of: tiles,
                target: PlanTarget(
                    layer: 3,
                    pyramid: pyramid,
                    viewport: view,
                    level: level,
                    needed: tiles,
                    destination: nil,
                    selection: TileLevelSelection()
                ),
                context: context
            )
            let nearest = tiles.map { key in ancestors(key).first { known[$0]?.residency != Residency.none } }
            #expect(found.nearest == nearest, "round \(round)")
            let drawn = Set(nearest.compactMap { $0 })
            #expect(Set(found.compressed) == drawn.filter { known[$0]?.residency == .compressed })
            #expect(found.compressed.count == Set(found.compressed).count)
            let loading = all.filter { known[$0]?.isLoading == true && known[$0]?.residency == Residency.none }
            #expect(Set(found.loading) == Set(loading) && found.loading.count == loading.count)
        }
    }

    /// A value is computed once for each column and row of tiles that come row by row, and right in any order.
    @Test(arguments: UInt64(1)...6) func sidesAreComputedOnce(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var computed = 0
        func value(_ number: Int) -> Int {
            computed += 1
            return 1000 + number
        }
        var sides = TileSides<Int, Int>()
        let (first, columns, rows) = (random.below(50), 1 + random.below(20), 1 + random.below(20))
        for row in 0..<rows {
            for column in first..<first + columns where row == 0 || !random.oneIn(4) {
                let found = sides.find(
                    TileCoordinate(level: 3, column: column, row: row),
                    column: value(column),
                    row: value(row)
                )
                #expect(found == (1000 + column, 1000 + row))
            }
        }
        #expect(computed <= columns + rows)
        for _ in 0..<200 {
            let tile = TileCoordinate(level: 3, column: random.below(90), row: random.below(9))
            let found = sides.find(tile, column: value(tile.column), row: value(tile.row))
            #expect(found == (1000 + tile.column, 1000 + tile.row))
        }
    }
}
