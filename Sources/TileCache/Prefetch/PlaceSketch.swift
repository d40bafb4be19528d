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
    /// Both rows, one after the other, in units of ``unit(of:)`` sessions.
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

    /// Sessions that a 1 in a counter stands for: more than one if there are more sessions than a counter can count.
    private static func unit(of sessions: Int) -> Double { max(Double(sessions) / Double(UInt16.max), 1) }

    /// Estimated number of sessions that viewed a tile; may be below 0.
    ///
    /// Too low by the mean of a row at most. Too high by d or more with a probability of at most (m / (m + d))^2, if m is
    /// the mean of a row: Markov's inequality for both rows. That is .02 for d = 3 and .04 for d = 2 at a mean of 0.5.
    func estimate(of key: TileKey) -> Double {
        let (first, second) = Self.places(of: key)
        let count = min(Double(counters[first]) - firstMean, Double(counters[second]) - secondMean)
        return count * Self.unit(of: sessions)
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

    /// Adds the sessions of another sketch.
    mutating func add(_ other: PlaceSketch) {
        let sum = min(sessions + other.sessions, PrefetchProfile.maximumSessions)
        let own = Self.unit(of: sessions) / Self.unit(of: sum)
        let theirs = Self.unit(of: other.sessions) / Self.unit(of: sum)
        let sums = counters.indices.map { place in
            let count = Double(counters[place]) * own + Double(other.counters[place]) * theirs
            // Up or down by chance, which repeats: the nearest number would add or lose a part of each session.
            let chance = Double(SplitMix64.mixed(UInt64(sum) ^ UInt64(place) << 48) >> 32) * 0x1p-32
            return UInt16(min(count + chance, Double(UInt16.max)))
        }
        self = PlaceSketch(sessions: sum, counters: sums)
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
