import Testing

@testable import TileCache
@testable import TileSources

/// Headers of ranges, and the order of reads, without any server.
@Suite struct RangeRuleTests {
    @Test func contentRangesAreParsed() {
        let good: [(String, ContentRange)] = [
            ("bytes 0-99/1234", ContentRange(0..<100, of: 1234)), ("Bytes 5-5/6", ContentRange(5..<6, of: 6)),
            ("bytes  0-99/*", ContentRange(0..<100, of: nil)),
            ("bytes 0-4611686018427387902/4611686018427387903", ContentRange(0..<1 << 62 - 1, of: 1 << 62 - 1)),
            // The last byte is the last one of the file, the first one beyond it, and far beyond.
            ("bytes 3-8/9", ContentRange(3..<9, of: 9)), ("bytes 3-9/9", ContentRange(3..<9, of: 9, isBeyond: true)),
            ("bytes 8-999/9", ContentRange(8..<9, of: 9, isBeyond: true)),
        ]
        for (text, range) in good { #expect(ContentRange(text) == range, "\(text)") }
        let bad = [
            "", "bytes", "bytes */1234", "bytes 1-0/9", "bytes 9-9/9", "bytes 0-9/0", "bytes 0-9", "bytes -9/10",
            "bytes 0-/10",
            "items 0-9/10", "bytes 0-9/10/11", "bytes 0-9-10/11", "bytes +0-9/10", "bytes 0-9/+10", "bytes 0-9 /10",
            "bytes 0-4611686018427387904/*", "bytes 0-99999999999999999999/*", "bytes 0x0-9/10", "bytes0-9/10",
        ]
        for text in bad { #expect(ContentRange(text) == nil, "\(text)") }
        let sizes: [(String, Int?)] = [
            ("bytes */1234", 1234), ("bytes */0", 0), ("bytes */*", nil), ("bytes 0-1/2", nil), ("", nil),
            ("bytes */-1", nil),
        ]
        for (text, size) in sizes { #expect(ContentRange.size(unsatisfied: text) == size, "\(text)") }
    }

    /// A range that is written is read back. A byte changed at random never gives a range beyond the size.
    @Test func randomContentRanges() {
        var random = SplitMix64(seed: 5)
        for _ in 0..<5000 {
            let size = Int(random.next() % 1_000_000) + 1
            let first = Int(random.next() % UInt64(size))
            let last = first + Int(random.next() % UInt64(size - first))
            let text = "bytes \(first)-\(last)/\(size)"
            #expect(ContentRange(text) == ContentRange(first..<last + 1, of: size))
            var bytes = Array(text.utf8)
            bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(random.next() % 128)
            let other = ContentRange(String(decoding: bytes, as: UTF8.self))
            if let other, let size = other.size { #expect(!other.range.isEmpty && other.range.upperBound <= size) }
        }
    }

    /// Each read comes once, in order of urgency. Groups waste at most an eighth, and no more could join.
    @Test(arguments: [1, 2, 3, 4] as [UInt64]) func readsAreGrouped(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<100 {
            var queue = RangeQueue()
            var left: [RangeQueue.Read] = []
            let spread = [2000, 100_000, 5_000_000][Int(random.next() % 3)]
            for id in 0..<Int(random.next() % 30) {
                let start = Int(random.next() % UInt64(spread))
                let length = Int(random.next() % 3) == 0 ? Int(random.next() % 600_000) : Int(random.next() % 20_000)
                let read = RangeQueue.Read(id: id, range: start..<start + length + 1, isDemand: random.next() % 2 == 0)
                queue.add(read)
                left.append(read)
            }
            if let removed = left.last, random.next() % 2 == 0 {
                #expect(queue.remove(removed.id) && !queue.remove(removed.id))
                left.removeLast()
            }
            while let group = queue.next() {
                let first = left.first(where: \.isDemand) ?? left.first
                #expect(group.reads.first == first, "seed \(seed)")
                let ids = Set(group.reads.map(\.id))
                #expect(ids.count == group.reads.count && ids.isSubset(of: Set(left.map(\.id))), "seed \(seed)")
                #expect(group.reads.allSatisfy { $0.isDemand == first?.isDemand }, "seed \(seed)")
                #expect(group.range.lowerBound == group.reads.map(\.range.lowerBound).min(), "seed \(seed)")
                #expect(group.range.upperBound == group.reads.map(\.range.upperBound).max(), "seed \(seed)")
                // Bytes that any read needs, counted one by one where that is quick.
                if group.range.count < 2000 {
                    let needed = Set(group.reads.flatMap { Array($0.range) }).count
                    #expect(8 * (group.range.count - needed) <= needed, "seed \(seed): \(group)")
                }
                #expect(
                    group.reads.count == 1 || group.range.count <= RangeQueue.longest
                        || group.reads.contains { $0.range == group.range },
                    "seed \(seed)"
                )
                left.removeAll { ids.contains($0.id) }
            }
            #expect(left.isEmpty, "seed \(seed)")
        }
    }

    /// A read that is put back keeps its place. One that a view comes to need goes first.
    @Test func readsKeepTheirOrder() {
        var queue = RangeQueue()
        let reads = (0..<4).map { RangeQueue.Read(id: $0, range: $0 * 1000..<$0 * 1000 + 1, isDemand: $0 == 2) }
        for read in reads { queue.add(read) }
        #expect(queue.next()?.reads == [reads[2]] && queue.next()?.reads == [reads[0]])
        queue.add(reads[0])
        #expect(queue.waiting == [reads[0], reads[1], reads[3]])
        queue.raise(3)
        queue.raise(2)
        #expect(queue.next()?.reads.map(\.id) == [3] && queue.next()?.reads == [reads[0]])
        #expect(queue.next()?.reads == [reads[1]] && queue.next() == nil)
    }

    @Test func nearReadsShareARequest() {
        func groups(_ ranges: [Range<Int>]) -> [Range<Int>] {
            var queue = RangeQueue()
            for (id, range) in ranges.enumerated() { queue.add(.init(id: id, range: range, isDemand: true)) }
            var groups: [Range<Int>] = []
            while let group = queue.next() { groups.append(group.range) }
            return groups
        }
        // Neighbours; the same bytes twice; a gap of an eighth of what is needed, and one byte more.
        #expect(groups([100..<200, 0..<100, 200..<300]) == [0..<300])
        #expect(groups([0..<100, 0..<100, 50..<60]) == [0..<100])
        #expect(groups([0..<100, 125..<225]) == [0..<225] && groups([0..<100, 126..<226]) == [0..<100, 126..<226])
        let longest = RangeQueue.longest
        #expect(groups([0..<longest - 1, longest - 1..<longest]) == [0..<longest])
        #expect(groups([0..<longest, longest..<longest + 1]) == [0..<longest, longest..<longest + 1])
        #expect(groups([0..<3 * longest, 5..<6]) == [0..<3 * longest])
    }
}
