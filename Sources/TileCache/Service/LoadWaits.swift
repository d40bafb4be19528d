/// Mean time of a load, and waits for a worker. They last from the demand, or the first plan with the prefetch, to the
/// start.
struct LoadWaits: Sendable {
    /// Maximum watched prefetches of a plan; plans seldom have more.
    static let maximumWatched = 256

    /// Exponential mean over about eight of the sources' loads, in nanoseconds.
    private(set) var mean: Int64
    private(set) var demand = DurationHistogram()
    private(set) var prefetch = DurationHistogram()
    /// Prefetches of the newest plan.
    private(set) var wished = Watched()

    init(mean: Int64) { self.mean = mean }

    mutating func noteLoad(took: Int64) { mean += (took.boundedTime - mean) / 8 }

    mutating func set(wished: Watched) { self.wished = wished }

    mutating func note(demandWait wait: Int64) { demand.add(wait) }

    mutating func notePrefetch(_ key: TileKey, now: Int64) {
        if let since = wished.since(key) { prefetch.add(now - since) }
    }

    /// Prefetches, and since when every plan has contained them.
    struct Watched: Sendable {
        private var index = TileIndex()
        private var since: [Int64] = []

        init() {}

        init(of plan: borrowing Plan, after older: Watched, now: Int64) {
            for entry in plan.entries where entry.reason.isPrefetch {
                if since.count == LoadWaits.maximumWatched { break }
                guard index.find(entry.key) == nil else { continue }
                index.set(entry.key, since.count)
                since.append(older.since(entry.key) ?? now)
            }
        }

        func since(_ key: TileKey) -> Int64? { index.find(key).map { since[$0] } }
    }
}

extension CoreState {
    /// Records the wait of a load that begins.
    mutating func noteWait(of ticket: LoadTicket, now: Int64) {
        guard ticket.isDemand else {
            return times.notePrefetch(ticket.key, now: now)
        }
        guard let load = pool.loads[ticket.load], pool.table[load.entry].attempts == 0 else { return }
        var since = Int64.max
        for view in views {
            guard let view else { continue }
            for layer in view.model.layers where layer.layer == ticket.key.layer {
                guard let index = pool.index(of: load.entry, in: layer.needs),
                    layer.needs.missingSince[index] != ViewNeeds.notMissing
                else { continue }
                since = min(since, layer.needs.missingSince[index])
            }
        }
        if since != .max { times.note(demandWait: now - since) }
    }
}

extension Int64 {
    /// Nanoseconds, bounded against jumps of the clock.
    var boundedTime: Int64 { Swift.min(Swift.max(self, 0), 3_600_000_000_000) }
}
