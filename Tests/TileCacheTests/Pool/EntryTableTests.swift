import TestSupport
import Testing

@testable import TileCache

@Suite struct EntryTableTests {
    @Test(arguments: [UInt64(1), 2, 3])
    func agreesWithADictionary(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var table = EntryTable(maximumCount: 5000)
        var model: [TileKey: EntryID] = [:]
        for step in 0..<12_000 {
            let key = key(random.below(1500), level: random.below(3), layer: random.below(2))
            // Phases that grow and phases that shrink.
            if random.below(100) < (step / 3000 % 2 == 0 ? 75 : 25) {
                let number = table.insert(key)
                if let known = model[key] { #expect(number == known) }
                model[key] = number
                table[number].attempts = UInt8(truncatingIfNeeded: key.low &+ key.high)
            } else {
                let number = table.find(key)
                #expect(number == model[key] ?? .none)
                if number != .none {
                    table.remove(number)
                    model[key] = nil
                    let gone = table.find(key)
                    #expect(gone == .none)
                }
            }
        }
        let count = table.count
        #expect(count == model.count)
        #expect(Set(model.values).count == model.count)
        for (key, number) in model {
            let found = table.find(key)
            #expect(found == number)
            let entry = table[number]
            #expect(entry.key == key)
            #expect(entry.attempts == UInt8(truncatingIfNeeded: key.low &+ key.high))
        }
        var seen: Set<EntryID> = []
        table.forEach { seen.insert($0) }
        #expect(seen == Set(model.values))
    }

    /// Keys of one chain, or of the one that it is split from.
    @Test func collidingKeysSurviveRemovalInAnyOrder() {
        var colliding: [TileKey] = []
        var column = 0
        while colliding.count < 24 {
            let candidate = key(column)
            if candidate.hash & 511 == 511 || candidate.hash & 511 == 255 { colliding.append(candidate) }
            column += 1
        }
        var random = SplitMix64(seed: 9)
        for _ in 0..<40 {
            var table = EntryTable(maximumCount: 100)
            var present = Set<TileKey>()
            for key in colliding {
                _ = table.insert(key)
                present.insert(key)
            }
            while !present.isEmpty {
                let victim = random.element(of: present.sorted { $0.high < $1.high })
                table.remove(table.find(victim))
                present.remove(victim)
                for key in colliding {
                    let isFound = table.find(key) != .none
                    #expect(isFound == present.contains(key))
                }
            }
        }
    }

    @Test func entriesKeepTheirPlaceWhileTheTableGrows() {
        var table = EntryTable(maximumCount: 4000)
        let first = table.insert(key(0))
        let pointer = table.pointer(first)
        table[first].value = 0.5
        for column in 1..<4000 {
            let promised = table.byteCount + table.nextGrowth
            _ = table.insert(key(column))
            let taken = table.byteCount
            #expect(taken == promised)
        }
        let stayed = table.pointer(first) == pointer && table.find(key(0)) == first && table[first].value == 0.5
        #expect(stayed)
    }

    /// Whatever the number of entries and the empty pages, an insertion adds the promised bytes.
    @Test(arguments: [UInt64(7), 8, 9]) func growthIsPromisedToTheByte(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var table = EntryTable(maximumCount: 200)
        var failures = 0
        for _ in 0..<20_000 {
            let key = key(random.below(70))
            let known = table.find(key)
            // Sometimes the table is emptied, with its memory kept or decommitted.
            if random.oneIn(200) {
                for column in 0..<70 {
                    let number = table.find(TileCacheTests.key(column))
                    if number != .none { table.remove(number) }
                }
                while random.oneIn(2), let range = table.beginDecommit() { table.finishDecommit(range) }
            } else if known != .none, random.oneIn(3) {
                table.remove(known)
            } else {
                let promised = table.byteCount + (known == .none ? table.nextGrowth : 0)
                _ = table.insert(key)
                if table.byteCount != promised { failures += 1 }
            }
        }
        #expect(failures == 0, "seed \(seed)")
    }

    /// An emptied table grows as it did at first, its index included.
    @Test func anEmptiedTableGrowsAsBefore() {
        var table = EntryTable(maximumCount: 20_000)
        var sizes: [Int] = []
        for _ in 0..<3 {
            let numbers = (0..<20_000).map { table.insert(key($0)) }
            sizes.append(table.byteCount)
            // Searches are short: two chains for each entry.
            let pages = table.pages.count
            let chainBytes = table.byteCount - pages * table.pageBytes - 2 * NumberSet.bytesOfTwo(below: pages)
            #expect(chainBytes >= 2 * 20_000 * MemoryLayout<Int32>.stride - table.pageBytes)
            for number in numbers { table.remove(number) }
            while let range = table.beginDecommit() { table.finishDecommit(range) }
        }
        #expect(Set(sizes).count == 1, "\(sizes)")
    }

    @Test func aFullTableRefusesNewKeysAndKnowsOldOnes() {
        var table = EntryTable(maximumCount: 10)
        let numbers = (0..<10).map { table.insert(key($0)) }
        let refused = table.insert(key(10))
        let known = table.insert(key(4))
        #expect(refused == .none)
        #expect(known == numbers[4])
        table.remove(numbers[7])
        let taken = table.insert(key(10))
        let count = table.count
        #expect(taken != .none)
        #expect(count == 10)
    }

    @Test func anEntryForgetsWhoHadItsNumberBefore() {
        var table = EntryTable(maximumCount: 10)
        let number = table.insert(key(1))
        table[number].flags = [.absent, .pinned]
        table[number].needCount = 3
        table[number].planEpoch = 7
        table.remove(number)
        let again = table.insert(key(2))
        #expect(again == number)
        let entry = table[again]
        #expect(entry.flags.isEmpty && entry.needCount == 0 && entry.planEpoch == 0 && entry.isForgettable)
    }

    /// A random walk over the table's life, with pages committed and decommitted. Bytes are those of committed pages,
    /// numbers are not assigned while their page is being decommitted, and an empty table is as small as a new one.
    @Test(arguments: [UInt64(4), 5, 6, 7])
    func memoryComesAndGoesWithTheEntries(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var table = EntryTable(maximumCount: 20_000, pageBytes: [4096, 4096, 16_384, 65_536][Int(seed) - 4])
        let least = table.byteCount
        var present: [TileKey: EntryID] = [:]
        var leaving: [MemoryRange] = []
        var failures: [String] = []
        for step in 0..<60_000 {
            let isGrowing = step / 15_000 % 2 == 0
            let key = key(random.below(9000), level: random.below(3))
            if random.below(100) < (isGrowing ? 80 : 15) {
                let promised = table.byteCount + (present[key] == nil ? table.nextGrowth : 0)
                let number = table.insert(key)
                if present[key] == nil, number != .none, table.byteCount != promised {
                    failures.append("grew otherwise")
                }
                if number == .none {
                    if !table.isFull { failures.append("refused") }
                    continue
                }
                let page = number.number / Int32(table.entriesPerPage + 1)
                if leaving.contains(MemoryRange(slotClass: MemoryRange.entryPages, number: page)) {
                    failures.append("handed out page \(page) that is on its way to the system")
                }
                present[key] = number
            } else if let number = present.removeValue(forKey: key) {
                table.remove(number)
            }
            if random.oneIn(20), let range = table.beginDecommit() {
                leaving.append(range)
                // From here on it must not be accessed.
                let region = range.slotClass == MemoryRange.entryPages ? table.entryRegion : table.chainRegion
                (region.base + Int(range.number) * table.pageBytes).initializeMemory(
                    as: UInt8.self,
                    repeating: 0x01,
                    count: table.pageBytes
                )
            }
            if !leaving.isEmpty, random.oneIn(30) {
                table.finishDecommit(leaving.remove(at: random.below(leaving.count)))
            }
            if step % 500 == 0 {
                for (key, number) in present where table.find(key) != number { failures.append("lost \(key)") }
                var count = 0
                table.forEach { _ in count += 1 }
                if count != present.count { failures.append("\(count) entries, not \(present.count)") }
            }
        }
        for number in present.values { table.remove(number) }
        while let range = table.beginDecommit() { leaving.append(range) }
        for range in leaving { table.finishDecommit(range) }
        let most = table.byteCount
        #expect(failures.isEmpty, "seed \(seed): \(failures.prefix(3))")
        #expect(most == least)
    }
}
