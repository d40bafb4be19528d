import PanTraces
import TileCache

/// Part of a replay that both clocks share. Has the trace's pyramid and limit, and the sums of its frames.
struct ReplayCourse {
    let pyramid: TilePyramid
    let tileBytes: Int
    let limit: (bytes: Int, grantsBookkeeping: Bool)
    /// Collects the data of pictures, if they are requested.
    let recorder: SeriesRecorder?
    /// Samples of the trace, hashed as they are read.
    var samples: HashingCursor
    var tally = ReplayTally()
    private let input: ReplayInput
    private let frameMilliseconds: Double
    private var mostNeeded = 0
    private var start: Int64 = 0
    private var stop: StopWatch

    init(_ input: ReplayInput, _ options: ReplayOptions, _ hooks: ReplayHooks, pyramid: TilePyramid) throws {
        self.input = input
        self.pyramid = pyramid
        tileBytes = try options.tileBytes(in: input.scene)
        limit = try options.byteLimit(in: input.scene, tileBytes: tileBytes)
        recorder = hooks.keepsSeries ? SeriesRecorder(pyramid, limitBytes: limit.bytes, tileBytes, options) : nil
        samples = HashingCursor(input.samples, viewport: input.scene.viewport)
        frameMilliseconds = 1000 / options.frameRate
        stop = StopWatch(input, options, hooks)
    }

    /// Adds a drawn frame. The coverage of the first one counts only if a tile was missing.
    mutating func add(
        _ frame: PanFrame,
        _ coverage: Coverage,
        hasMoved: Bool,
        neededTiles: Int,
        timesToSharp: [Int64]
    ) {
        mostNeeded = max(mostNeeded, neededTiles)
        if tally.frames == 0 { start = frame.time }
        if tally.firstFrames.isEmpty, coverage.missingTiles == 0 {
            tally.firstFrames = [Double(frame.time - start) / 1e6]
        }
        let isCounted = tally.frames > 0 || coverage.missingTiles > 0
        addResting(frame)
        if isCounted {
            tally.add(
                coverage,
                hasMoved: hasMoved,
                viewportPixels: Self.worldPixels(of: frame.viewport, pyramid),
                frameMilliseconds: frameMilliseconds
            )
        }
        for wait in timesToSharp { tally.add(wait: wait) }
    }

    /// Adds a frame that changes nothing.
    mutating func addResting(_ frame: PanFrame) {
        tally.frames += 1
        tally.seconds = Double(frame.time) / 1e9
    }

    mutating func isStopped(after frame: PanFrame) -> Bool { stop.isAsked(after: frame.time) }

    /// The results, once the cache's counters are in the tally.
    ///
    /// - Parameter bookkeepingBytes: Bytes of the cache's tables at the end.
    mutating func outcome(bookkeepingBytes: Int) -> ReplayOutcome {
        tally.memory.bookkeepingBytes = bookkeepingBytes
        tally.memory.byteLimit = limit.bytes + (limit.grantsBookkeeping ? bookkeepingBytes : 0)
        tally.memory.takeScreen(tiles: mostNeeded, tileBytes: tileBytes)
        let gaps = samples.gaps.sum(upTo: Int64(tally.seconds * 1e9))
        return ReplayOutcome(
            trace: .init(
                name: input.name,
                source: input.source,
                hash: samples.hashText,
                frames: tally.frames,
                seconds: tally.seconds,
                path: input.path,
                imported: input.imported,
                samples: gaps.samples,
                glidedSeconds: Double(gaps.glided) / 1e9,
                longestGlide: Double(gaps.longest) / 1e9
            ),
            tally: tally,
            series: recorder?.series(waits: tally.waits),
            wasStopped: stop.wasAsked
        )
    }

    /// Part of a viewport that shows the world, in screen pixels.
    static func worldPixels(of viewport: TileViewport, _ pyramid: TilePyramid) -> Double {
        guard viewport.rotation == 0 else { return turnedWorldPixels(of: viewport, pyramid) }
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
        let (width, height) = (max(right - left, 0), max(bottom - top, 0))
        let area = width * height * viewport.scale * viewport.scale
        // The area in world pixels may be out of range where that in screen pixels is not.
        return area.isNormal ? area : (width * viewport.scale) * (height * viewport.scale)
    }

    /// The same for a rotated viewport. It is computed in screen pixels, whose squares are in range at any scale.
    private static func turnedWorldPixels(of viewport: TileViewport, _ pyramid: TilePyramid) -> Double {
        let scale = viewport.scale
        let center = WorldPoint(x: viewport.center.x * scale, y: viewport.center.y * scale)
        // No corner is farther from the center.
        let reach = viewport.width + viewport.height
        let world = PixelRect(
            minX: pyramid.wrapsX ? center.x - reach : 0,
            minY: 0,
            maxX: pyramid.wrapsX ? center.x + reach : pyramid.worldWidth * scale,
            maxY: pyramid.worldHeight * scale
        )
        let screen = TileViewport(
            center: center,
            width: viewport.width,
            height: viewport.height,
            rotation: viewport.rotation
        )
        return ViewportClip(screen).screenArea(of: world)
    }
}

/// Results of the replay of one trace, which can be pooled.
struct ReplayOutcome {
    var trace: ReplayReport.Trace
    var tally: ReplayTally
    var series: ReplaySeries?
    var wasStopped: Bool
}

extension PanTraceScene {
    func pyramid() throws(TileCacheError) -> TilePyramid {
        try .powerOfTwo(worldWidth: worldWidth, worldHeight: worldHeight, tileSize: tileSize, wrapsX: wrapsX)
    }
}

extension ReplayOptions {
    var selection: TileLevelSelection { TileLevelSelection(bias: levelBias, hysteresis: hysteresis) }

    /// Frames of a trace at the frame rate, up to the duration.
    func frames<Samples>(
        of samples: Samples,
        in scene: PanTraceScene
    ) throws(ReplayError) -> PanFrameCursor<Samples> {
        guard let rate = PanFrameRate(framesPerSecond: frameRate) else {
            throw ReplayError("a frame rate of 0.001 to 1000 frames a second is expected, not \(frameRate)")
        }
        return PanFrameCursor(samples, viewport: scene.viewport, rate: rate, duration: duration)
    }
}
