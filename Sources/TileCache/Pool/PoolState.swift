/// A load that has started and not ended.
struct Load: Sendable {
    var entry: Int32
    var generation: UInt32
    /// The slot that it writes into, or -1 while nothing is reserved.
    var slot: Int32
    /// Its number may be another load's later; this is not.
    var serial: UInt32
    var started: Int64
    var isDemand: Bool
    /// The plan that last asked for the tile; loads that no plan wants any more may be cancelled.
    var wantedEpoch: UInt32
    /// What the tile was worth when the load began.
    var value: Float
    /// A counted demand met the load while it was in flight.
    var wasLate = false
    /// Encoded bytes that the source holds in its own memory and has told of.
    var heldBytes = 0
    /// What the source has handed over as the tile's compressed form, and its checksum.
    var encoded = PageAllocator.Block()
    var encodedBytes: Int32 = 0
    var encodedChecksum: UInt64 = 0
    /// It has taken so long that another may take its worker's place.
    var isWrittenOff = false
    /// Memory was refused to it, and pages of memory that it wanted beside its slot. Small, so that the record does not grow.
    var wasRefused = false
    var refusedPages: UInt16 = 0
}

/// A slot, a page of compressed blocks or a page of the table.
struct MemoryRange: Hashable, Sendable {
    /// The class of slots, or one of the names below.
    var slotClass: Int32
    var number: Int32

    static let pages: Int32 = -1
    static let entryPages: Int32 = -2
    static let chainPages: Int32 = -3
    /// The lowest of them.
    static let firstKind = chainPages
}

/// Memory that must go back to the system before whoever was given its bytes touches anything.
struct LeavingMemory: Hashable, Sendable {
    var range: MemoryRange
    /// Bytes that still count until the memory is gone: in the place of the others something has been taken already.
    var countedBytes: Int
}

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

    /// Loads in flight by number; a freed number is used again.
    var loads: [Load?] = []
    var freeLoads: [Int32] = []
    var loadCount = 0
    /// The serial number of the last load.
    private(set) var lastLoad: UInt32 = 0
    /// Prefetches in flight, those that were written off not counted.
    var prefetchLoadCount = 0
    /// Loads in flight that nobody waits for any more.
    var writtenOffCount = 0
    var inFlightBytes = 0
    /// Encoded bytes that sources hold in their own memory.
    var heldBytes = 0
    var codecJobs = 0
    /// The last name given to a compression or decompression. One sequence for all entries: an entry's number and key
    /// may come back while work for its predecessor is still under way.
    private var lastWork: UInt32 = 0
    /// Slots whose tile got newer pixels while somebody still holds the old ones.
    var orphans: [MemoryRange: Int32] = [:]

    var plan = Plan()
    var planCursor = 0
    /// How far needed tiles have gone ahead of a prefetch that waits.
    var demandCursor = 0
    /// The plan has come to a needed tile that there is no room for.
    var planHasEnded = false
    /// There was no room for something that is needed.
    var lacksRoomForNeeds = false
    /// The plan has come to a prefetch that there is no room for.
    var prefetchHasEnded = false
    /// A layer's share was no room for a wish.
    var hasPassedForRoom = false
    /// A layer with stuck loads had all that it may have in flight.
    var hasPassedForLoads = false
    var planEpoch: UInt32 = 1
    /// The plan has as many pinned tiles as a plan takes: there may be more.
    var planCutsPins = false
    /// When the first of the plan's failed tiles may be tried again, as of the plan's installation; `.max` for none.
    var nextRetry = Int64.max
    /// Bytes that plans may take: those of the largest one so far.
    var planBytes = 0
    /// Bytes of what views and their policies remember, and of the layers' tables.
    var viewBytes = 0
    var policyBytes = 0
    var layerBytes = 0
    /// Resident tiles that the current plan values.
    var valued: [Int32] = []

    /// Counts demands: the clock that ages go by.
    var demandClock: UInt32 = 0
    /// Raised when what a view draws that lacks nothing may have changed without the view's doing.
    var drawVersion: UInt64 = 0
    /// How the limit is divided between the tiers.
    var split: TierSplit
    /// What this hold of the lock lets go, until `takePendingDecommits`.
    var pendingDecommits: [LeavingMemory] = []
    /// Bytes on their way to the system in whose place nothing has been taken yet.
    var leavingBytes = 0
    /// Of those, the ones that this hold of the lock lets go: it may take as much, for it touches nothing before they are gone.
    var pendingBytes = 0
    /// What this hold of the lock has taken in the place of what it lets go.
    var pledgedBytes = 0
    var counters = PoolCounters()
    var effects = PoolEffects()
    /// Bytes that an idle limit change still has to free: pins held it up.
    var isOverLimit = false
    /// Tiles that the searches for something to evict have looked at.
    var evictionSteps = 0

    init(configuration: PoolConfiguration) {
        self.configuration = configuration
        split = TierSplit(fixedShare: configuration.compressedShare)
        let limit = max(configuration.byteLimit, configuration.maximumByteLimit)
        maximumByteLimit = limit
        table = EntryTable(maximumCount: min(max(limit / 1024, 4096), 1 << 26))
        pages = PageAllocator(capacity: Self.pageCapacity(for: configuration))
        loads.reserveCapacity(configuration.workers)
        isOverLimit = committedBytes > configuration.byteLimit
        notePeaks()
    }

    /// Pages that the compressed tier has numbers for.
    static func pageCapacity(for configuration: PoolConfiguration) -> Int {
        let limit = max(configuration.byteLimit, configuration.maximumByteLimit)
        return min(limit / PageAllocator.pageBytes + 1, Int(Int32.max) - 1)
    }

    // MARK: - Layers

    /// The class of slots of a size; nil if there is none.
    func slotClass(ofBytes slotBytes: Int) -> Int? { slotClasses[slotBytes] }

    /// Adds a layer; its tiles share the slots of other layers with tiles of the same size.
    ///
    /// - Parameter slotCapacity: slots that a new size has addresses for. Default: as many as the highest limit has room
    ///   for.
    ///   - levelBytes: bytes of a tile by level, if they differ. Default: empty.
    mutating func addLayer(
        tileBytes: Int,
        isCompressible: Bool = true,
        reservesLate: Bool = false,
        share: LayerShare = .all,
        slotCapacity: Int? = nil,
        levelBytes: [Int] = []
    ) -> Int {
        let slotBytes = Self.slotBytes(for: tileBytes)
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
            group: lists.group(for: share, layer: index)
        )
        layers.put(layer, at: index)
        coverTaken()
        hasShares = hasShares || share != .all
        notePeaks()
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

    /// A slot begins on a page of the system, so that its memory can be given back alone.
    static func slotBytes(for tileBytes: Int) -> Int { (tileBytes + 4095) & ~4095 }

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

    mutating func nameLoad() -> UInt32 {
        lastLoad &+= 1
        return lastLoad
    }

    // MARK: - The ledger

    /// Bytes of decoded tiles, of slots being written and of slots kept for the next tile.
    var slotCommittedBytes: Int { slots.reduce(0) { $0 + $1.committedBytes } }
    /// Bytes in slots that hold pixels or are being written.
    var slotUsedBytes: Int { slots.reduce(0) { $0 + $1.usedCount * $1.slotBytes } }
    /// Bytes of tables and scratch memory.
    var bookkeepingBytes: Int {
        table.byteCount + pages.bookkeepingBytes + slots.reduce(0) { $0 + $1.bookkeepingBytes }
            + (configuration.workers + writtenOffCount) * MemoryLayout<Load?>.stride
            + planBytes + viewBytes + policyBytes + layerBytes + configuration.fixedBytes
    }
    /// Everything with memory behind it, what is on its way to the system included: what must never exceed the limit.
    var committedBytes: Int {
        slotCommittedBytes + pages.committedBytes + leavingBytes + heldBytes
            + (configuration.grantsBookkeeping ? 0 : bookkeepingBytes)
    }
    /// Bytes that this hold of the lock may still commit.
    var availableBytes: Int { configuration.byteLimit - committedBytes + pendingBytes }

    /// Notes that something was taken: what goes beyond the limit stands in the place of what this hold of the lock lets
    /// go, and is counted once.
    mutating func coverTaken() {
        let pledge = min(committedBytes - configuration.byteLimit, pendingBytes)
        guard pledge > 0 else { return }
        leavingBytes -= pledge
        pendingBytes -= pledge
        pledgedBytes += pledge
    }

    /// Bytes of pixels ready to draw and of compressed blocks before rounding to pages: what the limit is for.
    var payloadBytes: Int {
        var bytes = 0
        table.forEach { number in
            let entry = table[number]
            if entry.residency.isDecoded { bytes += tileBytes(of: entry.key) }
            bytes += Int(entry.blockBytes)
        }
        return bytes
    }

    mutating func notePeaks() {
        if !isOverLimit, committedBytes > configuration.byteLimit {
            assertionFailure("the pool has more than it was given")
            counters.limitBreaches += 1
        }
        counters.peakBytes = max(counters.peakBytes, committedBytes)
        counters.peakDecodedBytes = max(counters.peakDecodedBytes, slotUsedBytes - inFlightBytes)
        counters.peakCompressedBytes = max(counters.peakCompressedBytes, pages.usedBytes)
        counters.peakInFlightBytes = max(counters.peakInFlightBytes, inFlightBytes)
    }

    // MARK: - Lookup

    func find(_ key: TileKey) -> Int32 { table.find(key) }

    func standing(of key: TileKey) -> TileStanding {
        let number = table.find(key)
        return number < 0
            ? TileStanding(residency: .none, isKnown: false)
            : TileStanding(residency: table[number].residency, isKnown: true)
    }

    func residency(of key: TileKey) -> Residency {
        let number = table.find(key)
        return number < 0 ? .none : table[number].residency
    }

    /// Marks a decoded tile as the most recently used, without any view having drawn it.
    mutating func touchForUse(_ number: Int32) {
        lastStamp += 1
        table[number].stamp = lastStamp
        lists.moveToFront(number, in: table, layers)
    }

    /// Marks a resident tile as the most recently used, and as drawn.
    mutating func touch(_ number: Int32, now: Int64) {
        table[number].lastUse = now
        if !table[number].flags.contains(.seen) {
            tiles.noteSeen(table[number])
            table[number].flags.insert(.seen)
            counters.loadsDrawn += 1
            if table[number].flags.contains(.prefetched) { counters.prefetchUseful += 1 }
        }
        touchForUse(number)
    }

    /// Resident tiles that were never drawn, and how many of them were prefetched.
    var unseen: (all: Int, prefetched: Int) { (tiles.unseen, tiles.unseenPrefetched) }

    /// The entry of a key, made if there is none; -1 if the table is full and nothing can be forgotten.
    ///
    /// - Parameter forgetsAbsences: whether absent and failed tiles may be forgotten for it. If a prefetch could do so, the
    ///   source would be asked for one absent tile after the other, again and again.
    mutating func entry(for key: TileKey, forgetsAbsences: Bool = true) -> Int32 {
        let number = table.find(key)
        if number >= 0 { return number }
        if forgetsAbsences, table.isFull || !canGrowTable { forgetAbsences() }
        // The table must not grow at the cost of all other tiles for tiles that take nothing else.
        if table.isFull || (!canGrowTable && tiles.solid > table.count / 2) {
            let cold = coldest(of: .solid, worth: .infinity, now: 0)
            if cold >= 0 { drop(cold, cause: .capacity) }
        }
        // Asked anew each time: making room may have decommitted the very page that the entry would have taken.
        while !table.isFull, !canGrowTable {
            guard makeBytes(table.nextGrowth) else { return -1 }
        }
        guard !table.isFull else { return -1 }
        let inserted = table.insert(key)
        layers[key.layer].entries += 1
        coverTaken()
        notePeaks()
        return inserted
    }

    /// Counts what a table holds outside of the pool; whether there was room for what it has grown by.
    ///
    /// - Parameter charge: sets the new number.
    mutating func charge(_ growth: Int, _ charge: (inout Self) -> Void) -> Bool {
        guard growth <= 0 || configuration.grantsBookkeeping || (!isOverLimit && makeBytes(growth)) else {
            return false
        }
        charge(&self)
        coverTaken()
        notePeaks()
        return true
    }

    /// Whether the next entry may take the memory that it needs, if it needs any.
    private var canGrowTable: Bool {
        table.nextGrowth == 0 || configuration.grantsBookkeeping || availableBytes >= table.nextGrowth
    }

    mutating func removeEntry(_ number: Int32) {
        layers[table[number].key.layer].entries -= 1
        lists.remove(number, in: table, layers)
        table.remove(number)
    }

    /// Forgets an entry that remembers nothing worth knowing.
    mutating func forgetIfIdle(_ number: Int32) {
        let entry = table[number]
        if entry.isForgettable, entry.flags.isDisjoint(with: .remembered) {
            removeEntry(number)
        } else {
            relist(number)
        }
    }
}
