import Dispatch
import Testing

@testable import TileCache

/// Every needed tile loads, waits or fails, without further frames, moves or plans.
@Suite(.timeLimit(.minutes(45))) struct ServiceProgressTests {
    /// The layer may have no more loads in flight than workers, or two, the stuck one included. Others wait.
    @Test(arguments: [1, 2]) func aLayerWithAStuckLoadGetsAllItsOtherTiles(workers: Int) throws {
        let stuck = TileCoordinate(level: 6, column: 7, row: 7)
        let source = PartlyGatedSource { tile in
            if tile != stuck { pause(microseconds: 3000) }
            return tile == stuck
        }
        defer { source.open() }
        var configuration = TileCache.Configuration(byteLimit: .mebibytes(4), workers: workers)
        configuration.stuckLoadTime = .milliseconds(10)
        let cache = try TileCache(configuration)
        let layer = try cache.addLayer(source, pyramid: try ServiceSetup.pyramid())
        let view = ServiceSetup.quiet(cache, [layer])
        view.update(TileViewport(center: WorldPoint(x: 480, y: 480), width: 32, height: 32))
        #expect(eventually { source.held == 1 && cache.core.lock.withLock { $0.pool.loads.writtenOffCount } == 1 })
        view.update(ServiceSetup.viewport(480, 480))
        #expect(eventually { view.frame().missingTileCount == 1 }, "\(view.frame().missingTileCount) missing")
        source.open()
        #expect(eventually { view.frame().missingTileCount == 0 })
    }

    /// A spare worker takes the place of one whose source has answered and does not return, before or after its load
    /// counts as stuck. As many requests of the layer as there are workers may hang, or two.
    @Test(arguments: [1, 2], [false, true]) func otherLayersGoOnIfASourceBlocksAfterItsAnswer(
        workers: Int,
        isLate: Bool
    ) throws {
        var configuration = TileCache.Configuration(byteLimit: .mebibytes(4), workers: workers)
        configuration.stuckLoadTime = .milliseconds(10)
        let cache = try TileCache(configuration)
        let source = BlockedAnswerSource(isLate: isLate)
        defer { source.open() }
        let blocked = try cache.addLayer(source, pyramid: try ServiceSetup.pyramid())
        let other = try cache.addLayer(PlainSource(layer: 1), pyramid: try ServiceSetup.pyramid())
        let (first, second) = (ServiceSetup.quiet(cache, [blocked]), ServiceSetup.quiet(cache, [other]))
        first.update(ServiceSetup.viewport(480, 480))
        #expect(eventually { source.inside >= 2 })
        second.update(ServiceSetup.viewport(480, 480))
        #expect(eventually { second.frame().missingTileCount == 0 })
        #expect(source.inside == 2)
        source.open()
        #expect(eventually { first.frame().missingTileCount == 0 })
        #expect(cache.shutdown(timeout: .seconds(600)))
        let (roster, stuck) = cache.core.read { ($0.workers, $0.pool.layers.map(\.stuckRequests)) }
        #expect(roster.decodes.isEmpty && stuck == [0, 0])
    }

    /// One timer serves both retries: it must not fire too early for one.
    @Test func retriesThatAreDueAboutTheSameTimeAreAllMade() throws {
        let scene = try StillScene(tiles: 16, workers: 1) { $0.retryDelay = .nanoseconds(1) }
        let source = FailingOnceSource { $0.column == 3 ? 10_000_000 : 40_000_000 }
        let layer = try scene.cache.addLayer(source, pyramid: scene.pyramid)
        let view = ServiceSetup.quiet(scene.cache, [layer])
        defer { withExtendedLifetime(view) {} }
        scene.need(3..<5, of: layer, view)
        #expect(scene.cache.statistics.loads.failed == 2)
        scene.scheduler.spend(nanoseconds: 20_000_000)
        scene.run()
        scene.scheduler.spend(nanoseconds: 40_000_000)
        scene.run()
        #expect(scene.resident(3..<5, of: layer) == 2)
    }

    /// A source was ready and there was no room. Its tile is retried without a frame.
    @Test func whatThereWasNoRoomForIsAskedForAgain() throws {
        let steps = StepScheduler.calm()
        var configuration = TileCache.Configuration(byteLimit: .kibibytes(32), workers: 1)
        configuration.grantsBookkeeping = true
        configuration.usesCompressedTier = false
        steps.adopt(&configuration)
        let cache = try TileCache(configuration)
        let plain = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid())
        let source = QueuedSource(layer: 1)
        let late = try cache.addLayer(source, pyramid: try ServiceSetup.pyramid())
        let other = ServiceSetup.quiet(cache, [plain])
        other.update(
            needing: (0..<2).map { NeededTile(layer: plain.id, tile: TileCoordinate(level: 6, column: $0, row: 0)) }
        )
        #expect(steps.reaches { other.frame().missingTileCount == 0 })
        // Both tiles that the limit allows are held.
        var held = [other.frame()]
        #expect(held[0].count == 2)
        other.update(needing: [])
        let view = ServiceSetup.quiet(cache, [late])
        let tile = TileCoordinate(level: 6, column: 9, row: 9)
        view.update(needing: [NeededTile(layer: late.id, tile: tile)])
        var requests: [TileRequest] = []
        func next() -> Bool {
            requests = []
            return steps.reaches {
                requests += source.take()
                return !requests.isEmpty
            }
        }
        try #require(next())
        #expect(!requests[0].complete { _ in .pixels })
        held = []
        try #require(next())
        source.answer(requests[0])
        #expect(steps.reaches { late.isResident(tile) })
    }

    /// A list that exceeds the limit costs no more than one that fits. The rest is reported.
    @Test func aListIsFollowedAsFarAsTheLimitCanHoldIt() throws {
        let cache = try TileCache(byteLimit: .mebibytes(64), workers: 1)
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 16384, worldHeight: 16384, tileSize: 64)
        let layer = try cache.addLayer(QueuedSource(), pyramid: pyramid)
        let view = ServiceSetup.quiet(cache, [layer])
        let tiles = (0..<200).flatMap { row in
            (0..<200).map { NeededTile(layer: layer.id, tile: TileCoordinate(level: 8, column: $0, row: row)) }
        }
        view.update(needing: tiles)
        let (entries, needed) = cache.core.lock.withLock { state -> ([EntryID], Int) in
            let entries = state.views[0]?.model.layers[0].needs.entries ?? []
            return (entries, entries.count { $0 != .none && state.pool.table[$0].needCount == 1 })
        }
        let most = 64 << 20 / (64 * 64 * 4)
        #expect(entries.count == most && needed == most)
        #expect(view.shortfall.bytes == 40_000 * 64 * 64 * 4)
        #expect(cache.statistics.memory.used.bytes <= 64 << 20)
        view.update(needing: [])
        #expect(view.shortfall.bytes == 0)
        #expect(cache.core.lock.withLock { $0.pool.table.count } < 40)
    }

    /// As many tiles as the limit holds beside lists and table, in rows of 16.
    private func fullList(_ cache: TileCache, _ layer: TileLayer, fromRow row: Int) -> [NeededTile] {
        let bytes = cache.core.lock.withLock { $0.pool.attainableBytes(ofLayer: layer.id.index) }
        let tileBytes = 1 << 14 + PoolState.bytesPerNeed + MemoryLayout<Entry>.stride
        return (0..<(bytes - 6 * MemoryRegion.systemPageBytes) / tileBytes).map {
            NeededTile(layer: layer.id, tile: TileCoordinate(level: 6, column: $0 % 16, row: row + $0 / 16))
        }
    }

    private func lacksRoom(_ cache: TileCache) -> Bool { cache.core.lock.withLock { $0.pool.queue.lacksRoomForNeeds } }

    @Test func tilesThatPinsLeftNoRoomForLoadAfterUnpin() throws {
        let steps = StepScheduler.calm()
        let cache = try steps.cache(byteLimit: .mebibytes(1), workers: 2)
        let layer = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid())
        let view = ServiceSetup.quiet(cache, [layer])
        try layer.pin(levels: 0...2)
        view.update(needing: fullList(cache, layer, fromRow: 0))
        #expect(steps.reaches { lacksRoom(cache) && cache.statistics.loadsInFlight == 0 })
        #expect(view.frame().missingTileCount > 10)
        layer.unpin()
        #expect(steps.reaches { view.frame().missingTileCount == 0 }, "\(view.frame().missingTileCount) missing")
    }

    @Test func whatALentTileLeftNoRoomForComesWhenItIsLetGo() throws {
        let steps = StepScheduler.calm()
        let cache = try steps.cache(byteLimit: .mebibytes(1), workers: 2)
        let layer = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid())
        let view = ServiceSetup.quiet(cache, [layer])
        let lent = (0..<4).map { TileCoordinate(level: 6, column: 40, row: 40 + $0) }
        view.update(needing: lent.map { NeededTile(layer: layer.id, tile: $0) })
        #expect(steps.reaches { lent.allSatisfy { layer.isResident($0) } })
        let list = fullList(cache, layer, fromRow: 0)
        let missing = { list.count { !layer.isResident($0.tile) } }
        let wasLent: Void?? = layer.withTile(lent[0]) { _ in
            layer.withTile(lent[1]) { _ in
                _ = layer.withTile(lent[2]) { _ in
                    view.update(needing: list)
                    #expect(steps.reaches { lacksRoom(cache) && cache.statistics.loadsInFlight == 0 })
                    #expect(missing() > 0)
                }
            }
        }
        #expect(wasLent != nil)
        #expect(steps.reaches { missing() == 0 }, "\(missing()) missing")
    }

    /// No tile was needed, so that none lacked room, and no plan followed: the view stayed blank until it moved.
    @Test func aListThatHadNoRoomIsMadeOnceAFrameIsLetGo() throws {
        let steps = StepScheduler.calm()
        var configuration = TileCache.Configuration(byteLimit: .mebibytes(1), workers: 2)
        configuration.fitsLevelToBudget = false
        steps.adopt(&configuration)
        let cache = try TileCache(configuration)
        let layer = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid())
        let (first, second) = (ServiceSetup.quiet(cache, [layer]), ServiceSetup.quiet(cache, [layer]))
        first.update(needing: fullList(cache, layer, fromRow: 0).dropLast(4))
        #expect(steps.reaches { first.frame().missingTileCount == 0 })
        var held: TileFrame? = first.frame()
        first.update(needing: [])
        #expect(steps.settle(atMost: 10_000))
        second.update(TileViewport(center: WorldPoint(x: 2048, y: 2048), width: 1920, height: 1920))
        #expect(steps.settle(atMost: 10_000))
        #expect(held?.isEmpty == false && second.neededTileCount == 0)
        held = nil
        #expect(steps.reaches { second.neededTileCount == 900 })
    }

    /// Tiles no longer needed are evicted for entries of needed ones. Both together need a larger table.
    @Test func tilesThatTakeThePlaceOfOthersAllComeWhateverTheLimit() throws {
        let steps = StepScheduler.calm()
        for kibibytes in stride(from: 2304, to: 4096, by: 128) {
            let cache = try steps.cache(byteLimit: .kibibytes(kibibytes), workers: 1)
            let layer = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid())
            let view = ServiceSetup.quiet(cache, [layer])
            for row in stride(from: 0, to: 60, by: 20) {
                let list = fullList(cache, layer, fromRow: row).dropLast()
                view.update(needing: Array(list))
                let entries = cache.core.lock.withLock { $0.views[0]?.model.layers[0].needs.entries ?? [] }
                #expect(entries.count == list.count && !entries.contains(.none), "\(kibibytes) KiB")
                // The larger table has taken the room of some.
                #expect(steps.reaches { list.count { layer.isResident($0.tile) } > list.count - 5 })
            }
        }
    }

    /// Tiles that leave the view before they could land are not loaded. The loads cannot keep up. If the view stops
    /// there, they are, without a further frame.
    @Test func aViewThatStopsGetsWhatWasLeftOutWhileItMoved() throws {
        var timesLeftOut = 0
        for (pixels, milliseconds) in [(100, 20), (150, 20), (150, 60), (180, 40), (180, 100)] {
            let scene = try StillScene(tiles: 256, workers: 1)
            let scheduler = scene.scheduler
            let source = PlainSource(absent: { _ in
                scheduler.spend(nanoseconds: Int64(milliseconds) * 1_000_000)
                return false
            })
            let layer = try scene.cache.addLayer(source, pyramid: scene.pyramid)
            let view = scene.cache.makeView(layers: [layer])
            var last = ServiceSetup.viewport(300, 900)
            for step in 0..<20 {
                last = ServiceSetup.viewport(300 + Double(pixels * step), 900)
                view.update(last)
                // The plan, and its loads, which take longer than a frame of 16 ms.
                for _ in 0..<2 { scheduler.runOne() }
            }
            let needed = try ServiceSetup.pyramid().neededTiles(under: last, at: 6)
            if !needed.allSatisfy({ layer.isResident($0) }) { timesLeftOut += 1 }
            #expect(scheduler.settle(atMost: 1000))
            #expect(needed.allSatisfy { layer.isResident($0) }, "\(pixels) pixels, \(milliseconds) ms")
        }
        #expect(timesLeftOut > 0)
    }
}

/// A source that answers and then blocks until a test releases it.
private final class BlockedAnswerSource: TileSource {
    private let state = Lock((isOpen: false, inside: 0))
    private let gate = DispatchSemaphore(value: 0)
    private let isLate: Bool

    /// - Parameter isLate: Whether it takes long to answer.
    init(isLate: Bool) { self.isLate = isLate }

    /// Requests that are blocked.
    var inside: Int { state.withLock { $0.inside } }

    /// Releases all requests, from now on as well.
    func open() {
        let waiting = state.withLock { state in
            let waiting = state.isOpen ? 0 : state.inside
            state.isOpen = true
            return waiting
        }
        for _ in 0..<waiting { gate.signal() }
    }

    func requestTile(_ request: TileRequest) {
        if isLate { pause(microseconds: 30_000) }
        request.complete { pixels in
            fill(&pixels, with: expectedPixel(layer: 0, request.tile))
            return .pixels
        }
        let blocks = state.withLock { state in
            if !state.isOpen { state.inside += 1 }
            return !state.isOpen
        }
        if blocks { gate.wait() }
    }
}

/// A source whose tiles fail once each. The wait before the retry depends on the tile.
private final class FailingOnceSource: BlockingTileSource {
    private let failed = Lock<Set<TileCoordinate>>([])
    private let wait: @Sendable (TileCoordinate) -> Int64

    init(wait: @escaping @Sendable (TileCoordinate) -> Int64) { self.wait = wait }

    func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
        let isFirst = failed.withLock { $0.insert(tile).inserted }
        if isFirst { throw TileFailure.transient(retryAfter: .nanoseconds(wait(tile))) }
        fill(&pixels, with: expectedPixel(layer: 0, tile))
        return .pixels
    }
}
