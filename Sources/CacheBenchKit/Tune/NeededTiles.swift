import PanTraces
import TileCache

/// Needed tiles of a trace frame by frame, without a cache. Row by row from the top left of the screen.
struct NeededTiles {
    private let pyramid: TilePyramid
    private let selection: TileLevelSelection
    private var frames: PanFrameCursor<FittedSamples>
    private var viewport: TileViewport?
    private var level: Int?
    private(set) var time: Int64 = 0
    private(set) var tiles: [TileCoordinate] = []
    /// Whether the previous frame needed the same tiles.
    private(set) var isSame = false

    /// Starts before the first frame; reads the samples on demand.
    init(_ input: ReplayInput, options: ReplayOptions) throws {
        pyramid = try input.scene.pyramid()
        selection = options.selection
        frames = try options.frames(of: FittedSamples(samples: input.samples, fit: input.fit), in: input.scene)
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
