import Foundation
import PanTraces
import Synchronization
import TileCache

/// Replays through the real service on Dispatch workers, in real time or faster. The decisions are the same, with real
/// pixels and real waits.
///
/// The cache's clock is the trace's: at `speed` 10 a load of 40 ms takes 4 ms, and the cache measures 40.
struct RealReplay {
    let options: ReplayOptions
    let loads: LoadClock
    /// Source of the tiles, if it is not the built-in world.
    var source: ReplaySource?
    /// Stores of the tiles, nearest first.
    var stores: [any TileStore] = []
    var hooks = ReplayHooks()

    func run(_ input: ReplayInput) throws -> ReplayOutcome {
        let pyramid = try source?.pyramid(wrapsX: input.scene.wrapsX) ?? input.scene.pyramid()
        var course = try ReplayCourse(input, options, hooks, pyramid: pyramid)
        let clock = ReplayClockTime(speed: options.speed)
        let countsBefore = source?.counts()
        let memory = ResidentMemory()
        let reading = StoreReading(stores)
        var configuration = options.cacheConfiguration(course.limit)
        configuration.clock = { clock.now }
        let cache = try TileCache(configuration)
        let layer = try source?.addLayer(cache, pyramid, stores) ?? builtInLayer(of: cache, input, pyramid, clock)
        try layer.setPrefetchAllowance(options.allowance)
        let policy = try options.policy()
        let view = cache.makeView(layers: [layer], selection: options.selection, policy: { policy })
        let samples = FittedSamples(samples: course.samples, fit: input.fit)
        var frames = try options.frames(of: samples, in: input.scene)
        clock.start()
        var warnings = SourceWarnings(source, hooks)
        var last: TileViewport?
        while let frame = try frames.next() {
            wait(for: frame.time, on: clock)
            let start = MonotonicTime.now.nanoseconds
            view.update(frame.viewport, at: MonotonicTime(nanoseconds: frame.time))
            let drawn = view.frame()
            course.tally.service.frameCosts.add(MonotonicTime.now.nanoseconds - start)
            course.add(
                frame,
                drawn.coverage,
                hasMoved: view.hasMoved,
                neededTiles: view.neededTileCount,
                timesToSharp: view.takeWaits()
            )
            last = frame.viewport
            if course.tally.frames % 16 == 0 {
                memory.sample()
                warnings.check()
            }
            if let recorder = course.recorder {
                recorder.note(frame, drawn.coverage, neededTiles: view.neededTileCount)
                if course.tally.frames % 4 == 0 { recorder.note(frame, of: cache.statistics) }
            }
            hooks.noteFrame?(cache, layer)
            if course.isStopped(after: frame) { break }
        }
        memory.sample()
        warnings.check()
        let isBlank = last.map { endsBlank(view, at: $0, cache) } ?? false
        let bookkeepingBytes = finish(&course.tally, cache, layer, memory)
        cache.shutdown()
        course.tally.tiers = reading.tiers(cache.statistics.stores)
        if let source, let countsBefore {
            var counts = source.counts().since(countsBefore)
            counts.address = source.address
            if isBlank { (counts.blankEnds, counts.blankReason) = (1, source.warning() ?? counts.lastFailure) }
            course.tally.tileSource = counts
        }
        return course.outcome(bookkeepingBytes: bookkeepingBytes)
    }

    /// In pieces of a tenth of a second: a stop ends the wait for a frame of a slow rate.
    private func wait(for time: Int64, on clock: ReplayClockTime) {
        while clock.now < time, !hooks.shouldStop() {
            clock.sleep(until: min(time, clock.now + Int64(1e8 * options.speed)))
        }
    }

    /// Adds a layer of the built-in world.
    private func builtInLayer(
        of cache: TileCache,
        _ input: ReplayInput,
        _ pyramid: TilePyramid,
        _ clock: ReplayClockTime
    ) throws -> TileLayer {
        try cache.addLayer(
            ReplayTileSource(
                input.scene,
                pyramid: pyramid,
                options: options,
                loads: loads,
                clock: clock,
                noteLoad: hooks.noteLoad
            ),
            pyramid: pyramid,
            options: LayerOptions(
                format: options.pixelFormat,
                stores: stores.isEmpty ? nil : LayerStores(stores, dataSet: dataSet(input.scene))
            )
        )
    }

    /// Whether nothing is on the screen where the source has tiles. Waits a moment for what is still on its way.
    ///
    /// A set of tiles may have gaps. Once it has shown others, tiles that it does not have are no reason.
    private func endsBlank(_ view: TileView, at viewport: TileViewport, _ cache: TileCache) -> Bool {
        guard let source, viewport.mayShow(source.contents, wrapsX: source.pyramid.wrapsX), view.frame().isEmpty else {
            return false
        }
        let begin = MonotonicTime.now.nanoseconds
        // The source has a reason after two seconds.
        while !hooks.shouldStop() {
            let waited = MonotonicTime.now.nanoseconds - begin
            view.update(viewport)
            let (frame, figures) = (view.frame(), cache.statistics)
            let isGap = frame.late.isEmpty && frame.unavailable.allSatisfy { $0.cause == .absent }
            guard frame.isEmpty, !isGap || figures.loads.finished == 0 else { return false }
            if waited > (figures.loadsInFlight > 0 ? 10_000_000_000 : 2_200_000_000) { return true }
            usleep(20_000)
        }
        return false
    }

    /// Name of the built-in world's tiles in stores.
    private func dataSet(_ scene: PanTraceScene) -> [String] {
        let isDrawn = options.loadLatency == nil
        return [
            "cachebench", "\(scene.worldWidth)x\(scene.worldHeight)", "\(options.seed)", isDrawn ? "drawn" : "samples",
        ]
    }

    /// Takes the cache's figures; returns the bytes of its tables.
    private func finish(
        _ tally: inout ReplayTally,
        _ cache: TileCache,
        _ layer: TileLayer,
        _ memory: ResidentMemory
    ) -> Int {
        // Workers may still run, and the two are read one after the other: both of one moment.
        var (counters, figures) = (cache.counters, cache.statistics)
        for _ in 0..<100 where counters != cache.counters { (counters, figures) = (cache.counters, cache.statistics) }
        tally.pan = figures.pan
        tally.zoom = figures.zoom
        // The frame's own budget decompresses most of the others; their number is not counted.
        tally.drawableHits = figures.pan.decodedHits + figures.zoom.decodedHits
        tally.take(
            counters,
            layer: layer.prefetchCounts ?? LayerPrefetchCounts(),
            unseen: figures.memory.unseenTiles + figures.loadsInFlight,
            unseenPrefetched: figures.memory.unseenPrefetchedTiles + figures.prefetchesInFlight
        )
        let waits = cache.loadWaits
        tally.service.demandWaits = waits.demand
        tally.service.prefetchWaits = waits.prefetch
        tally.memory.peakResidentGrowth = memory.growth
        if !figures.stores.isEmpty { tally.memory.storeBytes = figures.memory.stores.bytes }
        return figures.memory.bookkeeping.bytes
    }
}

/// Warnings that a source has while it is replayed.
private struct SourceWarnings {
    private let source: ReplaySource?
    private let hooks: ReplayHooks
    private let known: String?
    /// Whether another warning than the first was passed on. Its counts change all the time.
    private var hasSpoken = false

    init(_ source: ReplaySource?, _ hooks: ReplayHooks) {
        (self.source, self.hooks) = (source, hooks)
        known = source?.warning()
    }

    /// Passes on a new warning, once.
    mutating func check() {
        guard let warn = hooks.warn, let source else { return }
        let warning = source.warning()
        if let warning, warning != known, !hasSpoken { warn(warning) }
        hasSpoken = warning != known
    }
}

extension TileViewport {
    /// Whether a part of the world may be within the rectangle around the screen.
    fileprivate func mayShow(_ part: PixelRect, wrapsX: Bool) -> Bool {
        let (cosine, sine) = (abs(cos(rotation)), abs(sin(rotation)))
        let (wide, high) = (width * cosine + height * sine, width * sine + height * cosine)
        let (halfWidth, halfHeight) = (wide / scale / 2, high / scale / 2)
        let isInRows = center.y + halfHeight > part.minY && center.y - halfHeight < part.maxY
        return isInRows && (wrapsX || (center.x + halfWidth > part.minX && center.x - halfWidth < part.maxX))
    }
}

/// Trace time that passes with real time.
final class ReplayClockTime: Sendable {
    private let speed: Double
    // Other threads may plan before the start.
    private let origin = Atomic(MonotonicTime.now.nanoseconds)

    init(speed: Double) { self.speed = speed }

    func start() { origin.store(MonotonicTime.now.nanoseconds, ordering: .relaxed) }

    var now: Int64 { Int64(Double(MonotonicTime.now.nanoseconds - origin.load(ordering: .relaxed)) * speed) }

    /// Sleeps until a trace time; returns at once if it has passed.
    func sleep(until time: Int64) { sleep(for: time - now) }

    /// Real time of a span of trace time, at most 30 years: slow clocks exceed the range of integers.
    func realNanoseconds(of span: Int64) -> Int { Int(min(Double(span) / speed, 1e18)) }

    /// Sleeps for a span of trace time.
    func sleep(for span: Int64) {
        guard span > 0 else { return }
        var rest = timespec()
        let nanoseconds = realNanoseconds(of: span)
        rest.tv_sec = nanoseconds / 1_000_000_000
        rest.tv_nsec = nanoseconds % 1_000_000_000
        // Continues with the rest if a signal interrupts it.
        var left = timespec()
        while nanosleep(&rest, &left) != 0 { rest = left }
    }
}
