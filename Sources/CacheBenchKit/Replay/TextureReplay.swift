import TileCache
import TileTextures

/// Texture slots in a replay: the decisions of a renderer, without pixels. An upload takes no time.
struct TextureReplay {
    /// Tiles that may be uploaded ahead, as in ``TextureSlots``.
    private static let upcomingTiles = 64

    private(set) var sums = ReplayTextureSums()
    /// Whether a further frame of the same view would upload nothing.
    private(set) var isSettled = false
    private var core: TextureCore
    private let layers: [FrameLayer]
    private let selection: TileLevelSelection
    private let tileBytes: Int
    /// Needed tiles of the last frame, and since when they have waited. `nil` for tiles that are drawn, and for those
    /// of the first frame.
    private var known: [TextureKey: Int64?] = [:]

    /// - Throws: ``ReplayError`` if a tile is larger than the budget.
    init(_ options: ReplayOptions.Textures, _ replay: ReplayOptions, layer: Int, _ course: ReplayCourse) throws {
        try require(
            options.uploadBytes >= course.tileBytes,
            "--upload-budget \(options.uploadBytes)B is less than a tile, which takes \(course.tileBytes) bytes"
        )
        let level = course.pyramid.levels[0]
        var slots = TextureSlotOptions()
        slots.slotLimit = options.slots
        (slots.width, slots.height) = (level.pixelWidth, level.pixelHeight)
        slots.format = replay.pixelFormat
        slots.uploadBytes = .bytes(options.uploadBytes)
        core = try TextureCore(slots)
        layers = [FrameLayer(id: LayerID(layer), pyramid: course.pyramid, format: replay.pixelFormat)]
        selection = replay.selection
        tileBytes = course.tileBytes
    }

    /// Uploads and draws the ready tiles of a frame. Makes the view coarser if necessary.
    mutating func draw(_ viewport: TileViewport, of cache: VirtualCache, view: Int, at now: Int64) {
        var screen = TextureScreen(layers: layers, viewport: viewport, selection: selection)
        func add(_ tile: TileCoordinate, _ generation: UInt32, worth: Float? = nil) {
            screen.tiles.append(
                TextureTile(layer: 0, tile: tile, generation: generation, bytes: tileBytes, worth: worth)
            )
        }
        for tile in cache.screenTiles(view: view) {
            screen.wants.append(TextureWant(layer: 0, tile: tile.tile, worldRectangle: tile.worldRectangle))
            if tile.isDrawable { add(tile.tile, tile.generation) }
        }
        for tile in cache.fallbacks { add(tile.tile, tile.generation) }
        for tile in cache.upcoming(view: view, limit: Self.upcomingTiles) {
            add(tile.tile, tile.generation, worth: tile.worth)
        }
        let picks = core.begin(screen)
        let result = core.finish()
        count(screen, result, at: now)
        isSettled = picks.isEmpty && result.waitingTileCount == 0
        cache.setLevelBias(result.levelBias, view: view, at: now)
    }

    private mutating func count(_ screen: TextureScreen, _ result: TextureResult, at now: Int64) {
        let exact = Set(result.placements.lazy.filter(\.isExact).map(\.identity.tile))
        var next: [TextureKey: Int64?] = [:]
        for want in screen.wants {
            let key = TextureKey(layer: layers[0].id, tile: want.tile)
            guard next[key] == nil else { continue }
            let isDrawn = exact.contains(want.tile)
            guard let since = known[key] else {
                // Those of the first frame, a cold start, are not demands.
                if !known.isEmpty {
                    sums.demands += 1
                    if isDrawn { sums.sharpAtOnce += 1 }
                }
                next[key] = .some(isDrawn ? nil : now)
                continue
            }
            if isDrawn, let since { sums.waits[(now - since + 50_000) / 100_000, default: 0] += 1 }
            next[key] = .some(isDrawn ? nil : since)
        }
        known = next
        sums.counts = core.statistics
        sums.maximumLevelBias = max(sums.maximumLevelBias, result.levelBias)
        sums.neededSlots = max(sums.neededSlots, result.neededSlots)
    }
}

/// Sums of texture slots over one replay or several.
struct ReplayTextureSums: Sendable {
    var counts = TextureStatistics()
    var maximumLevelBias = 0.0
    var neededSlots = 0
    var demands = 0
    var sharpAtOnce = 0
    /// Number of waits by their duration, in tenths of milliseconds.
    var waits: [Int64: Int] = [:]

    mutating func add(_ other: ReplayTextureSums) {
        counts.add(other.counts)
        maximumLevelBias = max(maximumLevelBias, other.maximumLevelBias)
        neededSlots = max(neededSlots, other.neededSlots)
        demands += other.demands
        sharpAtOnce += other.sharpAtOnce
        waits.merge(other.waits, uniquingKeysWith: +)
    }

    var report: ReplayReport.Textures {
        ReplayReport.Textures(
            frames: counts.frames,
            uploads: counts.uploads,
            uploadedBytes: counts.uploadedBytes.bytes,
            uploadsPerFrame: counts.frames == 0 ? nil : Double(counts.uploads) / Double(counts.frames),
            peakUploads: counts.peakUploads,
            peakUploadedBytes: counts.peakUploadedBytes.bytes,
            waitingFrames: counts.waitingFrames,
            aheadUploads: counts.aheadUploads,
            aheadBytes: counts.aheadBytes.bytes,
            aheadDrawn: counts.aheadDrawn,
            levelBias: maximumLevelBias,
            levelBiasChanges: counts.biasChanges,
            neededSlots: neededSlots,
            demands: demands,
            sharpAtOnce: sharpAtOnce,
            timeToSharp: .init(
                p50: ReplayTally.percentile(0.5, of: waits),
                p95: ReplayTally.percentile(0.95, of: waits),
                maximum: waits.keys.max().map { Double($0) / 10 }
            )
        )
    }
}

extension ReplayReport {
    /// What a renderer with texture slots did.
    package struct Textures: Encodable, Sendable, Hashable {
        /// Milliseconds from a tile's first need to its first drawing from a slot. Tiles drawn at once do not count.
        package struct Waits: Encodable, Sendable, Hashable {
            @Nullable package var p50: Double?
            @Nullable package var p95: Double?
            @Nullable package var maximum: Double?
        }

        /// Frames that were drawn; frames at rest that change nothing are left out.
        package var frames: Int
        package var uploads: Int
        package var uploadedBytes: Int
        /// Mean over the frames.
        @Nullable package var uploadsPerFrame: Double?
        /// Maximum of a frame.
        package var peakUploads: Int
        package var peakUploadedBytes: Int
        /// Frames in which a needed tile was ready in the cache, but had no slot.
        package var waitingFrames: Int
        /// Uploads of tiles that were not on screen.
        package var aheadUploads: Int
        package var aheadBytes: Int
        /// Those that were drawn later.
        package var aheadDrawn: Int
        /// Maximum in octaves.
        package var levelBias: Double
        package var levelBiasChanges: Int
        /// Slots with which no bias would be needed.
        package var neededSlots: Int
        /// Tiles that a frame needed and the previous frame did not. The first frame is left out.
        package var demands: Int
        /// Demands drawn from their slot in the same frame.
        package var sharpAtOnce: Int
        package var timeToSharp: Waits
    }
}
