/// Source of a layer: blocking or asynchronous.
enum AnySource: Sendable {
    case blocking(any BlockingTileSource)
    case asynchronous(any TileSource)

    var isBlocking: Bool { if case .blocking = self { true } else { false } }

    private var object: Any {
        switch self {
        case .blocking(let source): return source
        case .asynchronous(let source):
            if let adapter = source as? any SourceAdapter { return adapter.original }
            return source
        }
    }

    /// Loads of an asynchronous source that may be in flight; `nil` for a blocking one, whose loads occupy workers.
    var loadsInFlight: LoadsInFlight? {
        switch self {
        case .blocking: nil
        case .asynchronous(let source): source.loadsInFlight
        }
    }

    /// The source, if it decodes its own payloads.
    var decoder: (any TileDecoder)? { object as? any TileDecoder }

    /// The source, if it reports memory of its own.
    var reporting: (any MemoryReportingSource)? { object as? any MemoryReportingSource }
}

/// State behind the cache's lock: owners with private state, and what takes several of them.
struct CoreState: ~Copyable {
    var pool: PoolState
    /// By index; records of removed layers may remain.
    var layers = Layers()
    /// Serial number of the cache in the process.
    let serial: UInt32
    var views = Views()
    /// Number of acquisitions of the lock by the cache itself.
    private(set) var acquisitions: UInt64 = 0
    var pins = Pins()
    var interests = Interests()
    /// Address ranges of the slots, by class.
    private(set) var slotRegions: [MemoryRegion] = []
    let pageRegion: MemoryRegion

    /// Requested limit; the pool's own is lower under memory pressure.
    private(set) var fullByteLimit: Int
    var pressure = PressureRule()

    var declared = Declared(none: Effects())
    /// Effects to carry out after the lock is released.
    var effects: Effects {
        @inline(__always) _read { yield declared.effects }
        @inline(__always) _modify { yield &declared.effects }
    }
    var workers: WorkerRoster
    var requests = Requests()
    var codecs: Codecs
    /// Whether tiles may be compressed, if the limit has room for a codec.
    let usesCompressedTier: Bool
    var planning = PlanningState()
    private(set) var isShutDown = false
    var due = DueTimes()

    var synthesis = SynthesisState()
    var stores = Stores()
    /// Tiles to give to stores.
    private(set) var saves = SaveQueue()
    var times: LoadWaits

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
        times = LoadWaits(mean: meanLatency)
    }

    /// Stops all planning and all calls.
    mutating func shutDown() {
        isShutDown = true
        due = DueTimes()
    }

    mutating func setFullByteLimit(_ bytes: Int) { fullByteLimit = min(max(bytes, 1), pool.maximumByteLimit) }

    /// Lends a view's record: it is moved, since a copy counts dozens of references. `nil` if there is no such view.
    @inline(__always) @discardableResult
    mutating func withView<Result>(_ place: Int, _ body: (inout ViewRecord, inout CoreState) -> Result) -> Result? {
        guard var view = views[place].take() else { return nil }
        let result = body(&view, &self)
        views[place] = consume view
        return result
    }

    // MARK: - Loads for stores

    /// Whether a load that no store could answer goes on to its source.
    mutating func takeToSource(_ ticket: LoadTicket, now: Int64) -> Bool {
        guard !isShutDown, pool.loads[ticket] != nil else { return false }
        let asked = interests.asked(for: ticket.key)
        let mayAsk = pool.mayAskSource(ticket, isAsked: asked != nil, now: now)
        if let asked { interests.note(asked, needsSource: !mayAsk) }
        return mayAsk
    }

    /// Changes the tiles to give to stores. Without room for the queue, none of them is stored.
    mutating func changeSaves<Result>(_ body: (inout SaveQueue) -> Result) -> Result {
        let before = saves.byteCount
        let result = body(&saves)
        if !pool.charge(saves.byteCount - before, to: .stores) {
            effects.lostSaves += saves.all.compactMap { lose($0) }
            saves = SaveQueue()
            pool.note(-before, in: .stores)
        }
        return result
    }

    // MARK: - Memory

    mutating func add(_ region: MemoryRegion, ofSlotClass slotClass: Int) {
        if slotClass < slotRegions.count { effects.unmapped.append(slotRegions[slotClass]) }
        slotRegions.put(region, at: slotClass)
    }

    /// Forgets the address ranges of classes that the pool no longer has.
    mutating func cutSlotRegions() {
        effects.unmapped += slotRegions[pool.slots.count...]
        slotRegions.removeLast(slotRegions.count - pool.slots.count)
    }

    func address(of slot: SlotID, layer: Int) -> UInt { address(of: slot, slotClass: pool.layers[layer].slotClass) }

    func address(of slot: SlotID, slotClass: Int) -> UInt {
        UInt(bitPattern: slotRegions[slotClass].base + Int(slot.number) * pool.slots[slotClass].slotBytes)
    }

    /// Addresses of a layer's slots, and their class.
    borrowing func slots(ofLayer layer: Int) -> (slotClass: Int32, range: SlotRange) {
        let own = pool.layers[layer].slotClass
        return (Int32(own), SlotRange(slotRegions[own], stride: pool.slots[own].slotBytes))
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

    /// Recomputes the needs of views that lack room: pinned tiles may leave more of it.
    mutating func refitShort(now: Int64) {
        for place in views.indices where views[place]?.model.shortfallBytes ?? 0 > 0 {
            refit(view: place, now: now)
        }
    }

    /// Whether a view needs more tiles than have room beside the tables and the pinned tiles.
    mutating func hasCrowdedView() -> Bool {
        for place in views.indices where views[place]?.model.isCrowded(&pool) == true { return true }
        return false
    }

    /// Whether a view had no room for the list of its needed tiles; the next plan tries again.
    var hasTruncatedView: Bool {
        for place in views.indices where views[place]?.model.isTruncated == true {
            if views[place]?.model.layers.contains(where: { $0.hasOwnList }) == false { return true }
        }
        return false
    }

    /// Whether pinned tiles, or needed ones of a view, wait for room in the tables.
    var hasMissingEntries: Bool { pins.areMissing || hasTruncatedView }

    /// Enters tiles that wait for room in the table: for views, pins, and requests. The only place where they do. Returns
    /// whether more steps would help.
    mutating func enterMissing(now: Int64) -> Bool {
        // A view whose tiles are all there keeps its level, unless it takes room that others lack.
        let isLacking = pool.queue.unmet.isOfNeeds
        for place in views.indices {
            let isTruncated = views[place]?.model.isTruncated == true && !pool.isOverLimit
            let mayBecomeFiner = views[place]?.model.mayBecomeFiner(pool) == true
            if isTruncated || mayBecomeFiner || (isLacking && views[place]?.model.isCrowded(&pool) == true) {
                refit(view: place, now: now)
            }
            guard views[place]?.model.layers.contains(where: { $0.needs.isIncomplete }) == true,
                var view = views[place].take()
            else { continue }
            for index in view.model.layers.indices { pool.enterMissing(of: &view.model.layers[index].needs) }
            views[place] = view
        }
        let goesOn = pins.enter(in: &pool)
        interests.enter(in: &pool)
        // Views may have room that others left after their turn.
        for place in views.indices where views[place]?.model.mayBecomeFiner(pool) == true { return true }
        return goesOn
    }

    /// Marks needed tiles as stale that have expired; returns when the next one expires.
    mutating func expireNeeded(now: Int64) -> Int64 {
        guard pool.hasExpiries else { return .max }
        var next = Int64.max
        for place in views.indices {
            next = min(next, views[place]?.model.expire(now: now, pool: &pool) ?? .max)
        }
        return next
    }

    /// Takes what is due. A due plan is requested.
    mutating func takeDue(now: Int64) -> (plan: Bool, watch: Bool, limit: Bool) {
        let due = due.takeDue(now: now)
        if due.plan { ask(forPlanAt: now, now: now) }
        return due
    }

    /// Begins a hold of the lock.
    mutating func noteAcquisition() {
        acquisitions &+= 1
        pool.hold.begin(atMost: PoolState.stepsAtOnce)
    }

    /// Schedules a check for stuck calls of sources, unless one is due.
    mutating func watch(at time: Int64) {
        let isWorthIt = pool.loads.busyCount > 0 || workers.oldestDecode != nil
        guard !due.isWatched, !isShutDown, isWorthIt, !workers.spare.isEmpty || pool.loads.haveFlights else { return }
        if due.askWatch(at: time) { effects.setsTimer = true }
    }

    /// Schedules a check for stuck calls sooner, if a layer waits for a worker and loads of others have them all.
    ///
    /// - Parameter wait: Least time until then. Default: 0.
    mutating func watchStarvedLayers(at now: Int64, lendingAfter time: Int64, atLeast wait: Int64 = 0) {
        guard !workers.spare.isEmpty, let oldest = pool.loads.oldestCall, pool.hasStarvedLayer(at: now) else { return }
        if due.askWatch(by: max(oldest + time, now + wait) + 1) { effects.setsTimer = true }
    }
}

/// A value used by one owner at a time: its taker under the lock.
struct Transferred<Value>: @unchecked Sendable {
    let value: Value
}
