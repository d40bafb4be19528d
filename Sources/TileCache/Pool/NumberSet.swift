/// A set of small numbers, as a tree of 64-bit words. Insertion, removal, minimum and maximum in a few steps.
struct NumberSet: Sendable {
    /// A bit per number.
    private var words: [UInt64] = []
    /// Each level has a bit per non-zero word below. The last has one word; there is none above a single word.
    private var upper: [[UInt64]] = []
    private(set) var count = 0

    /// Words of an empty set that are kept: 8 KiB. Sets that are often empty would otherwise grow again each time.
    private static let wordsKept = 1024

    /// Bytes of two sets of numbers below a bound. Computed from the bound, not from array capacities, so that equal
    /// operations always fit the same limit.
    static func bytesOfTwo(below bound: Int) -> Int { (bound + 63) / 64 * 40 }

    func contains(_ number: Int32) -> Bool {
        let word = Int(number) >> 6
        return word < words.count && words[word] & Self.bit(Int(number)) != 0
    }

    mutating func insert(_ number: Int32) {
        var index = Int(number)
        if index >> 6 >= words.count { grow(toHold: index) }
        let former = words[index >> 6]
        guard former & Self.bit(index) == 0 else { return }
        count += 1
        words[index >> 6] = former | Self.bit(index)
        guard former == 0 else { return }
        for level in upper.indices {
            index >>= 6
            let former = upper[level][index >> 6]
            upper[level][index >> 6] = former | Self.bit(index)
            guard former == 0 else { return }
        }
    }

    mutating func remove(_ number: Int32) {
        guard contains(number) else { return }
        count -= 1
        var index = Int(number)
        let rest = words[index >> 6] & ~Self.bit(index)
        words[index >> 6] = rest
        guard rest == 0 else { return }
        for level in upper.indices {
            index >>= 6
            let rest = upper[level][index >> 6] & ~Self.bit(index)
            upper[level][index >> 6] = rest
            guard rest == 0 else { break }
        }
        // Frees the words of a former, larger set.
        if count == 0, words.count > Self.wordsKept { (words, upper) = ([], []) }
    }

    /// Removes the minimum; `nil` if the set is empty.
    mutating func popFirst() -> Int32? { pop { $0.trailingZeroBitCount } }

    /// Removes the maximum; `nil` if the set is empty.
    mutating func popLast() -> Int32? { pop { 63 - $0.leadingZeroBitCount } }

    @inline(__always)
    private mutating func pop(_ choose: (UInt64) -> Int) -> Int32? {
        guard count > 0 else { return nil }
        var index = 0
        for level in upper.indices.reversed() { index = index << 6 + choose(upper[level][index]) }
        index = index << 6 + choose(words[index])
        remove(Int32(index))
        return Int32(index)
    }

    private static func bit(_ index: Int) -> UInt64 { 1 << UInt64(index & 63) }

    private mutating func grow(toHold number: Int) {
        words.append(contentsOf: repeatElement(0, count: (number >> 6) + 1 - words.count))
        var below = words
        var level = 0
        while below.count > 1 {
            let count = (below.count + 63) >> 6
            if level == upper.count {
                // The new root has a bit for each word of the old one.
                var root = [UInt64](repeating: 0, count: count)
                for (index, word) in below.enumerated() where word != 0 { root[index >> 6] |= Self.bit(index) }
                upper.append(root)
            } else if count > upper[level].count {
                upper[level].append(contentsOf: repeatElement(0, count: count - upper[level].count))
            }
            below = upper[level]
            level += 1
        }
    }
}
