import Testing

@testable import TileCache

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Memory that sources report counts against the limit.
@Suite(.timeLimit(.minutes(45))) struct HeldMemoryTests {
    private final class Archive: BlockingTileSource, MemoryReportingSource {
        private let held: Lock<Int>
        private let asks = Lock(0)
        /// Called once, when the cache asks next.
        let whileAsked = Lock<(@Sendable () -> Void)?>(nil)

        init(_ bytes: Int) { held = Lock(bytes) }

        var bytes: Int {
            get { held.withLock { $0 } }
            set { held.withLock { $0 = newValue } }
        }

        /// How often the cache has asked.
        var askCount: Int { asks.withLock { $0 } }

        var heldMemory: ByteCount {
            asks.withLock { $0 += 1 }
            let call = whileAsked.withLock { call in
                defer { call = nil }
                return call
            }
            call?()
            return .bytes(bytes)
        }

        func load(_ tile: TileCoordinate, into pixels: inout TilePixels) -> TileOutcome {
            _ = pixels.withUnsafeMutableBytes { $0.initializeMemory(as: UInt8.self, repeating: 7) }
            return .pixels
        }
    }

    private func pyramid() throws -> TilePyramid { try .powerOfTwo(worldWidth: 4096, worldHeight: 4096, tileSize: 64) }

    private func held(_ cache: TileCache) -> Int { cache.core.read { $0.pool.ledger[.sources] } }

    /// A source of two layers counts once, in each cache. It counts until the last of them is removed.
    @Test func eachSourceCountsOnce() throws {
        let (first, second) = (Archive(100_000), Archive(20_000))
        let cache = try TileCache(byteLimit: .mebibytes(4), workers: 1)
        let before = cache.statistics.memory.bookkeeping.bytes
        let layers = try [first, first, second].map { try cache.addLayer($0, pyramid: pyramid()) }
        #expect(held(cache) == 120_000 && cache.statistics.memory.bookkeeping.bytes >= before + 120_000)
        let other = try TileCache(byteLimit: .mebibytes(4), workers: 1)
        _ = try other.addLayer(first, pyramid: pyramid())
        #expect(held(other) == 100_000)
        layers[0].remove()
        #expect(held(cache) == 120_000)
        layers[1].remove()
        #expect(held(cache) == 20_000)
        layers[2].remove()
        #expect(held(cache) == 0)
        #expect(cache.shutdown() && other.shutdown())
    }

    /// Other threads add and remove layers while sources are asked.
    @Test func layersThatComeAndGoMeanwhileCount() throws {
        let cache = try StepScheduler.calm().cache(byteLimit: .mebibytes(4))
        let (first, second) = (Archive(1000), Archive(20_000))
        _ = try cache.addLayer(first, pyramid: pyramid())
        let added = Lock<TileLayer?>(nil)
        let world = try pyramid()
        first.whileAsked.withLock { call in
            call = { added.withLock { $0 = try? cache.addLayer(second, pyramid: world) } }
        }
        cache.core.noteHeldMemory(now: 0)
        #expect(held(cache) == 21_000)
        let layer = try #require(added.withLock { $0 })
        first.whileAsked.withLock { call in call = { layer.remove() } }
        cache.core.noteHeldMemory()
        #expect(held(cache) == 1000)
    }

    /// What grows is measured again, and tiles make room for it; less is given back.
    @Test func growthIsMeasured() throws {
        let archive = Archive(0)
        let cache = try TileCache(byteLimit: .mebibytes(2), workers: 2)
        let layer = try cache.addLayer(archive, pyramid: pyramid())
        let view = cache.makeView(layers: [layer], selection: TileLevelSelection(), policy: { NoPrefetch() })
        let viewport = TileViewport(center: WorldPoint(x: 512, y: 512), width: 1024, height: 256)
        func isDrawn() -> Bool {
            view.update(viewport)
            return view.frame().missingTileCount == 0
        }
        #expect(eventually(isDrawn))
        for bytes in [700_000, 900_000, 10_000] {
            archive.bytes = bytes
            cache.core.noteHeldMemory()
            #expect(held(cache) == bytes)
            let memory = cache.statistics.memory
            #expect(memory.used <= memory.limit && cache.statistics.contradictions.isEmpty)
        }
        // Twice the limit cannot be counted; what was counted stays, and so do tiles that nothing needs.
        view.update(needing: [])
        let before = cache.statistics
        archive.bytes = 4 << 20
        cache.core.noteHeldMemory()
        let after = cache.statistics
        #expect(held(cache) == 10_000 && before.memory.decoded > .bytes(0))
        #expect(after.tiers.removals == before.tiers.removals)
        // A wrong number is none.
        archive.bytes = -1
        cache.core.noteHeldMemory()
        #expect(held(cache) == 0 && cache.shutdown())
    }

    /// Tables that grow after a view has chosen its level may take the room of its tiles. It becomes coarser, also if it
    /// does not move and no frame is drawn. When they shrink it becomes finer again.
    @Test func aViewAtRestChoosesItsLevelAgainIfTablesGrow() throws {
        let archive = Archive(0)
        let scene = try StillScene(tiles: 64) { $0.grantsBookkeeping = false }
        let layer = try scene.cache.addLayer(archive, pyramid: pyramid())
        let view = ServiceSetup.quiet(scene.cache, [layer])
        view.update(TileViewport(center: WorldPoint(x: 736, y: 736), width: 448, height: 448))
        for (bytes, level, count) in [(400_000, 5, 16), (0, 6, 49)] {
            archive.bytes = bytes
            scene.cache.core.noteHeldMemory()
            #expect(held(scene.cache) == bytes && scene.run())
            let frame = view.frame()
            #expect(frame.missingTileCount == 0 && frame.count == count)
            #expect(frame.allSatisfy { $0.tile.identity.tile.level == level })
        }
    }

    /// What is counted at the end of a plan may leave no room for a single tile. The view becomes coarser, and has its
    /// tiles once there is room: it waited for ever, and reported no shortfall.
    @Test func aViewWithoutRoomForATileBecomesCoarser() throws {
        let archive = Archive(0)
        let scene = try StillScene(tiles: 64) { $0.grantsBookkeeping = false }
        let (cache, layer) = (scene.cache, try scene.cache.addLayer(archive, pyramid: pyramid()))
        let view = ServiceSetup.quiet(cache, [layer])
        view.update(TileViewport(center: WorldPoint(x: 736, y: 736), width: 448, height: 448))
        archive.whileAsked.withLock { call in
            call = { archive.bytes = cache.core.read { $0.pool.availableBytes } - StillScene.tileBytes / 2 }
        }
        #expect(scene.run() && held(cache) > 0 && held(cache) == archive.bytes)
        #expect(view.frame().count < 4 && view.shortfall > .bytes(0))
        archive.bytes = 0
        cache.core.noteHeldMemory()
        #expect(scene.run() && view.shortfall == .bytes(0))
        #expect(view.frame().missingTileCount == 0 && view.frame().count == 49)
    }

    /// A view at rest that lacks room makes no plan. What is given back is noticed a second later all the same.
    @Test func whatIsGivenBackAtRestIsNoticed() throws {
        let archive = Archive(400_000)
        let scene = try StillScene(tiles: 64) { $0.grantsBookkeeping = false }
        let (cache, layer) = (scene.cache, try scene.cache.addLayer(archive, pyramid: pyramid()))
        let view = ServiceSetup.quiet(cache, [layer])
        view.update(TileViewport(center: WorldPoint(x: 736, y: 736), width: 448, height: 448))
        #expect(scene.run() && view.frame().count == 16 && view.shortfall > .bytes(0))
        archive.bytes = 0
        #expect(scene.run() && view.frame().count == 16)
        #expect(scene.scheduler.reaches { view.frame().count == 49 })
        #expect(scene.scheduler.now <= 3_000_000_000 && view.shortfall == .bytes(0))
        // With room for all there is nothing to wait for.
        #expect(scene.scheduler.settle(atMost: 1000))
    }

    /// The same for tiles that a renderer lists itself: refused, or without room for a single one.
    @Test(arguments: [40, 64]) func whatIsGivenBackBringsListedTiles(taken: Int) throws {
        let archive = Archive(0)
        let scene = try StillScene(tiles: 64) { $0.grantsBookkeeping = false }
        let (cache, layer) = (scene.cache, try scene.cache.addLayer(archive, pyramid: pyramid()))
        let view = ServiceSetup.quiet(cache, [layer])
        archive.whileAsked.withLock { call in
            call = {
                let room = cache.core.read { $0.pool.availableBytes }
                archive.bytes = min(taken * StillScene.tileBytes, room - StillScene.tileBytes / 2)
            }
        }
        scene.need(0..<40, of: layer, view)
        #expect(held(cache) == archive.bytes && view.frame().count < 40)
        archive.bytes = 0
        #expect(scene.scheduler.reaches { view.frame().count == 40 } && scene.scheduler.now <= 3_000_000_000)
        #expect(scene.scheduler.settle(atMost: 1000))
    }

    /// It is asked once a second, by the time of the plan.
    @Test func itIsAskedSeldom() throws {
        let archive = Archive(1000)
        let cache = try TileCache(byteLimit: .mebibytes(2), workers: 1)
        _ = try cache.addLayer(archive, pyramid: pyramid())
        var memory = HeldMemory()
        let asked = [0, 999_999_999, 1_000_000_000, 1_500_000_000, 2_000_000_000].map { memory.startMeasuring(now: $0) }
        #expect(asked == [true, false, true, false, true])
        #expect(memory.startMeasuring(now: nil) && memory.startMeasuring(now: nil) && cache.shutdown())
    }

    /// Tiles may have been evicted for it in vain: that does not happen again at once.
    @Test func whatHasNoRoomIsMeasuredAgainAMinuteLater() throws {
        let archive = Archive(1000)
        let cache = try StepScheduler.calm().cache(byteLimit: .mebibytes(2))
        _ = try cache.addLayer(archive, pyramid: pyramid())
        archive.bytes = 4 << 20
        let before = archive.askCount
        let asked = ([0, 1, 59, 60, 61] as [Int64]).map { seconds -> Int in
            cache.core.noteHeldMemory(now: seconds * 1_000_000_000)
            return archive.askCount - before
        }
        #expect(asked == [1, 1, 1, 2, 2] && held(cache) == 1000)
    }

    @Test func whatHasNoRoomIsRefused() throws {
        let cache = try TileCache(byteLimit: .mebibytes(2), workers: 1)
        let before = cache.core.read { $0.pool.ledger.accountBytes }
        #expect(throws: TileCacheError.self) { _ = try cache.addLayer(Archive(3 << 20), pyramid: pyramid()) }
        #expect(held(cache) == 0 && cache.core.read { $0.pool.ledger.accountBytes } == before && cache.shutdown())
    }
}
