import Dispatch

@testable import TileCache

/// The whole service, threads included, under a clock that the test moves. Frames, timers and sources' answers come in
/// the order of their times. Each waits until all effects of the one before are done.
final class VirtualService: Sendable {
    /// A tile that was requested from a source.
    struct Request: Sendable {
        var layer: Int
        var tile: TileCoordinate
        /// Nanoseconds since the start.
        var time: Int64
    }

    fileprivate let events = VirtualEvents()

    /// Nanoseconds since the start.
    var time: Int64 { events.state.withLock { $0.now } - VirtualEvents.start }
    var requests: [Request] { events.state.withLock { $0.requests } }

    deinit { events.end() }

    /// Sets a cache's clock and timers.
    func drive(_ configuration: inout TileCache.Configuration) {
        configuration.clock = { [events] in events.state.withLock { $0.now } }
        configuration.executor.makeTimer = { [events] in VirtualTimer(events, on: $0) }
    }

    func after(_ wait: Int64, _ body: @escaping @Sendable () -> Void) { events.after(wait, body) }

    /// Runs all events of a number of nanoseconds.
    func advance(_ cache: TileCache, by span: Int64) {
        settle(cache)
        let end = events.state.withLock { $0.now } + span
        while let event = events.state.withLock({ state -> VirtualEvents.Event? in
            guard let first = state.events.first, first.time <= end else { return nil }
            state.now = max(state.now, first.time)
            return state.events.removeFirst()
        }) {
            event.body()
            settle(cache)
        }
        events.state.withLock { $0.now = end }
    }

    /// Waits until no plan is pending and workers are idle or within blocking sources.
    ///
    /// Sleeps between looks: other tests have the cores too, and a loop that only looks would take from a worker the time
    /// that it waits for.
    private func settle(_ cache: TileCache) {
        var quiet = 0
        while quiet < 2 {
            cache.core.coordinator.sync {}
            let waiting = events.state.withLock { $0.waiting }
            let isQuiet = cache.core.lock.withLock { state in
                !state.planning.isQueued && !state.planning.isMaking
                    && state.workers.idle.count + waiting
                        == state.pool.configuration.workers + state.pool.loads.replacedCount
            }
            quiet = isQuiet ? quiet + 1 : 0
            if !isQuiet { pause(microseconds: 20) }
        }
    }
}

/// Pending events of a ``VirtualService``. Closures of events refer to it in a cycle, until ``end()``.
private final class VirtualEvents: Sendable {
    struct Event {
        var time: Int64
        var body: @Sendable () -> Void
    }

    struct State {
        var now = VirtualEvents.start
        var events: [Event] = []
        /// Calls within blocking sources.
        var waiting = 0
        var requests: [VirtualService.Request] = []
        var isOver = false

        /// Adds an event after those of the same time.
        mutating func add(_ event: Event) {
            events.insert(event, at: events.firstIndex { $0.time > event.time } ?? events.count)
        }
    }

    static let start: Int64 = 1_000_000_000
    let state = Lock(State())

    func after(_ wait: Int64, _ body: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            guard !state.isOver else { return true }
            state.add(Event(time: state.now + wait, body: body))
            return false
        }
        if isOver { body() }
    }

    /// Records a request and answers it later.
    ///
    /// - Parameter callers: Threads that wait for the answer, 0 or 1.
    func ask(
        _ request: VirtualService.Request,
        after wait: Int64,
        callers: Int,
        _ answer: @escaping @Sendable () -> Void
    ) {
        let event: @Sendable () -> Void = { [self] in
            state.withLock { $0.waiting -= callers }
            answer()
        }
        // In one step: between two, the time may be advanced, since the worker already waits.
        let isOver = state.withLock { state in
            state.waiting += callers
            state.requests.append(request)
            state.requests[state.requests.count - 1].time = state.now - Self.start
            if !state.isOver { state.add(Event(time: state.now + wait, body: event)) }
            return state.isOver
        }
        if isOver { event() }
    }

    /// Runs everything at once, so that no source blocks a worker for ever.
    func end() {
        let rest = state.withLock { state in
            state.isOver = true
            defer { state.events = [] }
            return state.events
        }
        for event in rest { event.body() }
    }
}

/// A timer of a ``VirtualService``.
private final class VirtualTimer: StepTimer {
    private let events: VirtualEvents
    private let queue: DispatchQueue
    /// Number of times it has been set; only the last setting fires.
    private let sets = Lock(0)

    init(_ events: VirtualEvents, on queue: DispatchQueue) {
        self.events = events
        self.queue = queue
    }

    func set(after nanoseconds: Int?, _ step: @escaping Executor.Step) {
        let number = sets.withLock { sets in
            sets += 1
            return sets
        }
        guard let nanoseconds, !events.state.withLock({ $0.isOver }) else { return }
        events.after(Int64(nanoseconds)) { [self] in
            queue.async { if self.sets.withLock({ $0 }) == number { step() } }
        }
    }

    func cancel() { sets.withLock { $0 += 1 } }
}

/// A source whose tiles take a number of nanoseconds of a ``VirtualService``, blocking or not.
final class VirtualSource: BlockingTileSource, TileSource {
    private let events: VirtualEvents
    private let layer: Int
    private let latency: Int64
    /// Encoded bytes that it holds for a request before it answers.
    private let heldBytes: Int
    let loadsInFlight: LoadsInFlight

    /// - Parameter atATime: Maximum requests of it as an asynchronous source. Default: 4.
    init(_ service: VirtualService, layer: Int = 0, latency: Int64, heldBytes: Int = 0, atATime: Int = 4) {
        loadsInFlight = .fixed(atATime)
        events = service.events
        self.layer = layer
        self.latency = latency
        self.heldBytes = heldBytes
    }

    /// Adds it as a layer of ``ServiceSetup``'s world.
    func add(
        to cache: TileCache,
        isBlocking: Bool,
        tileSize: Int = 64,
        maximumShare: Double = 1
    ) throws -> TileLayer {
        let side = ServiceSetup.world
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: side, worldHeight: side, tileSize: tileSize)
        let options = LayerOptions(maximumShare: maximumShare)
        return isBlocking
            ? try cache.addLayer(self as any BlockingTileSource, pyramid: pyramid, options: options)
            : try cache.addLayer(self as any TileSource, pyramid: pyramid, options: options)
    }

    func load(_ tile: TileCoordinate, into pixels: inout TilePixels) -> TileOutcome {
        let answer = DispatchSemaphore(value: 0)
        ask(for: tile, callers: 1) { answer.signal() }
        answer.wait()
        fill(&pixels, with: expectedPixel(layer: layer, tile))
        return .pixels
    }

    func requestTile(_ request: TileRequest) {
        ask(for: request.tile, callers: 0) { [heldBytes, layer] in
            guard heldBytes == 0 || request.holdsEncoded(.bytes(heldBytes)) else { return request.fail() }
            request.complete { pixels in
                fill(&pixels, with: expectedPixel(layer: layer, request.tile))
                return .pixels
            }
        }
    }

    private func ask(for tile: TileCoordinate, callers: Int, _ answer: @escaping @Sendable () -> Void) {
        let request = VirtualService.Request(layer: layer, tile: tile, time: 0)
        events.ask(request, after: latency, callers: callers, answer)
    }
}
