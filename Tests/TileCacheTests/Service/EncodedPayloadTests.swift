import Dispatch
import Testing

@testable import TileCache

/// Sources whose encoded bytes are used as the compressed form of their tiles.
@Suite(.timeLimit(.minutes(45))) struct EncodedPayloadTests {
    private struct Scene {
        let cache: TileCache
        let layer: TileLayer
        let view: TileView
        let home = TileViewport(center: WorldPoint(x: 1024, y: 1024), width: 128, height: 128)
        let away = TileViewport(center: WorldPoint(x: 3000, y: 3000), width: 128, height: 128)

        init(_ source: any BlockingTileSource, byteLimit: ByteCount = .mebibytes(8)) throws {
            try self.init(source, TileCache.Configuration(byteLimit: byteLimit))
        }

        init(_ source: any BlockingTileSource, _ configuration: TileCache.Configuration) throws {
            cache = try TileCache(configuration)
            layer = try cache.addLayer(
                source,
                pyramid: .powerOfTwo(worldWidth: 4096, worldHeight: 4096, tileSize: 64)
            )
            view = cache.makeView(layers: [layer], selection: TileLevelSelection(), policy: { NoPrefetch() })
        }

        /// Shows one place until everything is sharp.
        func look(at viewport: TileViewport) -> Bool {
            eventually {
                view.update(viewport)
                return view.frame().missingTileCount == 0
            }
        }

        /// Shows the first place, then another, and compresses the tiles of the first one.
        func visitAndDemote() -> [TileCoordinate] {
            guard look(at: home) else { return [] }
            let tiles = view.frame().map(\.tile.identity.tile)
            guard look(at: away) else { return [] }
            return tiles.filter { layer.demote($0) }
        }
    }

    @Test func aSmallerPayloadTakesThePlaceOfCompression() throws {
        let source = RunLengthSource()
        let scene = try Scene(source)
        let tiles = scene.visitAndDemote()
        #expect(tiles.count == 4)
        #expect(scene.cache.statistics.tiers.encodedPayloads == source.loads.count)
        #expect(scene.cache.statistics.tiers.demotions == 4)
        // 64 x 64 pixels in runs of 16, five bytes each.
        #expect(scene.cache.statistics.tiers.compressionRatio == 16384.0 / 1280)
        #expect(source.decodes.isEmpty)
        for round in 1...3 {
            #expect(scene.look(at: scene.home))
            for placement in scene.view.frame() { #expect(placement.isExact && source.drew(placement.tile)) }
            #expect(tiles.allSatisfy { source.decodes[$0] == round && source.loads[$0] == 1 })
            #expect(scene.look(at: scene.away))
            for tile in tiles { #expect(scene.layer.demote(tile)) }
        }
        #expect(!source.threads.contains(currentThreadNumber()))
        // The second of two payloads for one load is refused.
        #expect(source.kept.enumerated().allSatisfy { $0.element == $0.offset.isMultiple(of: 2) })
        #expect(scene.cache.shutdown())
    }

    @Test func aLargerPayloadGivesWayToCompression() throws {
        let source = RunLengthSource(padding: 3000)
        let scene = try Scene(source)
        #expect(scene.visitAndDemote().count == 4)
        let ratio = try #require(scene.cache.statistics.tiers.compressionRatio)
        #expect(ratio > 16384.0 / 4280)
        #expect(scene.look(at: scene.home))
        for placement in scene.view.frame() { #expect(source.drew(placement.tile)) }
        #expect(source.decodes.isEmpty && source.loads.values.allSatisfy { $0 == 1 })
    }

    @Test func aPayloadThatCannotBeDecodedIsLoadedAgain() throws {
        let source = RunLengthSource()
        let scene = try Scene(source)
        let tiles = scene.visitAndDemote()
        source.failDecodes(2)
        #expect(scene.look(at: scene.home))
        for placement in scene.view.frame() { #expect(source.drew(placement.tile)) }
        #expect(tiles.reduce(0) { $0 + (source.loads[$1] ?? 0) } == 6)
        #expect(
            scene.cache.statistics.tiers.undecodablePayloads == 2 && scene.cache.statistics.tiers.damagedBlocks == 0
        )
        #expect(scene.cache.statistics.tiers.removals[.damaged] == 2)
    }

    @Test func aDamagedPayloadNeverReachesItsDecoder() throws {
        let source = RunLengthSource()
        let scene = try Scene(source)
        let tiles = scene.visitAndDemote()
        let damaged = try #require(tiles.first)
        scene.cache.core.lock.withLock { state in
            let entry = state.pool.table[state.pool.table.find(TileKey(layer: 0, damaged))]
            guard let block = entry.form.block else { return }
            state.pool.pages.forEachPart(of: block) { offset, count in
                (state.pageRegion.base + offset).storeBytes(of: 99, toByteOffset: count / 2, as: UInt8.self)
            }
        }
        #expect(scene.look(at: scene.home))
        for placement in scene.view.frame() { #expect(source.drew(placement.tile)) }
        #expect(source.loads[damaged] == 2 && source.decodes[damaged] == nil)
        #expect(
            scene.cache.statistics.tiers.damagedBlocks == 1 && scene.cache.statistics.tiers.undecodablePayloads == 0
        )
    }

    /// An invalidation while a payload is being decoded. Neither the old pixels nor the old payload return.
    @Test(arguments: [true, false])
    func anInvalidationOvertakesADecode(keepsStale: Bool) throws {
        let source = RunLengthSource(isGated: true)
        let scene = try Scene(source)
        let tiles = scene.visitAndDemote()
        #expect(tiles.count == 4)
        scene.view.update(scene.home)
        #expect(eventually { source.decodes.count >= 1 })
        source.version = 1
        scene.layer.invalidate(keepsStale: keepsStale)
        source.open(100)
        #expect(
            eventually {
                scene.view.update(scene.home)
                let frame = scene.view.frame()
                return frame.missingTileCount == 0 && frame.allSatisfy { !$0.tile.isStale }
            }
        )
        for placement in scene.view.frame() { #expect(source.drew(placement.tile)) }
        #expect(tiles.allSatisfy { source.loads[$0] == 2 })
        #expect(scene.cache.shutdown())
    }

    /// A decoder that hangs occupies its worker, which is counted, and no codec.
    @Test func aDecoderThatHangsKeepsNoCodec() throws {
        let source = RunLengthSource(isGated: true)
        var configuration = TileCache.Configuration(byteLimit: .mebibytes(8), workers: 4)
        configuration.stuckLoadTime = .milliseconds(1)
        let scene = try Scene(source, configuration)
        defer { source.open(100) }
        let codecs = scene.cache.core.lock.withLock { $0.codecs.count }
        #expect(scene.visitAndDemote().count == 4)
        scene.view.update(scene.home)
        #expect(eventually { source.decodes.count == 4 && scene.cache.statistics.blockedWorkers == 4 })
        let (jobs, held) = scene.cache.core.lock.withLock { ($0.pool.codecJobs.count, $0.pool.ledger.heldBytes) }
        #expect(jobs == 0 && held == 4 * 1280)
        #expect(scene.cache.core.lock.withLock { $0.codecs.count } == codecs)
        source.open(100)
        #expect(scene.look(at: scene.home))
        for placement in scene.view.frame() { #expect(source.drew(placement.tile)) }
        #expect(scene.cache.shutdown())
        let (jobsAfter, heldAfter) = scene.cache.core.lock.withLock {
            ($0.pool.codecJobs.count, $0.pool.ledger.heldBytes)
        }
        #expect(jobsAfter == 0 && heldAfter == 0)
    }

    /// As many hanging decoders as workers stop nothing. Spare workers replace them, and they return later.
    @Test func decodersThatHangTakeTheirPlacesAndNoMore() throws {
        let source = RunLengthSource(isGated: true)
        var configuration = TileCache.Configuration(byteLimit: .mebibytes(8), workers: 2)
        configuration.stuckLoadTime = .milliseconds(1)
        let scene = try Scene(source, configuration)
        defer { source.open(100) }
        let healthy = RunLengthSource()
        let other = try scene.cache.addLayer(
            healthy,
            pyramid: .powerOfTwo(worldWidth: 4096, worldHeight: 4096, tileSize: 64)
        )
        let view = ServiceSetup.quiet(scene.cache, [other])
        func isSharp(_ viewport: TileViewport) -> Bool {
            eventually {
                view.update(viewport)
                return view.frame().missingTileCount == 0
            }
        }
        #expect(isSharp(scene.home))
        let tiles = view.frame().map(\.tile.identity.tile)
        #expect(isSharp(scene.away))
        #expect(tiles.allSatisfy { other.demote($0) })
        #expect(scene.visitAndDemote().count == 4)
        scene.view.update(scene.home)
        #expect(
            eventually {
                scene.view.update(scene.home)
                return scene.cache.core.lock.withLock { $0.workers.decodes.values.count { $0.isReplaced } } >= 2
            }
        )
        // Promotions of another layer by its own decoder, and loads.
        #expect(isSharp(scene.home))
        #expect(healthy.decodes.count == 4)
        #expect(isSharp(TileViewport(center: WorldPoint(x: 2000, y: 500), width: 256, height: 256)))
        // At most as many as there are workers, and one for each worker that was already busy.
        #expect(source.decodes.count <= 4)
        source.open(100)
        #expect(scene.look(at: scene.home))
        for placement in scene.view.frame() { #expect(source.drew(placement.tile)) }
        #expect(scene.cache.shutdown())
        scene.cache.core.lock.withLock { state in
            #expect(state.workers.decodes.isEmpty && state.workers.surplus == 0)
            #expect(state.pool.layers.allSatisfy { $0.stuckDecodes == 0 })
        }
    }

    /// If pixels need every byte, the payloads are evicted. The view still becomes sharp.
    @Test func neededPixelsComeBeforePayloads() throws {
        let source = RunLengthSource(padding: 1000)
        // 9 x 9 tiles of 16 KiB at most, and the tables and scratch memory of an empty cache.
        let empty = try Scene(source, byteLimit: .mebibytes(8)).cache.statistics.memory.used.bytes
        let scene = try Scene(source, byteLimit: .bytes(empty + 84 * 16384))
        let wide = TileViewport(center: WorldPoint(x: 1024, y: 1024), width: 512, height: 512)
        for shift in 0..<8 {
            var viewport = wide
            viewport.center.x += Double(shift) * 200
            #expect(scene.look(at: viewport))
            for placement in scene.view.frame() { #expect(placement.isExact && source.drew(placement.tile)) }
        }
        #expect(scene.view.shortfall.bytes == 0)
        let figures = scene.cache.statistics
        #expect(figures.memory.peak.bytes <= figures.memory.limit.bytes)
        #expect(scene.cache.counters.limitBreaches == 0)
    }

    @Test func onlyDecodersKeepPayloads() throws {
        struct Hopeful: BlockingTileSource {
            let answers: Answers

            func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
                fill(&pixels, with: 7)
                let isKept = [UInt8](repeating: 1, count: 64).withUnsafeBytes { pixels.keepEncoded($0) }
                answers.kept.withLock { $0 = $0 || isKept }
                return .pixels
            }
        }
        final class Answers: Sendable { let kept = Lock(false) }
        let answers = Answers()
        let scene = try Scene(Hopeful(answers: answers))
        #expect(scene.look(at: scene.home))
        #expect(!answers.kept.withLock { $0 })
        #expect(scene.cache.statistics.tiers.encodedPayloads == 0)
    }

    /// Bytes that a source reports to hold count until its request ends.
    @Test func heldBytesCountUntilTheRequestEnds() throws {
        let source = QueuedSource()
        let cache = try TileCache(byteLimit: .mebibytes(4))
        let layer = try cache.addLayer(source, pyramid: .powerOfTwo(worldWidth: 4096, worldHeight: 4096, tileSize: 64))
        let view = cache.makeView(layers: [layer], selection: TileLevelSelection(), policy: { NoPrefetch() })
        var requests: [TileRequest] = []
        #expect(
            eventually {
                view.update(TileViewport(center: WorldPoint(x: 1024, y: 1024), width: 128, height: 128))
                requests += source.take()
                return requests.count >= 2
            }
        )
        let before = cache.statistics.memory.used.bytes
        #expect(requests[0].holdsEncoded(.bytes(100_000)))
        #expect(requests[1].holdsEncoded(.bytes(50_000)))
        #expect(requests[0].holdsEncoded(.bytes(30_000)))
        #expect(cache.statistics.memory.inFlight.bytes == 80_000)
        #expect(cache.statistics.memory.used.bytes == before + 80_000)
        #expect(!requests[1].holdsEncoded(.bytes(8 << 20)))
        #expect(cache.statistics.memory.inFlight.bytes == 80_000)
        source.answer(requests[0])
        requests[1].cancel()
        #expect(!requests[0].holdsEncoded(.bytes(1)))
        #expect(eventually { cache.statistics.memory.inFlight.bytes == 0 })
        cache.shutdown()
    }
}
