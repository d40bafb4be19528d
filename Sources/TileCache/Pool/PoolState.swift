/// State and decisions of the pool, without its memory and its lock: slots, pages, bytes, order.
///
/// Pure, so that replays under a virtual clock and tests run the same decisions as the service.
struct PoolState: ~Copyable {
    var configuration: PoolConfiguration
    /// Maximum of later limits; address ranges are reserved for it.
    let maximumByteLimit: Int
    var layers: [PoolLayer] = []
    /// Free indices in `layers`; those beyond its end do not count.
    var freeLayers: [Int] = []
    /// Number of layers that are not gone.
    var layerCount = 0
    /// Whether unused memory is decommitted, since a layer was removed.
    var releasesUnused = false
    /// Whether any layer has a maximum or guaranteed share.
    var hasShares = false
    var table: EntryTable
    /// Lists of the entries; see `EntryList`.
    var lists = TileLists()
    /// Stamp of the last use.
    var lastStamp: UInt64 = 0
    var tiles = TileCounts()
    var slots: [SlotAllocator] = []
    /// Indices in `slots`, by slot size in bytes.
    var slotClasses: [Int: Int] = [:]
    var pages: PageAllocator

    var ledger: Ledger
    var loads: Loads
    var queue = PlanQueue()
    var codecJobs = 0
    /// Last identifier of a compression or decompression. Shared by all entries: an entry's number and key may be
    /// reused while work for the former entry is under way.
    private var lastWork: UInt32 = 0
    var orphans = Orphans()

    /// Number of demands: the clock of ages.
    var demandClock: UInt32 = 0
    /// Incremented when the contents of complete frames may have changed.
    var drawVersion: UInt64 = 0
    /// Split of the limit between the tiers.
    var split: TierSplit
    var counters = PoolCounters()
    var effects = PoolEffects()
    /// Tiles examined by searches for a victim.
    var evictionSteps = 0

    init(configuration: PoolConfiguration) {
        self.configuration = configuration
        split = TierSplit(fixedShare: configuration.compressedShare)
        let limit = max(configuration.byteLimit, configuration.maximumByteLimit)
        maximumByteLimit = limit
        table = EntryTable(maximumCount: min(max(limit / 1024, 4096), 1 << 26), pageBytes: configuration.pageBytes)
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
    mutating func addLayer(
        tileBytes: Int,
        isCompressible: Bool = true,
        reservesLate: Bool = false,
        share: LayerShare = .all,
        slotCapacity: Int? = nil,
        levelBytes: [Int] = []
    ) -> Int {
        let slotBytes = configuration.paged(tileBytes)
        let capacity = min(max(slotCapacity ?? (maximumByteLimit / slotBytes), 0), Int(Int32.max) - 1)
        let slotClass = slotClasses[slotBytes] ?? addSlotClass(slotBytes: slotBytes, capacity: capacity)
        slots[slotClass].layers += 1
        layerCount += 1
        while let free = freeLayers.last, free >= layers.count { freeLayers.removeLast() }
        let index = freeLayers.popLast() ?? layers.count
        let layer = PoolLayer(
            tileBytes: tileBytes,
            levelBytes: levelBytes,
            slotClass: slotClass,
            isCompressible: isCompressible,
            reservesLate: reservesLate,
            share: share,
            group: lists.group(for: share)
        )
        layers.put(layer, at: index)
        hasShares = hasShares || share != .all
        noteTaken()
        return index
    }

    private mutating func addSlotClass(slotBytes: Int, capacity: Int) -> Int {
        // Reuses the index of a size without layers and memory.
        let slotClass = slots.firstIndex { $0.isFree } ?? slots.count
        if slotClass < slots.count { slotClasses[slots[slotClass].slotBytes] = nil }
        slots.put(SlotAllocator(slotBytes: slotBytes, capacity: capacity), at: slotClass)
        slotClasses[slotBytes] = slotClass
        return slotClass
    }

    /// Bytes of a decoded tile's pixels.
    func tileBytes(of key: TileKey) -> Int {
        let layer = layers[key.layer]
        return layer.levelBytes.indices.contains(key.level) ? layer.levelBytes[key.level] : layer.tileBytes
    }

    func slotBytes(ofLayer layer: Int) -> Int { slots[layers[layer].slotClass].slotBytes }

    mutating func nextWork() -> UInt32 {
        lastWork &+= 1
        // 0 means no work.
        if lastWork == 0 { lastWork = 1 }
        return lastWork
    }

    // MARK: - Lookup

    func knownResidency(of key: TileKey) -> TileResidency {
        let number = table.find(key)
        return number == .none
            ? TileResidency(residency: .none, isKnown: false)
            : TileResidency(residency: table[number].residency, isKnown: true)
    }

    func residency(of key: TileKey) -> Residency {
        let number = table.find(key)
        return number == .none ? .none : table[number].residency
    }

    /// Moves a decoded tile to the front, not as drawn.
    mutating func touchForUse(_ number: EntryID) {
        lastStamp += 1
        table[number].stamp = lastStamp
        lists.moveToFront(number, in: table, layers)
    }

    /// Moves a resident tile to the front, as drawn.
    mutating func touch(_ number: EntryID, now: Int64) {
        table[number].lastUse = now
        if !table[number].flags.contains(.seen) {
            tiles.noteSeen(table[number])
            table[number].flags.insert(.seen)
            counters.loads.drawn += 1
            if table[number].flags.contains(.prefetched) { counters.prefetches.useful += 1 }
            if table[number].flags.contains(.unsaved) { effects.drawn.append(table[number].key) }
        }
        touchForUse(number)
    }

    /// Returns the entry of a key, creating it if necessary. None if the table is full and nothing can be forgotten.
    ///
    /// - Parameter forgetsAbsences: Whether absent and failed tiles may be forgotten for it; not for prefetches, or the
    ///   source would be asked for absent tiles again and again.
    mutating func entry(for key: TileKey, forgetsAbsences: Bool = true) -> EntryID {
        let number = table.find(key)
        if number != .none { return number }
        if forgetsAbsences, table.isFull || !canGrowTable { forgetAbsences() }
        // Tiles that take only an entry must not grow the table at the cost of all others.
        if table.isFull || (!canGrowTable && tiles.solid > table.count / 2) {
            let cold = coldest(of: .solid, worth: .infinity, now: 0)
            if cold != .none { drop(cold, cause: .capacity) }
        }
        // Recomputed in each pass: making room may decommit the page that the entry would have taken.
        while !table.isFull, !canGrowTable {
            guard makeBytes(table.nextGrowth) else { return .none }
        }
        guard !table.isFull else { return .none }
        let inserted = table.insert(key)
        layers[key.layer].entries += 1
        noteTaken()
        return inserted
    }

    /// Whether the memory of the next entry is available.
    private var canGrowTable: Bool {
        table.nextGrowth == 0 || configuration.grantsBookkeeping || availableBytes >= table.nextGrowth
    }

    mutating func removeEntry(_ number: EntryID) {
        layers[table[number].key.layer].entries -= 1
        lists.remove(number, in: table, layers)
        table.remove(number)
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
