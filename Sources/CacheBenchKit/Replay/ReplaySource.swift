import PanTraces
package import TileCache

/// A source for a replay under the real clock, instead of the built-in world.
package struct ReplaySource: Sendable {
    package var address: String
    /// Maximum zoom given for a server; `nil` if the source declares it.
    package var maximumZoom: Int?
    /// Memory limit for cutting an image, in bytes; `nil` for the default.
    package var imageMemoryLimit: Int?
    /// The source's pyramid, whose world is that of the replay.
    package var pyramid: TilePyramid
    /// Part of the world that has tiles: traces of another world are stretched over it.
    package var contents: PixelRect
    /// Adds the source to a cache, with stores. Its pyramid wraps as the trace does.
    package var addLayer: @Sendable (TileCache, TilePyramid, [any TileStore]) throws -> TileLayer
    /// Counts of the source so far, over all replays.
    package var counts: @Sendable () -> ReplaySourceCounts
    /// The source's warning now; `nil` if it has none.
    package var warning: @Sendable () -> String?

    package init(
        address: String,
        maximumZoom: Int? = nil,
        imageMemoryLimit: Int? = nil,
        pyramid: TilePyramid,
        contents: PixelRect,
        addLayer: @escaping @Sendable (TileCache, TilePyramid, [any TileStore]) throws -> TileLayer,
        counts: @escaping @Sendable () -> ReplaySourceCounts,
        warning: @escaping @Sendable () -> String? = { nil }
    ) {
        self.address = address
        self.maximumZoom = maximumZoom
        self.imageMemoryLimit = imageMemoryLimit
        self.pyramid = pyramid
        self.contents = contents
        self.addLayer = addLayer
        self.counts = counts
        self.warning = warning
    }

    /// Converts an input to the source's world.
    ///
    /// A trace of another world is stretched over the source's contents if the options allow it, and the built-in
    /// session always is: relative positions and the visible fraction of the world are kept.
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

/// Mapping of a trace's world to another.
struct WorldFit: Hashable, Sendable {
    /// World pixels for one of the trace's, in each direction.
    var x: Double
    var y: Double
    /// Origin of the trace's world.
    var origin: WorldPoint

    init(worldWidth: Int, worldHeight: Int, over part: PixelRect) {
        x = part.width / Double(worldWidth)
        y = part.height / Double(worldHeight)
        origin = WorldPoint(x: part.minX, y: part.minY)
    }

    func applied(to sample: PanTraceSample) -> PanTraceSample {
        var sample = sample
        sample.center.x = origin.x + sample.center.x * x
        sample.center.y = origin.y + sample.center.y * y
        // The direction that is stretched less determines the scale.
        sample.scale /= min(x, y)
        return sample
    }
}

struct FittedSamples: PanSampleStream {
    var samples: any PanSampleStream
    var fit: WorldFit?

    mutating func nextSample() throws(PanTraceError) -> PanTraceSample? {
        try samples.nextSample().map { fit?.applied(to: $0) ?? $0 }
    }
}

/// Source of a replay's tiles, and the outcomes of its loads.
package struct ReplaySourceCounts: Encodable, Hashable, Sendable {
    package var address = ""
    package var loads = 0
    /// Requested tiles that do not exist.
    package var absent = 0
    /// Failures by cause; for a server, each failed attempt counts.
    package var failures: [String: Int] = [:]
    @Nullable package var lastFailure: String? = nil
    package var attempts = 0
    /// Requests that were retries.
    package var retries = 0
    /// Loads that were put off, because their server had refused requests or could not be reached.
    package var postponed = 0
    /// Answers that the kept answer is still valid.
    package var notModified = 0
    /// Requests cancelled because the tile was no longer wanted.
    package var cancelled = 0
    /// Connections opened or tried, and requests that shared one in streams of HTTP/2.
    package var connections = 0
    package var streams = 0
    /// Unwanted requests cut off after they were sent, and bytes that came and were thrown away.
    package var cutOff = 0
    package var cancelledBytes = 0
    /// Traces at whose end nothing was on the screen, although the view was where the source has tiles.
    package var blankEnds = 0
    /// Why nothing was there, as far as the source knows.
    @Nullable package var blankReason: String? = nil

    package init() {}

    func since(_ earlier: ReplaySourceCounts) -> ReplaySourceCounts {
        var counts = self
        counts.add(earlier, sign: -1)
        counts.failures = counts.failures.filter { $0.value != 0 }
        if counts.failures.isEmpty { counts.lastFailure = nil }
        return counts
    }

    mutating func add(_ other: ReplaySourceCounts, sign: Int = 1) {
        let fields = [
            \Self.loads, \.absent, \.attempts, \.retries, \.postponed, \.notModified, \.cancelled, \.connections,
            \.streams, \.cutOff, \.cancelledBytes,
        ]
        for field in fields { self[keyPath: field] += sign * other[keyPath: field] }
        for (cause, count) in other.failures { failures[cause, default: 0] += sign * count }
        blankEnds += sign * other.blankEnds
        if sign > 0, let reason = other.blankReason { blankReason = reason }
        if sign > 0, let failure = other.lastFailure { lastFailure = failure }
    }
}
