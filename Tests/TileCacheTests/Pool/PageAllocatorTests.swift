import TestSupport
import Testing

@testable import TileCache

@Suite struct PageAllocatorTests {
    private static let boundaries = [1, 511, 512, 513, 3584, 3585, 4095, 4096, 4097]

    @Test(
        arguments: zip(
            boundaries,
            [(0, 1), (0, 1), (0, 1), (0, 2), (0, 7), (1, 0), (1, 0), (1, 0), (1, 1)]
        )
    )
    func shapesAtTheBoundaries(bytes: Int, expected: (Int, Int)) {
        #expect(PageAllocator(capacity: 1).shape(of: bytes) == expected)
        // Larger pages have as many units.
        for scale in [4, 16] {
            let pages = PageAllocator(capacity: 1, pageBytes: 4096 * scale)
            #expect(pages.shape(of: bytes * scale) == expected && pages.shape(of: (bytes - 1) * scale + 1) == expected)
        }
    }

    @Test(arguments: [4096, 16_384, 65_536]) func bytesAreRoundedUpToPages(pageBytes: Int) {
        let sizes = [0, 1, pageBytes - 1, pageBytes, pageBytes + 1, .max - pageBytes + 1, .max - pageBytes + 2, .max]
        let last = Int.max & ~(pageBytes - 1)
        let rounded = sizes.map { $0.roundedUp(toPages: pageBytes) }
        #expect(rounded == [0, pageBytes, pageBytes, pageBytes, 2 * pageBytes, last, last, last])
    }

    @Test(arguments: boundaries)
    func partsCoverABlockExactly(bytes: Int) {
        var pages = PageAllocator(capacity: 8)
        let promised = pages.pagesNeeded(for: bytes)
        let block = pages.allocate(bytes: bytes)
        #expect(pages.usedCount == promised)
        var total = 0
        pages.forEachPart(of: block) { offset, count in
            #expect(count > 0)
            #expect(offset % 512 == 0)
            #expect(offset / 4096 == (offset + count - 1) / 4096)
            total += count
        }
        #expect(total == bytes)
        pages.free(block)
        #expect(pages.usedCount == 0)
        #expect(pages.unusedCount == promised)
    }

    @Test(arguments: [UInt64(1), 2, 3, 4])
    func noTwoBlocksShareAByte(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let pageBytes = [4096, 4096, 16_384, 65_536][Int(seed) - 1]
        var pages = PageAllocator(capacity: 400, pageBytes: pageBytes)
        var blocks: [PageAllocator.Block] = []
        /// Owner of each unit: the number of a block, 0 if free.
        var owners: [Int: Int] = [:]
        var leaving: [Int32] = []
        for step in 0..<1500 {
            if blocks.isEmpty || (blocks.count < 80 && random.below(100) < 55) {
                let bytes = random.oneIn(2) ? random.element(of: Self.boundaries) : 1 + random.below(pageBytes * 7 / 2)
                let used = pages.usedCount
                let promised = pages.pagesNeeded(for: bytes)
                let fresh = max(promised - pages.unusedCount, 0)
                let committed = pages.committedBytes
                let tables = pages.bookkeepingBytes + pages.tableGrowth(taking: promised)
                let block = pages.allocate(bytes: bytes)
                #expect(pages.bookkeepingBytes == tables)
                #expect(pages.usedCount == used + promised)
                #expect(pages.committedBytes == committed + fresh * pageBytes)
                for unit in units(of: block, in: pages) {
                    #expect(owners.updateValue(step, forKey: unit) == nil)
                    #expect(!leaving.contains(Int32(unit / 8)))
                }
                blocks.append(block)
            } else if random.oneIn(8) {
                if let page = pages.beginDecommit() { leaving.append(page) }
            } else if random.oneIn(8), !leaving.isEmpty {
                pages.finishDecommit(leaving.removeFirst())
            } else {
                let block = blocks.remove(at: random.below(blocks.count))
                for unit in units(of: block, in: pages) { owners[unit] = nil }
                pages.free(block)
            }
            #expect(pages.usedCount == Set(owners.keys.map { $0 / 8 }).count)
            #expect(pages.freshCount == 400 - pages.usedCount - pages.unusedCount - leaving.count)
        }
        for block in blocks { pages.free(block) }
        #expect(pages.usedCount == 0)
        while let page = pages.beginDecommit() { leaving.append(page) }
        for page in leaving.dropFirst(100) { pages.finishDecommit(page) }
        for page in leaving.prefix(100) { pages.finishDecommit(page) }
        // The end of each decommit shrinks the tables by a few steps.
        #expect(pages.committedBytes == 0 && pages.bookkeepingBytes == 0 && pages.freshCount == 400)
    }

    /// Low pages are freed last. The tables of the high ones shrink in steps, and their memory returns to the system.
    @Test func tablesShrinkInSteps() {
        var pages = PageAllocator(capacity: 2000)
        let least = pages.bookkeepingBytes
        let block = pages.allocate(bytes: 2000 * 4096)
        let most = pages.bookkeepingBytes
        pages.free(block)
        var leaving: [Int32] = []
        while let page = pages.beginDecommit() { leaving.append(page) }
        for page in leaving.reversed() { pages.finishDecommit(page) }
        #expect(pages.bookkeepingBytes < most)
        var steps: [Int] = []
        while case let step = pages.shrink(steps: 100), step > 0 { steps.append(step) }
        #expect(steps.allSatisfy { $0 <= 100 } && steps.count > 10)
        #expect(least == 0 && pages.bookkeepingBytes == 0)
        // Decommitted pages are as good as new.
        let again = pages.allocate(bytes: 2000 * 4096)
        var total = 0
        pages.forEachPart(of: again) { total += $1 }
        #expect(total == 2000 * 4096 && pages.bookkeepingBytes == most)
    }

    /// Tails of blocks share pages: eight blocks of one unit take one page.
    @Test func endsShareAPage() {
        var pages = PageAllocator(capacity: 4)
        let blocks = (0..<8).map { _ in pages.allocate(bytes: 400) }
        #expect(pages.usedCount == 1)
        #expect(Set(blocks.map(\.endUnit)) == Set(0..<8))
        #expect(pages.pagesNeeded(for: 400) == 1)
        pages.free(blocks[3])
        #expect(pages.pagesNeeded(for: 400) == 0)
        #expect(pages.pagesNeeded(for: 600) == 1)
        pages.free(blocks[4])
        #expect(pages.pagesNeeded(for: 600) == 0)
    }

    private func units(of block: PageAllocator.Block, in pages: borrowing PageAllocator) -> [Int] {
        var units: [Int] = []
        pages.forEachPart(of: block) { offset, count in
            let unitBytes = pages.pageBytes / 8
            units.append(contentsOf: offset / unitBytes...(offset + count - 1) / unitBytes)
        }
        return units
    }
}
