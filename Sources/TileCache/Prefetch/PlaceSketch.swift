/// Number of sessions that viewed each tile, as a count-min sketch. The mean of a row is the estimate of its noise.
///
/// Two rows of counters, so that its size does not depend on the world. Cormode and Muthukrishnan, "An improved data
/// stream summary: the count-min sketch and its applications", 2005; the correction is that of Deng and Rafiei, "New
/// estimation algorithms for streaming data: count-min can do more", 2007.
struct PlaceSketch: Hashable, Sendable {
    /// Counters of a row.
    static let width = 1 << 15
    /// Sessions from which on counts say anything.
    static let leastSessions = 3
    /// Number of classes of tiles, by the share of sessions that viewed them. None, less than a twelfth, less than a
    /// quarter, or more.
    static let classes = 4

    /// Sessions counted.
    private(set) var sessions: Int
    /// Both rows, one after the other.
    private(set) var counters: [UInt16]
    /// Means of the rows.
    private let firstMean: Double
    private let secondMean: Double

    /// - Parameter counters: Both rows.
    init(sessions: Int, counters: [UInt16]) {
        self.sessions = sessions
        self.counters = counters
        func mean(_ row: ArraySlice<UInt16>) -> Double {
            Double(row.reduce(0) { $0 + Int($1) }) / Double(Self.width)
        }
        firstMean = mean(counters[..<Self.width])
        secondMean = mean(counters[Self.width...])
    }

    var byteCount: Int { counters.count * MemoryLayout<UInt16>.stride }

    /// Places of a tile in the rows. The layer does not count: a profile belongs to one.
    static func places(of key: TileKey) -> (Int, Int) {
        let hash = TileKey(layer: 0, key.coordinate).hash
        return (Int(hash & UInt64(width - 1)), width + Int(hash >> 40 & UInt64(width - 1)))
    }

    /// Estimated number of sessions that viewed a tile; may be below 0.
    ///
    /// Too low by the mean of a row at most. Too high by d or more with a probability of at most (m / (m + d))^2, if m is
    /// the mean of a row: Markov's inequality for both rows. That is .02 for d = 3 and .04 for d = 2 at a mean of 0.5.
    func estimate(of key: TileKey) -> Double {
        let (first, second) = Self.places(of: key)
        return min(Double(counters[first]) - firstMean, Double(counters[second]) - secondMean)
    }

    /// Class of a tile; `nil` if there are too few sessions.
    func popularity(of key: TileKey) -> Int? {
        guard sessions >= Self.leastSessions else { return nil }
        guard estimate(of: key) >= 0.5 else { return 0 }
        let share = share(of: key)
        return share < 1.0 / 12 ? 1 : share < 0.25 ? 2 : 3
    }

    /// Estimated share of the sessions that viewed a tile; with few sessions it is too low.
    func share(of key: TileKey) -> Double { estimate(of: key) / Double(sessions + 3) }

    /// Adds the sessions of another sketch. Counters stop at their maximum.
    mutating func add(_ other: PlaceSketch) {
        self = PlaceSketch(
            sessions: min(sessions + other.sessions, PrefetchProfile.maximumSessions),
            counters: zip(counters, other.counters).map { $0.addingReportingOverflow($1).overflow ? .max : $0 + $1 }
        )
    }
}

/// Tiles viewed in this session, by their places in a ``PlaceSketch``.
struct ViewedPlaces: Sendable {
    private var words = [UInt64](repeating: 0, count: 2 * PlaceSketch.width / 64)

    mutating func note(_ key: TileKey) {
        let (first, second) = PlaceSketch.places(of: key)
        words[first / 64] |= 1 << UInt64(first % 64)
        words[second / 64] |= 1 << UInt64(second % 64)
    }

    mutating func add(_ other: ViewedPlaces) {
        for index in words.indices { words[index] |= other.words[index] }
    }

    /// A sketch of this session alone.
    var sketch: PlaceSketch {
        PlaceSketch(
            sessions: 1,
            counters: (0..<2 * PlaceSketch.width).map { UInt16(words[$0 / 64] >> UInt64($0 % 64) & 1) }
        )
    }
}
