import TestSupport
import Testing

@testable import TileCache

@Suite struct RecencyListTests {
    @Test func agreesWithAnArray() {
        var random = SplitMix64(seed: 4)
        var table = EntryTable(maximumCount: 100)
        let numbers = (0..<40).map { table.insert(key($0)) }
        var list = RecencyList()
        var model: [EntryID] = []
        for _ in 0..<4000 {
            let number = random.element(of: numbers)
            if let place = model.firstIndex(of: number) {
                if random.oneIn(2) {
                    list.remove(number, in: table)
                    model.remove(at: place)
                } else {
                    list.moveToFront(number, in: table)
                    model.insert(model.remove(at: place), at: 0)
                }
            } else if random.oneIn(3) {
                // The position of its stamp, behind those used later.
                table[number].stamp = UInt64(random.below(5000))
                list.insert(number, in: table)
                let place = model.firstIndex { table[$0].stamp <= table[number].stamp } ?? model.count
                model.insert(number, at: place)
            } else {
                list.pushFront(number, in: table)
                model.insert(number, at: 0)
            }
            let order = list.numbers({ table[$0] })
            #expect(order == model)
            #expect(list.tail == model.last ?? .none)
        }
    }

    /// However many were used later, an insertion passes a bounded number of entries.
    @Test func anInsertionTakesBoundedSteps() {
        var table = EntryTable(maximumCount: 1000)
        var list = RecencyList()
        for column in 0..<600 {
            let number = table.insert(key(column))
            table[number].stamp = UInt64(column + 1)
            list.pushFront(number, in: table)
        }
        let late = table.insert(key(600))
        list.insert(late, in: table)
        let order = list.numbers({ table[$0] })
        #expect(order?.firstIndex(of: late) == RecencyList.maximumSteps)
    }

    @Test func entriesThatLeaveHaveNoLinks() {
        var table = EntryTable(maximumCount: 10)
        let numbers = (0..<3).map { table.insert(key($0)) }
        var list = RecencyList()
        for number in numbers { list.pushFront(number, in: table) }
        list.remove(numbers[1], in: table)
        let entry = table[numbers[1]]
        #expect(entry.previous == .none && entry.next == .none)
    }
}
