import Testing

@testable import TileCache

/// No worker sleeps while the plan has work for it.
@Suite(.timeLimit(.minutes(45))) struct WakeTests {
    /// A worker that finds the only codec busy goes to sleep. The worker that takes the next job wakes it for the plan
    /// entries behind.
    @Test func aWorkerThatTakesAJobWakesAnother() throws {
        let scene = try StillScene(tiles: 16) { $0.usesCompressedTier = true }
        let layer = try scene.plainLayer()
        let source = QueuedSource(layer: 1)
        let slow = try scene.cache.addLayer(source, pyramid: scene.pyramid)
        let view = ServiceSetup.quiet(scene.cache, [layer, slow])
        defer { withExtendedLifetime(view) {} }
        scene.need(0..<2, of: layer, view)
        view.update(needing: [])
        scene.run()
        #expect((0..<2).allSatisfy { layer.demote(scene.tile($0)) })
        let core = scene.cache.core
        core.perform { $0.pool.setCodecs(1) }
        scene.meanwhile = {
            if core.lock.withLock({ $0.pool.codecJobs.count > 0 }) { scene.run() }
            return false
        }
        view.update(
            needing: (0..<2).map { NeededTile(layer: layer.id, tile: scene.tile($0), importance: 2) }
                + (2..<4).map { NeededTile(layer: slow.id, tile: scene.tile($0)) }
        )
        scene.run()
        scene.meanwhile = nil
        #expect(scene.decoded(0..<2, of: layer) == 2)
        #expect(source.take().map(\.tile) == [scene.tile(2), scene.tile(3)])
    }

    /// A source that holds bytes gets the room of a cold tile. An idle codec compresses it.
    @Test func whatASourceHoldsCompressesWhatIsCold() throws {
        let scene = try StillScene(tiles: 32) { $0.usesCompressedTier = true }
        let layer = try scene.plainLayer()
        let source = QueuedSource(layer: 1)
        let other = try scene.cache.addLayer(source, pyramid: scene.pyramid)
        let view = ServiceSetup.quiet(scene.cache, [layer, other])
        defer { withExtendedLifetime(view) {} }
        scene.need(0..<32, of: layer, view)
        #expect(scene.decoded(0..<32, of: layer) == 32)
        scene.need(40..<41, of: other, view)
        let request = try #require(source.take().first)
        #expect(request.holdsEncoded(.bytes(8192)))
        #expect(scene.decoded(0..<32, of: layer) == 31 && scene.resident(0..<32, of: layer) == 32)
        source.answer(request)
        #expect(scene.run() && scene.decoded(40..<41, of: other) == 1)
    }

    /// A decoder with its copy of a payload passes the codec to a waiting worker.
    @Test func aCodecThatComesBackWakesAWorker() throws {
        let scene = try StillScene(tiles: 32) { $0.usesCompressedTier = true }
        let source = PausedDecoder(payloadBytes: 4096)
        // The closure may own the cache, which owns the source.
        defer { source.whileDecoding = nil }
        let encoded = try scene.cache.addLayer(source, pyramid: scene.pyramid)
        let layer = try scene.plainLayer()
        let view = ServiceSetup.quiet(scene.cache, [encoded, layer])
        defer { withExtendedLifetime(view) {} }
        let wishes = [
            NeededTile(layer: encoded.id, tile: scene.tile(0), importance: 2),
            NeededTile(layer: layer.id, tile: scene.tile(1)),
        ]
        view.update(needing: wishes)
        scene.run()
        view.update(needing: [])
        scene.run()
        #expect(encoded.demote(scene.tile(0)) && layer.demote(scene.tile(1)))
        let core = scene.cache.core
        core.perform { $0.pool.setCodecs(1) }
        var others = 0
        source.whileDecoding = { _ in
            scene.run()
            others = scene.decoded(1..<2, of: layer)
        }
        scene.meanwhile = {
            if core.lock.withLock({ $0.pool.codecJobs.count > 0 }) { scene.run() }
            return false
        }
        view.update(needing: wishes)
        scene.run()
        scene.meanwhile = nil
        #expect(others == 1 && scene.decoded(0..<1, of: encoded) == 1)
    }
}
