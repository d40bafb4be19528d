import PanTraces
import TileCache

/// Needed tiles of a trace frame by frame, without a cache: row by row from the top left of the screen.
struct NeededTiles {
    private let pyramid: TilePyramid
    private let selection: TileLevelSelection
    private var frames: PanFrameCursor<SampleBox>
    private var viewport: TileViewport?
    private var level: Int?
    /// Time of the last frame in nanoseconds.
    private(set) var time: Int64 = 0
    /// Tiles of the last frame.
    private(set) var tiles: [TileCoordinate] = []
    /// Whether the previous frame needed the same tiles.
    private(set) var isSame = false

    /// Starts before the first frame; reads the samples on demand.
    init(_ input: ReplayInput, options: ReplayOptions) throws {
        let scene = input.scene
        pyramid = try TilePyramid.powerOfTwo(
            worldWidth: scene.worldWidth,
            worldHeight: scene.worldHeight,
            tileSize: scene.tileSize,
            wrapsX: scene.wrapsX
        )
        guard let rate = PanFrameRate(framesPerSecond: options.frameRate) else {
            throw ReplayError("a frame rate of 0.001 to 1000 frames a second is expected, not \(options.frameRate)")
        }
        selection = TileLevelSelection(bias: options.levelBias, hysteresis: options.hysteresis)
        frames = PanFrameCursor(
            SampleBox(samples: input.samples),
            viewport: scene.viewport,
            rate: rate,
            duration: options.duration
        )
    }

    /// Advances to the next frame; `false` after the last one.
    mutating func advance() throws(PanTraceError) -> Bool {
        guard let frame = try frames.next() else { return false }
        time = frame.time
        isSame = viewport != nil
        guard frame.viewport != viewport else { return true }
        viewport = frame.viewport
        let chosen = selection.level(for: frame.viewport.scale, in: pyramid, previous: level)
        level = chosen
        let needed = pyramid.neededTiles(under: frame.viewport, at: chosen)
        isSame = isSame && needed == tiles
        tiles = needed
        return true
    }
}

/// Wraps a stream of any kind in a concrete type.
private struct SampleBox: PanSampleStream {
    var samples: any PanSampleStream

    mutating func nextSample() throws(PanTraceError) -> PanTraceSample? { try samples.nextSample() }
}
