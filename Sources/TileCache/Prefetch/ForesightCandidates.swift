/// The tiles that one plan thinks about, each once, in the order in which they were thought of.
struct ForesightCandidates: Sendable {
    /// The most tiles of one plan: what a 4K view may look at in well under half a millisecond.
    static let maximumCount = 800

    struct Candidate: Sendable {
        var key: TileKey
        /// The bin, or -1 where nothing is to be learned of it.
        var bin: Int
        /// What starting its load now gains over waiting; nothing is started for 0 or less.
        var gain: Double
        /// What giving it up costs.
        var loss: Double
        /// The record of a tile that has been in view, or -1.
        var slot: Int
        /// The trial under way, or -1.
        var trial: Int
    }

    private(set) var list: [Candidate] = []
    private var index = TileIndex(capacity: 2048)

    var isFull: Bool { list.count >= Self.maximumCount }

    func find(_ key: TileKey) -> Int? { index.find(key) }

    /// Appends a tile that is not in it yet.
    mutating func append(_ candidate: Candidate) {
        index.set(candidate.key, list.count)
        list.append(candidate)
    }

    /// Takes the trial of a candidate over; -1 where there is none.
    mutating func takeTrial(_ number: Int) -> Int {
        defer { list[number].trial = -1 }
        return list[number].trial
    }

    mutating func removeAll() {
        list.removeAll(keepingCapacity: true)
        index.removeAll()
    }
}
