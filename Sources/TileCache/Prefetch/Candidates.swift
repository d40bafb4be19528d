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
        /// Worth of its bin.
        var worth: ProbabilityTable.Worth
        /// Open sample, or -1.
        var sample: Int
        /// Seconds until the motion brings it into view; infinite if it does not.
        var entersAfter = Float.infinity
        /// Whether a load would come too late, or for too short a time.
        var isHopeless = false

        /// Gain of its load; none if that is hopeless.
        var gain: Double { isHopeless ? -1 : worth.gain }

        /// No tile.
        static let none = Candidate(
            key: TileKey(layer: 0, TileCoordinate(level: 0, column: 0, row: 0)),
            bin: -1,
            slot: -1,
            worth: ProbabilityTable.Worth(gain: 0, loss: 0),
            sample: -1
        )
    }

    /// Places of the candidates, and free ones behind them.
    private var places: [Candidate] = []
    private(set) var count = 0
    var list: ArraySlice<Candidate> { places[..<count] }
    /// Change of the needed tiles that the records of visited tiles are of.
    private(set) var change = -1
    /// Number of changes of the probabilities that the worths are of.
    private(set) var valuation = 0
    /// The tiles, if one may come twice.
    private var index = TileIndex()
    private(set) var mayRepeat = false
    /// Candidates in the order of rows, by level.
    private(set) var walks: [(level: Int, range: Range<Int>)] = []

    var byteCount: Int { places.count * MemoryLayout<Candidate>.stride + index.byteCount }

    var hasRoom: Bool { count < Self.maximumCount }

    /// Removes all candidates and keeps the memory.
    ///
    /// - Parameter mayRepeat: Whether a tile may be considered twice.
    mutating func begin(change: Int, valuation: Int, mayRepeat: Bool) {
        self.change = change
        self.valuation = valuation
        self.mayRepeat = mayRepeat
        count = 0
        walks.removeAll(keepingCapacity: true)
        index.removeAll()
    }

    /// Whether a tile is new; if so, it has to be appended next, with this number.
    @inline(__always)
    mutating func claim(_ key: TileKey, as number: Int) -> Bool { !mayRepeat || index.insert(key, number) }

    /// Appends the claimed tile.
    mutating func append(_ candidate: Candidate) {
        reserve(1)
        places[count] = candidate
        count += 1
    }

    /// Makes room for candidates behind the last one.
    private mutating func reserve(_ more: Int) {
        let missing = count + more - places.count
        if missing > 0 { places.append(contentsOf: repeatElement(.none, count: missing)) }
    }

    /// Takes all places out, with room for some candidates of a level.
    mutating func takePlaces(for more: Int) -> [Candidate] {
        reserve(more)
        defer { places = [] }
        return places
    }

    /// Puts the places back.
    ///
    /// - Parameter count: Number of candidates in them.
    mutating func put(_ places: consuming [Candidate], count: Int) {
        self.places = places
        self.count = count
    }

    /// Notes that the candidates from one on are of a level, in the order of rows.
    mutating func noteWalk(ofLevel level: Int, from first: Int) { walks.append((level, first..<count)) }

    /// A walk along the candidates of a level, of which there may be none.
    func walk(ofLevel level: Int) -> Walk {
        Walk(places, walks.first { $0.level == level }?.range ?? 0..<0)
    }

    /// Finds the tiles of a level again. Consecutive plans walk nearly the same tiles in the same order, row by row, so
    /// that none has to be looked up.
    struct Walk {
        private let list: [Candidate]
        private var next: Int
        private let end: Int
        /// Candidates that did not come again, so far.
        private var passed: [Int] = []

        fileprivate init(_ list: [Candidate], _ range: Range<Int>) {
            self.list = list
            (next, end) = (range.lowerBound, range.upperBound)
        }

        /// Walks on to a tile; returns its candidate, or `nil`. May miss it if the tiles do not come in the order of
        /// rows, as in a world that wraps.
        @inline(__always)
        mutating func find(_ key: TileKey) -> Candidate? {
            while next < end {
                let other = list[next].key
                if other == key {
                    defer { next += 1 }
                    return list[next]
                }
                guard other.low < key.low || (other.low == key.low && other.high < key.high) else { return nil }
                passed.append(list[next].sample)
                next += 1
            }
            return nil
        }

        /// Samples of the candidates that did not come again, at the end of the walk.
        var left: [Int] { passed + list[next..<end].map(\.sample) }
    }
}
