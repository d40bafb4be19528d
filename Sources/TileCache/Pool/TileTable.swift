/// Tiles of the pool: their entries, lists of these, and counts by state.
///
/// A tile changes only through the methods here, so that lists and counts follow.
struct TileTable: ~Copyable {
    private var entries: EntryTable
    private(set) var lists = TileLists()
    private(set) var counts = TileCounts()
    /// Tiles whose state has changed.
    private(set) var changes = StateChanges()
    /// Number of times that a tile has become evictable.
    private(set) var arrivals: UInt64 = 0
    /// Number of times that a tile has become awaited, or its load unwanted.
    private(set) var demands: UInt64 = 0
    /// Stamp of the last use.
    private(set) var lastStamp: UInt64 = 0

    init(maximumCount: Int, pageBytes: Int) {
        entries = EntryTable(maximumCount: maximumCount, pageBytes: pageBytes)
    }

    subscript(_ number: EntryID) -> Entry { @inline(__always) _read { yield entries.pointer(number).pointee } }

    /// The entry of a key; `nil` if there is none.
    subscript(_ key: TileKey) -> Entry? {
        let number = entries.find(key)
        return number == .none ? nil : entries[number]
    }

    /// Reads single properties without a copy of the entry.
    @inline(__always)
    func pointer(_ number: EntryID) -> UnsafePointer<Entry> { UnsafePointer(entries.pointer(number)) }

    /// Looks up the entry of a key; none if there is none.
    @inline(__always)
    func find(_ key: TileKey) -> EntryID { entries.find(key) }

    // MARK: - Changes

    /// Changes an entry, its list and the counts.
    ///
    /// - Parameter slotBytes: Bytes of a slot of its layer.
    @inline(__always)
    mutating func change(
        _ number: EntryID,
        _ layers: borrowing PoolLayers,
        slotBytes: Int,
        _ body: (inout Entry) -> Void
    ) {
        counts.count(entries[number], slotBytes: slotBytes, by: -1)
        edit(number, body)
        counts.count(entries[number], slotBytes: slotBytes, by: 1)
        relist(number, layers)
    }

    /// Changes what neither the counts nor the list nor policies depend on.
    @inline(__always) @discardableResult
    mutating func note<Result>(_ number: EntryID, _ body: (inout Entry) -> Result) -> Result {
        let before = entries[number]
        defer {
            assert(TileCounts(of: before) == TileCounts(of: entries[number]), "the counts have to change")
            assert(before.wantedList == entries[number].wantedList, "its list has to change")
            assert(before.demand == entries[number].demand, "plans have to see the change")
            assert(before.state == entries[number].state, "policies have to see the change")
        }
        return body(&entries[number])
    }

    /// Changes what the counts do not depend on. The caller calls `relist` once the new state is complete.
    @inline(__always) @discardableResult
    mutating func stage<Result>(_ number: EntryID, _ body: (inout Entry) -> Result) -> Result {
        let before = entries[number]
        defer { assert(TileCounts(of: before) == TileCounts(of: entries[number]), "the counts have to change") }
        return edit(number, body)
    }

    @inline(__always)
    private mutating func edit<Result>(_ number: EntryID, _ body: (inout Entry) -> Result) -> Result {
        let before = entries.pointer(number).pointee.state
        defer {
            if entries.pointer(number).pointee.state != before { changes.note(entries.pointer(number).pointee.key) }
        }
        return body(&entries[number])
    }

    /// Changes the number of leases. Neither counts nor policies depend on it, nor the list of a tile that is needed or
    /// pinned.
    @inline(__always)
    mutating func lease(_ number: EntryID, by change: Int32, _ layers: borrowing PoolLayers) {
        let entry = entries.pointer(number)
        entry.pointee.leaseCount += change
        if !entry.pointee.isKept { relistApart(number, layers) }
    }

    /// A call of its own: in place it would take room on the stack for each lease of a frame.
    @inline(never)
    private mutating func relistApart(_ number: EntryID, _ layers: borrowing PoolLayers) { relist(number, layers) }

    /// Moves an entry to the list that it belongs on.
    @inline(__always)
    mutating func relist(_ number: EntryID, _ layers: borrowing PoolLayers) {
        countDemand(of: number)
        let wanted = entries.pointer(number).pointee.wantedList
        guard wanted != entries.pointer(number).pointee.list else { return }
        if wanted.isEvictable, !entries.pointer(number).pointee.list.isEvictable { arrivals &+= 1 }
        lists.change(number, in: entries, layers) { $0.remove(number, in: $1) }
        entries[number].list = wanted
        // Only eviction depends on the order.
        lists.change(number, in: entries, layers) {
            if wanted.isEvictable { $0.insert(number, in: $1) } else { $0.pushFront(number, in: $1) }
        }
    }

    /// Counts a tile that has become awaited, or whose load is no longer awaited.
    @inline(__always)
    private mutating func countDemand(of number: EntryID) {
        let demand = entries.pointer(number).pointee.demand
        let former = entries.pointer(number).pointee.flags.intersection(.ofDemand)
        guard demand != former else { return }
        entries[number].flags.subtract(.ofDemand)
        entries[number].flags.formUnion(demand)
        let isDropped = former == .loadAwaited && entries.pointer(number).pointee.load != .none
        if demand == .awaited || isDropped { demands &+= 1 }
    }

    /// Counts the first drawing of a tile; returns whether it was the first.
    mutating func markSeen(_ number: EntryID) -> Bool {
        guard !entries[number].flags.contains(.seen) else { return false }
        counts.noteSeen(entries[number])
        entries[number].flags.insert(.seen)
        return true
    }

    mutating func nextStamp() -> UInt64 {
        lastStamp += 1
        return lastStamp
    }

    /// Stamps an entry as the last one used. Moves it to the front if it is evictable.
    @inline(__always)
    mutating func touch(_ number: EntryID, _ layers: borrowing PoolLayers) {
        entries[number].stamp = nextStamp()
        if entries.pointer(number).pointee.list.isEvictable { rotate(number, layers) }
    }

    /// Moves a tile to the front of its list. A walk from the tail then reaches others.
    @inline(__always)
    mutating func rotate(_ number: EntryID, _ layers: borrowing PoolLayers) {
        lists.change(number, in: entries, layers) { $0.moveToFront(number, in: $1) }
    }

    /// Takes a group of lists for a new layer.
    mutating func takeGroup(forShare maximum: Double) -> Int { lists.group(forShare: maximum) }

    mutating func release(group: Int) { lists.remove(group: group) }

    // MARK: - Memory

    mutating func insert(_ key: TileKey) -> EntryID {
        let before = entries.count
        defer { if entries.count != before { changes.note(key) } }
        return entries.insert(key)
    }

    mutating func remove(_ number: EntryID, _ layers: borrowing PoolLayers) {
        lists.change(number, in: entries, layers) { $0.remove(number, in: $1) }
        changes.note(entries.pointer(number).pointee.key)
        entries.remove(number)
    }

    mutating func beginDecommit() -> MemoryRange? { entries.beginDecommit() }
    mutating func finishDecommit(_ range: MemoryRange) { entries.finishDecommit(range) }

    var count: Int { entries.count }
    var maximumCount: Int { entries.maximumCount }
    var isFull: Bool { entries.isFull }
    var nextGrowth: Int { entries.nextGrowth }
    var byteCount: Int { entries.byteCount }
    var pageBytes: Int { entries.pageBytes }
    var entriesPerPage: Int { entries.entriesPerPage }
    var regions: [MemoryRegion] { [entries.chainRegion, entries.entryRegion] }
    /// Pages that may hold entries.
    var pages: Range<Int32> { entries.pages }
    func forEach(onPages range: Range<Int32>, _ body: (EntryID) -> Void) { entries.forEach(onPages: range, body) }
    func forEach(_ body: (EntryID) -> Void) { entries.forEach(body) }
}
