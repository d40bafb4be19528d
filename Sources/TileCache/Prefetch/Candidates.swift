/// Candidates of one plan, each tile once, in order.
struct Candidates: Sendable {
    /// Maximum candidates of a plan: a 4K view takes well under half a millisecond.
    static let maximumCount = 800

    struct Candidate: Sendable {
        var key: TileKey
        /// Bin, or -1 if it has none.
        var bin: Int32 = -1
        /// Record of a visited tile, or -1.
        var slot: Int32 = -1
        /// Worth of its bin.
        var worth = ProbabilityTable.Worth(gain: 0, loss: 0)
        /// Open sample, or -1.
        var sample = -1
        /// Seconds until the motion brings it into view; infinite if it does not.
        var entersAfter = Float.infinity
        /// Whether a load would come too late, or for too short a time.
        var isHopeless = false
        /// Whether it is in memory; `nil` if that was not looked up yet.
        var state: TileResidency?

        /// Gain of its load; none if that is hopeless.
        var gain: Double { isHopeless ? -1 : worth.gain }
        /// Whether the tile was visited.
        var isSeen: Bool { slot >= 0 }

        /// No tile.
        static let none = Candidate(key: TileKey(layer: 0, TileCoordinate(level: 0, column: 0, row: 0)))
    }

    /// Places of the candidates, and free ones behind them.
    private var places: [Candidate] = []
    private(set) var count = 0
    /// Whether the states of some may be unknown.
    private var hasNew = false
    /// Whether the places from `count` on are borrowed from the last plan's candidates.
    private var continuesFormer = false
    var list: ArraySlice<Candidate> { places[..<count] }
    /// Number of the change of the needed tiles when the records of visited tiles were looked up.
    private(set) var change = -1
    /// Number of changes of the probabilities when the worths were computed.
    private(set) var valuation = 0
    /// The tiles, if one may come twice.
    private var index = TileIndex()
    private(set) var mayRepeat = false
    /// Candidates in the order of rows, by level.
    private(set) var walks: [(level: Int, range: Range<Int>, grid: TileRange?)] = []

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
        (continuesFormer, hasNew) = (false, false)
        walks.removeAll(keepingCapacity: true)
        index.removeAll()
    }

    /// Whether a tile is new; if so, it has to be appended next, with this number.
    @inline(__always)
    mutating func claim(_ key: TileKey, as number: Int) -> Bool { !mayRepeat || index.insert(key, number) }

    /// Whether a tile is a candidate already, if a tile may be considered twice.
    func isClaimed(_ key: TileKey) -> Bool { index.find(key) != nil }

    /// Appends the claimed tile.
    mutating func append(_ candidate: Candidate) {
        assert(!continuesFormer)
        reserve(1)
        places[count] = candidate
        count += 1
        hasNew = true
    }

    /// Makes room for candidates behind the last one.
    private mutating func reserve(_ more: Int) {
        let missing = count + more - places.count
        if missing > 0 { places.append(contentsOf: repeatElement(.none, count: missing)) }
    }

    /// Continues, behind the present candidates, with the last plan's candidates of a level whose tiles are the same.
    /// In place if all candidates before were the same too.
    ///
    /// - Parameter more: Number of these candidates.
    mutating func takeOver(level: Int, _ more: Int, of former: inout Candidates) {
        guard let range = former.walks.first(where: { $0.level == level })?.range else { return }
        reserve(more)
        if continuesFormer, range.lowerBound == count {
            // As large as after a copy, so that the counted bytes hardly depend on whether there was one.
            former.reserve(count + more - former.count)
        } else if !continuesFormer, count == 0, range.lowerBound == 0 {
            swap(&places, &former.places)
            continuesFormer = true
        } else {
            giveBack(to: &former)
            copy(former, range, at: count)
        }
    }

    /// Ends changes in place: the last plan gets the rest of its candidates back.
    mutating func giveBack(to former: inout Candidates) {
        guard continuesFormer else { return }
        continuesFormer = false
        former.reserve(0)
        former.copy(self, count..<max(former.count, count), at: count)
    }

    private mutating func copy(_ other: Candidates, _ range: Range<Int>, at first: Int) {
        places.withUnsafeMutableBufferPointer { places in
            other.places[range].withUnsafeBufferPointer {
                _ = places[first..<first + $0.count].update(fromContentsOf: $0)
            }
        }
    }

    /// Takes all places out, with room for some candidates of a level.
    mutating func takePlaces(for more: Int) -> [Candidate] {
        reserve(more)
        defer { places = [] }
        return places
    }

    /// Puts the places back.
    ///
    /// - Parameters:
    ///   - count: Number of candidates in them.
    ///   - hasNew: Whether the states of some may be unknown.
    mutating func put(_ places: consuming [Candidate], count: Int, hasNew: Bool) {
        self.places = places
        self.count = count
        self.hasNew = self.hasNew || hasNew
    }

    /// The tiles of a grid as a range; `nil` if a tile may come twice, or if there is no room for all.
    func grid(of grid: TileGrid<some Any>) -> TileRange? {
        guard !mayRepeat, count + grid.count <= Self.maximumCount, let first = grid.columns.first?.column else {
            return nil
        }
        return TileRange(level: grid.level, columns: first..<first + grid.columns.count, rows: grid.rows)
    }

    /// Looks up whether the candidates are in memory.
    ///
    /// - Parameter changes: Tiles whose state may have changed since the last look-up; `nil` if all may have.
    mutating func lookUp(after changes: [TileKey]?, in context: PlanContext) {
        var numbers: [Int] = []
        defer { hasNew = false }
        if let changes, !mayRepeat {
            if hasNew { for place in 0..<count where places[place].state == nil { numbers.append(place) } }
            numbers += changes.compactMap(number)
        } else {
            numbers += 0..<count
        }
        guard !numbers.isEmpty else { return }
        let found = context.residencies(of: numbers.map { places[$0].key })
        for (place, state) in zip(numbers, found) { places[place].state = state }
    }

    /// Number of a tile that a walk has passed. The walk has the tiles in the order of rows.
    private func number(of key: TileKey) -> Int? {
        guard var range = walks.first(where: { $0.level == key.level })?.range else { return nil }
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            let other = places[middle].key
            if other == key { return middle }
            let isBefore = (other.low, other.high) < (key.low, key.high)
            range = isBefore ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return nil
    }

    /// Notes that the candidates from one on are of a level, in the order of rows.
    ///
    /// - Parameter grid: The tiles that were walked, of which only needed ones are no candidates. Default: unknown.
    mutating func noteWalk(ofLevel level: Int, from first: Int, grid: TileRange? = nil) {
        walks.append((level, first..<count, grid))
    }

    /// Forgets which tiles were walked.
    mutating func forgetGrids() {
        for index in walks.indices { walks[index].grid = nil }
    }

    /// The tiles of a level that were walked, if known.
    func grid(ofLevel level: Int) -> TileRange? { walks.first { $0.level == level }?.grid }

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
