import Synchronization

/// Waits of loads for a worker. From the demand, or the first plan with the prefetch, to the start.
struct LoadWaits: Sendable {
    /// Maximum watched prefetches of a plan; plans seldom have more.
    static let maximumWatched = 256

    var demand = DurationHistogram()
    var prefetch = DurationHistogram()
    /// Prefetches of the newest plan.
    var wished = Watched()

    /// Prefetches, and since when every plan has contained them.
    struct Watched: Sendable {
        private var index = TileIndex()
        private var since: [Int64] = []

        init() {}

        init(of plan: borrowing Plan, after older: Watched, now: Int64) {
            for entry in plan.entries where entry.reason == .prefetch {
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
            if let since = waits.wished.since(ticket.key) { waits.prefetch.add(now - since) }
            return
        }
        guard let load = pool.loads[ticket.load], pool.table[load.entry].attempts == 0 else { return }
        var since = Int64.max
        for view in views {
            guard let view else { continue }
            for layer in view.model.layers where layer.layer == ticket.key.layer {
                guard let index = layer.needs.entries.firstIndex(of: load.entry),
                    layer.needs.missingSince[index] != -1
                else { continue }
                since = min(since, layer.needs.missingSince[index])
            }
        }
        if since != .max { waits.demand.add(now - since) }
    }
}
