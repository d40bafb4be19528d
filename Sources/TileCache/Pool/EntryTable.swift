/// Entries at stable numbers, with a hash index.
///
/// Entries and index have address ranges of their own: memory is committed by the page without copies, and pages
/// without entries can be decommitted. The index grows and shrinks by one chain at a time (linear hashing: W. Litwin,
/// "Linear hashing", VLDB 1980), so that no insertion rehashes all entries.
struct EntryTable: ~Copyable {
    /// Last place of a page: its free entries, and its neighbours among partly used pages.
    private struct PageHeader {
        var used: Int32 = 0
        var firstFree = EntryID.none
        var previous = noPage
        var next = noPage
    }

    /// End of the list of partly used pages.
    private static let noPage: Int32 = -1
    /// A place is 128 bytes, two cache lines.
    private static let placeShift = 7

    let entryRegion: MemoryRegion
    let chainRegion: MemoryRegion
    private let entries: UnsafeMutableRawPointer
    private let chains: UnsafeMutablePointer<EntryID>

    private(set) var count = 0
    let maximumCount: Int

    /// Allocator of the pages of entries.
    private var pageNumbers: SlotAllocator
    /// Pages being decommitted.
    private var leaving = NumberSet()
    /// First page with both free and used entries.
    private var firstPartial = noPage

    private var chainCount = 0
    private var mask = 0
    private var committedChainPages = 0
    private var leavingChainPages = 0

    // After the addresses: before them they crash the compiler (6.3.1) with -O and ThreadSanitizer.

    /// Bytes of a page of the system, a power of two.
    let pageBytes: Int
    /// Logarithm of the places of a page.
    private let pagePlacesShift: Int32
    private let chainsPerPage: Int
    /// Entries of a page, without the header.
    var entriesPerPage: Int { 1 << Int(pagePlacesShift) - 1 }

    /// - Parameters:
    ///   - maximumCount: Halved until the system grants the address ranges.
    ///   - pageBytes: A power of two, 4096 or more.
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

    /// Committed bytes of the table.
    var byteCount: Int {
        pageNumbers.committedBytes + committedChainPages * pageBytes + 2 * pageNumbers.bookkeepingBytes
    }

    /// Bytes that the next insertion would commit.
    var nextGrowth: Int {
        var bytes = chainCount < 2 * (count + 1) && needsChainPage ? pageBytes : 0
        if firstPartial == Self.noPage, pageNumbers.unusedCount == 0 { bytes += pageBytes + 2 * pageNumbers.growth() }
        return bytes
    }

    /// Whether no entry can be inserted; pages being decommitted are not free yet.
    var isFull: Bool {
        count >= maximumCount
            || (firstPartial == Self.noPage && pageNumbers.unusedCount == 0 && pageNumbers.freshCount == 0)
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

    /// Looks up the entry of a key.
    @inline(__always)
    func find(_ key: TileKey) -> EntryID {
        var number = chains[chain(of: key)]
        while number != .none, pointer(number).pointee.key != key { number = pointer(number).pointee.chained }
        return number
    }

    /// Returns the entry of a key, inserted if necessary; none if the table is full. The caller has made room for `nextGrowth`.
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
        // Keeps up with removals, a few chains at a time.
        for _ in 0..<4 where chainCount > 4 * count + chainsPerPage { removeChain() }
    }

    private func link(_ number: EntryID) {
        let chain = chain(of: pointer(number).pointee.key)
        pointer(number).pointee.chained = chains[chain]
        chains[chain] = number
    }

    /// Whether the next chain needs a further page.
    private var needsChainPage: Bool {
        chainCount == committedChainPages * chainsPerPage && leavingChainPages == 0
            && chainCount < 2 * maximumCount
    }

    /// Splits a chain in two, if there is memory for another one.
    private mutating func addChain() {
        guard chainCount < min(committedChainPages * chainsPerPage, 2 * maximumCount) else { return }
        chains[chainCount] = .none
        chainCount += 1
        if chainCount > mask + 1 { mask = mask * 2 + 1 }
        guard chainCount > 1 else { return }
        let split = (chainCount - 1) & (mask >> 1)
        let first = chains[split]
        chains[split] = .none
        relink(first)
    }

    /// Joins the last chain to the one it was split from.
    private mutating func removeChain() {
        let first = chains[chainCount - 1]
        chainCount -= 1
        if chainCount <= (mask + 1) / 2 { mask >>= 1 }
        relink(first)
    }

    /// Links the entries of a former chain.
    private func relink(_ first: EntryID) {
        var number = first
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
        if firstPartial == Self.noPage { linkPartial(takePage()) }
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
        pageNumbers.release(page)
    }

    /// Takes a page without entries.
    private mutating func takePage() -> Int32 {
        if let unused = pageNumbers.takeCommitted() { return unused }
        guard let page = pageNumbers.takeFresh() else { preconditionFailure("the table is full") }
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
        header(page).pointee.previous = Self.noPage
        header(page).pointee.next = firstPartial
        if firstPartial != Self.noPage { header(firstPartial).pointee.previous = page }
        firstPartial = page
    }

    private mutating func unlinkPartial(_ page: Int32) {
        let own = header(page).pointee
        if own.next != Self.noPage { header(own.next).pointee.previous = own.previous }
        if own.previous != Self.noPage { header(own.previous).pointee.next = own.next } else { firstPartial = own.next }
    }

    // MARK: - Decommits

    /// Begins to decommit a page without entries or a spare page of the index. `nil` if there is none. It cannot be
    /// taken until `finishDecommit`.
    mutating func beginDecommit() -> MemoryRange? {
        if let page = pageNumbers.beginDecommit() {
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

    /// Ends a decommit; the page may be taken again.
    mutating func finishDecommit(_ range: MemoryRange) {
        guard range.slotClass == MemoryRange.entryPages else {
            leavingChainPages -= 1
            return
        }
        leaving.remove(range.number)
        pageNumbers.finishDecommit(range.number)
        // Bounded, since the lock is held. Remaining pages may be taken again.
        pageNumbers.shrink(steps: 4096)
    }

    // MARK: - All entries

    /// Pages that may hold entries.
    var pages: Range<Int32> { 0..<pageNumbers.highWater }

    /// Calls `body` with every used entry of some pages; `body` may remove it.
    func forEach(onPages range: Range<Int32>, _ body: (EntryID) -> Void) {
        for page in range.clamped(to: pages) where !pageNumbers.isDecommitted(page) && !leaving.contains(page) {
            let first = page << pagePlacesShift
            for number in first..<first + Int32(entriesPerPage) {
                let id = EntryID(number: number)
                if pointer(id).pointee.list != .free { body(id) }
            }
        }
    }

    /// Calls `body` with every used entry.
    func forEach(_ body: (EntryID) -> Void) { forEach(onPages: pages, body) }
}
