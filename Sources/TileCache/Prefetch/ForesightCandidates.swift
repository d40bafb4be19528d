/// The tiles that one plan thinks about, each once, in the order in which they were thought of.
struct ForesightCandidates: Sendable {
    /// The most tiles of one plan: what a 4K view may look at in well under half a millisecond.
    static let maximumCount = 800

    struct Candidate: Sendable {
        var key: TileKey
        /// The bin, or -1 where nothing is to be learned of it.
        var bin: Int32
        /// The record of a tile that has been in view, or -1.
        var slot: Int32
        var worth: ForesightOdds.Worth
        /// The trial under way, or -1.
        var trial: Int
    }

    private(set) var list: [Candidate] = []
    private var index = TileIndex()
    /// The one after the last that was taken over. Two plans in a row walk nearly the same tiles in the same order, so
    /// that it is nearly always the next one asked for.
    private var next = 0

    var byteCount: Int { list.count * MemoryLayout<Candidate>.stride + index.byteCount }

    var isFull: Bool { list.count >= Self.maximumCount }

    func find(_ key: TileKey) -> Int? { index.find(key) }

    /// Whether a tile is not in it yet; then it has to be appended next.
    mutating func claim(_ key: TileKey) -> Bool { !isFull && index.insert(key, list.count) }

    /// Appends the tile that was claimed.
    mutating func append(_ candidate: Candidate) { list.append(candidate) }

    /// Takes over the trial that a tile has in a bin; -1 where there is none.
    mutating func takeTrial(of key: TileKey, bin: Int) -> Int {
        if next >= list.count || list[next].key != key {
            guard let number = index.find(key) else { return -1 }
            next = number
        }
        defer { next += 1 }
        guard list[next].bin == bin else { return -1 }
        defer { list[next].trial = -1 }
        return list[next].trial
    }

    mutating func removeAll() {
        list.removeAll(keepingCapacity: true)
        next = 0
        index.removeAll()
    }
}
