/// State and decisions of the pool, without its memory and its lock.
///
/// Pure, so that replays under a virtual clock and tests run the same decisions as the service.
struct PoolState: ~Copyable {
    private(set) var configuration: PoolConfiguration
    /// Always `nil`. A type that contains an existential is passed by its address. Otherwise the compiler passes the pool
    /// by a copy of its 1,280 bytes to each function that only reads it: 2 % of a replay.
    private let isPassedInPlace: (any Sendable)? = nil
    /// Maximum of later limits; address ranges are reserved for it.
    let maximumByteLimit: Int
    var layers = PoolLayers()
    var table: TileTable
    var slots = SlotClasses()
    var pages: PageAllocator

    var ledger: Ledger
    var loads: Loads
    var queue = PlanQueue()
    var turns = LayerTurns()
    var codecJobs = CodecJobs()
    var orphans = Orphans()
    /// Whether any tile has ever had a time until which it is valid.
    var hasExpiries = false
    /// Validators of tiles that expire.
    var validators = Validators()

    /// Number of demands: the clock of ages.
    private(set) var demandClock: UInt32 = 0
    /// Incremented when the contents of complete frames may have changed.
    private(set) var drawVersion: UInt64 = 0
    /// Split of the limit between the tiers.
    var split: TierSplit
    var counters = PoolCounters()
    var declared = Declared(none: PoolEffects())
    /// Number of loads, jobs of codecs, and calls of sources that have ended, and of replaced slots given back.
    private var ends: UInt64 = 0
    /// Number of changes of the demand that no entry of the table shows.
    private var declaredDemands: UInt64 = 0
    /// The number of all changes when the demand was last taken.
    private var takenDemands: UInt64 = 0
    /// The numbers of changes and of arrivals when the supply was last taken.
    private var takenSupply: (changes: UInt64, arrivals: UInt64) = (0, 0)
    /// Steps of the present hold of the lock.
    var hold = HoldSteps()
    /// Tiles examined by searches for a victim.
    private(set) var evictionSteps = 0
    /// Incremented when the needed tiles of a view change, or take less room.
    private(set) var needVersion: UInt64 = 0
    /// Number of layers of all views that need tiles, a layer of two views twice, and the bytes that they need at least.
    private(set) var claimCount = 0
    private(set) var leastBytes = 0

    init(configuration: PoolConfiguration) {
        self.configuration = configuration
        split = TierSplit(fixedShare: configuration.compressedShare)
        let limit = max(configuration.byteLimit, configuration.maximumByteLimit)
        maximumByteLimit = limit
        table = TileTable(maximumCount: min(max(limit / 1024, 4096), 1 << 26), pageBytes: configuration.pageBytes)
        pages = PageAllocator(capacity: Self.pageCapacity(for: configuration), pageBytes: configuration.pageBytes)
        loads = Loads(capacity: configuration.workers)
        ledger = Ledger(limit: configuration.byteLimit)
        ledger.add(configuration.fixedBytes, to: .codecs)
        ledger.noteLimit(committed: committedBytes)
        notePeaks()
    }

    /// Maximum number of pages of the compressed tier.
    static func pageCapacity(for configuration: PoolConfiguration) -> Int {
        let limit = max(configuration.byteLimit, configuration.maximumByteLimit)
        return min(limit / configuration.pageBytes + 1, Int(Int32.max) - 1)
    }

    // MARK: - Layers

    /// Adds a layer; layers with tiles of the same size share slots.
    ///
    /// - Parameters:
    ///   - slotCapacity: Maximum slots of a new size. Default: nil, as many as fit the highest limit.
    ///   - levelBytes: Bytes of a tile by level, if they differ. Default: empty.
    ///   - synthesizedLevels: Number of levels that are made of finer ones. Default: 0.
    ///   - allowance: What may be loaded ahead of need. Default: what the effort allows.
    ///   - loadsInFlight: Of an asynchronous source. Default: nil, each load occupies a worker.
    mutating func addLayer(
        tileBytes: Int,
        isCompressible: Bool = true,
        reservesLate: Bool = false,
        maximumShare: Double = 1,
        slotCapacity: Int? = nil,
        levelBytes: [Int] = [],
        synthesizedLevels: Int = 0,
        allowance: PrefetchAllowance = .standard,
        tiles: [TileRange] = [],
        loadsInFlight: LoadsInFlight? = nil
    ) -> Int {
        let slotBytes = configuration.paged(tileBytes)
        let capacity = min(max(slotCapacity ?? (maximumByteLimit / slotBytes), 0), Int(Int32.max) - 1)
        var layer = PoolLayer(
            tileBytes: tileBytes,
            levelBytes: levelBytes,
            slotClass: slots.addLayer(slotBytes: slotBytes, capacity: capacity),
            isCompressible: isCompressible,
            reservesLate: reservesLate,
            maximumShare: maximumShare,
            group: table.takeGroup(forShare: maximumShare)
        )
        layer.synthesizedLevels = synthesizedLevels
        layer.tiles = tiles
        layer.window = loadsInFlight.map { LoadWindow($0) }
        layer.set(allowance)
        defer { noteTaken() }
        return layers.add(layer)
    }

    /// Bytes of a decoded tile's pixels.
    func tileBytes(of key: TileKey) -> Int {
        let layer = layers[key.layer]
        return layer.levelBytes.indices.contains(key.level) ? layer.levelBytes[key.level] : layer.tileBytes
    }

    func slotBytes(ofLayer layer: Int) -> Int { slots[layers[layer].slotClass].slotBytes }

    /// Number of decoded tiles of each layer that fit the limit; 0 for a free index.
    var capacities: [Int] { layers.map { $0.isGone ? 0 : ledger.limit / slots[$0.slotClass].slotBytes } }

    /// Notes that the contents of complete frames may have changed.
    mutating func noteDrawing() { drawVersion &+= 1 }

    mutating func noteDemands(_ count: UInt32) { demandClock &+= count }

    mutating func noteEvictionSteps(_ count: Int) {
        evictionSteps += count
        hold.pass(count)
    }

    /// Loads of a layer in flight, without hanging ones, and how many may be.
    func loadsInFlight(ofLayer layer: Int) -> (now: Int, most: Int) {
        let count = loads.all.count { !$0.load.isWrittenOff && table[$0.load.entry].key.layer == layer }
        return (count, mostLoads(of: layers[layer]))
    }

    private func mostLoads(of layer: PoolLayer) -> Int { layer.window?.limit ?? configuration.workers }

    /// Loads of each layer that may be in flight at a time; empty if all occupy workers.
    var loadsInFlight: [Int] {
        layers.contains { $0.window != nil } ? layers.map { mostLoads(of: $0) } : []
    }

    mutating func noteNeeds() { needVersion &+= 1 }

    /// Changes what may be loaded of layers.
    mutating func changeLayers(_ body: (inout PoolLayers) -> Void) {
        body(&layers)
        noteDemand()
    }

    // MARK: - Demand and supply

    /// Notes that more, less or something else is wanted than the newest plan knows.
    mutating func noteDemand() { declaredDemands &+= 1 }

    /// Notes that what was passed by, since its layer had all its loads, may begin.
    mutating func noteBusyOver() { if queue.takeBusy() { noteDemand() } }

    /// Whether the demand has changed since it was last taken.
    var hasDemand: Bool { declaredDemands &+ table.demands != takenDemands }

    /// Takes the changes of the demand; returns whether there were some.
    ///
    /// The demand changes when the needed tiles of a view do, when a needed, requested or pinned tile begins to wait for
    /// its pixels, and when a wish is declared that no entry of the table shows.
    mutating func takeDemand() -> Bool {
        defer { takenDemands = declaredDemands &+ table.demands }
        return hasDemand
    }

    /// Notes that the newest plan lacks needed or pinned tiles, which have no place in the table.
    mutating func noteUnmet() { queue.noteUnmet() }

    /// Notes that something has ended that others may have waited for: a load, the work of a codec, a
    /// source's call, a lease of replaced pixels.
    mutating func noteEnd() {
        ends &+= 1
        // Also of another layer: hanging ones share the spare workers.
        noteBusyOver()
    }

    /// Whether the supply has changed since it was last taken.
    var hasSupply: Bool { ledger.changes &+ ends != takenSupply.changes || table.arrivals != takenSupply.arrivals }

    /// The last rank of refused tiles for which the changes of the supply since the last call are worth a plan; `nil` if
    /// there were none.
    ///
    /// The supply changes when memory is returned, or taken for long, when the limit rises and when work ends. A tile that
    /// becomes evictable counts for needed tiles only: leases end with each frame, and views that move are planned anyway.
    mutating func takeSupply() -> Rank? {
        let (changes, arrivals) = (ledger.changes &+ ends, table.arrivals)
        defer { takenSupply = (changes, arrivals) }
        if changes != takenSupply.changes { return .prefetch }
        return arrivals != takenSupply.arrivals ? .fetch : nil
    }

    /// Notes what a view needs of a layer at least, at whatever level.
    mutating func setLeast(_ bytes: Int, of needs: inout ViewNeeds) {
        leastBytes += bytes - needs.leastBytes
        claimCount += bytes.signum() - needs.leastBytes.signum()
        needs.leastBytes = bytes
    }

    /// Sets the number of codecs. With 0 nothing is compressed, and compressed tiles count as missing.
    mutating func setCodecs(_ count: Int) {
        configuration.maximumCodecJobs = count
        configuration.compressedTier = count > 0
    }

    // MARK: - Tiles

    func knownResidencies(of keys: [TileKey]) -> [TileResidency] {
        keys.map { key in
            let number = table.find(key)
            guard number != .none else { return TileResidency(residency: .none, isKnown: false) }
            return table.pointer(number).pointee.state
        }
    }

    func residency(of key: TileKey) -> Residency {
        let number = table.find(key)
        return number == .none ? .none : table.pointer(number).pointee.residency
    }

    /// Changes an entry, its list and the counts.
    @inline(__always)
    mutating func change(_ number: EntryID, _ body: (inout Entry) -> Void) {
        let layer = table[number].key.layer
        let before = table.counts
        table.change(number, layers, slotBytes: slotBytes(ofLayer: layer), body)
        let pinned = table.counts.allPinnedBytes - before.allPinnedBytes
        if pinned != 0 { layers.change(layer) { $0.pinnedBytes += pinned } }
        let needed = table.counts.neededBytes - before.neededBytes
        guard needed != 0 else { return }
        layers.change(layer) { $0.neededBytes += needed }
        if needed < 0 { noteNeeds() }
    }

    /// Changes an entry and its list. The counts do not depend on the change.
    @inline(__always)
    mutating func relist(_ number: EntryID, after body: (inout Entry) -> Void = { _ in }) {
        table.stage(number, body)
        table.relist(number, layers)
    }

    /// Counts something of a tile's load, for the cache and for the tile's layer.
    mutating func count(_ number: EntryID, _ change: (inout TileCacheStatistics.LoadCounts) -> Void) {
        change(&counters.loads)
        layers.change(table[number].key.layer) { change(&$0.loads) }
    }

    /// Moves a decoded tile to the front, not as drawn.
    mutating func touchForUse(_ number: EntryID) { table.touch(number, layers) }

    /// Moves a resident tile to the front, as drawn.
    mutating func touch(_ number: EntryID, now: Int64) {
        table.note(number) { $0.lastUse = now }
        if table.markSeen(number) {
            count(number) { $0.drawn += 1 }
            if table[number].flags.contains(.prefetched) {
                counters.prefetches.useful += 1
                let bytes = tileBytes(of: table[number].key)
                layers.change(table[number].key.layer) {
                    $0.prefetches.drawn += 1
                    $0.prefetches.drawnByteTotal += bytes
                }
            }
            if table[number].flags.contains(.unsaved) { effects.drawn.append(table[number].key) }
        }
        touchForUse(number)
    }

    /// Returns the entry of a key, creating it if necessary. None if the table is full and nothing can be forgotten.
    ///
    /// - Parameter forgetsAbsences: Whether absent and failed tiles may be forgotten for it; not for prefetches, or
    ///   absent tiles would be requested again and again.
    mutating func entry(for key: TileKey, forgetsAbsences: Bool = true) -> EntryID {
        let number = table.find(key)
        if number != .none { return number }
        if forgetsAbsences, !hasRoomForEntry { forgetAbsences() }
        // Tiles that take only an entry must not grow the table at the cost of all others.
        if table.isFull || (!canGrowTable && table.counts.solid > table.count / 2) {
            let cold = coldest(of: .solid, worth: .infinity)
            if cold != .none { drop(cold, cause: .capacity) }
        }
        // Recomputed in each pass: making room may decommit the page that the entry would have taken.
        while !table.isFull, !canGrowTable {
            // A page or two.
            guard makeBytes(table.nextGrowth, inSteps: false) else { return .none }
        }
        guard !table.isFull else {
            ledger.noteRefusal(ofNumber: true)
            return .none
        }
        let inserted = table.insert(key)
        layers.change(key.layer) { $0.entries += 1 }
        noteTaken()
        if layers[key.layer].lacks(key) { change(inserted) { $0.flags.insert(.absent) } }
        return inserted
    }

    /// Whether the table has a place for one more entry, without an eviction.
    var hasRoomForEntry: Bool { !table.isFull && canGrowTable }

    /// Whether the memory of the next entry is available.
    private var canGrowTable: Bool {
        table.nextGrowth == 0 || configuration.grantsBookkeeping || availableBytes >= table.nextGrowth
    }

    mutating func removeEntry(_ number: EntryID) {
        layers.change(table[number].key.layer) { $0.entries -= 1 }
        table.remove(number, layers)
    }

    /// Removes an entry that holds no information.
    mutating func forgetIfIdle(_ number: EntryID) {
        let entry = table[number]
        if entry.isForgettable, entry.flags.isDisjoint(with: .remembered) {
            removeEntry(number)
        } else {
            relist(number)
        }
    }
}
