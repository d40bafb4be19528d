/// Numbers of the small pages that compressed blocks are cut into, so that no hole is too small to use.
///
/// A block takes whole pages of 4 KiB and, for what is left over, one run of 512-byte units in a page that it shares
/// with the ends of others. Pages of one block are chained by number; the end's unit is in the block's first page word.
struct PageAllocator {
    static let pageBytes = 4096
    static let unitBytes = 512
    private static let unitsPerPage = pageBytes / unitBytes

    /// Where a block lies: a chain of whole pages, then an end.
    struct Block: Hashable {
        /// The first whole page, or -1.
        var firstPage: Int32 = -1
        /// The page of the end, or -1.
        var endPage: Int32 = -1
        /// The first unit of the end in its page.
        var endUnit: UInt8 = 0
    }

    /// The most pages that the address range holds.
    let capacity: Int
    /// The next page of the same block, or of the same list of shared pages; -1 ends either.
    private var nextPage: [Int32] = []
    /// The previous page of the same list of shared pages.
    private var previousPage: [Int32] = []
    /// For shared pages the units in use, a bit each; 0 for others.
    private var unitsInUse: [UInt8] = []
    /// Shared pages by the longest free run that they offer, 1 ... 7: heads of doubly linked lists.
    private var sharedHeads = [Int32](repeating: -1, count: 8)
    /// Low numbers are taken first and high ones decommitted first, so that neighbours go together and the tables shrink.
    private var unused = NumberSet()
    private var decommitted = NumberSet()
    var decommittedCount: Int { decommitted.count }
    /// Pages that hold something.
    private(set) var usedCount = 0

    init(capacity: Int) { self.capacity = capacity }

    var unusedCount: Int { unused.count }
    /// Pages without memory that may be taken; those on their way to the system are not among them.
    var freshCount: Int { capacity - nextPage.count + decommitted.count }
    var committedBytes: Int { (usedCount + unused.count) * Self.pageBytes }
    var usedBytes: Int { usedCount * Self.pageBytes }
    /// Pages that the tables have room for; they grow only where the ledger was asked before.
    private var tableCapacity = 0
    /// What a page takes in all tables together: two numbers, its units, and a bit in each of two sets.
    private static let tableBytesPerPage = 10
    /// Bytes of the tables themselves.
    var bookkeepingBytes: Int { tableCapacity * Self.tableBytesPerPage }

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
        (grownCapacity(taking: count) - tableCapacity) * Self.tableBytesPerPage
    }

    /// By a quarter at a time: doubling would take from the tiles what the tables may never need.
    private func grownCapacity(taking count: Int) -> Int {
        let most = nextPage.count + max(count - unused.count - decommitted.count, 0)
        guard most > tableCapacity else { return tableCapacity }
        return max(most, min(tableCapacity + tableCapacity / 4 + 64, capacity))
    }

    private mutating func growTables(taking count: Int) {
        let grown = grownCapacity(taking: count)
        guard grown > tableCapacity else { return }
        tableCapacity = grown
        nextPage.reserveCapacity(grown)
        previousPage.reserveCapacity(grown)
        unitsInUse.reserveCapacity(grown)
    }

    /// Returns the memory of tables for pages that are gone, once most of them are.
    private mutating func shrinkTables() {
        let grown = nextPage.count + nextPage.count / 4 + 64
        guard tableCapacity > 4 * grown else { return }
        tableCapacity = grown
        nextPage = Self.copy(of: nextPage, capacity: grown)
        previousPage = Self.copy(of: previousPage, capacity: grown)
        unitsInUse = Self.copy(of: unitsInUse, capacity: grown)
    }

    private static func copy<Element>(of old: [Element], capacity: Int) -> [Element] {
        var new: [Element] = []
        new.reserveCapacity(capacity)
        new.append(contentsOf: old)
        return new
    }

    /// Takes the pages of a block; the caller has made sure that as many as `pagesNeeded` are to be had.
    mutating func allocate(bytes: Int) -> Block {
        growTables(taking: pagesNeeded(for: bytes))
        let shape = Self.shape(of: bytes)
        var block = Block()
        for _ in 0..<shape.pages {
            let page = takePage()
            nextPage[Int(page)] = block.firstPage
            block.firstPage = page
        }
        if shape.endUnits > 0 { (block.endPage, block.endUnit) = takeUnits(shape.endUnits) }
        return block
    }

    /// Gives a block's pages back, their memory kept.
    mutating func free(_ block: Block, bytes: Int) {
        var page = block.firstPage
        while page >= 0 {
            unused.insert(page)
            usedCount -= 1
            page = nextPage[Int(page)]
        }
        guard block.endPage >= 0 else { return }
        let mask = Self.runMask(from: block.endUnit, count: Self.shape(of: bytes).endUnits)
        let shared = Int(block.endPage)
        unlinkShared(block.endPage)
        unitsInUse[shared] &= ~mask
        if unitsInUse[shared] == 0 {
            unused.insert(block.endPage)
            usedCount -= 1
        } else {
            linkShared(block.endPage)
        }
    }

    /// Calls `body` with each part of a block in order: byte offset in the page range, bytes.
    func forEachPart(of block: Block, bytes: Int, _ body: (_ offset: Int, _ count: Int) -> Void) {
        var page = block.firstPage
        var left = bytes
        while page >= 0 {
            let count = min(left, Self.pageBytes)
            body(Int(page) * Self.pageBytes, count)
            left -= count
            page = nextPage[Int(page)]
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
        while count < steps, let last = nextPage.indices.last, decommitted.contains(Int32(last)) {
            decommitted.remove(Int32(last))
            nextPage.removeLast()
            previousPage.removeLast()
            unitsInUse.removeLast()
            count += 1
        }
        shrinkTables()
        return count
    }

    private mutating func takePage() -> Int32 {
        usedCount += 1
        if unused.count > 0 { return unused.popFirst() }
        if decommitted.count > 0 { return decommitted.popFirst() }
        let page = Int32(nextPage.count)
        precondition(nextPage.count < capacity, "the ledger admitted more pages than the address range holds")
        nextPage.append(-1)
        unitsInUse.append(0)
        previousPage.append(-1)
        return page
    }

    private mutating func takeUnits(_ count: Int) -> (Int32, UInt8) {
        var page: Int32 = -1
        for run in count...7 where sharedHeads[run] >= 0 {
            page = sharedHeads[run]
            break
        }
        if page >= 0 { unlinkShared(page) } else { page = takePage() }
        let inUse = unitsInUse[Int(page)]
        var unit = 0
        while inUse & Self.runMask(from: UInt8(unit), count: count) != 0 { unit += 1 }
        unitsInUse[Int(page)] = inUse | Self.runMask(from: UInt8(unit), count: count)
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
        let run = Self.longestFreeRun(unitsInUse[Int(page)])
        guard run > 0 else { return }
        let head = sharedHeads[run]
        previousPage[Int(page)] = -1
        nextPage[Int(page)] = head
        if head >= 0 { previousPage[Int(head)] = page }
        sharedHeads[run] = page
    }

    private mutating func unlinkShared(_ page: Int32) {
        let run = Self.longestFreeRun(unitsInUse[Int(page)])
        guard run > 0 else { return }
        let previous = previousPage[Int(page)]
        let next = nextPage[Int(page)]
        if previous >= 0 { nextPage[Int(previous)] = next } else { sharedHeads[run] = next }
        if next >= 0 { previousPage[Int(next)] = previous }
    }
}
