import Dispatch
import Testing
import TileCache

@testable import TileCacheC

/// Two answers to one request at the same time.
@Suite(.timeLimit(.minutes(45))) struct SecondAnswerTests {
    private final class OneRequest: TileSource {
        let request = Lock<TileRequest?>(nil)
        let isRequested = DispatchSemaphore(value: 0)

        func requestTile(_ request: TileRequest) {
            self.request.withLock { $0 = $0 ?? request }
            isRequested.signal()
        }
    }

    /// A second answer between the first one's claim and its completion is counted and ignored.
    @Test func theFirstOneAnswers() throws {
        let cache = try TileCache(byteLimit: .mebibytes(4))
        let source = OneRequest()
        let layer = try cache.addLayer(
            source,
            pyramid: .powerOfTwo(worldWidth: 256, worldHeight: 256, tileSize: 64)
        )
        let view = cache.makeView(layers: [layer])
        view.update(TileViewport(center: WorldPoint(x: 32, y: 32), width: 32, height: 32))
        #expect(source.isRequested.wait(timeout: .now() + .seconds(600)) == .success)
        let request = try #require(source.request.withLock { $0 })
        let handle = RequestHandle(request, source: CallbackContext(nil, destroy: nil))
        try handle.claim()
        #expect(throws: Failure.self) { try handle.claim() }
        #expect(cache.statistics.loads.secondAnswers == 1)
        #expect(request.complete { _ in .absent })
        #expect(cache.statistics.loads.absent == 1 && cache.statistics.loads.cancelled == 0)
        #expect(cache.shutdown())
    }
}
