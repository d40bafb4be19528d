import Testing
import TileCache
import TileCacheConcurrency

/// A name that applications and other modules have too.
struct Rectangle {
    var isDirty = false
}

/// An application's window, as Swift 6 requires it.
@MainActor final class Window {
    private(set) var draws = 0
    private(set) var area = Rectangle()
    let view: TileView

    init(_ view: TileView) {
        self.view = view
        view.setTilesReadyHandler { [weak self] in self?.setNeedsDisplay() }
    }

    func setNeedsDisplay() {
        MainActor.assertIsolated()
        area.isDirty = true
        draws += 1
    }
}

/// An `async` source that a test opens tile by tile.
private final class GatedSource: AsyncTileSource {
    private struct State {
        var waiting: [TileCoordinate: CheckedContinuation<Void, Never>] = [:]
        var started = 0
        var cancelled = 0
    }

    private let state = Lock(State())
    let fails: Bool
    /// What a cancelled task throws.
    let cancellation: any Error

    init(fails: Bool = false, cancellation: any Error = CancellationError()) {
        self.fails = fails
        self.cancellation = cancellation
    }

    var started: Int { state.withLock { $0.started } }
    var cancelled: Int { state.withLock { $0.cancelled } }

    func openAll() {
        let waiting = state.withLock { state in
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.resume() }
    }

    func load(_ tile: TileCoordinate) async throws -> Writer {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { state in
                    state.started += 1
                    state.waiting[tile] = continuation
                }
                if Task.isCancelled { open(tile) }
            }
        } onCancel: {
            open(tile)
        }
        if Task.isCancelled {
            state.withLock { $0.cancelled += 1 }
            throw cancellation
        }
        if fails { throw TileFailure.permanent }
        return { pixels in
            if tile.column == 1 { return .absent }
            pixels.withUnsafeMutableBytes { bytes in
                _ = bytes.initializeMemory(as: UInt8.self, repeating: UInt8(tile.column))
            }
            return .pixels
        }
    }

    private func open(_ tile: TileCoordinate) {
        let continuation = state.withLock { $0.waiting.removeValue(forKey: tile) }
        continuation?.resume()
    }
}

/// An `async` source with memory of its own.
private final class Archive: AsyncTileSource, MemoryReportingSource {
    let heldMemory: ByteCount = .mebibytes(1)

    func load(_ tile: TileCoordinate) async throws -> Writer {
        return { pixels in .absent }
    }
}

/// On the main actor, as a window is.
@MainActor @Suite(.timeLimit(.minutes(60))) struct ConcurrencyTests {
    private func make(_ source: any AsyncTileSource) throws -> (TileCache, TileLayer, TileView) {
        var configuration = TileCache.Configuration(byteLimit: .mebibytes(4))
        configuration.effort = 0
        let cache = try TileCache(configuration)
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 1024, worldHeight: 1024, tileSize: 64)
        let layer = try cache.addLayer(source, pyramid: pyramid)
        return (cache, layer, cache.makeView(layers: [layer]))
    }

    /// Four tiles of 64 pixels, columns 0 and 1.
    private let viewport = TileViewport(center: WorldPoint(x: 64, y: 64), width: 100, height: 100)

    /// Waits until a condition holds. Returns false if it never does: five minutes at least.
    ///
    /// Looks are counted, not time: on a slow machine they are slower too.
    private func reaches(looks: Int = 60_000, _ condition: () -> Bool) async throws -> Bool {
        for _ in 0..<looks {
            if condition() { return true }
            try await Task.sleep(for: .milliseconds(5))
        }
        return condition()
    }

    @Test func waitsEnd() async throws {
        #expect(try await !reaches(looks: 3) { false })
        var looks = 0
        let isReached = try await reaches(looks: 3) {
            looks += 1
            return looks == 3
        }
        #expect(isReached && looks == 3)
    }

    @Test func aWindowIsCalledOnTheMainActor() async throws {
        let source = GatedSource()
        let (cache, layer, view) = try make(source)
        defer { withExtendedLifetime(cache) {} }
        let window = Window(view)
        view.update(viewport)
        #expect(view.frame().missingTileCount == 4 && window.draws == 0)
        try #require(try await reaches { source.started == 4 })
        source.openAll()
        try #require(try await reaches { window.draws > 0 && view.frame().missingTileCount == 0 })
        #expect(window.area.isDirty)
        view.setTilesReadyHandler(nil)
        let draws = window.draws
        layer.invalidate(keepsStale: false)
        view.update(viewport)
        #expect(view.frame().missingTileCount == 4)
        try #require(
            try await reaches {
                source.openAll()
                return view.frame().missingTileCount == 0
            }
        )
        #expect(window.draws == draws)
    }

    /// Calls that were not consumed are coalesced, and the stream ends with its view.
    @Test func aStreamKeepsTheNewestAndEndsWithTheView() async throws {
        let source = GatedSource()
        let cache: TileCache
        var view: TileView?
        do {
            let made = try make(source)
            cache = made.0
            view = made.2
        }
        let stream = try #require(view?.tilesReady())
        view?.update(viewport)
        _ = view?.frame()
        try #require(try await reaches { source.started == 4 })
        source.openAll()
        try #require(try await reaches { cache.statistics.loads.finished + cache.statistics.loads.absent == 4 })
        var iterator = stream.makeAsyncIterator()
        #expect(await iterator.next() != nil)
        view = nil
        var rest = 0
        while await iterator.next() != nil { rest += 1 }
        #expect(rest <= 1)
    }

    /// Also if the source turns all errors into one that is retried later: the tiles are requested again at once.
    @Test(arguments: [CancellationError(), TileFailure.transient(retryAfter: .seconds(3600))] as [any Error])
    func tasksAreCancelledWithTheirTiles(cancellation: any Error) async throws {
        let source = GatedSource(cancellation: cancellation)
        let (cache, layer, view) = try make(source)
        view.update(viewport)
        try #require(try await reaches { source.started == 4 })
        view.update(TileViewport(center: WorldPoint(x: 900, y: 900), width: 100, height: 100))
        try #require(try await reaches { source.cancelled == 4 && cache.statistics.loads.cancelled == 4 })
        try #require(try await reaches { source.started == 8 })
        view.update(viewport)
        try #require(try await reaches { source.cancelled == 8 && source.started == 12 })
        layer.remove()
        try #require(try await reaches { source.cancelled == 12 })
    }

    /// Memory that a source reports counts in the cache's limit, once for both layers.
    @Test func memoryOfSourcesCounts() throws {
        func bookkeeping(_ source: any AsyncTileSource) throws -> Int {
            let cache = try TileCache(byteLimit: .mebibytes(4))
            let pyramid = try TilePyramid.powerOfTwo(worldWidth: 1024, worldHeight: 1024, tileSize: 64)
            for _ in 0..<2 { _ = try cache.addLayer(source, pyramid: pyramid) }
            return cache.statistics.memory.bookkeeping.bytes
        }
        let added = try bookkeeping(Archive()) - bookkeeping(GatedSource())
        #expect((1 << 20..<2 << 20).contains(added))
    }

    @Test func failuresAndAbsentTilesAreTold() async throws {
        let source = GatedSource(fails: true)
        let (cache, _, view) = try make(source)
        view.update(viewport)
        try #require(try await reaches { source.started == 4 })
        source.openAll()
        try #require(try await reaches { cache.statistics.loads.failed == 4 })
        #expect(view.frame().unavailable.count == 4)
    }
}
