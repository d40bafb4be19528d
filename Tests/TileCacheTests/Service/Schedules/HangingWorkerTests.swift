import Testing

@testable import TileCache

/// Another worker takes the place of one whose source hangs.
@Suite(.timeLimit(.minutes(15))) struct HangingWorkerTests {
    /// One worker has fifteen spare ones, of which layers that hang leave the second half to others.
    @Test(arguments: [1, 2, 15]) func otherLayersGoOnBesideSeveralThatHang(silentLayers: Int) throws {
        let (scene, silent, plain, view) = try scene(silentLayers: silentLayers)
        defer { withExtendedLifetime(view) {} }
        #expect(scene.resident(0..<1, of: plain) == 1)
        #expect(silent.allSatisfy { !$0.source.take().isEmpty })
        #expect(!scene.cache.core.read { $0.workers.spare.isEmpty && $0.workers.idle.isEmpty })
    }

    /// Sixteen layers occupy all of them. The first one that answers makes way for the others.
    @Test func aSpareWorkerThatIsFreeAgainReplacesTheNextOne() throws {
        let (scene, silent, plain, view) = try scene(silentLayers: 16)
        defer { withExtendedLifetime(view) {} }
        #expect(scene.cache.statistics.loadsInFlight == 16 && scene.resident(0..<1, of: plain) == 0)
        #expect(scene.cache.core.read { $0.workers.spare.isEmpty && $0.pool.loads.writtenOffCount == 15 })
        // It has taken long: the layer that has had nothing goes first.
        scene.scheduler.spend(nanoseconds: 1_000_000_000)
        silent[0].source.answer(try #require(silent[0].source.take().first))
        look(scene)
        #expect(scene.resident(0..<1, of: silent[0].layer) == 1 && scene.resident(0..<1, of: plain) == 1)
    }

    private struct Silent {
        let source: QueuedSource
        let layer: TileLayer
    }

    /// One worker, and a view of layers that do not answer and of one that does, whose tile is needed last.
    private func scene(
        silentLayers: Int
    ) throws -> (scene: StillScene, silent: [Silent], plain: TileLayer, view: TileView) {
        let scene = try StillScene(tiles: 64, workers: 1) { $0.stuckLoadTime = .milliseconds(20) }
        let silent = try (0..<silentLayers).map { _ in
            let source = QueuedSource()
            return Silent(source: source, layer: try scene.cache.addLayer(source, pyramid: scene.pyramid))
        }
        let plain = try scene.plainLayer()
        let view = ServiceSetup.quiet(scene.cache, silent.map(\.layer) + [plain])
        view.update(
            needing: silent.flatMap { silent in
                (0..<2).map { NeededTile(layer: silent.layer.id, tile: scene.tile($0), importance: 2) }
            } + [NeededTile(layer: plain.id, tile: scene.tile(0))]
        )
        look(scene)
        return (scene, silent, plain, view)
    }

    private func look(_ scene: StillScene) {
        scene.run()
        for _ in 0..<200 where scene.scheduler.passTime() { scene.run() }
    }

    /// A source answers after its worker was replaced, and goes on. The spare worker stays until it returns.
    @Test func aWorkerIsNotBackBeforeItsSourceReturns() throws {
        let scene = try StillScene(tiles: 64, workers: 1) { $0.stuckLoadTime = .milliseconds(2) }
        let source = NestingSource()
        // The closure may own the cache, which owns the source.
        defer { source.whileAsked = nil }
        let slow = try scene.cache.addLayer(source, pyramid: scene.pyramid)
        let plain = try scene.plainLayer()
        let view = ServiceSetup.quiet(scene.cache, [slow, plain])
        defer { withExtendedLifetime(view) {} }
        let core = scene.cache.core
        source.whileAsked = { request in
            source.whileAsked = nil
            scene.run()
            for _ in 0..<3 where scene.scheduler.passTime() { scene.run() }
            #expect(core.read { $0.pool.loads.writtenOffCount } == 1)
            request.complete { pixels in
                fill(&pixels, with: 7)
                return .pixels
            }
            scene.run()
            view.update(needing: [NeededTile(layer: plain.id, tile: scene.tile(0))])
            scene.run()
            #expect(scene.resident(0..<1, of: plain) == 1)
            #expect(core.read { $0.pool.layers[slow.id.index].stuckRequests } == 1)
        }
        view.update(needing: [NeededTile(layer: slow.id, tile: scene.tile(0))])
        scene.run()
        #expect(source.whileAsked == nil && scene.resident(0..<1, of: slow) == 1)
        let (roster, stuck) = core.read { ($0.workers, $0.pool.layers[slow.id.index].stuckRequests) }
        #expect(roster.idle.count == 1 && roster.spare.count == 15 && roster.surplus == 0 && stuck == 0)
    }
}

/// A source that calls the test while it is asked.
private final class NestingSource: TileSource, @unchecked Sendable {
    // Used by one thread only.
    var whileAsked: ((TileRequest) -> Void)?

    func requestTile(_ request: TileRequest) { whileAsked?(request) }
}
