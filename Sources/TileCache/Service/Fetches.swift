import Dispatch

/// Identifies a host's request for a tile; never reused in a cache.
typealias FetchID = UInt64

/// Handler of a host's request, and its queue.
struct FetchHandler: Sendable {
    let queue: DispatchQueue
    let call: @Sendable (TileFetch.Outcome) -> Void
}

/// Requests of hosts for single tiles: pending, then ended until the handler's turn. Either may be cancelled.
struct Fetches: Sendable {
    struct Record: Sendable {
        let key: TileKey
        /// The tile's entry, or none if the table had no room.
        fileprivate(set) var entry: EntryID
        let isMargin: Bool
        let since: Int64
        let handler: FetchHandler
    }

    /// Maximum requests whose handler's turn has not come; each plan contains the pending ones.
    static let maximumCount = 4096
    /// Bytes of a request. Its record, twice for free places of the tables, and its closures.
    static let bytesPerFetch =
        2 * (MemoryLayout<Record>.stride + MemoryLayout<TileKey>.stride + 3 * MemoryLayout<FetchID>.stride) + 256

    private(set) var pending: [FetchID: Record] = [:]
    private var byTile: [TileKey: Set<FetchID>] = [:]
    /// Those whose outcome is known and whose handler has not begun.
    private var ended: Set<FetchID> = []
    /// Those whose handler's turn has not come, though some were cancelled after their end.
    private var undelivered = 0
    private var last: FetchID = 0
    /// Pending ones without an entry in the table.
    private(set) var withoutEntry = 0
    /// Pending ones for margins.
    private(set) var marginCount = 0

    /// Requests that take memory.
    var count: Int { pending.count + undelivered }

    /// Tiles of pending requests, the oldest first. To be called without the lock.
    static func tiles(of pending: [FetchID: Record]) -> [RequestedTile] {
        pending.sorted { $0.key < $1.key }.map { RequestedTile(key: $0.value.key, isMargin: $0.value.isMargin) }
    }

    mutating func add(_ record: Record) -> FetchID {
        last += 1
        pending[last] = record
        byTile[record.key, default: []].insert(last)
        if record.entry == .none { withoutEntry += 1 }
        if record.isMargin { marginCount += 1 }
        return last
    }

    /// Pending requests of a tile, the oldest first.
    func ids(of key: TileKey) -> [FetchID] { byTile.isEmpty ? [] : byTile[key]?.sorted() ?? [] }

    /// Tiles of a layer's pending requests.
    func tiles(ofLayer layer: Int) -> Set<TileKey> { Set(pending.values.lazy.map(\.key).filter { $0.layer == layer }) }

    mutating func enter(_ id: FetchID, _ entry: EntryID) {
        pending[id]?.entry = entry
        withoutEntry -= 1
    }

    /// Ends a pending request: its handler will be called.
    mutating func end(_ id: FetchID) -> Record? {
        guard let record = remove(id) else { return nil }
        ended.insert(id)
        undelivered += 1
        return record
    }

    /// Takes the turn of an ended request's handler, once; returns whether it was not cancelled.
    mutating func beginCall(_ id: FetchID) -> Bool {
        undelivered -= 1
        return ended.remove(id) != nil
    }

    /// Cancels a request: its handler will not be called.
    ///
    /// - Returns: Whether it was pending or its call had not begun; its record if it was pending.
    mutating func cancel(_ id: FetchID) -> (isCancelled: Bool, record: Record?) {
        if let record = remove(id) { return (true, record) }
        return (ended.remove(id) != nil, nil)
    }

    private mutating func remove(_ id: FetchID) -> Record? {
        guard let record = pending.removeValue(forKey: id) else { return nil }
        byTile[record.key]?.remove(id)
        if byTile[record.key]?.isEmpty == true { byTile[record.key] = nil }
        if record.entry == .none { withoutEntry -= 1 }
        if record.isMargin { marginCount -= 1 }
        return record
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
    let id: FetchID
    let outcome: FetchOutcome
    let handler: FetchHandler
    var queue: DispatchQueue { handler.queue }
}
