import Testing

@testable import TileCache

/// Another worker takes the place of one whose source hangs.
@Suite(.timeLimit(.minutes(15))) struct HangingWorkerTests {
    /// One worker has three spare ones, and a layer has two loads in flight. The fourth load hangs without a spare worker
    /// left.
    @Test func aSpareWorkerThatIsFreeAgainReplacesTheNextOne() throws {
        let scene = try StillScene(tiles: 64, workers: 1) { $0.stuckLoadTime = .milliseconds(2) }
        let source = QueuedSource()
        let silent = try [source, QueuedSource()].map { try scene.cache.addLayer($0, pyramid: scene.pyramid) }
        let plain = try scene.plainLayer()
        let view = ServiceSetup.quiet(scene.cache, silent + [plain])
        defer { withExtendedLifetime(view) {} }
        view.update(
            needing: silent.flatMap { layer in
                (0..<2).map { NeededTile(layer: layer, tile: scene.tile($0), importance: 2) }
            } + [NeededTile(layer: plain, tile: scene.tile(0))]
        )
        func look() {
            scene.run()
            for _ in 0..<12 where scene.scheduler.passTime() { scene.run() }
        }
        look()
        #expect(scene.cache.statistics.loadsInFlight == 4 && scene.resident(0..<1, of: plain) == 0)
        #expect(scene.cache.core.read { $0.workers.spare.isEmpty && $0.pool.loads.writtenOffCount == 3 })
        source.answer(try #require(source.take().first))
        look()
        #expect(scene.resident(0..<1, of: silent[0]) == 1 && scene.resident(0..<1, of: plain) == 1)
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
            view.update(needing: [NeededTile(layer: plain, tile: scene.tile(0))])
            scene.run()
            #expect(scene.resident(0..<1, of: plain) == 1)
            #expect(core.read { $0.pool.layers[slow.index].stuckRequests } == 1)
        }
        view.update(needing: [NeededTile(layer: slow, tile: scene.tile(0))])
        scene.run()
        #expect(source.whileAsked == nil && scene.resident(0..<1, of: slow) == 1)
        let (roster, stuck) = core.read { ($0.workers, $0.pool.layers[slow.index].stuckRequests) }
        #expect(roster.idle.count == 1 && roster.spare.count == 3 && roster.surplus == 0 && stuck == 0)
    }
}

/// A source that calls the test while it is asked.
private final class NestingSource: TileSource, @unchecked Sendable {
    // Used by one thread only.
    var whileAsked: ((TileRequest) -> Void)?

    func requestTile(_ request: TileRequest) { whileAsked?(request) }
}
