/// Numbers by their gain, the largest gain first; equal gains by number.
struct GainHeap {
    private var items: [(gain: Double, number: Int)] = []

    private func isBefore(_ a: Int, _ b: Int) -> Bool {
        items[a].gain != items[b].gain ? items[a].gain > items[b].gain : items[a].number < items[b].number
    }

    mutating func push(_ gain: Double, _ number: Int) {
        items.append((gain, number))
        var place = items.count - 1
        while place > 0, isBefore(place, (place - 1) / 2) {
            items.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    mutating func pop() -> (gain: Double, number: Int)? {
        guard let first = items.first else { return nil }
        items.swapAt(0, items.count - 1)
        items.removeLast()
        var place = 0
        while true {
            var best = place
            for child in [2 * place + 1, 2 * place + 2] where child < items.count && isBefore(child, best) {
                best = child
            }
            if best == place { return first }
            items.swapAt(place, best)
            place = best
        }
    }
}
