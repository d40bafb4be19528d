import Testing

@testable import TileCache

/// Another worker takes the place of one whose source hangs.
@Suite(.timeLimit(.minutes(45))) struct HangingWorkerTests {
    /// Requests that nobody answers occupy no worker: none is replaced, however many layers do not answer.
    @Test(arguments: [1, 16, 40]) func otherLayersGoOnBesideSeveralThatDoNotAnswer(silentLayers: Int) throws {
        let scene = try scene()
        let silent = try (0..<silentLayers).map { _ in
            let source = QueuedSource()
            return (source: source, layer: try scene.cache.addLayer(source, pyramid: scene.pyramid))
        }
        let plain = try scene.plainLayer()
        let view = ServiceSetup.quiet(scene.cache, silent.map(\.layer) + [plain])
        defer { withExtendedLifetime(view) {} }
        need(silent.map(\.layer), and: plain, in: view, scene)
        look(scene)
        #expect(scene.resident(0..<1, of: plain) == 1)
        #expect(scene.cache.core.read { $0.workers.spare.count == 15 && $0.pool.loads.replacedCount == 0 })
        #expect(scene.cache.statistics.stuckLoads == silentLayers)
        #expect(silent.allSatisfy { !$0.source.take().isEmpty })
    }

    /// One worker has fifteen spare ones. Sixteen calls of a source that do not return occupy all of them. The first one
    /// that returns makes way for the next layer.
    @Test func aSpareWorkerThatIsFreeAgainReplacesTheNextOne() throws {
        let scene = try scene()
        let source = NestingSource()
        // The closure may own the cache, which owns the source.
        defer { source.whileAsked = nil }
        let layers = try (0..<16).map { _ in try scene.cache.addLayer(source, pyramid: scene.pyramid) }
        let plain = try scene.plainLayer()
        let view = ServiceSetup.quiet(scene.cache, layers + [plain])
        defer { withExtendedLifetime(view) {} }
        let core = scene.cache.core
        var depth = 0
        source.whileAsked = { _ in
            depth += 1
            look(scene)
            guard depth == 16, source.whileAsked != nil else { return }
            source.whileAsked = nil
            #expect(core.read { $0.workers.spare.isEmpty && $0.pool.loads.replacedCount == 15 })
            #expect(scene.resident(0..<1, of: plain) == 0)
        }
        need(layers, and: plain, in: view, scene)
        #expect(depth == 16)
        look(scene)
        #expect(scene.resident(0..<1, of: plain) == 1)
        #expect(core.read { $0.workers.idle.count == 1 && $0.workers.spare.count == 15 })
    }

    private func scene() throws -> StillScene {
        try StillScene(tiles: 64, workers: 1) { $0.stuckLoadTime = .milliseconds(20) }
    }

    /// Needs a tile of each layer, the plain one's last.
    private func need(_ layers: [TileLayer], and plain: TileLayer, in view: TileView, _ scene: StillScene) {
        let tile = scene.tile(0)
        view.update(
            needing: layers.map { NeededTile(layer: $0.id, tile: tile, importance: 2) } + [
                NeededTile(layer: plain.id, tile: tile)
            ]
        )
        scene.run()
    }

    private func look(_ scene: StillScene) {
        scene.run()
        for _ in 0..<200 where scene.scheduler.passTime() { scene.run() }
    }

    /// A source answers no prefetch, and ends those that are cancelled. Its layer may have two loads in flight.
    @Test func aNeededTileTakesThePlaceOfAPrefetchThatHangs() throws {
        let scene = try StillScene(tiles: 64, workers: 1) { $0.stuckLoadTime = .milliseconds(20) }
        let source = CancellableSource()
        let layer = try scene.cache.addLayer(source, pyramid: scene.pyramid)
        let view = ServiceSetup.quiet(scene.cache, [layer])
        defer { withExtendedLifetime(view) {} }
        layer.prefetch([scene.tile(0), scene.tile(1)])
        look(scene)
        #expect(source.requested == [scene.tile(0), scene.tile(1)])
        scene.need(2..<3, of: layer, view)
        look(scene)
        // The prefetch follows as soon as there is a place for it.
        #expect(source.requested.prefix(3).last == scene.tile(2))
    }

    /// A load has begun, and a plan without its tile is installed before the source is asked.
    @Test func aRequestThatIsUnwantedWhenItIsMadeIsCancelled() throws {
        let scene = try StillScene(tiles: 64)
        let source = CancellableSource()
        let layer = try scene.cache.addLayer(source, pyramid: scene.pyramid)
        let view = ServiceSetup.quiet(scene.cache, [layer])
        defer { withExtendedLifetime(view) {} }
        let core = scene.cache.core
        scene.meanwhile = {
            guard core.read({ $0.pool.loads.count == 1 && $0.requests.isEmpty }) else { return false }
            view.update(needing: [])
            return scene.run()
        }
        scene.need(0..<1, of: layer, view)
        #expect(scene.meanwhile == nil && source.requested == [scene.tile(0)])
        #expect(core.read { $0.pool.loads.count == 0 && $0.requests.isEmpty })
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
final class NestingSource: TileSource, @unchecked Sendable {
    // Used by one thread only.
    var whileAsked: ((TileRequest) -> Void)?

    func requestTile(_ request: TileRequest) { whileAsked?(request) }
}

/// A source that answers nothing, and ends requests that are cancelled.
private final class CancellableSource: TileSource, @unchecked Sendable {
    let loadsInFlight = LoadsInFlight.fixed(2)
    // Used by one thread only.
    private(set) var requested: [TileCoordinate] = []
    private var requests: [TileRequest] = []

    func requestTile(_ request: TileRequest) {
        requested.append(request.tile)
        requests.append(request)
        request.onCancel { [weak request] in request?.cancel() }
    }
}
