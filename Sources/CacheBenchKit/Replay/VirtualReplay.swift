package import PanTraces
import TileCache

/// Why a replay could not be made.
package struct ReplayError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A full sentence: what is wrong, and what was expected.
    package var description: String

    /// Makes an error.
    package init(_ description: String) { self.description = description }

    static let speedWithoutRealClock = ReplayError(
        "--speed needs --clock real: under the virtual clock no time passes"
    )
}

/// The samples of one trace, and where they come from.
package struct ReplayInput {
    /// The file's name without its folder.
    package var name: String
    /// The folder that the file lies in.
    package var source: String
    /// The file as it was named; empty for others.
    var path = ""
    /// What the trace and the flags say about view and world.
    package var scene: PanTraceScene
    /// The samples, none of them read.
    package var samples: any PanSampleStream
    /// How the samples are stretched over a source's world, which ``scene`` then is of.
    var fit = WorldFit.same
    /// Whether it is the session that is there without any file.
    private(set) var isBuiltIn = false

    /// Opens a trace.
    ///
    /// - Parameters:
    ///   - path: a file, or `-` for standard input.
    ///   - options: whose overrides count more than the header.
    /// - Throws: ``PanTraceError``.
    package init(path: String, options: ReplayOptions) throws(PanTraceError) {
        let reader = try PanTraceReader(path: path)
        let parts = path.split(separator: "/", omittingEmptySubsequences: true)
        name = parts.last.map(String.init) ?? path
        source = Self.source(ofPath: path)
        self.path = path
        scene = try PanTraceScene(reader.header, overrides: options.overrides, name: path)
        samples = reader
    }

    /// The session that is there without any file.
    ///
    /// - Parameter options: whose seed and overrides count.
    /// - Throws: ``PanTraceError``.
    package init(builtIn options: ReplayOptions) throws(PanTraceError) {
        let session = BuiltInSession(seed: options.seed)
        name = "built-in"
        source = "."
        scene = try PanTraceScene(session.header, overrides: options.overrides, name: "built-in")
        samples = session.stream
        isBuiltIn = true
    }

    /// Makes an input of samples that lie elsewhere.
    package init(name: String, source: String, scene: PanTraceScene, samples: any PanSampleStream) {
        self.name = name
        self.source = source
        self.scene = scene
        self.samples = samples
    }

    /// The folder that a trace lies in.
    static func source(ofPath path: String) -> String {
        let parts = path.split(separator: "/", omittingEmptySubsequences: true)
        return parts.count > 1 ? String(parts[parts.count - 2]) : "."
    }
}

/// What a replay of one trace gives: its report's parts, poolable.
struct ReplayOutcome {
    var trace: ReplayReport.Trace
    var tally: ReplayTally
    /// What pictures are drawn of, where that was asked for.
    var series: ReplaySeries?
    /// Whether it was told to stop before the end of the trace.
    var wasStopped: Bool

    /// - Parameter hash: of the samples that were read.
    init(_ tally: ReplayTally, of input: ReplayInput, hash: String, series: ReplaySeries?, wasStopped: Bool) {
        trace = .init(
            name: input.name,
            source: input.source,
            hash: hash,
            frames: tally.frames,
            seconds: tally.seconds,
            path: input.path
        )
        self.tally = tally
        self.series = series
        self.wasStopped = wasStopped
    }
}

/// The reference replay: the cache's decisions under a virtual clock.
struct VirtualReplay {
    let options: ReplayOptions
    let loads: LoadClock
    var hooks = ReplayHooks()

    func run(_ input: ReplayInput) throws -> ReplayOutcome {
        let pyramid = try TilePyramid.powerOfTwo(
            worldWidth: input.scene.worldWidth,
            worldHeight: input.scene.worldHeight,
            tileSize: input.scene.tileSize,
            wrapsX: input.scene.wrapsX
        )
        let tileBytes = try options.tileBytes(in: input.scene)
        let limit = try options.byteLimit(in: input.scene, tileBytes: tileBytes)
        guard let rate = PanFrameRate(framesPerSecond: options.frameRate) else {
            throw ReplayError("a frame rate of 0.001 to 1000 frames a second is expected, not \(options.frameRate)")
        }
        let cost = try options.cost.resolved().cost
        let recorder = hooks.keepsSeries ? SeriesRecorder(pyramid, limitBytes: limit.bytes, tileBytes, options) : nil
        let cache = VirtualCache(
            options: cacheOptions(limit, cost: cost),
            expectedLatency: loads.latency,
            latency: { [loads] load, start in
                recorder?.started(load.tile, isDemand: load.isDemand, at: start)
                return loads.time(of: load.tile)
            }
        )
        let layer = cache.addLayer(tileBytes: tileBytes)
        var cursor = HashingCursor(input.samples)
        var future: FutureNeeds?
        if options.needsFuture { future = try lookAhead(&cursor, input.scene, rate, pyramid) }
        let policy = try options.policy(
            future: future,
            knowledge: knowledge(limitBytes: limit.bytes, tileBytes: tileBytes)
        )
        let view = cache.addView(layers: [(layer, pyramid, policy)])
        var tally = ReplayTally()
        var mostNeeded = 0
        var stop = StopWatch(input, options, hooks)
        var rest = RestingFrames(
            isPossible: options.eviction != .belady && options.cost == .none,
            looksAtViewportOnly: [.none, .ring, .zoom4].contains(options.prefetch)
        )
        try withFrames(of: cursor, input.scene, rate) { frame in
            if rest.isResting(at: frame) {
                tally.frames += 1
                tally.seconds = Double(frame.time) / 1e9
                recorder?.note(frame, of: cache, view: view)
                return !stop.isAsked(after: frame.time)
            }
            // Policies see when the rest ended, not a stroke as long as the rest.
            if let last = rest.takeSkipped() { cache.frame(view: view, last.viewport, at: last.time) }
            cache.frame(view: view, frame.viewport, at: frame.time)
            rest.note(frame, view, cache)
            mostNeeded = max(mostNeeded, cache.neededTileCount(view: view))
            let viewport = frame.viewport
            let isCounted = tally.frames > 0
            tally.frames += 1
            tally.seconds = Double(frame.time) / 1e9
            if isCounted || cache.coverage.missingTiles > 0 {
                tally.add(
                    cache.coverage,
                    hasMoved: cache.hasMoved,
                    viewportPixels: VirtualReplay.worldPixels(of: viewport, pyramid),
                    frameMilliseconds: 1000 / options.frameRate
                )
            }
            for wait in cache.timesToSharp { tally.add(wait: wait) }
            recorder?.note(frame, of: cache, view: view)
            return !stop.isAsked(after: frame.time)
        }
        finish(&tally, cache, limit: limit)
        tally.memory.takeScreen(tiles: mostNeeded, tileBytes: tileBytes)
        return ReplayOutcome(
            tally,
            of: input,
            hash: cursor.hashText,
            series: recorder?.series(waits: tally.waits),
            wasStopped: stop.wasAsked
        )
    }

    private func withFrames(
        of samples: some PanSampleStream,
        _ scene: PanTraceScene,
        _ rate: PanFrameRate,
        _ body: (PanFrame) throws -> Bool
    ) throws {
        var frames = PanFrameCursor(samples, viewport: scene.viewport, rate: rate, duration: options.duration)
        while let frame = try frames.next(), try body(frame) {}
    }

    /// Reads the whole trace, keeps its samples for the replay and notes what it will need.
    private func lookAhead(
        _ cursor: inout HashingCursor,
        _ scene: PanTraceScene,
        _ rate: PanFrameRate,
        _ pyramid: TilePyramid
    ) throws -> FutureNeeds {
        var samples: [PanTraceSample] = []
        while let sample = try cursor.nextSample() { samples.append(sample) }
        cursor = HashingCursor(PanSampleList(samples))
        var frames = PanFrameCursor(
            PanSampleList(samples),
            viewport: scene.viewport,
            rate: rate,
            duration: options.duration
        )
        return try FutureNeeds(
            pyramid: pyramid,
            selection: TileLevelSelection(bias: options.levelBias, hysteresis: options.hysteresis),
            next: { try frames.next().map { ($0.time, $0.viewport) } }
        )
    }

    /// What an oracle may know of the cache.
    private func knowledge(limitBytes: Int, tileBytes: Int) -> OraclePolicy.Knowledge {
        let tiles = Double(limitBytes) / Double((tileBytes + 4095) & ~4095)
        return OraclePolicy.Knowledge(
            workers: options.workers - options.reservedWorkers,
            capacityTiles: Int(options.compressedTier ? tiles * options.compressionRatio : tiles),
            loadTime: loads.timeOfTile
        )
    }

    private func cacheOptions(
        _ limit: (bytes: Int, grantsBookkeeping: Bool),
        cost: CodecCost?
    ) -> VirtualCache.Options {
        var cache = VirtualCache.Options(options.cacheConfiguration(limit))
        cache.compressionRatio = options.compressionRatio
        cache.levelBias = options.levelBias
        cache.hysteresis = options.hysteresis
        cache.bandwidth = loads.bandwidth
        cache.codecCost = cost
        return cache
    }

    private func finish(
        _ tally: inout ReplayTally,
        _ cache: VirtualCache,
        limit: (bytes: Int, grantsBookkeeping: Bool)
    ) {
        tally.pan = cache.panDemands
        tally.zoom = cache.zoomDemands
        tally.drawableHits = options.cost == .none ? tally.pan.hits + tally.zoom.hits : cache.drawableHits
        let unseen = cache.unseen
        tally.take(
            cache.counters,
            unseen: unseen.all + cache.loadsInFlight,
            unseenPrefetched: unseen.prefetched + cache.prefetchLoadsInFlight
        )
        tally.memory.bookkeepingBytes = cache.bookkeepingBytes
        tally.memory.byteLimit = limit.bytes + (limit.grantsBookkeeping ? cache.bookkeepingBytes : 0)
    }

    /// The part of a viewport that shows the world, in screen pixels.
    static func worldPixels(of viewport: TileViewport, _ pyramid: TilePyramid) -> Double {
        guard viewport.rotation == 0 else { return viewport.width * viewport.height }
        let halfWidth = viewport.width / viewport.scale / 2
        let halfHeight = viewport.height / viewport.scale / 2
        let top = max(viewport.center.y - halfHeight, 0)
        let bottom = min(viewport.center.y + halfHeight, pyramid.worldHeight)
        var left = viewport.center.x - halfWidth
        var right = viewport.center.x + halfWidth
        if !pyramid.wrapsX {
            left = max(left, 0)
            right = min(right, pyramid.worldWidth)
        }
        return max(right - left, 0) * max(bottom - top, 0) * viewport.scale * viewport.scale
    }
}

/// Tells frames in which nothing can happen, so that the hours in which nobody moves cost next to nothing.
///
/// When the view stands still, all that it needs can be drawn, nothing is in flight, no plan is made any more and the last
/// frame, which saw the same, did nothing at all, then the next one does nothing either.
private struct RestingFrames {
    /// Whether frames are left out at all.
    let isPossible: Bool
    /// Whether plans depend on nothing but the viewport: then there is no need to wait until none is made.
    let looksAtViewportOnly: Bool
    private var viewport: TileViewport?
    private var counters: PoolCounters?
    private var isStill = false
    private var skipped: PanFrame?

    init(isPossible: Bool, looksAtViewportOnly: Bool) {
        self.isPossible = isPossible
        self.looksAtViewportOnly = looksAtViewportOnly
    }

    /// Whether a frame would change nothing.
    mutating func isResting(at next: PanFrame) -> Bool {
        guard isStill, next.viewport == viewport else { return false }
        skipped = next
        return true
    }

    /// The last frame that was left out, once.
    mutating func takeSkipped() -> PanFrame? { skipped.take() }

    mutating func note(_ drawn: PanFrame, _ view: Int, _ cache: VirtualCache) {
        guard isPossible else { return }
        let after = cache.counters
        isStill =
            drawn.viewport == viewport && after == counters && cache.loadsInFlight == 0
            && cache.coverage.missingTiles == 0 && (looksAtViewportOnly || cache.isResting(view: view, at: drawn.time))
        viewport = drawn.viewport
        counters = after
    }
}

/// Samples that are hashed as they are read, so that a report can name exactly what it replayed.
final class HashingCursor: PanSampleStream {
    private var samples: any PanSampleStream
    private var hash: UInt64 = 0xCBF2_9CE4_8422_2325

    init(_ samples: any PanSampleStream) { self.samples = samples }

    /// FNV-1a, 64 bits, in hexadecimal.
    var hashText: String {
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    func nextSample() throws(PanTraceError) -> PanTraceSample? {
        guard let sample = try samples.nextSample() else { return nil }
        for word in [
            UInt64(bitPattern: sample.time), sample.center.x.bitPattern, sample.center.y.bitPattern,
            sample.scale.bitPattern, sample.rotation.bitPattern,
        ] {
            var rest = word
            for _ in 0..<8 {
                hash = (hash ^ (rest & 0xFF)) &* 0x100_0000_01B3
                rest >>= 8
            }
        }
        return sample
    }
}
