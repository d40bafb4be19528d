import Dispatch
import Synchronization

@testable import TileCache

/// The whole service, threads included, under a clock that the test moves. Frames, timers and answers of sources come in
/// the order of their times, and each waits until everything that the one before it caused is done.
final class VirtualService: Sendable {
    private struct Event {
        var time: Int64
        var body: @Sendable () -> Void
    }

    private struct State {
        var now: Int64 = 1_000_000_000
        var events: [Event] = []
        var waiting = 0
        var requests: [Request] = []
    }

    /// A tile that a source was asked for.
    struct Request: Sendable {
        var layer: Int
        var tile: TileCoordinate
        /// Nanoseconds since the start.
        var time: Int64
    }

    private static let start: Int64 = 1_000_000_000
    private let state = Lock(State())

    /// Nanoseconds since the start.
    var time: Int64 { state.withLock { $0.now } - Self.start }
    var requests: [Request] { state.withLock { $0.requests } }

    /// Sets a cache's clock and timers.
    func drive(_ configuration: inout TileCache.Configuration) {
        configuration.clock = { [self] in state.withLock { $0.now } }
        configuration.executor.makeTimer = { [self] in VirtualTimer(self, on: $0) }
    }

    func after(_ wait: Int64, _ body: @escaping @Sendable () -> Void) {
        state.withLock { state in
            let event = Event(time: state.now + wait, body: body)
            // Behind those of the same time.
            let place = state.events.firstIndex { $0.time > event.time } ?? state.events.count
            state.events.insert(event, at: place)
        }
    }

    /// Notes a request and answers it later.
    fileprivate func ask(_ request: Request, after wait: Int64, _ answer: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.waiting += 1
            state.requests.append(request)
            state.requests[state.requests.count - 1].time = state.now - Self.start
        }
        after(wait) { [self] in
            state.withLock { $0.waiting -= 1 }
            answer()
        }
    }

    /// Lets all events of so many nanoseconds happen.
    func advance(_ cache: TileCache, by span: Int64) {
        settle(cache)
        let end = state.withLock { $0.now } + span
        while let event = state.withLock({ state -> Event? in
            guard let first = state.events.first, first.time <= end else { return nil }
            state.now = max(state.now, first.time)
            return state.events.removeFirst()
        }) {
            event.body()
            settle(cache)
        }
        state.withLock { $0.now = end }
    }

    /// Waits until no plan is to be made and every worker is idle or waits for its source.
    private func settle(_ cache: TileCache) {
        var quiet = 0
        while quiet < 2 {
            cache.core.coordinator.sync {}
            let waiting = state.withLock { $0.waiting }
            let isQuiet = cache.core.lock.withLock {
                !$0.isPlanQueued && $0.idleWorkers.count + waiting == $0.pool.configuration.workers
            }
            quiet = isQuiet ? quiet + 1 : 0
        }
    }
}

/// A timer of a ``VirtualService``.
private final class VirtualTimer: StepTimer {
    private let service: VirtualService
    private let queue: DispatchQueue
    /// How often it has been set; only what was set last runs.
    private let sets = Lock(0)

    init(_ service: VirtualService, on queue: DispatchQueue) {
        self.service = service
        self.queue = queue
    }

    func set(after nanoseconds: Int?, _ step: @escaping Executor.Step) {
        let number = sets.withLock { sets in
            sets += 1
            return sets
        }
        guard let nanoseconds else { return }
        service.after(Int64(nanoseconds)) { [self] in
            queue.async { if self.sets.withLock({ $0 }) == number { step() } }
        }
    }

    func cancel() { sets.withLock { $0 += 1 } }
}

/// A source whose tiles take so many nanoseconds of a ``VirtualService``, blocking or not.
final class VirtualSource: BlockingTileSource, TileSource {
    private let service: VirtualService
    private let layer: Int
    private let latency: Int64
    /// Encoded bytes that it holds for a request before it answers.
    private let heldBytes: Int

    init(_ service: VirtualService, layer: Int = 0, latency: Int64, heldBytes: Int = 0) {
        self.service = service
        self.layer = layer
        self.latency = latency
        self.heldBytes = heldBytes
    }

    /// Adds it as a layer of ``ServiceSetup``'s world.
    func add(to cache: TileCache, isBlocking: Bool) throws -> LayerID {
        let pyramid = try ServiceSetup.pyramid()
        return isBlocking
            ? try cache.addLayer(self as any BlockingTileSource, pyramid: pyramid)
            : try cache.addLayer(self as any TileSource, pyramid: pyramid)
    }

    func load(_ tile: TileCoordinate, into pixels: inout TilePixels) -> TileOutcome {
        let answer = DispatchSemaphore(value: 0)
        ask(for: tile) { answer.signal() }
        answer.wait()
        fill(&pixels, with: expectedPixel(layer: layer, tile))
        return .pixels
    }

    func requestTile(_ request: TileRequest) {
        ask(for: request.tile) { [heldBytes, layer] in
            guard heldBytes == 0 || request.holdsEncoded(bytes: heldBytes) else { return request.fail() }
            request.complete { pixels in
                fill(&pixels, with: expectedPixel(layer: layer, request.tile))
                return .pixels
            }
        }
    }

    private func ask(for tile: TileCoordinate, _ answer: @escaping @Sendable () -> Void) {
        service.ask(VirtualService.Request(layer: layer, tile: tile, time: 0), after: latency, answer)
    }
}
