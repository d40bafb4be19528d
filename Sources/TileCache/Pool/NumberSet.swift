/// A set of small numbers, as a tree of 64-bit words. Insertion, removal, minimum and maximum in a few steps.
struct NumberSet: Sendable {
    /// Level 0 has a bit per number. Each higher level has a bit per non-zero word below.
    private var levels: [[UInt64]] = [[]]
    private(set) var count = 0

    /// Bytes of two sets of numbers below a bound. Computed from the bound, not from array capacities, so that equal
    /// operations always fit the same limit.
    static func bytesOfTwo(below bound: Int) -> Int { (bound + 63) / 64 * 40 }

    func contains(_ number: Int32) -> Bool {
        let word = Int(number) >> 6
        return word < levels[0].count && levels[0][word] & Self.bit(Int(number)) != 0
    }

    mutating func insert(_ number: Int32) {
        guard !contains(number) else { return }
        count += 1
        grow(toHold: Int(number))
        var index = Int(number)
        for level in levels.indices {
            let word = index >> 6
            let wasEmpty = levels[level][word] == 0
            levels[level][word] |= Self.bit(index)
            guard wasEmpty else { return }
            index = word
        }
    }

    mutating func remove(_ number: Int32) {
        guard contains(number) else { return }
        count -= 1
        var index = Int(number)
        for level in levels.indices {
            let word = index >> 6
            levels[level][word] &= ~Self.bit(index)
            guard levels[level][word] == 0 else { break }
            index = word
        }
        // Frees the words of a former, larger set.
        if count == 0, levels.count > 1 { levels = [[]] }
    }

    /// Removes the minimum; `nil` if the set is empty.
    mutating func popFirst() -> Int32? { pop { $0.trailingZeroBitCount } }

    /// Removes the maximum; `nil` if the set is empty.
    mutating func popLast() -> Int32? { pop { 63 - $0.leadingZeroBitCount } }

    private mutating func pop(_ choose: (UInt64) -> Int) -> Int32? {
        guard count > 0 else { return nil }
        var index = 0
        for level in levels.indices.reversed() { index = index << 6 + choose(levels[level][index]) }
        remove(Int32(index))
        return Int32(index)
    }

    private static func bit(_ index: Int) -> UInt64 { 1 << UInt64(index & 63) }

    private mutating func grow(toHold number: Int) {
        var words = (number >> 6) + 1
        guard words > levels[0].count else { return }
        var level = 0
        while true {
            if level == levels.count {
                // The new root has a bit for each word of the old one.
                let below = levels[level - 1]
                var root = [UInt64](repeating: 0, count: (below.count + 63) >> 6)
                for (index, word) in below.enumerated() where word != 0 { root[index >> 6] |= Self.bit(index) }
                levels.append(root)
            }
            let missing = words - levels[level].count
            if missing > 0 { levels[level].append(contentsOf: repeatElement(0, count: missing)) }
            guard levels[level].count > 1 else { return }
            words = (levels[level].count + 63) >> 6
            level += 1
        }
    }
}
