import Dispatch

/// Identifies an interest; never reused in a cache.
typealias InterestID = UInt64

/// Handler of a host's request, and its queue.
struct FetchHandler: Sendable {
    let queue: DispatchQueue
    let call: @Sendable (TileFetch.Outcome) -> Void
}

/// Tiles that are wanted one by one: by requests of hosts, and by the application, to be prefetched once.
///
/// A request is pending, then ended until its handler's turn. Either may be cancelled. A tile to prefetch once is pending
/// until a load of it ends.
struct Interests: Sendable {
    struct Interest: Sendable {
        let key: TileKey
        /// `fetch` or `margin` for a request, `asked` for a tile to prefetch once.
        let rank: Rank
        /// Entry that a request has counted itself at. None if the table had no room, and for a tile to prefetch once.
        fileprivate(set) var entry = EntryID.none
        /// Time of the request.
        var since: Int64 = 0
        /// `nil` for a tile to prefetch once.
        var handler: FetchHandler?
        /// Whether a near entry of a tile to prefetch once turned out to be of no use.
        fileprivate(set) var needsSource = false

        var isRequest: Bool { rank != .asked }
        var holder: Holder { .request(isMargin: rank == .margin) }
    }

    /// Maximum requests whose handler's turn has not come, and maximum tiles to prefetch once; each plan contains the
    /// pending ones.
    static let maximumCount = 4096
    /// Bytes of an interest. Its record, twice for free places of the tables, and its closures.
    static let bytesEach =
        2 * (MemoryLayout<Interest>.stride + MemoryLayout<TileKey>.stride + 3 * MemoryLayout<InterestID>.stride) + 256

    private(set) var pending: [InterestID: Interest] = [:]
    private var byTile: [TileKey: Set<InterestID>] = [:]
    private var counts = [Int](repeating: 0, count: Rank.allCases.count)
    /// Requests whose outcome is known and whose handler has not begun.
    private var ended: Set<InterestID> = []
    /// Requests whose handler's turn has not come, though some were cancelled after their end.
    private var undelivered = 0
    private var last: InterestID = 0
    /// Pending requests without an entry in the table.
    private var withoutEntry = 0

    /// Requests that take memory.
    var requestCount: Int { pending.count - count(of: .asked) + undelivered }

    /// Number of pending interests of a rank.
    func count(of rank: Rank) -> Int { counts[Int(rank.rawValue)] }

    /// Tiles of pending interests by rank, the oldest of each first. To be called without the lock.
    static func tiles(of pending: [InterestID: Interest]) -> [WantedTile] {
        pending.sorted { ($0.value.rank, $0.key) < ($1.value.rank, $1.key) }
            .map { WantedTile(key: $0.value.key, rank: $0.value.rank, needsSource: $0.value.needsSource) }
    }

    /// Adds an interest; that of a request enters its tile, or waits for room in the table.
    mutating func add(_ interest: Interest, in pool: inout PoolState) -> InterestID {
        var interest = interest
        if interest.isRequest { interest.entry = pool.enter(interest.key, for: interest.holder) }
        last += 1
        pending[last] = interest
        byTile[interest.key, default: []].insert(last)
        count(interest, by: 1)
        return last
    }

    /// Pending requests of a tile, the oldest first.
    func requests(of key: TileKey) -> [InterestID] { ids(of: key) { $0.isRequest } }

    /// The interest in a tile that is to be prefetched once; `nil` if it is not.
    func asked(for key: TileKey) -> InterestID? { count(of: .asked) > 0 ? ids(of: key) { !$0.isRequest }.first : nil }

    private func ids(of key: TileKey, where isIncluded: (Interest) -> Bool) -> [InterestID] {
        guard !byTile.isEmpty, let ids = byTile[key] else { return [] }
        return ids.filter { pending[$0].map(isIncluded) ?? false }.sorted()
    }

    /// Pending interests that meet a condition, the oldest first.
    func ids(where isIncluded: (Interest) -> Bool) -> [InterestID] {
        pending.filter { isIncluded($0.value) }.keys.sorted()
    }

    /// Enters the tiles of requests that the table has had no room for, until it has none.
    mutating func enter(in pool: inout PoolState) {
        guard withoutEntry > 0 else { return }
        for id in ids(where: { $0.isRequest && $0.entry == .none }) {
            guard let request = pending[id] else { continue }
            let entry = pool.enter(request.key, for: request.holder)
            guard entry != .none else { return }
            pending[id]?.entry = entry
            withoutEntry -= 1
        }
    }

    /// Notes whether a tile to prefetch once waits for its source. Its near entry is then not read for each plan.
    mutating func note(_ id: InterestID, needsSource: Bool) { pending[id]?.needsSource = needsSource }

    /// Whether a tile to prefetch once waits for its source.
    func needsSource(_ id: InterestID) -> Bool { pending[id]?.needsSource ?? false }

    /// Tiles of a layer's pending requests.
    func requestedTiles(ofLayer layer: Int) -> Set<TileKey> {
        Set(pending.values.lazy.filter { $0.isRequest && $0.key.layer == layer }.map(\.key))
    }

    /// Removes a pending interest.
    mutating func remove(_ id: InterestID) -> Interest? {
        guard let interest = pending.removeValue(forKey: id) else { return nil }
        byTile[interest.key]?.remove(id)
        if byTile[interest.key]?.isEmpty == true { byTile[interest.key] = nil }
        count(interest, by: -1)
        return interest
    }

    private mutating func count(_ interest: Interest, by sign: Int) {
        counts[Int(interest.rank.rawValue)] += sign
        if interest.isRequest, interest.entry == .none { withoutEntry += sign }
    }

    // MARK: - Ends of requests

    /// Ends a pending request: its handler will be called.
    mutating func end(_ id: InterestID) -> Interest? {
        guard let request = remove(id) else { return nil }
        ended.insert(id)
        undelivered += 1
        return request
    }

    /// Takes the turn of an ended request's handler, once; returns whether it was not cancelled.
    mutating func beginCall(_ id: InterestID) -> Bool {
        undelivered -= 1
        return ended.remove(id) != nil
    }

    /// Cancels a request: its handler will not be called.
    ///
    /// - Returns: Whether it was pending or its call had not begun; its record if it was pending.
    mutating func cancel(_ id: InterestID) -> (isCancelled: Bool, record: Interest?) {
        if let record = remove(id) { return (true, record) }
        return (ended.remove(id) != nil, nil)
    }
}

/// Outcome of a request before its lease has an owner. An error of a request that ends at once.
enum FetchOutcome: Error {
    /// One tile; its lease is counted.
    case pixels(FrameContents)
    case absent, failed, removed, refused
}

/// Call of a request's handler.
struct FetchDelivery: Sendable {
    let id: InterestID
    let outcome: FetchOutcome
    let handler: FetchHandler
    var queue: DispatchQueue { handler.queue }
}
