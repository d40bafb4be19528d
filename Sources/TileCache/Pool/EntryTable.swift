/// What else is known of a tile.
struct EntryFlags: OptionSet {
    let rawValue: UInt16
    /// An invalidation came after these pixels; they are drawn until the new ones land.
    static let stale = EntryFlags(rawValue: 1)
    /// Drawn as the exact tile at least once since its load.
    static let seen = EntryFlags(rawValue: 2)
    /// Loaded before anybody needed it.
    static let prefetched = EntryFlags(rawValue: 4)
    /// Pinned by a floor.
    static let floor = EntryFlags(rawValue: 8)
    /// The source says that this tile does not exist.
    static let absent = EntryFlags(rawValue: 16)
    /// The last load failed; not before `retryAt` again.
    static let failed = EntryFlags(rawValue: 32)
    /// What its source encoded is smaller than what compression makes of the tile.
    static let encodedIsSmaller = EntryFlags(rawValue: 64)
    /// The last load was refused memory; not before `retryAt` again, and only if memory for it can be had.
    static let refused = EntryFlags(rawValue: 128)

    /// What is worth remembering of a tile that has no pixels.
    static let remembered: EntryFlags = [.absent, .failed, .refused]
    /// What is said of pixels, and goes with them.
    static let ofPixels: EntryFlags = [.seen, .prefetched, .stale, .encodedIsSmaller]
}

/// Which list of the pool an entry is on; each is on exactly one.
enum EntryList: UInt8, CaseIterable {
    /// The entry is not in use.
    case free
    /// No list: nothing is resident, and no pin wants it.
    case idle
    /// Evictable.
    case decoded
    /// Evictable, and takes pages.
    case compressed
    /// Evictable and of a single colour: it takes nothing but an entry, so that evicting it makes no room for others.
    case solid
    /// Resident and needed by a view, leased or not.
    case needed
    /// Resident and pinned, leased or not.
    case pinned
    /// Leased and neither of these, or being moved between the tiers.
    case held
    /// Pinned and yet to be loaded, or outdated.
    case missingPin
    case stalePin
    /// Known to be absent, to have failed or to have been refused memory, and not needed: may be forgotten.
    case remembered

    var isEvictable: Bool { self == .decoded || self == .compressed || self == .solid }
}

/// Names an entry of the table.
struct EntryID: Hashable, Sendable {
    let number: Int32
    static var none: EntryID { EntryID(number: -1) }
}

/// Names a slot among those of its size.
struct SlotID: Hashable, Sendable {
    let number: Int32
    static var none: SlotID { SlotID(number: -1) }
}

/// All that the pool knows of one tile.
struct Entry {
    var key: TileKey
    /// The next entry of the same chain of the index, or the next free one of the page.
    var chained = EntryID.none
    /// The decoded slot.
    var slot = SlotID.none
    var residency: Residency = .none
    var list: EntryList = .idle
    var flags: EntryFlags = []
    var leaseCount: Int32 = 0
    /// How many views need the tile now.
    var needCount: Int32 = 0
    /// The load in flight.
    var load = LoadID.none
    /// Links of its list, most recently used first.
    var previous = EntryID.none
    var next = EntryID.none
    /// The generation that the pixels belong to.
    var generation: UInt32 = 0
    /// Its place in a view's needed tiles while these are compared with the former ones; else -1.
    var needIndex: Int32 = -1
    /// Orders uses: larger is later.
    var stamp: UInt64 = 0
    /// What is kept of it in the compressed tier.
    var form = ColdForm.none
    /// How often it has come into view, as far as is known; 0 for what nothing has needed yet.
    var visits: UInt8 = 0
    var attempts: UInt8 = 0
    /// Pages of memory that the tile's last load was refused beside its slot.
    var refusedPages: UInt16 = 0
    /// Names the compression or decompression under way, 0 for none; another's result is not this entry's any more.
    var work: UInt32 = 0
    /// The plan that `value` was given by; another plan's value counts for nothing.
    var planEpoch: UInt32 = 0
    /// What the plan thinks that keeping the tile is worth.
    var value: Float = 0
    /// The pool's count of demands when it was last needed.
    var lastDemand: UInt32 = 0
    /// When a tile that failed or was refused memory may be tried again, in nanoseconds.
    var retryAt: Int64 = 0
    /// When it was last drawn or landed, in nanoseconds.
    var lastUse: Int64 = 0

    init(key: TileKey) { self.key = key }

    /// Whether eviction must leave its pixels alone.
    var isPinned: Bool { needCount > 0 || leaseCount > 0 || flags.contains(.floor) }
    /// Whether forgetting the entry would lose nothing.
    var isForgettable: Bool {
        residency == .none && load == .none && needCount == 0 && leaseCount == 0 && !flags.contains(.floor)
    }

    /// The list that the entry belongs on.
    var wantedList: EntryList {
        guard residency != .none else {
            if isForgettable { return flags.isDisjoint(with: .remembered) ? .idle : .remembered }
            let isWanted = flags.contains(.floor) && load == .none && !flags.contains(.absent)
            return isWanted && (!flags.contains(.failed) || retryAt < .max) ? .missingPin : .idle
        }
        if residency != .decoded, residency != .compressed { return .held }
        if flags.contains(.floor) {
            let isWanted = flags.contains(.stale) && load == .none && (!flags.contains(.failed) || retryAt < .max)
            return isWanted ? .stalePin : .pinned
        }
        if needCount > 0 { return .needed }
        if leaseCount > 0 { return .held }
        return residency == .decoded ? .decoded : form.isSolid ? .solid : .compressed
    }
}

/// Entries at stable numbers and the hash index over them.
///
/// Both lie in ranges of addresses of their own. Memory comes a page at a time, never by a copy, and pages without an
/// entry can be decommitted. The index is a table of chains that grows and shrinks by a chain at a time (linear hashing:
/// W. Litwin, "Linear hashing", VLDB 1980), so that no insertion waits for the others to be entered anew.
struct EntryTable: ~Copyable {
    /// What a page's last place holds: which of its entries are free, and its neighbours among such pages.
    private struct PageHeader {
        var used: Int32 = 0
        /// The first free entry of the page.
        var firstFree = EntryID.none
        var previous: Int32 = -1
        var next: Int32 = -1
    }

    /// A place is 128 bytes, two cache lines.
    private static let placeShift = 7

    /// Where the entries lie, and the first entries of the chains.
    let entryRegion: MemoryRegion
    let chainRegion: MemoryRegion
    private let entries: UnsafeMutableRawPointer
    private let chains: UnsafeMutablePointer<EntryID>

    /// Entries in use.
    private(set) var count = 0
    /// The most entries that the addresses hold.
    let maximumCount: Int

    /// The pages; those that are in use have entries.
    private var pageNumbers: SlotAllocator
    /// Pages on their way to the system.
    private var leaving = NumberSet()
    /// The first page with free and used entries.
    private var firstPartial: Int32 = -1

    private var chainCount = 0
    private var mask = 0
    private var committedChainPages = 0
    private var leavingChainPages = 0

    // Behind the addresses: before them they crash the compiler (6.3.1) with -O and ThreadSanitizer.

    /// Bytes of a page of the system, a power of two.
    let pageBytes: Int
    /// Places of a page, as a power of two.
    private let pagePlacesShift: Int32
    private let chainsPerPage: Int
    /// Entries of a page: its last place is the header.
    var entriesPerPage: Int { 1 << Int(pagePlacesShift) - 1 }

    /// - Parameters:
    ///   - maximumCount: at least as many if the system has the addresses; fewer if not.
    ///   - pageBytes: a power of two, 4096 or more.
    init(maximumCount: Int, pageBytes: Int = 4096) {
        precondition(MemoryLayout<Entry>.stride <= 1 << Self.placeShift)
        self.pageBytes = pageBytes
        pagePlacesShift = Int32(pageBytes.trailingZeroBitCount - Self.placeShift)
        chainsPerPage = pageBytes / MemoryLayout<EntryID>.stride
        let entriesPerPage = 1 << Int(pagePlacesShift) - 1
        var wanted = max(maximumCount, 1)
        while true {
            let pages = (wanted + entriesPerPage - 1) / entriesPerPage
            if let entries = MemoryRegion(byteCount: pages * pageBytes),
                let chains = MemoryRegion(
                    byteCount: (4 * wanted * MemoryLayout<EntryID>.stride).roundedUp(toPages: pageBytes)
                )
            {
                entryRegion = entries
                chainRegion = chains
                break
            }
            precondition(wanted > 1, "there is no memory for a single page")
            wanted /= 2
        }
        self.maximumCount = wanted
        let pages = (wanted + entriesPerPage - 1) / entriesPerPage
        pageNumbers = SlotAllocator(slotBytes: pageBytes, capacity: pages)
        entries = entryRegion.base
        chains = chainRegion.base.assumingMemoryBound(to: EntryID.self)
        committedChainPages = 1
        addChain()
    }

    /// Bytes of memory that the table has.
    var byteCount: Int {
        pageNumbers.committedBytes + committedChainPages * pageBytes + 2 * pageNumbers.bookkeepingBytes
    }

    /// The bytes that the next insertion would add.
    var nextGrowth: Int {
        var bytes = chainCount < 2 * (count + 1) && needsChainPage ? pageBytes : 0
        if firstPartial < 0, pageNumbers.unusedCount == 0 { bytes += pageBytes + 2 * pageNumbers.growth() }
        return bytes
    }

    /// Whether no key can be entered: addresses of pages that are on their way to the system are not free yet.
    var isFull: Bool {
        count >= maximumCount
            || (firstPartial < 0 && pageNumbers.unusedCount == 0 && pageNumbers.freshCount == 0)
    }

    subscript(_ number: EntryID) -> Entry {
        @inline(__always) _read { yield pointer(number).pointee }
        @inline(__always) nonmutating _modify { yield &pointer(number).pointee }
    }

    @inline(__always)
    func pointer(_ number: EntryID) -> UnsafeMutablePointer<Entry> {
        (entries + Int(number.number) << Self.placeShift).assumingMemoryBound(to: Entry.self)
    }

    // MARK: - The index

    @inline(__always)
    private func chain(of key: TileKey) -> Int {
        let chain = Int(truncatingIfNeeded: key.hash) & mask
        return chain < chainCount ? chain : chain & (mask >> 1)
    }

    /// The entry of a key, or none.
    @inline(__always)
    func find(_ key: TileKey) -> EntryID {
        var number = chains[chain(of: key)]
        while number != .none, pointer(number).pointee.key != key { number = pointer(number).pointee.chained }
        return number
    }

    /// The entry of a key, made if there is none; `.none` if the table is full. The caller has made room for `nextGrowth`.
    mutating func insert(_ key: TileKey) -> EntryID {
        let found = find(key)
        if found != .none { return found }
        guard !isFull else { return .none }
        if chainCount < 2 * (count + 1) {
            if needsChainPage { committedChainPages += 1 }
            addChain()
            addChain()
        }
        let number = takeEntry()
        pointer(number).initialize(to: Entry(key: key))
        count += 1
        link(number)
        return number
    }

    /// Forgets an entry.
    mutating func remove(_ number: EntryID) {
        let chain = chain(of: pointer(number).pointee.key)
        if chains[chain] == number {
            chains[chain] = pointer(number).pointee.chained
        } else {
            var before = chains[chain]
            while pointer(before).pointee.chained != number { before = pointer(before).pointee.chained }
            pointer(before).pointee.chained = pointer(number).pointee.chained
        }
        count -= 1
        returnEntry(number)
        // As many as keep up with removals: a few at each, none of which takes long.
        for _ in 0..<4 where chainCount > 4 * count + chainsPerPage { removeChain() }
    }

    private func link(_ number: EntryID) {
        let chain = chain(of: pointer(number).pointee.key)
        pointer(number).pointee.chained = chains[chain]
        chains[chain] = number
    }

    /// Whether the next chain lies beyond the memory of the others, and may take more.
    private var needsChainPage: Bool {
        chainCount == committedChainPages * chainsPerPage && leavingChainPages == 0
            && chainCount < 2 * maximumCount
    }

    /// Divides a chain in two, if there is memory for another one.
    private mutating func addChain() {
        guard chainCount < min(committedChainPages * chainsPerPage, 2 * maximumCount) else { return }
        chains[chainCount] = .none
        chainCount += 1
        if chainCount > mask + 1 { mask = mask * 2 + 1 }
        guard chainCount > 1 else { return }
        var number = chains[(chainCount - 1) & (mask >> 1)]
        chains[(chainCount - 1) & (mask >> 1)] = .none
        while number != .none {
            let next = pointer(number).pointee.chained
            link(number)
            number = next
        }
    }

    /// Joins the last chain to the one that it was divided from.
    private mutating func removeChain() {
        var number = chains[chainCount - 1]
        chainCount -= 1
        if chainCount <= (mask + 1) / 2 { mask >>= 1 }
        while number != .none {
            let next = pointer(number).pointee.chained
            link(number)
            number = next
        }
    }

    // MARK: - Pages of entries

    private func header(_ page: Int32) -> UnsafeMutablePointer<PageHeader> {
        (entries + Int(page) * pageBytes + entriesPerPage << Self.placeShift)
            .assumingMemoryBound(to: PageHeader.self)
    }

    private mutating func takeEntry() -> EntryID {
        if firstPartial < 0 { linkPartial(takePage()) }
        let page = firstPartial
        let number = header(page).pointee.firstFree
        header(page).pointee.firstFree = pointer(number).pointee.chained
        header(page).pointee.used += 1
        if header(page).pointee.firstFree == .none { unlinkPartial(page) }
        return number
    }

    private mutating func returnEntry(_ number: EntryID) {
        let page = number.number >> pagePlacesShift
        let wasFull = header(page).pointee.firstFree == .none
        pointer(number).pointee.list = .free
        pointer(number).pointee.chained = header(page).pointee.firstFree
        header(page).pointee.firstFree = number
        header(page).pointee.used -= 1
        if wasFull { linkPartial(page) }
        guard header(page).pointee.used == 0 else { return }
        unlinkPartial(page)
        pageNumbers.giveBack(page)
    }

    /// A page without entries.
    private mutating func takePage() -> Int32 {
        let unused = pageNumbers.takeCommitted()
        guard unused < 0 else { return unused }
        let page = pageNumbers.takeFresh()
        header(page).initialize(to: PageHeader())
        let first = page << pagePlacesShift
        for number in (first..<first + Int32(entriesPerPage)).reversed() {
            let id = EntryID(number: number)
            pointer(id).pointee.list = .free
            pointer(id).pointee.chained = header(page).pointee.firstFree
            header(page).pointee.firstFree = id
        }
        return page
    }

    private mutating func linkPartial(_ page: Int32) {
        header(page).pointee.previous = -1
        header(page).pointee.next = firstPartial
        if firstPartial >= 0 { header(firstPartial).pointee.previous = page }
        firstPartial = page
    }

    private mutating func unlinkPartial(_ page: Int32) {
        let own = header(page).pointee
        if own.next >= 0 { header(own.next).pointee.previous = own.previous }
        if own.previous >= 0 { header(own.previous).pointee.next = own.next } else { firstPartial = own.next }
    }

    // MARK: - Memory that nothing uses

    /// Takes out a page without entries, or one that the index no longer needs, so that its memory can be decommitted;
    /// `nil` if there is none. Until `finishDecommit` the page cannot be taken.
    mutating func beginDecommit() -> MemoryRange? {
        let page = pageNumbers.beginDecommit()
        if page >= 0 {
            leaving.insert(page)
            return MemoryRange(slotClass: MemoryRange.entryPages, number: page)
        }
        guard committedChainPages > max((chainCount + chainsPerPage - 1) / chainsPerPage, 1) else {
            return nil
        }
        committedChainPages -= 1
        leavingChainPages += 1
        return MemoryRange(slotClass: MemoryRange.chainPages, number: Int32(committedChainPages))
    }

    /// The page's memory is gone; the page may be taken again.
    mutating func finishDecommit(_ range: MemoryRange) {
        guard range.slotClass == MemoryRange.entryPages else {
            leavingChainPages -= 1
            return
        }
        leaving.remove(range.number)
        pageNumbers.finishDecommit(range.number)
        // Not all at once: the lock must not be held for long. Pages that are left may be taken again.
        pageNumbers.shrink(steps: 4096)
    }

    // MARK: - All entries

    /// Pages that may hold entries: a walk over all entries can be made in steps of a few pages.
    var pages: Range<Int32> { 0..<pageNumbers.highWater }

    /// Calls `body` with every entry in use on some pages; `body` may remove the entry that it is given.
    func forEach(onPages range: Range<Int32>, _ body: (EntryID) -> Void) {
        for page in range.clamped(to: pages) where !pageNumbers.isDecommitted(page) && !leaving.contains(page) {
            let first = page << pagePlacesShift
            for number in first..<first + Int32(entriesPerPage) {
                let id = EntryID(number: number)
                if pointer(id).pointee.list != .free { body(id) }
            }
        }
    }

    /// Calls `body` with every entry in use.
    func forEach(_ body: (EntryID) -> Void) { forEach(onPages: pages, body) }
}
