import Testing

@testable import TileCache

/// Every event that lets a needed tile load requests the plan for it. No view is updated or drawn afterwards, and no
/// timer fires.
@Suite(.timeLimit(.minutes(45))) struct PlanRequestTests {
    @Test func whatPinsLeftNoRoomForComesWhenTheyEnd() throws {
        let scene = try StillScene(tiles: 8)
        let layer = try scene.plainLayer()
        let view = ServiceSetup.quiet(scene.cache, [layer])
        defer { withExtendedLifetime(view) {} }
        let pinned = (20..<24).map { scene.tile($0) }
        try layer.pin(pinned)
        #expect(scene.run() && scene.resident(20..<24, of: layer) == 4)
        scene.need(0..<6, of: layer, view)
        #expect(scene.isShort && scene.resident(0..<6, of: layer) == 4)
        layer.unpin(pinned)
        #expect(scene.run() && scene.resident(0..<6, of: layer) == 6)
    }

    @Test func whatAnotherViewLeftNoRoomForComesWhenItEnds() throws {
        let scene = try StillScene(tiles: 4)
        let layer = try scene.plainLayer()
        var other: TileView? = ServiceSetup.quiet(scene.cache, [layer])
        if let other { scene.need(20..<24, of: layer, other) }
        let view = ServiceSetup.quiet(scene.cache, [layer])
        defer { withExtendedLifetime(view) {} }
        scene.need(0..<2, of: layer, view)
        #expect(scene.isShort && scene.resident(0..<2, of: layer) == 0)
        other = nil
        #expect(scene.run() && scene.resident(0..<2, of: layer) == 2)
    }

    /// A prefetch keeps its slot until it ends, whatever its result.
    @Test(arguments: [true, false]) func whatALoadLeftNoRoomForComesWhenItEnds(isAbsent: Bool) throws {
        let scene = try StillScene(tiles: 4)
        let layer = try scene.plainLayer()
        let source = QueuedSource(layer: 1)
        let other = try scene.cache.addLayer(source, pyramid: scene.pyramid)
        let view = ServiceSetup.quiet(scene.cache, [layer])
        defer { withExtendedLifetime(view) {} }
        other.prefetch([scene.tile(40)])
        scene.run()
        let request = try #require(source.take().first)
        scene.need(0..<4, of: layer, view)
        #expect(scene.isShort && scene.resident(0..<4, of: layer) == 3)
        if isAbsent { request.completeAbsent() } else { source.answer(request) }
        #expect(scene.run() && scene.resident(0..<4, of: layer) == 4)
    }

    /// A tile was asked for while its load, which nothing had wanted any more, was being cancelled.
    @Test(arguments: [true, false]) func aWishOutlivesACancelledLoad(isPlanned: Bool) throws {
        let scene = try StillScene(tiles: 4)
        let source = QueuedSource()
        let layer = try scene.cache.addLayer(source, pyramid: scene.pyramid)
        let view = ServiceSetup.quiet(scene.cache, [layer])
        defer { withExtendedLifetime(view) {} }
        scene.need(0..<1, of: layer, view)
        let request = try #require(source.take().first)
        scene.need(0..<0, of: layer, view)
        #expect(!request.isWanted)
        layer.prefetch([scene.tile(0)])
        if isPlanned { scene.run() }
        request.cancel()
        scene.run()
        source.answer(try #require(source.take().first))
        #expect(scene.run() && scene.resident(0..<1, of: layer) == 1)
        #expect(scene.cache.statistics.loads.cancelled == 1)
    }

    @Test func whatFramesLeftNoRoomForComesWhenTheyEnd() throws {
        let scene = try StillScene(tiles: 4)
        let layer = try scene.plainLayer()
        let view = ServiceSetup.quiet(scene.cache, [layer])
        defer { withExtendedLifetime(view) {} }
        scene.need(0..<4, of: layer, view)
        var frame: TileFrame? = view.frame()
        #expect(frame?.count == 4)
        scene.need(10..<14, of: layer, view)
        #expect(scene.isShort && scene.resident(10..<14, of: layer) == 0)
        withExtendedLifetime(frame) {}
        frame = nil
        #expect(scene.run() && scene.resident(10..<14, of: layer) == 4)
    }

    @Test func whatALentTileLeftNoRoomForComesWhenItIsGivenBack() throws {
        let scene = try StillScene(tiles: 2)
        let layer = try scene.plainLayer()
        let view = ServiceSetup.quiet(scene.cache, [layer])
        defer { withExtendedLifetime(view) {} }
        scene.need(40..<41, of: layer, view)
        let lent: Void? = layer.withTile(scene.tile(40)) { _ in
            scene.need(0..<2, of: layer, view)
            #expect(scene.isShort && scene.resident(0..<2, of: layer) == 1)
        }
        #expect(lent != nil && scene.run() && scene.resident(0..<2, of: layer) == 2)
    }

    /// A limit lowered below the held bytes is reached when those are released. It takes more steps than one hold of
    /// the lock allows.
    @Test(arguments: [1, 3 * PoolState.stepsAtOnce]) func aLimitIsReachedWhenFramesEnd(count: Int) throws {
        let scene = try StillScene(tiles: count + 4)
        let layer = try scene.plainLayer()
        let view = ServiceSetup.quiet(scene.cache, [layer])
        defer { withExtendedLifetime(view) {} }
        view.update(
            needing: (0..<count).map { NeededTile(layer: layer.id, tile: scene.tile($0 % 64, row: $0 / 64)) }
        )
        scene.run()
        var frame: TileFrame? = view.frame()
        #expect(frame?.count == count)
        view.update(needing: [])
        scene.run()
        scene.cache.byteLimit = .bytes(StillScene.tileBytes / 2)
        scene.run()
        #expect(scene.cache.statistics.memory.used.bytes == count * StillScene.tileBytes)
        withExtendedLifetime(frame) {}
        frame = nil
        #expect(scene.run() && scene.cache.statistics.memory.used.bytes <= StillScene.tileBytes / 2)
    }

    @Test(arguments: [false, true]) func aLimitIsReachedWhenALentTileIsGivenBack(isNeeded: Bool) throws {
        let scene = try StillScene(tiles: 4)
        let layer = try scene.plainLayer()
        let view = ServiceSetup.quiet(scene.cache, [layer])
        defer { withExtendedLifetime(view) {} }
        scene.need(0..<1, of: layer, view)
        _ = layer.withTile(scene.tile(0)) { _ in
            if !isNeeded { view.update(needing: []) }
            scene.cache.byteLimit = .bytes(StillScene.tileBytes / 2)
            scene.run()
            #expect(scene.cache.statistics.memory.used.bytes == StillScene.tileBytes)
        }
        #expect(scene.run() && scene.cache.statistics.memory.used.bytes == 0)
    }

    /// Memory of ended frames becomes available to the needed tiles of a lower limit.
    @Test func whatALowerLimitHasRoomForComesWhenFramesEnd() throws {
        let scene = try StillScene(tiles: 8)
        let layer = try scene.plainLayer()
        let view = ServiceSetup.quiet(scene.cache, [layer])
        defer { withExtendedLifetime(view) {} }
        scene.need(0..<8, of: layer, view)
        var frame: TileFrame? = view.frame()
        #expect(frame?.count == 8)
        scene.need(20..<22, of: layer, view)
        scene.cache.byteLimit = .bytes(4 * StillScene.tileBytes)
        scene.run()
        #expect(scene.resident(20..<22, of: layer) == 0)
        withExtendedLifetime(frame) {}
        frame = nil
        #expect(scene.run() && scene.resident(20..<22, of: layer) == 2)
    }

    /// A decoder's copy of a payload may take the memory that a needed tile lacks.
    @Test func whatADecoderLeftNoRoomForComesWhenItReturns() throws {
        let half = StillScene.tileBytes / 2
        // A codec takes more than a few tiles: others fill the limit.
        let scene = try StillScene(tiles: 42, bytes: half) { $0.usesCompressedTier = true }
        let source = PausedDecoder(payloadBytes: half)
        // The closure may own the cache, which owns the source.
        defer { source.whileDecoding = nil }
        let layer = try scene.cache.addLayer(source, pyramid: scene.pyramid)
        let plain = try scene.plainLayer()
        let others = ServiceSetup.quiet(scene.cache, [plain])
        defer { withExtendedLifetime(others) {} }
        scene.need(20..<60, of: plain, others)
        let view = ServiceSetup.quiet(scene.cache, [layer, plain])
        defer { withExtendedLifetime(view) {} }
        scene.need(0..<1, of: layer, view)
        view.update(needing: [])
        scene.run()
        #expect(layer.demote(scene.tile(0)))
        var missing = 0
        source.whileDecoding = { _ in
            view.update(needing: [
                NeededTile(layer: layer.id, tile: scene.tile(0)), NeededTile(layer: plain.id, tile: scene.tile(1)),
            ])
            scene.run()
            #expect(scene.isShort)
            missing = 1 - scene.resident(1..<2, of: plain)
        }
        scene.need(0..<1, of: layer, view)
        #expect(missing == 1)
        #expect(scene.resident(1..<2, of: plain) == 1 && scene.decoded(0..<1, of: layer) == 1)
    }

    /// While two decoders of a layer hang, no other tile of it is decoded. When they return, it is.
    @Test func whatAStuckDecoderKeptWaitingComesWhenItReturns() throws {
        let scene = try StillScene(tiles: 16, workers: 1) {
            $0.usesCompressedTier = true
            $0.stuckLoadTime = .milliseconds(2)
        }
        let source = PausedDecoder(payloadBytes: 4096)
        // The closure may own the cache, which owns the source.
        defer { source.whileDecoding = nil }
        let layer = try scene.cache.addLayer(source, pyramid: scene.pyramid)
        let view = ServiceSetup.quiet(scene.cache, [layer])
        defer { withExtendedLifetime(view) {} }
        scene.need(0..<3, of: layer, view)
        view.update(needing: [])
        scene.run()
        #expect((0..<3).allSatisfy { layer.demote(scene.tile($0)) })
        var (begun, replaced) = (0, 0)
        source.whileDecoding = { _ in
            begun += 1
            let turn = begun
            guard turn <= 2 else { return }
            // The first check is slightly too early.
            for _ in 0..<3 where replaced < turn {
                scene.run()
                _ = scene.scheduler.passTime()
                scene.run()
                replaced = max(replaced, scene.cache.core.read { $0.pool.layers[layer.id.index].stuckDecodes })
            }
            if turn == 2 { #expect(begun == 2 && scene.decoded(0..<3, of: layer) == 0) }
        }
        scene.need(0..<3, of: layer, view)
        #expect(begun == 3 && replaced == 2)
        #expect(scene.decoded(0..<3, of: layer) == 3)
        let workers = scene.cache.core.read { $0.workers }
        #expect(workers.idle.count == 1 && workers.spare.count == 15)
    }

    /// The table had no room for pinned tiles. Once it has, all are entered, whatever the results of their loads.
    @Test func allPinsAreEnteredOnceTheTableHasRoom() throws {
        let scene = try StillScene(tiles: 256, workers: 1) { $0.grantsBookkeeping = false }
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 32_768, worldHeight: 32_768, tileSize: 32)
        let source = QueuedSource()
        let silent = try scene.cache.addLayer(source, pyramid: pyramid)
        let layer = try scene.cache.addLayer(PlainSource(), pyramid: pyramid)
        let view = ServiceSetup.quiet(scene.cache, [layer])
        defer { withExtendedLifetime(view) {} }
        view.update(
            needing: (0..<1024).map {
                NeededTile(layer: layer.id, tile: TileCoordinate(level: 10, column: $0 % 32, row: $0 / 32))
            }
        )
        scene.run()
        #expect(scene.isShort)
        try silent.pin((0..<400).map { TileCoordinate(level: 10, column: $0, row: 0) })
        scene.run()
        let entered = {
            scene.cache.core.read { state in
                var count = 0
                state.pool.table.forEach { if state.pool.table[$0].flags.contains(.pinned) { count += 1 } }
                return count
            }
        }
        #expect(entered() < 400 - 2 * PoolState.stepsAtOnce)
        view.update(needing: [])
        #expect(scene.run() && entered() == 400)
    }

    /// Pins that wait for room in the table, which a tile that is lent may have.
    @Test func waitingPinsAreEnteredWhenALentTileIsGivenBack() throws {
        let scene = try StillScene(tiles: 16)
        let layer = try scene.plainLayer()
        let view = ServiceSetup.quiet(scene.cache, [layer])
        defer { withExtendedLifetime(view) {} }
        scene.need(0..<1, of: layer, view)
        view.update(needing: [])
        scene.run()
        let core = scene.cache.core
        let lent: Void? = layer.withTile(scene.tile(0)) { _ in
            let runs = TileRuns([scene.tile(20)])
            core.perform {
                $0.pins.add(runs, to: runs, of: layer.id.index)
                // As after a plan that found no room for them.
                $0.pool.queue.noteUnmet()
            }
            scene.run()
            #expect(core.read { $0.pins.areMissing })
        }
        #expect(lent != nil && scene.run() && scene.resident(20..<21, of: layer) == 1)
    }

    @Test func pinnedTilesAndThoseAskedForOnceComeAtOnce() throws {
        let scene = try StillScene(tiles: 16)
        let layer = try scene.plainLayer()
        try layer.pin([scene.tile(0)])
        #expect(scene.run() && scene.resident(0..<1, of: layer) == 1)
        layer.prefetch([scene.tile(1)])
        #expect(scene.run() && scene.resident(1..<2, of: layer) == 1)
    }

    /// Needed tiles that are evicted are loaded again.
    @Test func neededTilesComeBackAfterATrimAndAnInvalidation() throws {
        let scene = try StillScene(tiles: 16)
        let layer = try scene.plainLayer()
        let view = ServiceSetup.quiet(scene.cache, [layer])
        defer { withExtendedLifetime(view) {} }
        scene.need(0..<3, of: layer, view)
        scene.cache.trim(to: .bytes(0))
        #expect(scene.resident(0..<3, of: layer) == 0)
        #expect(scene.run() && scene.resident(0..<3, of: layer) == 3)
        layer.invalidate(region: nil, keepsStale: false)
        #expect(scene.resident(0..<3, of: layer) == 0)
        #expect(scene.run() && scene.resident(0..<3, of: layer) == 3)
        scene.cache.byteLimit = .bytes(StillScene.tileBytes)
        scene.run()
        scene.cache.byteLimit = .bytes(16 * StillScene.tileBytes)
        #expect(scene.run() && scene.resident(0..<3, of: layer) == 3)
    }
}
