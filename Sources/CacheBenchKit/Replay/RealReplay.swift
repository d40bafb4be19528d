import Foundation
import PanTraces
import TileCache

/// Replays through the real service on Dispatch workers, in real time or faster: the same decisions with real pixels
/// and real waits.
///
/// The cache's clock is the trace's: at `speed` 10 a load of 40 ms takes 4 ms, and the cache measures 40.
struct RealReplay {
    let options: ReplayOptions
    let loads: LoadClock
    /// Source of the tiles, if it is not the built-in world.
    var source: ReplaySource?
    var hooks = ReplayHooks()

    func run(_ input: ReplayInput) throws -> ReplayOutcome {
        let scene = input.scene
        let pyramid =
            try source?.pyramid(wrapsX: scene.wrapsX)
            ?? TilePyramid.powerOfTwo(
                worldWidth: scene.worldWidth,
                worldHeight: scene.worldHeight,
                tileSize: scene.tileSize,
                wrapsX: scene.wrapsX
            )
        let tileBytes = try options.tileBytes(in: scene)
        let limit = try options.byteLimit(in: scene, tileBytes: tileBytes)
        guard let rate = PanFrameRate(framesPerSecond: options.frameRate) else {
            throw ReplayError("a frame rate of 0.001 to 1000 frames a second is expected, not \(options.frameRate)")
        }
        let clock = ReplayClockTime(speed: options.speed)
        let countsBefore = source?.counts()
        let memory = ResidentMemory()
        var configuration = options.cacheConfiguration(limit)
        configuration.clock = { clock.now }
        let cache = try TileCache(configuration)
        let layer =
            try source?.addLayer(cache, pyramid)
            ?? cache.addLayer(
                ReplayTileSource(scene: scene, options: options, loads: loads, clock: clock),
                pyramid: pyramid,
                options: LayerOptions(format: options.pixelFormat)
            )
        let policy = try options.policy()
        let view = cache.makeView(
            layers: [layer],
            selection: TileLevelSelection(bias: options.levelBias, hysteresis: options.hysteresis),
            policy: { policy }
        )
        let cursor = HashingCursor(input.samples)
        let samples = FittedSamples(samples: cursor, fit: input.fit)
        var frames = PanFrameCursor(samples, viewport: scene.viewport, rate: rate, duration: options.duration)
        var tally = ReplayTally()
        var mostNeeded = 0
        let recorder =
            hooks.keepsSeries ? SeriesRecorder(pyramid, limitBytes: limit.bytes, tileBytes, options) : nil
        var stop = StopWatch(input, options, hooks)
        clock.start()
        while let frame = try frames.next() {
            clock.sleep(until: frame.time)
            let start = MonotonicTime.now.nanoseconds
            view.update(frame.viewport, at: MonotonicTime(nanoseconds: frame.time))
            let drawn = view.frame()
            tally.service.frameCosts.add(MonotonicTime.now.nanoseconds - start)
            mostNeeded = max(mostNeeded, view.neededTileCount)
            let isCounted = tally.frames > 0 || drawn.missingTileCount > 0
            tally.frames += 1
            tally.seconds = Double(frame.time) / 1e9
            if isCounted {
                tally.add(
                    drawn.coverage,
                    hasMoved: view.hasMoved,
                    viewportPixels: VirtualReplay.worldPixels(of: frame.viewport, pyramid),
                    frameMilliseconds: 1000 / options.frameRate
                )
            }
            for wait in view.takeWaits() { tally.add(wait: wait) }
            if tally.frames % 16 == 0 { memory.sample() }
            if let recorder {
                recorder.note(frame, drawn.coverage, neededTiles: view.neededTileCount)
                if tally.frames % 4 == 0 { recorder.note(frame, of: cache.statistics) }
            }
            if stop.isAsked(after: frame.time) { break }
        }
        memory.sample()
        finish(&tally, cache, limit: limit, memory: memory)
        tally.memory.takeScreen(tiles: mostNeeded, tileBytes: tileBytes)
        cache.shutdown()
        if let source, let countsBefore {
            tally.tileSource = source.counts().since(countsBefore)
            tally.tileSource?.address = source.address
        }
        return ReplayOutcome(
            tally,
            of: input,
            hash: cursor.hashText,
            series: recorder?.series(waits: tally.waits),
            wasStopped: stop.wasAsked
        )
    }

    private func finish(
        _ tally: inout ReplayTally,
        _ cache: TileCache,
        limit: (bytes: Int, grantsBookkeeping: Bool),
        memory: ResidentMemory
    ) {
        let figures = cache.statistics
        tally.pan = figures.pan
        tally.zoom = figures.zoom
        // The frame's own budget decompresses most of the others; their number is not counted.
        tally.drawableHits = figures.pan.decodedHits + figures.zoom.decodedHits
        tally.take(
            cache.counters,
            unseen: figures.memory.unseenTiles + figures.loadsInFlight,
            unseenPrefetched: figures.memory.unseenPrefetchedTiles
        )
        let waits = cache.loadWaits
        tally.service.demandWaits = waits.demand
        tally.service.prefetchWaits = waits.prefetch
        tally.memory.bookkeepingBytes = figures.memory.bookkeeping.bytes
        tally.memory.byteLimit = limit.bytes + (limit.grantsBookkeeping ? figures.memory.bookkeeping.bytes : 0)
        tally.memory.peakResidentGrowth = memory.growth
    }
}

/// Trace time that passes with real time.
final class ReplayClockTime: @unchecked Sendable {
    private let speed: Double
    // Written once, before any other thread has the clock.
    private var origin = MonotonicTime.now.nanoseconds

    init(speed: Double) { self.speed = speed }

    func start() { origin = MonotonicTime.now.nanoseconds }

    var now: Int64 { Int64(Double(MonotonicTime.now.nanoseconds - origin) * speed) }

    /// Sleeps until a trace time; returns at once if it has passed.
    func sleep(until time: Int64) { sleep(for: time - now) }

    /// Sleeps for a span of trace time.
    func sleep(for span: Int64) {
        guard span > 0 else { return }
        var rest = timespec()
        let nanoseconds = Int(Double(span) / speed)
        rest.tv_sec = nanoseconds / 1_000_000_000
        rest.tv_nsec = nanoseconds % 1_000_000_000
        // Continues with the rest if a signal interrupts it.
        var left = timespec()
        while nanosleep(&rest, &left) != 0 { rest = left }
    }
}
