import TestSupport
import Testing

@testable import TileCache

/// Pinned tiles, and tiles prefetched on request.
@Suite(.timeLimit(.minutes(45))) struct PinTests {
    private func make(
        _ steps: StepScheduler,
        limit: ByteCount = .mebibytes(8)
    ) throws -> (TileCache, TileLayer, PlainSource) {
        var configuration = TileCache.Configuration(byteLimit: limit)
        configuration.effort = 0
        steps.adopt(&configuration)
        let cache = try TileCache(configuration)
        let source = PlainSource()
        return (cache, try cache.addLayer(source, pyramid: try ServiceSetup.pyramid()), source)
    }

    private func pinned(_ cache: TileCache) -> Set<TileCoordinate> {
        cache.core.lock.withLock { state in
            var tiles: Set<TileCoordinate> = []
            state.pool.table.forEach { number in
                let entry = state.pool.table[number]
                if entry.flags.contains(.pinned) { tiles.insert(entry.key.coordinate) }
            }
            return tiles
        }
    }

    /// What would not fit never came, and the views at rest lacked room for as long.
    @Test func pinsKeepToTheShareOfTheirLayer() throws {
        let scene = try StillScene(tiles: 64)
        let options = LayerOptions(maximumShare: 4.0 / 64)
        let layer = try scene.cache.addLayer(PlainSource(), pyramid: scene.pyramid, options: options)
        try layer.pin((0..<3).map { scene.tile($0) })
        let problem = "pinned tiles would take \(5 * StillScene.tileBytes) bytes, more than the layer's maximum share"
        #expect(throws: TileCacheError.invalidConfiguration(problem)) {
            try layer.pin([scene.tile(3), scene.tile(4)])
        }
        try layer.pin([scene.tile(3)])
        #expect(scene.run() && scene.resident(0..<4, of: layer) == 4 && !scene.isShort)
    }

    /// More than a plan has, and one worker. Behind the last pinned tile the plan has one that is there already.
    @Test func pinsBeyondOnePlanLoadBesideAView() throws {
        let scene = try StillScene(tiles: 1000, workers: 1)
        let layer = try scene.plainLayer()
        let view = ServiceSetup.quiet(scene.cache, [layer])
        defer { withExtendedLifetime(view) {} }
        scene.need(0..<1, of: layer, view)
        let pins = (64..<364).map { scene.tile($0 % 64, row: $0 / 64) }
        try layer.pin(pins)
        scene.run()
        #expect(pins.count { layer.isResident($0) } == pins.count)
    }

    /// Levels, regions and single tiles, pinned and unpinned in any order. The model is a set of tiles.
    @Test(arguments: 0..<6) func whatIsPinnedIsASet(seed: Int) throws {
        let steps = StepScheduler.calm()
        let (cache, layer, _) = try make(steps, limit: .mebibytes(32))
        var random = SplitMix64(seed: UInt64(seed))
        let pyramid = try ServiceSetup.pyramid()
        var expected: Set<TileCoordinate> = []
        for _ in 0..<60 {
            let first = random.below(4)
            let levels = first...first + random.below(2)
            let (x, y) = (Double(random.below(3000)), Double(random.below(3000)))
            let region = random.below(4) == 0 ? nil : PixelRect(minX: x, minY: y, maxX: x + 900, maxY: y + 700)
            let world = PixelRect(minX: 0, minY: 0, maxX: 4096, maxY: 4096)
            let tiles = levels.flatMap { Array(pyramid.range(overlapping: region ?? world, at: $0)) }
            switch random.below(5) {
            case 0:
                try layer.pin(levels: levels, region: region)
                expected.formUnion(tiles)
            case 1:
                // With gaps.
                let some = tiles.filter { _ in random.below(4) > 0 }
                try layer.pin(some)
                expected.formUnion(some)
            case 2:
                layer.unpin(levels: levels, region: region)
                expected.subtract(tiles)
            case 3:
                layer.unpin(Array(tiles.prefix(3)))
                expected.subtract(tiles.prefix(3))
            default:
                layer.unpin(region: region)
                expected = expected.filter { tile in
                    region.map { !pyramid.range(overlapping: $0, at: tile.level).contains(tile) } ?? false
                }
            }
            #expect(pinned(cache) == expected)
        }
        #expect(steps.reaches { cache.statistics.memory.pinnedTiles == expected.count }, "seed \(seed)")
        #expect(cache.statistics.memory.pinned.bytes == expected.count * 16_384)
    }

    /// Half of the limit counts each tile once.
    @Test func halfOfTheLimitMayBePinned() throws {
        let steps = StepScheduler.calm()
        let (cache, layer, _) = try make(steps, limit: .bytes(128 * 16_384))
        try layer.pin(levels: 3...3)
        try layer.pin(levels: 3...3, region: PixelRect(minX: 0, minY: 0, maxX: 2000, maxY: 2000))
        let corner = TileCoordinate(level: 0, column: 0, row: 0)
        #expect(throws: TileCacheError.self) { try layer.pin([corner]) }
        layer.unpin([TileCoordinate(level: 3, column: 5, row: 5)])
        try layer.pin([corner, corner])
        #expect(pinned(cache).count == 64)
        #expect(throws: TileCacheError.self) { try layer.pin(levels: 6...6) }
        #expect(throws: TileCacheError.self) { try layer.pin(levels: 7...9) }
        #expect(throws: TileCacheError.self) { try layer.pin([TileCoordinate(level: 9, column: 0, row: 0)]) }
        layer.unpin(levels: 7...9)
        #expect(pinned(cache).count == 64)
    }

    /// Sets are compared without the lock: what another thread pins or unpins meanwhile counts.
    @Test(arguments: 0..<4) func changesMeanwhileAreNotLost(number: Int) throws {
        let scene = try StillScene(tiles: 64)
        let layer = try scene.plainLayer()
        let other = try scene.plainLayer()
        let (cache, tiles) = (scene.cache, (0..<6).map { scene.tile($0, row: $0) })
        try layer.pin([tiles[0], tiles[1]])
        let (pins, pinsElsewhere) = (number & 1 == 0, number & 2 == 0)
        scene.meanwhile = {
            if pinsElsewhere { try? other.pin(Array(tiles[1...])) }
            try? layer.pin([tiles[2]])
            layer.unpin([tiles[0]])
            return true
        }
        if pins { try layer.pin([tiles[3]]) } else { layer.unpin([tiles[1]]) }
        scene.run()
        let expected = pins ? [tiles[1], tiles[2], tiles[3]] : [tiles[2]]
        let found = cache.core.read { state in
            tiles.filter { tile in
                let key = TileKey(layer: layer.id.index, tile)
                let number = state.pool.table.find(key)
                let isPinned = number != .none && state.pool.table[number].flags.contains(.pinned)
                #expect(isPinned == state.pins.contains(key))
                return isPinned
            }
        }
        #expect(found == expected)
        #expect(cache.statistics.memory.pinnedTiles == expected.count + (pinsElsewhere ? 5 : 0))
        // Together with those of the other layer, half of the limit is exceeded by what is pinned meanwhile.
        let row = (0..<32 - cache.statistics.memory.pinnedTiles).map { scene.tile($0, row: 9) }
        scene.meanwhile = {
            try? other.pin((0..<6).map { scene.tile($0, row: 10) })
            return true
        }
        #expect(throws: TileCacheError.self) { try layer.pin(row) }
    }

    /// Tiles without neighbours are a run each. Compared with each other, 200,000 take minutes.
    @Test func manyScatteredTilesArePinnedOrRefused() throws {
        let steps = StepScheduler.calm()
        var configuration = TileCache.Configuration(byteLimit: .gibibytes(1))
        configuration.effort = 0
        steps.adopt(&configuration)
        let cache = try TileCache(configuration)
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 1 << 20, worldHeight: 1 << 20, tileSize: 64)
        let layer = try cache.addLayer(PlainSource(), pyramid: pyramid)
        let level = pyramid.maximumLevel
        let many = (0..<200_000).map { TileCoordinate(level: level, column: $0 % 8000 * 2, row: $0 / 8000) }
        let expected = TileCacheError.invalidConfiguration(
            "pinned tiles would take \(200_000 * 16_384) bytes, more than half of the limit"
        )
        #expect(throws: expected) { try layer.pin(many) }
        #expect(throws: TileCacheError.self) { try layer.pin(levels: level...level) }
        try layer.pin(Array(many.prefix(32)))
        #expect(pinned(cache) == Set(many.prefix(32)))
        layer.unpin(many)
        #expect(pinned(cache).isEmpty)
        try layer.pin(Array(many.prefix(20_000)))
        try layer.pin(Array(many[10_000..<30_000]))
        layer.unpin(Array(many[..<5000]))
        #expect(pinned(cache) == Set(many[5000..<30_000]))
    }

    /// A lower limit evicts pinned tiles; raising it loads them again.
    @Test func aLowerLimitComesBeforePins() throws {
        let steps = StepScheduler.calm()
        let (cache, layer, _) = try make(steps, limit: .mebibytes(4))
        try layer.pin(levels: 2...3)
        #expect(steps.reaches { cache.statistics.memory.pinnedTiles == 80 })
        cache.byteLimit = .kibibytes(700)
        #expect(
            steps.reaches {
                cache.statistics.memory.used.bytes <= 700 << 10 && cache.statistics.memory.pinnedTiles < 80
            }
        )
        cache.byteLimit = .mebibytes(4)
        #expect(steps.reaches { cache.statistics.memory.pinnedTiles == 80 })
    }

    @Test func tilesAreLoadedOnceWithoutAView() throws {
        let steps = StepScheduler.calm()
        let (cache, layer, source) = try make(steps)
        let tiles = (0..<30).map { TileCoordinate(level: 6, column: $0, row: 7) }
        layer.prefetch(tiles + tiles + [TileCoordinate(level: 6, column: 99, row: 0)])
        #expect(steps.reaches { tiles.allSatisfy { layer.isResident($0) } })
        #expect(source.loads.count == 30 && source.loads.values.allSatisfy { $0 == 1 })
        #expect(pinned(cache).isEmpty)
        #expect(steps.reaches { cache.core.lock.withLock { $0.interests.pending.isEmpty && $0.pool.loads.count == 0 } })
        // Evicted tiles are not loaded again.
        cache.trim(to: .bytes(0))
        #expect(steps.reaches { cache.core.lock.withLock { !$0.planning.isQueued && !$0.planning.isMaking } })
        #expect(source.loads.count == 30 && tiles.allSatisfy { !layer.isResident($0) })
        let figures = cache.statistics
        #expect(figures.prefetches.started == 30)
        #expect(cache.core.lock.withLock { $0.pool.ledger[.demand] } == 0)
    }

    /// A quarter of the limit, whatever the sizes of the tiles: pending small ones excluded all large ones.
    @Test(arguments: [(10, 5, [10, 3]), (60, 5, [60, 0]), (100, 1, [64, 0]), (0, 5, [0, 4])])
    func whatSeveralLayersRequestIsBoundedByItsBytes(small: Int, large: Int, expected: [Int]) throws {
        let steps = StepScheduler.calm()
        let cache = try steps.cache(byteLimit: .mebibytes(4))
        let world = ServiceSetup.world
        // 16 and 256 KiB a tile.
        let layers = try [64, 256].map { side in
            try cache.addLayer(
                QueuedSource(),
                pyramid: .powerOfTwo(worldWidth: world, worldHeight: world, tileSize: side)
            )
        }
        for (layer, count) in zip(layers, [small, large]) {
            layer.prefetch((0..<count).map { TileCoordinate(level: 4, column: $0 % 16, row: $0 / 16) })
        }
        let found = cache.core.lock.withLock { state in
            layers.map { layer in state.interests.pending.values.count { $0.key.layer == layer.id.index } }
        }
        #expect(found == expected)
    }

    /// Without room to note further tiles these alone are left out. A tile is noted once, however often it is asked for.
    @Test func tilesWithoutRoomToBeNotedAreLeftOut() throws {
        let steps = StepScheduler.calm()
        let cache = try steps.cache(byteLimit: .mebibytes(4))
        let layer = try cache.addLayer(QueuedSource(), pyramid: try ServiceSetup.pyramid())
        let tiles = (0..<4).map { TileCoordinate(level: 6, column: $0, row: 4) }
        let asked = {
            cache.core.read { state in Set(state.interests.pending.values.map(\.key.coordinate.column)) }
        }
        layer.prefetch([tiles[0], tiles[0]])
        let taken = cache.core.perform { state in
            let before = state.pool.ledger[.copies]
            for step in [65_536, 1024, 16] { while state.pool.charge(step, to: .copies) {} }
            return state.pool.ledger[.copies] - before
        }
        layer.prefetch([tiles[1], tiles[0], tiles[2]])
        #expect(taken > 1 << 20 && asked() == [0])
        cache.core.perform { $0.pool.note(-taken, in: .copies) }
        layer.prefetch([tiles[1], tiles[0], tiles[2]])
        #expect(asked() == [0, 1, 2] && cache.core.read { $0.interests.count(of: .asked) } == 3)
    }

    /// The pixels of a load that an invalidation overtakes are discarded.
    @Test func whatIsInvalidatedMeanwhileIsLoadedAgain() throws {
        let steps = StepScheduler.calm()
        let cache = try steps.cache(byteLimit: .mebibytes(4))
        let source = QueuedSource()
        let layer = try cache.addLayer(source, pyramid: try ServiceSetup.pyramid())
        let tile = TileCoordinate(level: 6, column: 3, row: 4)
        layer.prefetch([tile])
        let first = try #require(source.taken(by: steps).first)
        layer.invalidate()
        source.answer(first)
        let second = try #require(source.taken(by: steps).first)
        source.answer(second)
        #expect(steps.reaches { layer.isResident(tile) })
        #expect(cache.statistics.loads.outdated == 1)
    }

    /// Needed tiles come first, and at most a quarter of the limit is requested.
    @Test func whatIsNeededComesFirstAndTheListIsBounded() throws {
        let steps = StepScheduler.calm()
        var configuration = TileCache.Configuration(byteLimit: .mebibytes(4), workers: 1)
        configuration.effort = 0
        steps.adopt(&configuration)
        let cache = try TileCache(configuration)
        let source = QueuedSource(atATime: 1)
        let layer = try cache.addLayer(source, pyramid: try ServiceSetup.pyramid())
        let view = ServiceSetup.quiet(cache, [layer])
        let tiles = (0..<4000).map { TileCoordinate(level: 6, column: $0 % 64, row: $0 / 64) }
        let bytes = { cache.core.lock.withLock { $0.pool.ledger[.demand] } }
        let before = bytes()
        layer.prefetch(tiles)
        #expect(cache.core.lock.withLock { $0.interests.count(of: .asked) } == 64)
        #expect(bytes() - before == 64 * Interests.bytesEach)
        let first = try #require(source.taken(by: steps).first)
        let needed = TileCoordinate(level: 6, column: 40, row: 60)
        view.update(needing: [NeededTile(layer: layer.id, tile: needed)])
        #expect(steps.reaches { cache.core.lock.withLock { !$0.planning.isQueued && !$0.planning.isMaking } })
        source.answer(first)
        let second = try #require(source.taken(by: steps).first)
        #expect(first.tile == tiles[0] && !first.isDemand && second.tile == needed && second.isDemand)
        // An absent or failed tile is not requested again.
        second.completeAbsent()
        let third = try #require(source.taken(by: steps).first)
        third.fail(.permanent)
        #expect(steps.reaches { cache.statistics.loads.failed == 1 })
        layer.prefetch([third.tile])
        #expect(!cache.core.lock.withLock { $0.interests.pending.values.contains { $0.key.coordinate == third.tile } })
        layer.remove()
        #expect(cache.core.lock.withLock { $0.interests.pending.isEmpty })
    }
}
