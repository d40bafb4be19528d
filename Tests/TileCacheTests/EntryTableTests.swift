import Testing

@testable import TileCache

@Suite struct EntryTableTests {
    @Test(arguments: [UInt64(1), 2, 3])
    func agreesWithADictionary(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var table = EntryTable(maximumCount: 5000)
        var model: [TileKey: Int32] = [:]
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
                #expect(number == model[key] ?? -1)
                if number >= 0 {
                    table.remove(number)
                    model[key] = nil
                    let gone = table.find(key)
                    #expect(gone == -1)
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
        var seen: Set<Int32> = []
        table.forEach { seen.insert($0) }
        #expect(seen == Set(model.values))
    }

    /// Keys that all want the same place, the last one of the index, so that probing and shifting back wrap around.
    @Test func collidingKeysSurviveRemovalInAnyOrder() {
        var colliding: [TileKey] = []
        var column = 0
        while colliding.count < 24 {
            let candidate = key(column)
            // Some of them belong two places further on: shifting back must not move those before their own place.
            if candidate.hash & 511 == 511 || candidate.hash & 511 == 1 { colliding.append(candidate) }
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
                    let isFound = table.find(key) >= 0
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

    @Test func aFullTableRefusesNewKeysAndKnowsOldOnes() {
        var table = EntryTable(maximumCount: 10)
        let numbers = (0..<10).map { table.insert(key($0)) }
        let refused = table.insert(key(10))
        let known = table.insert(key(4))
        #expect(refused == -1)
        #expect(known == numbers[4])
        table.remove(numbers[7])
        let taken = table.insert(key(10))
        let count = table.count
        #expect(taken >= 0)
        #expect(count == 10)
    }

    @Test func anEntryForgetsWhoHadItsNumberBefore() {
        var table = EntryTable(maximumCount: 10)
        let number = table.insert(key(1))
        table[number].flags = [.absent, .floor]
        table[number].needCount = 3
        table[number].planEpoch = 7
        table.remove(number)
        let again = table.insert(key(2))
        #expect(again == number)
        let entry = table[again]
        #expect(entry.flags.isEmpty && entry.needCount == 0 && entry.planEpoch == 0 && entry.isForgettable)
    }
}
