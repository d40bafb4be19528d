/// The pool without its memory and its lock: numbers of slots and pages, bytes, order. Pure, so that the replay under a
/// virtual clock and the tests drive the very decisions that the service runs.
struct PoolState: ~Copyable {
    var configuration: PoolConfiguration
    /// What the limit may be raised to: address ranges are made for it.
    let maximumByteLimit: Int
    var layers: [PoolLayer] = []
    /// Indices of layers that are gone; those beyond the end of `layers` count no longer.
    var freeLayers: [Int] = []
    /// Layers that are not gone.
    var layerCount = 0
    /// Whether memory that nothing uses goes back to the system: a layer was removed.
    var releasesUnused = false
    /// Whether any layer is limited to, or guaranteed, less or more than what it earns.
    var hasShares = false
    var table: EntryTable
    /// The entries by what may become of them; see `EntryList`.
    var lists = TileLists()
    /// The stamp of the last use.
    var lastStamp: UInt64 = 0
    /// How many tiles are resident in which way.
    var tiles = TileCounts()
    var slots: [SlotAllocator] = []
    /// Places in `slots`, by the bytes of a slot.
    var slotClasses: [Int: Int] = [:]
    var pages: PageAllocator

    var ledger: Ledger
    var loads: Loads
    var queue = PlanQueue()
    var codecJobs = 0
    /// The last name given to a compression or decompression. One sequence for all entries: an entry's number and key
    /// may come back while work for its predecessor is still under way.
    private var lastWork: UInt32 = 0
    var orphans = Orphans()

    /// Counts demands: the clock that ages go by.
    var demandClock: UInt32 = 0
    /// Raised when what a view draws that lacks nothing may have changed without the view's doing.
    var drawVersion: UInt64 = 0
    /// How the limit is divided between the tiers.
    var split: TierSplit
    var counters = PoolCounters()
    var effects = PoolEffects()
    /// Tiles that the searches for something to evict have looked at.
    var evictionSteps = 0

    init(configuration: PoolConfiguration) {
        self.configuration = configuration
        split = TierSplit(fixedShare: configuration.compressedShare)
        let limit = max(configuration.byteLimit, configuration.maximumByteLimit)
        maximumByteLimit = limit
        table = EntryTable(
            maximumCount: min(max(limit / 1024, 4096), 1 << 26),
            pageBytes: configuration.pageBytes
        )
        pages = PageAllocator(capacity: Self.pageCapacity(for: configuration), pageBytes: configuration.pageBytes)
        loads = Loads(capacity: configuration.workers)
        ledger = Ledger(limit: configuration.byteLimit)
        ledger.add(configuration.fixedBytes, to: .codecs)
        ledger.noteLimit(committed: committedBytes)
        notePeaks()
    }

    /// Pages that the compressed tier has numbers for.
    static func pageCapacity(for configuration: PoolConfiguration) -> Int {
        let limit = max(configuration.byteLimit, configuration.maximumByteLimit)
        return min(limit / configuration.pageBytes + 1, Int(Int32.max) - 1)
    }

    // MARK: - Layers

    /// The class of slots of a size; nil if there is none.
    func slotClass(ofBytes slotBytes: Int) -> Int? { slotClasses[slotBytes] }

    /// Adds a layer; its tiles share the slots of other layers with tiles of the same size.
    ///
    /// - Parameters:
    ///   - slotCapacity: slots that a new size has addresses for. Default: as many as the highest limit has room for.
    ///   - levelBytes: bytes of a tile by level, if they differ. Default: empty.
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
        let slotClass = slotClass(ofBytes: slotBytes) ?? addSlotClass(slotBytes: slotBytes, capacity: capacity)
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
        // A size that no layer has any more, and that has no memory.
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

    mutating func nameWork() -> UInt32 {
        lastWork &+= 1
        // 0 is the name of no work.
        if lastWork == 0 { lastWork = 1 }
        return lastWork
    }

    // MARK: - Lookup

    func find(_ key: TileKey) -> EntryID { table.find(key) }

    func standing(of key: TileKey) -> TileStanding {
        let number = table.find(key)
        return number == .none
            ? TileStanding(residency: .none, isKnown: false)
            : TileStanding(residency: table[number].residency, isKnown: true)
    }

    func residency(of key: TileKey) -> Residency {
        let number = table.find(key)
        return number == .none ? .none : table[number].residency
    }

    /// Marks a decoded tile as the most recently used, without any view having drawn it.
    mutating func touchForUse(_ number: EntryID) {
        lastStamp += 1
        table[number].stamp = lastStamp
        lists.moveToFront(number, in: table, layers)
    }

    /// Marks a resident tile as the most recently used, and as drawn.
    mutating func touch(_ number: EntryID, now: Int64) {
        table[number].lastUse = now
        if !table[number].flags.contains(.seen) {
            tiles.noteSeen(table[number])
            table[number].flags.insert(.seen)
            counters.loads.drawn += 1
            if table[number].flags.contains(.prefetched) { counters.prefetches.useful += 1 }
        }
        touchForUse(number)
    }

    /// Resident tiles that were never drawn, and how many of them were prefetched.
    var unseen: (all: Int, prefetched: Int) { (tiles.unseen, tiles.unseenPrefetched) }

    /// The entry of a key, made if there is none; `.none` if the table is full and nothing can be forgotten.
    ///
    /// - Parameter forgetsAbsences: whether absent and failed tiles may be forgotten for it. If a prefetch could do so, the
    ///   source would be asked for one absent tile after the other, again and again.
    mutating func entry(for key: TileKey, forgetsAbsences: Bool = true) -> EntryID {
        let number = table.find(key)
        if number != .none { return number }
        if forgetsAbsences, table.isFull || !canGrowTable { forgetAbsences() }
        // The table must not grow at the cost of all other tiles for tiles that take nothing else.
        if table.isFull || (!canGrowTable && tiles.solid > table.count / 2) {
            let cold = coldest(of: .solid, worth: .infinity, now: 0)
            if cold != .none { drop(cold, cause: .capacity) }
        }
        // Asked anew each time: making room may have decommitted the very page that the entry would have taken.
        while !table.isFull, !canGrowTable {
            guard makeBytes(table.nextGrowth) else { return .none }
        }
        guard !table.isFull else { return .none }
        let inserted = table.insert(key)
        layers[key.layer].entries += 1
        noteTaken()
        return inserted
    }

    /// Whether the next entry may take the memory that it needs, if it needs any.
    private var canGrowTable: Bool {
        table.nextGrowth == 0 || configuration.grantsBookkeeping || availableBytes >= table.nextGrowth
    }

    mutating func removeEntry(_ number: EntryID) {
        layers[table[number].key.layer].entries -= 1
        lists.remove(number, in: table, layers)
        table.remove(number)
    }

    /// Forgets an entry that remembers nothing worth knowing.
    mutating func forgetIfIdle(_ number: EntryID) {
        let entry = table[number]
        if entry.isForgettable, entry.flags.isDisjoint(with: .remembered) {
            removeEntry(number)
        } else {
            relist(number)
        }
    }
}
