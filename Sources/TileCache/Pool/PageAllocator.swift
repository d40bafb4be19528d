/// Numbers of the small pages that compressed blocks are cut into, so that no hole is too small to use.
///
/// A block takes whole pages of the system and, for what is left over, one run of units, eighths of a page, in a page that
/// it shares with the ends of others. Pages of one block are chained by number; the end's unit is in the block's first page word.
struct PageAllocator {
    // Copyable, although there is one of it: made ~Copyable, it crashes the compiler (6.3.1) with -O and ThreadSanitizer.

    /// Bytes of a page of the system, a power of two.
    let pageBytes: Int
    private static let unitsPerPage = 8
    private var unitBytes: Int { pageBytes / Self.unitsPerPage }

    /// Where a block lies: a chain of whole pages, then an end.
    struct Block: Hashable {
        /// The first whole page, or -1.
        var firstPage: Int32 = -1
        /// The page of the end, or -1.
        var endPage: Int32 = -1
        /// Bytes before rounding to units.
        var byteCount: Int32
        /// The first unit of the end in its page.
        var endUnit: UInt8 = 0
    }

    /// What is known of a page.
    private struct Page {
        /// The next page of the same block, or of the same list of shared pages; -1 ends either.
        var next: Int32 = -1
        /// The previous page of the same list of shared pages.
        var previous: Int32 = -1
        /// For shared pages the units in use, a bit each; 0 for others.
        var unitsInUse: UInt8 = 0
    }

    /// The pages, and which of them have memory.
    private var pages: SlotAllocator
    /// Addresses of the table of pages. Memory is committed by the first touch and decommitted from the end: no growth copies.
    private let tableRegion: MemoryRegion
    private var table: UnsafeMutablePointer<Page> { tableRegion.base.assumingMemoryBound(to: Page.self) }
    /// Shared pages by the longest free run that they offer, 1 ... 7: heads of doubly linked lists.
    private var sharedHeads = [Int32](repeating: -1, count: 8)

    /// - Parameters:
    ///   - capacity: fewer pages if the system denies the addresses for the table of so many.
    ///   - pageBytes: a power of two, 4096 or more.
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
    /// Pages that hold something.
    var usedCount: Int { pages.usedCount }
    var unusedCount: Int { pages.unusedCount }
    var freshCount: Int { pages.freshCount }
    var committedBytes: Int { pages.committedBytes }
    var usedBytes: Int { usedCount * pageBytes }
    /// Bytes of the tables themselves.
    var bookkeepingBytes: Int { tableBytes + pages.bookkeepingBytes }
    private var tableBytes: Int { pagedBytes(ofTable: Int(pages.highWater)) }

    /// Bytes of memory behind so many pages' entries.
    private func pagedBytes(ofTable count: Int) -> Int {
        (count * MemoryLayout<Page>.stride).roundedUp(toPages: pageBytes)
    }

    /// Whole pages and units of the end for a block of a size.
    func shape(of bytes: Int) -> (pages: Int, endUnits: Int) {
        let pages = bytes / pageBytes
        let units = (bytes - pages * pageBytes + unitBytes - 1) / unitBytes
        return units == Self.unitsPerPage ? (pages + 1, 0) : (pages, units)
    }

    /// The pages that a block would take from the unused or fresh ones now.
    func pagesNeeded(for bytes: Int) -> Int {
        let shape = shape(of: bytes)
        let endNeedsPage = shape.endUnits > 0 && !(shape.endUnits...7).contains { sharedHeads[$0] >= 0 }
        return shape.pages + (endNeedsPage ? 1 : 0)
    }

    /// The bytes that the tables grow by when this many pages are taken.
    func tableGrowth(taking count: Int) -> Int {
        let fresh = max(count - unusedCount, 0)
        let added = max(fresh - decommittedCount, 0)
        return pagedBytes(ofTable: Int(pages.highWater) + added) - tableBytes + pages.growth(takingFresh: fresh)
    }

    /// Takes the pages of a block; the caller has made sure that as many as `pagesNeeded` are to be had.
    mutating func allocate(bytes: Int) -> Block {
        let shape = shape(of: bytes)
        var block = Block(byteCount: Int32(bytes))
        for _ in 0..<shape.pages {
            let page = takePage()
            table[Int(page)].next = block.firstPage
            block.firstPage = page
        }
        if shape.endUnits > 0 { (block.endPage, block.endUnit) = takeUnits(shape.endUnits) }
        return block
    }

    /// Gives a block's pages back, their memory kept.
    mutating func free(_ block: Block) {
        var page = block.firstPage
        while page >= 0 {
            pages.giveBack(page)
            page = table[Int(page)].next
        }
        guard block.endPage >= 0 else { return }
        let mask = Self.runMask(from: block.endUnit, count: shape(of: Int(block.byteCount)).endUnits)
        let shared = Int(block.endPage)
        unlinkShared(block.endPage)
        table[shared].unitsInUse &= ~mask
        if table[shared].unitsInUse == 0 {
            pages.giveBack(block.endPage)
        } else {
            linkShared(block.endPage)
        }
    }

    /// Calls `body` with each part of a block in order: byte offset in the page range, bytes.
    func forEachPart(of block: Block, _ body: (_ offset: Int, _ count: Int) -> Void) {
        var page = block.firstPage
        var left = Int(block.byteCount)
        while page >= 0 {
            let count = min(left, pageBytes)
            body(Int(page) * pageBytes, count)
            left -= count
            page = table[Int(page)].next
        }
        if block.endPage >= 0 {
            body(Int(block.endPage) * pageBytes + Int(block.endUnit) * unitBytes, left)
        }
    }

    /// Takes one unused page out so that its memory can be let go; -1 where there is none. Until `finishDecommit` says
    /// that the system has the memory back, nobody can be given the page.
    mutating func beginDecommit() -> Int32 { pages.beginDecommit() }

    /// The page's memory is gone; the page may be taken again as a fresh one.
    mutating func finishDecommit(_ page: Int32) {
        let before = tableBytes
        pages.finishDecommit(page)
        releaseTable(before)
    }

    /// Forgets the highest pages if they have no memory.
    ///
    /// - Returns: how many, at most `steps`.
    @discardableResult
    mutating func shrink(steps: Int) -> Int {
        let before = tableBytes
        defer { releaseTable(before) }
        return pages.shrink(steps: steps)
    }

    /// Decommits what the table had before and has no longer, in whole pages of the system: a replay may count smaller ones.
    private func releaseTable(_ before: Int) {
        let systemPage = max(pageBytes, MemoryRegion.systemPageBytes)
        let (start, end) = (tableBytes.roundedUp(toPages: systemPage), before.roundedUp(toPages: systemPage))
        if start < end { tableRegion.decommit(offset: start, byteCount: end - start) }
    }

    private mutating func takePage() -> Int32 {
        let unused = pages.takeCommitted()
        let page = unused >= 0 ? unused : pages.takeFresh()
        precondition(page >= 0, "the ledger admitted more pages than the address range holds")
        (table + Int(page)).initialize(to: Page())
        return page
    }

    private mutating func takeUnits(_ count: Int) -> (Int32, UInt8) {
        var page: Int32 = -1
        for run in count...7 where sharedHeads[run] >= 0 {
            page = sharedHeads[run]
            break
        }
        if page >= 0 { unlinkShared(page) } else { page = takePage() }
        let inUse = table[Int(page)].unitsInUse
        var unit = 0
        while inUse & Self.runMask(from: UInt8(unit), count: count) != 0 { unit += 1 }
        table[Int(page)].unitsInUse = inUse | Self.runMask(from: UInt8(unit), count: count)
        linkShared(page)
        return (page, UInt8(unit))
    }

    private static func runMask(from unit: UInt8, count: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: ((1 << count) - 1) << Int(unit))
    }

    /// The longest run of free units, 0 ... 8.
    private static func longestFreeRun(_ inUse: UInt8) -> Int {
        var free = ~inUse
        var run = 0
        while free != 0 {
            free &= free << 1
            run += 1
        }
        return run
    }

    private mutating func linkShared(_ page: Int32) {
        let run = Self.longestFreeRun(table[Int(page)].unitsInUse)
        guard run > 0 else { return }
        let head = sharedHeads[run]
        table[Int(page)].previous = -1
        table[Int(page)].next = head
        if head >= 0 { table[Int(head)].previous = page }
        sharedHeads[run] = page
    }

    private mutating func unlinkShared(_ page: Int32) {
        let run = Self.longestFreeRun(table[Int(page)].unitsInUse)
        guard run > 0 else { return }
        let previous = table[Int(page)].previous
        let next = table[Int(page)].next
        if previous >= 0 { table[Int(previous)].next = next } else { sharedHeads[run] = next }
        if next >= 0 { table[Int(next)].previous = previous }
    }
}
