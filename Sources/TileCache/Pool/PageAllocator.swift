/// Identifies a page of compressed blocks.
struct PageID: Hashable, Sendable {
    let number: Int32
    static var none: PageID { PageID(number: -1) }
}

/// Numbers of the pages of compressed blocks.
///
/// A block takes whole pages and, for the rest, one run of units (eighths of a page) in a page shared with other ends.
/// The pages of a block are chained by number.
struct PageAllocator {
    // Copyable, although it is never copied: ~Copyable crashes the compiler (6.3.1) with -O and ThreadSanitizer.

    /// Bytes of a page of the system, a power of two.
    let pageBytes: Int
    private static let unitsPerPage = 8
    private var unitBytes: Int { pageBytes / Self.unitsPerPage }

    /// Position of a block: a chain of whole pages, then an end.
    struct Block: Hashable {
        /// First whole page.
        var firstPage = PageID.none
        var endPage = PageID.none
        /// Bytes before rounding to units.
        var byteCount: Int32
        /// First unit of the end in its page.
        var endUnit: UInt8 = 0
    }

    private struct Page {
        /// Next page of the same block or list of shared pages.
        var next = PageID.none
        /// Previous page of the same list of shared pages.
        var previous = PageID.none
        /// Bits of the used units of a shared page; 0 for others.
        var unitsInUse: UInt8 = 0
    }

    private var pages: SlotAllocator
    /// Address range of `table`: committed by the first touch, decommitted from the end. Growth copies nothing.
    private let tableRegion: MemoryRegion
    private var table: UnsafeMutablePointer<Page> { tableRegion.base.assumingMemoryBound(to: Page.self) }
    /// Heads of lists of shared pages, by their longest free run, 1...7.
    private var sharedHeads = [PageID](repeating: .none, count: 8)

    /// - Parameters:
    ///   - capacity: Fewer pages if the system refuses the address range.
    ///   - pageBytes: A power of two, 4096 or more.
    init(capacity: Int, pageBytes: Int = 4096) {
        self.pageBytes = pageBytes
        var granted = capacity
        while true {
            if let region = MemoryRegion(
                byteCount: (granted * MemoryLayout<Page>.stride)
                    .roundedUp(toPages: max(pageBytes, MemoryRegion.systemPageBytes))
            ) {
                tableRegion = region
                break
            }
            precondition(granted > 0, "there is no memory for a single page")
            granted /= 2
        }
        pages = SlotAllocator(slotBytes: pageBytes, capacity: granted)
    }

    var decommittedCount: Int { pages.decommittedCount }
    var usedCount: Int { pages.usedCount }
    var unusedCount: Int { pages.unusedCount }
    var freshCount: Int { pages.freshCount }
    var committedBytes: Int { pages.committedBytes }
    var usedBytes: Int { usedCount * pageBytes }
    var bookkeepingBytes: Int { tableBytes + pages.bookkeepingBytes }
    private var tableBytes: Int { pagedBytes(ofTable: Int(pages.highWater)) }

    /// Bytes of the table's pages for this many entries.
    private func pagedBytes(ofTable count: Int) -> Int {
        (count * MemoryLayout<Page>.stride).roundedUp(toPages: pageBytes)
    }

    /// Whole pages and units of the end of a block.
    func shape(of bytes: Int) -> (pages: Int, endUnits: Int) {
        let pages = bytes / pageBytes
        let units = (bytes - pages * pageBytes + unitBytes - 1) / unitBytes
        return units == Self.unitsPerPage ? (pages + 1, 0) : (pages, units)
    }

    /// Pages that a block would take from the unused or fresh ones now.
    func pagesNeeded(for bytes: Int) -> Int {
        let shape = shape(of: bytes)
        let endNeedsPage = shape.endUnits > 0 && !(shape.endUnits...7).contains { sharedHeads[$0] != .none }
        return shape.pages + (endNeedsPage ? 1 : 0)
    }

    /// Growth of the tables, in bytes, if this many pages are taken.
    func tableGrowth(taking count: Int) -> Int {
        let fresh = max(count - unusedCount, 0)
        let added = max(fresh - decommittedCount, 0)
        return pagedBytes(ofTable: Int(pages.highWater) + added) - tableBytes + pages.growth(takingFresh: fresh)
    }

    /// Takes the pages of a block; the caller has checked `pagesNeeded`.
    mutating func allocate(bytes: Int) -> Block {
        let shape = shape(of: bytes)
        var block = Block(byteCount: Int32(bytes))
        for _ in 0..<shape.pages {
            let page = takePage()
            table[Int(page.number)].next = block.firstPage
            block.firstPage = page
        }
        if shape.endUnits > 0 { (block.endPage, block.endUnit) = takeUnits(shape.endUnits) }
        return block
    }

    /// Releases a block's pages; they stay committed.
    mutating func free(_ block: Block) {
        var page = block.firstPage
        while page != .none {
            pages.release(page.number)
            page = table[Int(page.number)].next
        }
        guard block.endPage != .none else { return }
        let mask = Self.runMask(from: block.endUnit, count: shape(of: Int(block.byteCount)).endUnits)
        unlinkShared(block.endPage)
        table[Int(block.endPage.number)].unitsInUse &= ~mask
        if table[Int(block.endPage.number)].unitsInUse == 0 {
            pages.release(block.endPage.number)
        } else {
            linkShared(block.endPage)
        }
    }

    /// Calls `body` with the offset and size of each part of a block, in order. Both are bytes of the page range.
    func forEachPart(of block: Block, _ body: (_ offset: Int, _ count: Int) -> Void) {
        var page = block.firstPage
        var left = Int(block.byteCount)
        while page != .none {
            let count = min(left, pageBytes)
            body(Int(page.number) * pageBytes, count)
            left -= count
            page = table[Int(page.number)].next
        }
        if block.endPage != .none {
            body(Int(block.endPage.number) * pageBytes + Int(block.endUnit) * unitBytes, left)
        }
    }

    /// Begins to decommit an unused page; `nil` if there is none. It cannot be taken until `finishDecommit`.
    mutating func beginDecommit() -> Int32? { pages.beginDecommit() }

    /// Ends a decommit; the page may be taken again as a fresh one.
    mutating func finishDecommit(_ page: Int32) {
        let before = tableBytes
        pages.finishDecommit(page)
        releaseTable(before)
    }

    /// Removes the highest pages from the tables if they are decommitted; returns how many.
    mutating func shrink(steps: Int) -> Int {
        let before = tableBytes
        defer { releaseTable(before) }
        return pages.shrink(steps: steps)
    }

    /// Decommits the end of the table in whole pages of the system. A replay may count smaller pages.
    private func releaseTable(_ before: Int) {
        let systemPage = max(pageBytes, MemoryRegion.systemPageBytes)
        let (start, end) = (tableBytes.roundedUp(toPages: systemPage), before.roundedUp(toPages: systemPage))
        if start < end { tableRegion.decommit(offset: start, byteCount: end - start) }
    }

    private mutating func takePage() -> PageID {
        guard let number = pages.takeCommitted() ?? pages.takeFresh() else {
            preconditionFailure("the ledger admitted more pages than the address range holds")
        }
        (table + Int(number)).initialize(to: Page())
        return PageID(number: number)
    }

    private mutating func takeUnits(_ count: Int) -> (PageID, UInt8) {
        var page = PageID.none
        for run in count...7 where sharedHeads[run] != .none {
            page = sharedHeads[run]
            break
        }
        if page != .none { unlinkShared(page) } else { page = takePage() }
        let inUse = table[Int(page.number)].unitsInUse
        var unit = 0
        while inUse & Self.runMask(from: UInt8(unit), count: count) != 0 { unit += 1 }
        table[Int(page.number)].unitsInUse = inUse | Self.runMask(from: UInt8(unit), count: count)
        linkShared(page)
        return (page, UInt8(unit))
    }

    private static func runMask(from unit: UInt8, count: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: ((1 << count) - 1) << Int(unit))
    }

    /// Length of the longest run of free units, 0...8.
    private static func longestFreeRun(_ inUse: UInt8) -> Int {
        var free = ~inUse
        var run = 0
        while free != 0 {
            free &= free << 1
            run += 1
        }
        return run
    }

    private mutating func linkShared(_ page: PageID) {
        let run = Self.longestFreeRun(table[Int(page.number)].unitsInUse)
        guard run > 0 else { return }
        let head = sharedHeads[run]
        table[Int(page.number)].previous = .none
        table[Int(page.number)].next = head
        if head != .none { table[Int(head.number)].previous = page }
        sharedHeads[run] = page
    }

    private mutating func unlinkShared(_ page: PageID) {
        let run = Self.longestFreeRun(table[Int(page.number)].unitsInUse)
        guard run > 0 else { return }
        let previous = table[Int(page.number)].previous
        let next = table[Int(page.number)].next
        if previous != .none { table[Int(previous.number)].next = next } else { sharedHeads[run] = next }
        if next != .none { table[Int(next.number)].previous = previous }
    }
}
