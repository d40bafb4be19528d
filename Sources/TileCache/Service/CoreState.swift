import Dispatch

/// Source of a layer: blocking or asynchronous.
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

/// State behind the cache's lock.
struct CoreState: ~Copyable {
    var pool: PoolState
    /// By index; records of removed layers may remain.
    var layers = Layers()
    /// Serial number of the cache in the process.
    let serial: UInt32
    var views = Views()
    /// Number of acquisitions of the lock.
    var acquisitions: UInt64 = 0
    var pins: [PinnedRange] = []
    /// Tiles to prefetch once, and their bytes in the ledger.
    var asked: [TileKey] = []
    var askedBytes = 0
    /// Address ranges of the slots, by class.
    var slotRegions: [MemoryRegion] = []
    let pageRegion: MemoryRegion

    /// Requested limit; the pool's own is lower under memory pressure.
    var fullByteLimit: Int
    var pressure = PressureRule()

    /// Effects to carry out after the lock is released.
    var effects = Effects()
    var workers: WorkerRoster
    var requests: [LoadID: WeakRequest] = [:]
    var codecs: Codecs
    /// Whether tiles may be compressed, if the limit has room for a codec.
    let usesCompressedTier: Bool
    var isPlanQueued = false
    /// Whether a plan is being made of a snapshot.
    var isPlanning = false
    /// Whether removed layers wait for the end of that plan.
    var hasWaitingRemoval = false
    /// Counters before the newest plan, if views that stand still need no plan until they change.
    var settledCounters: PoolCounters?
    var isShutDown = false
    var due = DueTimes()

    var synthesis = SynthesisState()
    /// Stores of all layers, also of removed ones, and the bytes that they hold.
    var stores: [StoreRecord] = []
    var storeBytes = 0
    /// When to ask for these bytes again.
    var storeMemoryDue = Int64.min
    /// Tiles to give to stores, and their bytes in the ledger.
    var saves = SaveQueue()
    var saveBytes = 0
    var meanLatency: Int64
    var secondAnswers = 0
    var waits = LoadWaits()
    var slowCallbacks = 0
    var longestCallback: Int64 = 0

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

    /// Address of a slot.
    func address(of slot: SlotID, layer: Int) -> UInt {
        address(of: slot, slotClass: pool.layers[layer].slotClass)
    }

    func address(of slot: SlotID, slotClass: Int) -> UInt {
        UInt(bitPattern: slotRegions[slotClass].base + Int(slot.number) * pool.slots[slotClass].slotBytes)
    }

    /// Memory of one kind, and the bytes of its slots or pages.
    typealias Region = (memory: MemoryRegion, bytes: Int)

    /// Regions by kind, from `MemoryRange.firstKind` on.
    borrowing func regions() -> [Region] {
        pool.table.regions.map { ($0, pool.table.pageBytes) } + [(pageRegion, pool.pages.pageBytes)]
            + slotRegions.indices.map { (slotRegions[$0], pool.slots[$0].slotBytes) }
    }

    /// Recomputes the needs of a view, and calls its handler if they change.
    mutating func refit(view place: Int, now: Int64) {
        guard let before = views[place]?.model.needsVersion else { return }
        views[place]?.model.refit(now: now, pool: &pool)
        if views[place]?.model.needsVersion != before { callBack(view: place) }
    }

    /// Enters needed and pinned tiles that the table had no room for. Returns whether more steps would help.
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

    /// Schedules a check for stuck calls of sources, unless one is due.
    mutating func watch(at time: Int64) {
        let isWorthIt = pool.loads.busyCount > 0 || workers.oldestDecode != nil
        guard !due.isWatched, !isShutDown, isWorthIt, !workers.spare.isEmpty else { return }
        if due.askWatch(at: time) { effects.setsTimer = true }
    }
}

/// A request, not retained, so that its release by the source is noticed.
struct WeakRequest: @unchecked Sendable {
    weak var value: TileRequest?
}

/// A value used by one owner at a time: its taker under the lock.
struct Transferred<Value>: @unchecked Sendable {
    let value: Value
}
