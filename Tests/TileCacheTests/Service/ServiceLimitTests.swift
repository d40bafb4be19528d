import Testing

@testable import TileCache

/// A lowered limit is reached, tables included. All other memory of a cache stays within the limit.
@Suite struct ServiceLimitTests {
    /// The tables of a layer's levels are counted, whatever their number.
    @Test func layersAreChargedForTheirLevels() throws {
        let side = 1 << 40
        let deep = try TilePyramid.powerOfTwo(worldWidth: side, worldHeight: side, tileSize: 1)
        let level = MemoryLayout<PyramidLevel>.stride + MemoryLayout<LayerRecord.TileSize>.stride
        #expect(LayerRecord.byteCount(of: deep) >= 41 * level)
    }

    /// Codecs take a sixteenth of the limit, the first one up to a quarter. Four jobs and the renderer can use five.
    @Test(arguments: [(1, 1600, 5), (20, 1600, 5), (21, 1600, 4), (50, 1600, 2), (400, 1600, 1), (401, 1600, 0)])
    func aLimitHasRoomForSoManyCodecs(bytes: Int, limit: Int, count: Int) {
        #expect(Codecs(jobs: 4).allowed(scratchBytes: bytes, limit: limit) == count)
    }

    @Test(arguments: [(1, 16), (4, 19), (5, 20), (6, 24), (63, 252), (64, 255), (200, 255)])
    func workersHaveThreeSparesEachAndAtLeast15UpTo255InAll(workers: Int, all: Int) throws {
        let cache = try TileCache(byteLimit: .mebibytes(4), workers: workers)
        #expect(cache.core.workerQueues.count == all)
    }

    /// Without room for a codec nothing is compressed, and tiles are evicted uncompressed.
    @Test func aLimitWithoutRoomForACodecStillDraws() throws {
        let steps = StepScheduler.calm()
        let scratch = try TileCodec(maximumTileBytes: 16_384).scratchByteCount
        let cache = try steps.cache(byteLimit: .bytes(4 * scratch - 1), workers: 1)
        let layer = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid())
        #expect(cache.core.read { $0.codecs.count } == 0)
        let view = ServiceSetup.quiet(cache, [layer])
        for column in 0..<30 {
            view.update(needing: [NeededTile(layer: layer.id, tile: TileCoordinate(level: 6, column: column, row: 0))])
            #expect(steps.reaches { view.frame().missingTileCount == 0 }, "\(column): \(cache.statistics)")
        }
        #expect(cache.statistics.tiers.removals[.capacity] ?? 0 > 0 && cache.statistics.tiers.demotions == 0)
    }

    /// Single-colour tiles of 16 x 16 pixels. They take a slot of 4 KiB while they are decoded.
    private func smallTiles(_ steps: StepScheduler, limit: ByteCount) throws -> (TileCache, TileLayer) {
        let cache = try steps.cache(byteLimit: limit, workers: 2)
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 65_536, worldHeight: 65_536, tileSize: 16)
        return (cache, try cache.addLayer(PlainSource(), pyramid: pyramid))
    }

    private func list(_ layer: TileLayer, _ count: Int, from first: Int = 0) -> [NeededTile] {
        (first..<first + count).map {
            NeededTile(layer: layer.id, tile: TileCoordinate(level: 12, column: $0 % 4096, row: $0 / 4096))
        }
    }

    /// Loads a number of tiles, a part at a time.
    private func fill(_ steps: StepScheduler, _ cache: TileCache, _ view: TileView, _ layer: TileLayer, _ count: Int) {
        for first in stride(from: 0, to: count, by: 500) {
            let part = list(layer, min(500, count - first), from: first)
            view.update(needing: part)
            #expect(steps.reaches { part.allSatisfy { layer.isResident($0.tile) } })
        }
    }

    @Test func aLimitLoweredFarIsReachedAndDrawnAt() throws {
        let steps = StepScheduler.calm()
        let (cache, layer) = try smallTiles(steps, limit: .mebibytes(64))
        let filling = ServiceSetup.quiet(cache, [layer])
        fill(steps, cache, filling, layer, 10_000)
        filling.update(needing: [])
        let limit = ByteCount.kibibytes(1300)
        cache.byteLimit = limit
        #expect(
            steps.reaches { cache.statistics.memory.used.bytes <= limit.bytes },
            "\(cache.statistics.memory.used.bytes)"
        )
        let view = ServiceSetup.quiet(cache, [layer])
        let some = list(layer, 50, from: 20_000)
        view.update(needing: some)
        #expect(steps.reaches { view.frame().missingTileCount == 0 }, "\(cache.statistics)")
        #expect(cache.statistics.memory.used.bytes <= limit.bytes)
    }

    /// The same with leases held, and an unmoved view whose tiles do not fit.
    @Test func leasesOutliveALimitLoweredBelowThem() throws {
        let steps = StepScheduler.calm()
        let (cache, layer) = try smallTiles(steps, limit: .mebibytes(16))
        let view = ServiceSetup.quiet(cache, [layer])
        let needed = list(layer, 600)
        view.update(needing: needed)
        #expect(steps.reaches { view.frame().missingTileCount == 0 })
        var frame: TileFrame? = view.frame()
        let before = frame?.first.map { $0.tile.withUnsafeBytes { Array($0) } }
        cache.byteLimit = .mebibytes(1)
        #expect(frame?.first.map { $0.tile.withUnsafeBytes { Array($0) } } == before)
        frame = nil
        #expect(
            steps.reaches { cache.statistics.memory.used.bytes <= 1 << 20 },
            "\(cache.statistics.memory.used.bytes)"
        )
        view.update(needing: Array(needed.prefix(20)))
        #expect(steps.reaches { view.frame().missingTileCount == 0 })
    }

    @Test func aTrimToNothingLeavesHardlyMoreThanANewCacheHas() throws {
        let steps = StepScheduler.calm()
        let (cache, layer) = try smallTiles(steps, limit: .mebibytes(64))
        let new = cache.statistics.memory.used.bytes
        let view = ServiceSetup.quiet(cache, [layer])
        fill(steps, cache, view, layer, 10_000)
        view.update(needing: [])
        cache.trim(to: .bytes(0))
        #expect(
            steps.reaches { cache.statistics.memory.used.bytes < new + 64 << 10 },
            "\(cache.statistics.memory.used.bytes), \(new)"
        )
    }

    /// Scratch memory of the codec is released under a lower limit. A higher one brings it back.
    @Test func codecsFollowTheLimit() throws {
        let steps = StepScheduler.calm()
        let cache = try steps.cache(byteLimit: .mebibytes(64), workers: 2)
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 65_536, worldHeight: 65_536, tileSize: 256)
        let layer = try cache.addLayer(PlainSource(), pyramid: pyramid)
        let count = { cache.core.lock.withLock { $0.codecs.count } }
        let full = count()
        #expect(full > 1)
        cache.byteLimit = .mebibytes(1)
        #expect(count() == 0)
        let view = ServiceSetup.quiet(cache, [layer])
        view.update(needing: [NeededTile(layer: layer.id, tile: TileCoordinate(level: 8, column: 0, row: 0))])
        #expect(steps.reaches { view.frame().missingTileCount == 0 })
        #expect(cache.statistics.memory.used.bytes <= 1 << 20)
        cache.byteLimit = .mebibytes(64)
        #expect(count() == full)
    }

    /// A codec that is busy while its layer is removed, and until the next one has codecs, is dropped.
    @Test func aCodecOfAFormerLayerIsNotOneTooMany() throws {
        let cache = try StepScheduler.calm().cache(byteLimit: .mebibytes(64), workers: 2)
        let former = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid())
        let busy = cache.core.perform { $0.codecs.take() }
        former.remove()
        _ = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid())
        cache.core.perform { $0.returnCodec(busy, wakes: 0) }
        let (idle, count, bytes) = cache.core.read { ($0.codecs.idle.count, $0.codecs.count, $0.pool.ledger[.codecs]) }
        #expect(idle == count && count > 1 && bytes == count * busy.value.scratchByteCount)
    }

    /// A layer added without room for a codec is compressed once there is room.
    @Test func aLayerIsCompressedOnceACodecFits() throws {
        let steps = StepScheduler.calm()
        let cache = try steps.cache(byteLimit: .mebibytes(1), workers: 2)
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 65_536, worldHeight: 65_536, tileSize: 256)
        let small = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid())
        let large = try cache.addLayer(PlainSource(), pyramid: pyramid)
        let plain = try cache.addLayer(PlainSource(), pyramid: pyramid, options: LayerOptions(isCompressible: false))
        func compressible() -> [Bool] {
            cache.core.lock.withLock { state in
                [small, large, plain].map { state.pool.layers[$0.id.index].isCompressible }
            }
        }
        #expect(compressible() == [true, false, false])
        cache.byteLimit = .mebibytes(4)
        #expect(compressible() == [true, true, false])
        let view = ServiceSetup.quiet(cache, [large])
        for column in 0..<40 {
            view.update(needing: [NeededTile(layer: large.id, tile: TileCoordinate(level: 8, column: column, row: 0))])
            #expect(steps.reaches { view.frame().missingTileCount == 0 })
        }
        #expect(cache.statistics.memory.compressedTiles > 0)
    }

    /// Everything is held. Another layer's scratch memory does not fit, and the limit is not exceeded.
    @Test func aLayerThatThereIsNoRoomForIsRefused() throws {
        let steps = StepScheduler.calm()
        let cache = try steps.cache(byteLimit: .mebibytes(1), workers: 2)
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 1024, worldHeight: 1024, tileSize: 64)
        let layer = try cache.addLayer(PlainSource(), pyramid: pyramid)
        let view = ServiceSetup.quiet(cache, [layer])
        view.update(
            needing: (0..<64).map {
                NeededTile(layer: layer.id, tile: TileCoordinate(level: 4, column: $0 % 16, row: $0 / 16))
            }
        )
        #expect(
            steps.reaches { cache.core.lock.withLock { $0.pool.queue.lacksRoomForNeeds && $0.pool.loads.count == 0 } }
        )
        let frame = view.frame()
        var refused = 0
        for _ in 0..<60 {
            let options = LayerOptions(synthesizedLevels: 1)
            do { _ = try cache.addLayer(PlainSource(), pyramid: pyramid, options: options) } catch { refused += 1 }
            #expect(cache.statistics.memory.used.bytes <= 1 << 20)
        }
        #expect(refused > 0 && cache.counters.limitBreaches == 0)
        withExtendedLifetime(frame) {}
    }

    /// Records of views and policies count. Policies use at most an eighth of the limit.
    @Test func manyViewsStayWithinTheLimit() throws {
        let steps = StepScheduler.calm()
        let cache = try steps.cache(byteLimit: .mebibytes(4), workers: 2)
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 65_536, worldHeight: 65_536, tileSize: 64)
        let layer = try cache.addLayer(PlainSource(), pyramid: pyramid)
        let views = (0..<12).map { _ in cache.makeView(layers: [layer]) }
        for step in 0..<60 {
            for (index, view) in views.enumerated() {
                let center = WorldPoint(x: Double(2000 + 90 * step), y: Double(4000 * index + 500))
                view.update(TileViewport(center: center, width: 320, height: 240))
            }
            for _ in 0..<100 { steps.runOne() }
            #expect(cache.statistics.memory.used.bytes <= 4 << 20)
        }
        #expect(steps.reaches { cache.core.lock.withLock { $0.pool.ledger[.policies] } <= (4 << 20) / 8 + 16_384 })
        #expect(cache.counters.limitBreaches == 0)
    }

    /// Pinning and unpinning many tiles releases the lock in between. The number of steps grows with the tiles.
    @Test func pinsAreEnteredInStepsAndLoaded() throws {
        let steps = StepScheduler.calm()
        let (cache, layer) = try smallTiles(steps, limit: .mebibytes(16))
        try layer.pin(levels: 5...5)
        // 32 x 32 tiles: more than one plan holds.
        #expect(steps.reaches { cache.statistics.memory.pinnedTiles == 1024 }, "\(cache.statistics.memory.pinnedTiles)")
        #expect(throws: TileCacheError.self) { try layer.pin(levels: 12...12) }
        // Together with the first they would take more than half of the limit.
        let part = PixelRect(minX: 0, minY: 0, maxX: 40_960, maxY: 28_672)
        #expect(throws: TileCacheError.self) { try layer.pin(levels: 6...6, region: part) }
        layer.unpin()
        #expect(cache.statistics.memory.pinnedTiles == 0)
        #expect(cache.core.lock.withLock { $0.pins.isEmpty && $0.pool.table.lists.count(of: .pinned) == 0 })
    }
}

extension ServiceLimitTests {
    /// A view at rest, created before a lowered limit is reached, gets its tiles. They come once leases have ended.
    @Test func aViewThatThereWasNoMemoryForIsServedLater() throws {
        let steps = StepScheduler.calm()
        let cache = try steps.cache(byteLimit: .mebibytes(8), workers: 2)
        let layer = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid())
        let first = ServiceSetup.quiet(cache, [layer])
        first.update(ServiceSetup.viewport(1024, 1024))
        #expect(steps.reaches { first.frame().missingTileCount == 0 })
        var held: TileFrame? = first.frame()
        cache.byteLimit = .kibibytes(256)
        let second = ServiceSetup.quiet(cache, [layer])
        second.update(TileViewport(center: WorldPoint(x: 3000, y: 3000), width: 60, height: 60))
        first.update(TileViewport(center: WorldPoint(x: 3000, y: 3000), width: 60, height: 60))
        withExtendedLifetime(held) {}
        held = nil
        #expect(
            steps.reaches {
                first.frame().count > 0 && second.frame().count > 0 && second.frame().missingTileCount == 0
            }
        )
    }
}
