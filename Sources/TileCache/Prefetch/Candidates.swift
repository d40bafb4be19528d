/// Candidates of one plan, each tile once, in order.
struct Candidates: Sendable {
    /// Maximum candidates of a plan: a 4K view takes well under half a millisecond.
    static let maximumCount = 800

    struct Candidate: Sendable {
        var key: TileKey
        /// Bin, or -1 if nothing is learned from it.
        var bin: Int32
        /// Record of a visited tile, or -1.
        var slot: Int32
        var worth: ProbabilityTable.Worth
        /// Open sample, or -1.
        var sample: Int
    }

    private(set) var list: [Candidate] = []
    private var index = TileIndex()
    /// Index after the last match: consecutive plans walk nearly the same tiles in the same order.
    private var next = 0

    var byteCount: Int { list.count * MemoryLayout<Candidate>.stride + index.byteCount }

    var isFull: Bool { list.count >= Self.maximumCount }

    func find(_ key: TileKey) -> Int? { index.find(key) }

    /// Whether a tile is new; if so, it has to be appended next.
    mutating func claim(_ key: TileKey) -> Bool { !isFull && index.insert(key, list.count) }

    /// Appends the claimed tile.
    mutating func append(_ candidate: Candidate) { list.append(candidate) }

    /// Takes the open sample of a tile in a bin; -1 if there is none.
    mutating func takeSample(of key: TileKey, bin: Int) -> Int {
        if next >= list.count || list[next].key != key {
            guard let number = index.find(key) else { return -1 }
            next = number
        }
        defer { next += 1 }
        guard list[next].bin == bin else { return -1 }
        defer { list[next].sample = -1 }
        return list[next].sample
    }

    mutating func removeAll() {
        list.removeAll(keepingCapacity: true)
        next = 0
        index.removeAll()
    }
}
