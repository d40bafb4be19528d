/// A binary heap in an array, ordered by `goesFirst`.
extension Array {
    @inlinable
    package mutating func insertInHeap(_ item: Element, by goesFirst: (Element, Element) -> Bool) {
        append(item)
        var child = count - 1
        while child > 0, goesFirst(self[child], self[(child - 1) / 2]) {
            swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    @inlinable
    package mutating func removeFirstOfHeap(by goesFirst: (Element, Element) -> Bool) -> Element? {
        guard let removed = first else { return nil }
        swapAt(0, count - 1)
        removeLast()
        var parent = 0
        while true {
            var best = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < count && goesFirst(self[child], self[best]) {
                best = child
            }
            if best == parent { return removed }
            swapAt(parent, best)
            parent = best
        }
    }
}
