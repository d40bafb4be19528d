/// Numbers of the small pages that compressed blocks are cut into, so that no hole is too small to use.
///
/// A block takes whole pages of 4 KiB and, for what is left over, one run of 512-byte units in a page that it shares
/// with the ends of others. Pages of one block are chained by number; the end's unit is in the block's first page word.
struct PageAllocator {
    // Copyable, although there is one of it: made ~Copyable, it crashes the compiler (6.3.1) with -O and ThreadSanitizer.

    static let pageBytes = 4096
    static let unitBytes = 512
    private static let unitsPerPage = pageBytes / unitBytes

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

    /// The most pages that the address range holds.
    let capacity: Int
    /// Addresses of the table of pages. Memory is committed by the first touch and decommitted from the end: no growth copies.
    private let tableRegion: MemoryRegion
    private var table: UnsafeMutablePointer<Page> { tableRegion.base.assumingMemoryBound(to: Page.self) }
    /// Pages in the table.
    private var tableCount = 0
    /// Shared pages by the longest free run that they offer, 1 ... 7: heads of doubly linked lists.
    private var sharedHeads = [Int32](repeating: -1, count: 8)
    /// Low numbers are taken first and high ones decommitted first, so that neighbours go together and the tables shrink.
    private var unused = NumberSet()
    private var decommitted = NumberSet()
    var decommittedCount: Int { decommitted.count }
    /// Pages that hold something.
    private(set) var usedCount = 0

    /// - Parameter capacity: fewer pages if the system denies the addresses for the table of so many.
    init(capacity: Int) {
        var granted = capacity
        while true {
            if let region = MemoryRegion(byteCount: granted * MemoryLayout<Page>.stride) {
                tableRegion = region
                break
            }
            precondition(granted > 0, "there is no memory for a single page")
            granted /= 2
        }
        self.capacity = granted
    }

    var unusedCount: Int { unused.count }
    /// Pages without memory that may be taken; those on their way to the system are not among them.
    var freshCount: Int { capacity - tableCount + decommitted.count }
    var committedBytes: Int { (usedCount + unused.count) * Self.pageBytes }
    var usedBytes: Int { usedCount * Self.pageBytes }
    /// Bytes of the tables themselves.
    var bookkeepingBytes: Int { Self.pagedBytes(ofTable: tableCount) + NumberSet.bytesOfTwo(below: tableCount) }

    /// Bytes of memory behind so many pages' entries.
    private static func pagedBytes(ofTable count: Int) -> Int {
        (count * MemoryLayout<Page>.stride + pageBytes - 1) / pageBytes * pageBytes
    }

    /// Whole pages and units of the end for a block of a size.
    static func shape(of bytes: Int) -> (pages: Int, endUnits: Int) {
        let pages = bytes / pageBytes
        let units = (bytes - pages * pageBytes + unitBytes - 1) / unitBytes
        return units == unitsPerPage ? (pages + 1, 0) : (pages, units)
    }

    /// The pages that a block would take from the unused or fresh ones now.
    func pagesNeeded(for bytes: Int) -> Int {
        let shape = Self.shape(of: bytes)
        let endNeedsPage = shape.endUnits > 0 && !(shape.endUnits...7).contains { sharedHeads[$0] >= 0 }
        return shape.pages + (endNeedsPage ? 1 : 0)
    }

    /// The bytes that the tables grow by when this many pages are taken.
    func tableGrowth(taking count: Int) -> Int {
        let grown = tableCount + max(count - unused.count - decommitted.count, 0)
        return Self.pagedBytes(ofTable: grown) + NumberSet.bytesOfTwo(below: grown) - bookkeepingBytes
    }

    /// Takes the pages of a block; the caller has made sure that as many as `pagesNeeded` are to be had.
    mutating func allocate(bytes: Int) -> Block {
        let shape = Self.shape(of: bytes)
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
            unused.insert(page)
            usedCount -= 1
            page = table[Int(page)].next
        }
        guard block.endPage >= 0 else { return }
        let mask = Self.runMask(from: block.endUnit, count: Self.shape(of: Int(block.byteCount)).endUnits)
        let shared = Int(block.endPage)
        unlinkShared(block.endPage)
        table[shared].unitsInUse &= ~mask
        if table[shared].unitsInUse == 0 {
            unused.insert(block.endPage)
            usedCount -= 1
        } else {
            linkShared(block.endPage)
        }
    }

    /// Calls `body` with each part of a block in order: byte offset in the page range, bytes.
    func forEachPart(of block: Block, _ body: (_ offset: Int, _ count: Int) -> Void) {
        var page = block.firstPage
        var left = Int(block.byteCount)
        while page >= 0 {
            let count = min(left, Self.pageBytes)
            body(Int(page) * Self.pageBytes, count)
            left -= count
            page = table[Int(page)].next
        }
        if block.endPage >= 0 {
            body(Int(block.endPage) * Self.pageBytes + Int(block.endUnit) * Self.unitBytes, left)
        }
    }

    /// Takes one unused page out so that its memory can be let go; -1 where there is none. Until `finishDecommit` says
    /// that the system has the memory back, nobody can be given the page.
    mutating func beginDecommit() -> Int32 { unused.popLast() }

    /// The page's memory is gone; the page may be taken again as a fresh one.
    mutating func finishDecommit(_ page: Int32) {
        decommitted.insert(page)
        shrink(steps: SlotAllocator.shrinkSteps)
    }

    /// Forgets the highest pages if they have no memory.
    ///
    /// - Returns: how many, at most `steps`.
    @discardableResult
    mutating func shrink(steps: Int) -> Int {
        var count = 0
        let before = Self.pagedBytes(ofTable: tableCount)
        while count < steps, tableCount > 0, decommitted.contains(Int32(tableCount - 1)) {
            tableCount -= 1
            decommitted.remove(Int32(tableCount))
            count += 1
        }
        let after = Self.pagedBytes(ofTable: tableCount)
        if after < before { tableRegion.letGo(offset: after, byteCount: before - after) }
        return count
    }

    private mutating func takePage() -> Int32 {
        usedCount += 1
        if unused.count > 0 { return unused.popFirst() }
        if decommitted.count > 0 { return decommitted.popFirst() }
        precondition(tableCount < capacity, "the ledger admitted more pages than the address range holds")
        (table + tableCount).initialize(to: Page())
        tableCount += 1
        return Int32(tableCount - 1)
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
