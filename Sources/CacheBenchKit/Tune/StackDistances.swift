/// Stack distances of a sequence of keys, in one pass.
///
/// The distance of an access is the number of distinct keys, its own included, since the key's last use. An LRU cache
/// of C keys hits exactly the accesses whose distance is at most C, so that one pass answers for every size at once
/// (Mattson et al., 1970).
///
/// Each key's last use is a mark on a line of times, and a Fenwick tree counts the marks after it (Olken, 1981): O(log
/// n) an access. When the line is full the marks are compacted, so that memory is bounded by the distinct keys, not by
/// the length of the sequence.
struct StackDistances<Key: Hashable> {
    private var moments: [Key: Int] = [:]
    /// Key of each time; `nil` if it has been used again since.
    private var line: [Key?]
    /// Marks, one-based as in Fenwick trees.
    private var tree: [Int32]
    private var now = 0

    /// - Parameter capacity: Initial number of times, 2 or more; it grows with the distinct keys.
    init(capacity: Int = 1024) {
        line = [Key?](repeating: nil, count: max(capacity, 2))
        tree = [Int32](repeating: 0, count: line.count + 1)
    }

    var distinctCount: Int { moments.count }
    /// Number of times that fit.
    var lineCount: Int { line.count }

    /// Returns the distance of an access, 1 if the key was the last one used. `nil` if it was never used before.
    mutating func access(_ key: Key) -> Int? {
        if now == line.count { moveTogether() }
        let moment = now
        now += 1
        let last = moments.updateValue(moment, forKey: key)
        line[moment] = key
        guard let last else {
            add(1, at: moment)
            return nil
        }
        let distance = moments.count - marks(before: last)
        add(-1, at: last)
        line[last] = nil
        add(1, at: moment)
        return distance
    }

    private mutating func moveTogether() {
        let kept = line.compactMap { $0 }
        // At least as many free times as marks, so that compaction costs a constant share of each access.
        line = kept.map { $0 } + [Key?](repeating: nil, count: max(kept.count, line.count - kept.count))
        tree = [Int32](repeating: 0, count: line.count + 1)
        for index in kept.indices {
            moments[kept[index]] = index
            tree[index + 1] = 1
        }
        for index in 1..<tree.count {
            let parent = index + (index & -index)
            if parent < tree.count { tree[parent] += tree[index] }
        }
        now = kept.count
    }

    private mutating func add(_ change: Int32, at moment: Int) {
        var index = moment + 1
        while index < tree.count {
            tree[index] += change
            index += index & -index
        }
    }

    private func marks(before moment: Int) -> Int {
        var index = moment
        var sum = 0
        while index > 0 {
            sum += Int(tree[index])
            index -= index & -index
        }
        return sum
    }
}
