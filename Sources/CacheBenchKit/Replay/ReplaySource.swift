import PanTraces
package import TileCache

/// Tiles from elsewhere for a replay under the real clock, in place of the built-in world.
package struct ReplaySource: Sendable {
    /// Where the tiles come from, as it is written on the command line.
    package var address: String
    /// The deepest zoom that a server was said to have; `nil` where the source knows it itself.
    package var maximumZoom: Int?
    /// What cutting an image was allowed to take, in bytes; `nil` for the usual.
    package var imageMemoryLimit: Int?
    /// The source's own pyramid: its world is the one that is replayed in.
    package var pyramid: TilePyramid
    /// The part of the world that has tiles: traces of another world are stretched over it.
    package var contents: PixelRect
    /// Adds the source to a cache with a pyramid that wraps as the trace does.
    package var addLayer: @Sendable (TileCache, TilePyramid) throws -> LayerID
    /// What it has done so far, over all replays.
    package var counts: @Sendable () -> ReplaySourceCounts

    /// Makes a source.
    package init(
        address: String,
        maximumZoom: Int? = nil,
        imageMemoryLimit: Int? = nil,
        pyramid: TilePyramid,
        contents: PixelRect,
        addLayer: @escaping @Sendable (TileCache, TilePyramid) throws -> LayerID,
        counts: @escaping @Sendable () -> ReplaySourceCounts
    ) {
        self.address = address
        self.maximumZoom = maximumZoom
        self.imageMemoryLimit = imageMemoryLimit
        self.pyramid = pyramid
        self.contents = contents
        self.addLayer = addLayer
        self.counts = counts
    }

    /// The input in the source's world.
    ///
    /// A trace of another world is stretched over the source's contents where that was asked for, and the built-in
    /// session always is: places stay where they are relative to the world, and as much of it is in view.
    func fit(_ input: ReplayInput, _ options: ReplayOptions) throws(ReplayError) -> ReplayInput {
        var input = input
        let scene = input.scene
        let (width, height) = (pyramid.worldWidth, pyramid.worldHeight)
        let isSame = width == Double(scene.worldWidth) && height == Double(scene.worldHeight)
        guard isSame || options.fitsWorld || input.isBuiltIn else {
            throw ReplayError(
                "the trace is of a world of \(scene.worldWidth)x\(scene.worldHeight), and that of \(address) has "
                    + "\(Int(width))x\(Int(height)): --fit stretches it, --world says of which world it really is"
            )
        }
        if options.fitsWorld || input.isBuiltIn {
            input.fit = WorldFit(worldWidth: scene.worldWidth, worldHeight: scene.worldHeight, over: contents)
        }
        input.scene.worldWidth = Int(width)
        input.scene.worldHeight = Int(height)
        input.scene.tileSize = pyramid.levels[pyramid.maximumLevel].tileWidth
        return input
    }

    /// The source's pyramid for a world that wraps, or does not.
    func pyramid(wrapsX: Bool) throws(TileCacheError) -> TilePyramid {
        guard wrapsX != pyramid.wrapsX else { return pyramid }
        return try TilePyramid(
            worldWidth: pyramid.worldWidth,
            worldHeight: pyramid.worldHeight,
            wrapsX: wrapsX,
            levels: pyramid.levels
        )
    }
}

/// How a trace of one world is stretched over another.
struct WorldFit: Hashable, Sendable {
    static let same = WorldFit(x: 1, y: 1, origin: WorldPoint(x: 0, y: 0))

    /// World pixels for one of the trace's, in each direction.
    var x: Double
    var y: Double
    /// Where the trace's world begins.
    var origin: WorldPoint

    private init(x: Double, y: Double, origin: WorldPoint) {
        (self.x, self.y, self.origin) = (x, y, origin)
    }

    init(worldWidth: Int, worldHeight: Int, over part: PixelRect) {
        x = part.width / Double(worldWidth)
        y = part.height / Double(worldHeight)
        origin = WorldPoint(x: part.minX, y: part.minY)
    }

    func callAsFunction(_ sample: PanTraceSample) -> PanTraceSample {
        var sample = sample
        sample.center.x = origin.x + sample.center.x * x
        sample.center.y = origin.y + sample.center.y * y
        // The side that is stretched less decides how much is in view.
        sample.scale /= min(x, y)
        return sample
    }
}

/// Samples as they come, stretched.
struct FittedSamples: PanSampleStream {
    var samples: any PanSampleStream
    var fit: WorldFit

    mutating func nextSample() throws(PanTraceError) -> PanTraceSample? { try samples.nextSample().map { fit($0) } }
}

/// What a replay's tiles came from, and what became of its loads.
package struct ReplaySourceCounts: Codable, Hashable, Sendable {
    /// Where the tiles came from.
    package var address = ""
    /// Tiles that the source was asked for.
    package var loads = 0
    /// Of those, the ones that do not exist.
    package var absent = 0
    /// Failures by cause; of a server each failed attempt counts.
    package var failures: [String: Int] = [:]
    /// What was wrong the last time, in words.
    @Nullable package var lastFailure: String? = nil
    /// Requests that were sent to a server.
    package var attempts = 0
    /// Of those, the ones that were sent again.
    package var retries = 0
    /// Answers that what was kept is still good.
    package var notModified = 0
    /// Requests given up because nobody wanted the tile any more.
    package var cancelled = 0

    /// Makes counts of nothing.
    package init() {}

    func since(_ earlier: ReplaySourceCounts) -> ReplaySourceCounts {
        var counts = self
        counts.add(earlier, sign: -1)
        counts.failures = counts.failures.filter { $0.value != 0 }
        if counts.failures.isEmpty { counts.lastFailure = nil }
        return counts
    }

    mutating func add(_ other: ReplaySourceCounts, sign: Int = 1) {
        loads += sign * other.loads
        absent += sign * other.absent
        attempts += sign * other.attempts
        retries += sign * other.retries
        notModified += sign * other.notModified
        cancelled += sign * other.cancelled
        for (cause, count) in other.failures { failures[cause, default: 0] += sign * count }
        if sign > 0, let failure = other.lastFailure { lastFailure = failure }
    }
}
