import Dispatch

/// How a tile's pixels come: from a function that blocks, or from a source that answers later.
enum AnySource: Sendable {
    case blocking(any BlockingTileSource)
    case asynchronous(any TileSource)

    var decoder: (any TileDecoder)? {
        switch self {
        case .blocking(let source): source as? any TileDecoder
        case .asynchronous(let source): source as? any TileDecoder
        }
    }
}

/// All that the service knows of a layer.
struct LayerRecord: Sendable {
    /// What a source delivers for a tile of one level.
    struct TileSize: Sendable {
        var width: Int
        var height: Int
        var bytes: Int
    }

    let id: LayerID
    /// `nil` once the layer is removed or the cache is shut down: a source may hold requests, and those hold the cache.
    var source: AnySource?
    /// The same source where it takes back its own encoded bytes.
    var decoder: (any TileDecoder)?
    let pyramid: TilePyramid
    let options: LayerOptions
    /// What the ledger counts for it.
    let byteCount: Int
    let tileBytes: Int
    let slotClass: Int
    /// By level.
    let sizes: [TileSize]
    /// How the levels are made that the source does not have; `nil` where it has all.
    var synthesis: LevelSynthesis?

    /// Bytes of the tables of a layer with such a pyramid.
    static func byteCount(of pyramid: TilePyramid) -> Int {
        let level = MemoryLayout<PyramidLevel>.stride + MemoryLayout<TileSize>.stride
        return MemoryLayout<Self>.stride + MemoryLayout<PoolLayer>.stride + pyramid.levels.count * level
    }

    init(
        id: LayerID,
        source: AnySource,
        pyramid: TilePyramid,
        options: LayerOptions,
        byteCount: Int,
        tileBytes: Int,
        slotClass: Int,
        synthesis: LevelSynthesis? = nil
    ) {
        self.byteCount = byteCount
        self.id = id
        self.source = source
        decoder = source.decoder
        self.pyramid = pyramid
        self.options = options
        self.tileBytes = tileBytes
        self.slotClass = slotClass
        self.synthesis = synthesis
        sizes = pyramid.levels.map { level in
            let bytes = options.format.byteCount(width: level.pixelWidth, height: level.pixelHeight) ?? 0
            return TileSize(width: level.pixelWidth, height: level.pixelHeight, bytes: min(bytes, tileBytes))
        }
    }
}

/// All that the service knows of a view.
struct ViewRecord: Sendable {
    /// Of all views that the cache has had, this is so-manieth: a place among the views may be another's later.
    let serial: Int
    var model: ViewModel
    var promotionBudget = PromotionBudget()
    var callback: (@Sendable () -> Void)?
    var callbackQueue: DispatchQueue?
    var isCallbackQueued = false
    var recorder: PanTraceRecorder?
    /// What the last frame drew: to say what came and what went, and to draw it again where nothing has changed.
    var contents: FrameContents?
    /// Waits that have ended since they were last asked for, in nanoseconds; for reports, at most a few thousand.
    var waits: [Int64] = []
    var refusedViewports = 0
    /// When somebody last asked for diagnostics; `nil` while nobody has.
    var diagnosedAt: Int64?
    /// Where the newest plan expects the view to go; kept for diagnostics only.
    var expectedRectangle: PixelRect?
}

/// Everything behind the cache's one lock.
struct CoreState: ~Copyable {
    var pool: PoolState
    /// Of those that are gone the index is free, or about to be.
    var layers: [LayerRecord] = []
    /// Serial number of the cache in the process.
    let serial: UInt32
    /// How many layers there have been.
    var layerCount = 0
    /// Layers that are removed and not gone yet.
    var removedLayers: [Int] = []
    var views: [ViewRecord?] = []
    /// Places of views that are gone.
    var freeViews: [Int] = []
    /// The part of the limit that layers are guaranteed, 0 to 1.
    var guaranteedShares = 0.0
    /// How often the lock was taken.
    var acquisitions: UInt64 = 0
    /// How many views there have been.
    var viewCount = 0
    var pins: [PinnedRange] = []
    /// Tiles that were asked for once, and the bytes that the ledger counts for them.
    var asked: [TileKey] = []
    var askedBytes = 0
    /// Address ranges of the slots, by class.
    var slotRegions: [MemoryRegion] = []
    let pageRegion: MemoryRegion

    /// The limit that was asked for; the pool's own is less under memory pressure.
    var fullByteLimit: Int
    var pressure = PressureRule()

    /// What the shell has to do once the lock is released.
    var effects = Effects()
    var workers: WorkerRoster
    var requests: [LoadID: WeakRequest] = [:]
    var codecs: Codecs
    /// Whether tiles may be kept compressed, if the limit leaves a codec room.
    let usesCompressedTier: Bool
    var isPlanQueued = false
    /// Whether a plan is being made of what was read before.
    var isPlanning = false
    /// Whether layers wait for the end of that plan to be gone.
    var hasWaitingRemoval = false
    /// What had happened when the newest plan began to be made, where views that stand still need no other until more has.
    var settledCounters: PoolCounters?
    var isShutDown = false
    var due = DueTimes()

    var synthesis = SynthesisState()
    var meanLatency: Int64
    var secondAnswers = 0
    var waits = LoadWaits()
    var slowCallbacks = 0
    var longestCallback: Int64 = 0
    var refusedViewports = 0
    /// Demands of views that are gone.
    var closedPan = TileCacheStatistics.DemandCounts()
    var closedZoom = TileCacheStatistics.DemandCounts()

    init(
        serial: UInt32,
        pool: consuming PoolState,
        pageRegion: MemoryRegion,
        workers: WorkerRoster,
        meanLatency: Int64
    ) {
        self.serial = serial
        self.workers = workers
        fullByteLimit = pool.ledger.limit
        codecs = Codecs(jobs: pool.configuration.maximumCodecJobs)
        usesCompressedTier = pool.configuration.compressedTier
        self.pool = pool
        self.pageRegion = pageRegion
        self.meanLatency = meanLatency
    }

    /// Where a slot lies of the size of a layer's tiles.
    func address(of slot: SlotID, layer: Int) -> UInt {
        address(of: slot, slotClass: layers[layer].slotClass)
    }

    func address(of slot: SlotID, slotClass: Int) -> UInt {
        UInt(bitPattern: slotRegions[slotClass].base + Int(slot.number) * pool.slots[slotClass].slotBytes)
    }

    /// Where memory of one kind lies, and the bytes of each of its slots or pages.
    typealias Region = (memory: MemoryRegion, bytes: Int)

    /// All of them, by kind from `MemoryRange.firstKind` on.
    borrowing func regions() -> [Region] {
        let tables = [pool.table.chainRegion, pool.table.entryRegion]
        return tables.map { ($0, pool.table.pageBytes) } + [(pageRegion, pool.pages.pageBytes)]
            + slotRegions.indices.map { (slotRegions[$0], pool.slots[$0].slotBytes) }
    }

    /// Finds the needs of a view anew where it stands, and has it drawn again if they are others.
    mutating func refit(view place: Int, now: Int64) {
        guard let before = views[place]?.model.needsVersion else { return }
        views[place]?.model.refit(now: now, pool: &pool)
        if views[place]?.model.needsVersion != before { callBack(view: place) }
    }

    /// Enters the needed and pinned tiles that the pool's table had no room for; whether more steps would get further.
    mutating func enterMissing(now: Int64) -> Bool {
        for place in views.indices {
            if views[place]?.model.isTruncated == true, !pool.isOverLimit { refit(view: place, now: now) }
            guard views[place]?.model.layers.contains(where: { $0.needs.isIncomplete }) == true,
                var view = views[place].take()
            else { continue }
            for index in view.model.layers.indices { pool.enterMissing(of: &view.model.layers[index].needs) }
            views[place] = view
        }
        return hasMissingPins && enterPins()
    }

    /// Declares a look after the calls of sources at a time, unless one is due.
    mutating func watch(at time: Int64) {
        let isWorthIt = pool.loads.busyCount > 0 || workers.oldestDecode != nil
        guard !due.isWatched, !isShutDown, isWorthIt, !workers.spare.isEmpty else { return }
        if due.askWatch(at: time) { effects.setsTimer = true }
    }
}

/// A request that its source holds, or has let go of: the cache does not keep it alive, so that its end is noticed.
struct WeakRequest: @unchecked Sendable {
    weak var value: TileRequest?
}

/// A value that one owner at a time uses; who takes it out of the state under the lock is that owner.
struct Transferred<Value>: @unchecked Sendable {
    let value: Value
}
