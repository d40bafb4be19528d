/// Leaf directories in memory, the latest used ones. Pure, so that it can be tested without an archive.
struct PMTilesLeaves {
    private var leaves: [Range<Int>: (directory: PMTilesDirectory, use: Int)] = [:]
    /// Uses from the oldest on; those that are not a leaf's last are skipped.
    private var uses: [(range: Range<Int>, number: Int)] = []
    /// The first of ``uses`` that counts.
    private var first = 0
    private var count = 0
    private let limit: Int
    /// Bytes of all directories.
    private(set) var byteCount = 0

    /// - Parameter limit: Maximum of ``byteCount``; the latest directory always stays.
    init(limit: Int) { self.limit = limit }

    /// Gets a directory, which is then the latest used one.
    mutating func use(_ range: Range<Int>) -> PMTilesDirectory? {
        guard let leaf = leaves[range] else { return nil }
        let number = note(range)
        leaves[range]?.use = number
        return leaf.directory
    }

    /// Keeps a directory as the latest used one. Evicts others in the order of their last use.
    mutating func keep(_ directory: PMTilesDirectory, _ range: Range<Int>) {
        byteCount += directory.byteCount - (leaves[range]?.directory.byteCount ?? 0)
        leaves[range] = (directory, note(range))
        while byteCount > limit, leaves.count > 1 {
            let oldest = uses[first]
            first += 1
            guard let leaf = leaves[oldest.range], leaf.use == oldest.number else { continue }
            leaves[oldest.range] = nil
            byteCount -= leaf.directory.byteCount
        }
    }

    private mutating func note(_ range: Range<Int>) -> Int {
        count += 1
        uses.append((range, count))
        // Seldom enough that a use takes constant time on average.
        if uses.count > 2 * leaves.count + 64 {
            uses = uses[first...].filter { $0.number == count || leaves[$0.range]?.use == $0.number }
            first = 0
        }
        return count
    }
}
