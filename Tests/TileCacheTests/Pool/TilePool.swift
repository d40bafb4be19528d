@testable import TileCache

/// A pool for examples worked out by hand. Its limit is in tiles of one page each, and any work ends in one line.
final class TilePool {
    static let tileBytes = 4096

    var pool: PoolState
    var now: Int64 = 0
    /// Result of every compression.
    var compressed = DemotionResult.block(1024)

    init(tiles: Int, _ configure: (inout PoolConfiguration) -> Void = { _ in }) {
        var configuration = PoolConfiguration(byteLimit: tiles * Self.tileBytes)
        configuration.grantsBookkeeping = true
        configuration.compressedTier = false
        configure(&configuration)
        pool = PoolState(configuration: configuration)
        _ = pool.addLayer(tileBytes: Self.tileBytes)
    }

    func wish(_ column: Int, _ value: Float) -> PlanEntry {
        PlanEntry(key: key(column), value: value, reason: .prefetch)
    }

    func demand(_ key: TileKey) -> PlanEntry { PlanEntry(key: key, reason: .demand, wantsDecoded: true) }

    func install(_ entries: [PlanEntry], recency: RecencyWorth = RecencyWorth()) {
        pool.install(Plan(entries: entries, recency: recency))
    }

    /// Starts the next load, and hands it to its asynchronous source.
    func beginRequest() -> LoadTicket? {
        let ticket = beginLoad()
        if let ticket { pool.releaseWorker(of: ticket, at: now) }
        return ticket
    }

    /// Starts the next load of the plan, with all necessary compressions, decompressions and decommits.
    func beginLoad() -> LoadTicket? {
        while let job = pool.nextJob(now: now) {
            pool.finishDecommits(pool.takePendingDecommits())
            switch job {
            case .load(let ticket): return ticket
            case .demote(let ticket): demote(ticket)
            case .promote(let ticket): pool.finishPromotion(ticket)
            }
        }
        pool.finishDecommits(pool.takePendingDecommits())
        return nil
    }

    func demote(_ ticket: CodecTicket) {
        if let stored = pool.finishDemotion(ticket, compressed) { pool.finishStore(stored) }
    }

    func end(_ ticket: LoadTicket, _ result: LoadResult = .pixels) {
        pool.finishLoad(ticket.load, result, now: now)
    }

    /// Carries out the whole plan, one load after the other; each takes a millisecond.
    func runPlan() {
        while let ticket = beginLoad() {
            now += 1_000_000
            end(ticket)
        }
    }

    /// Loads tiles that a view needs briefly, one after the other.
    func load(_ columns: Int...) { for column in columns { load(key(column)) } }

    func load(_ key: TileKey) {
        install([demand(key)])
        runPlan()
        now += 1_000_000
    }

    func touch(_ column: Int) {
        now += 1_000_000
        pool.touch(pool.table.find(key(column)), now: now)
    }

    /// Makes a view need tiles.
    func need(_ columns: [Int], _ needs: inout ViewNeeds) {
        var counts = TileCacheStatistics.DemandCounts()
        var zoom = TileCacheStatistics.DemandCounts()
        pool.update(&needs, tiles: columns.map { key($0) }, level: 3, pan: &counts, zoom: &zoom, now: now)
    }

    // State for the tests: expectations cannot capture the pool itself, which is not copyable.
    var byteLimit: Int { pool.ledger.limit }
    var committedBytes: Int { pool.committedBytes }
    var counters: PoolCounters { pool.counters }
    var usedSlots: Int { pool.slots[0].usedCount }
    var usedPages: Int { pool.pages.usedCount }
    var loadCount: Int { pool.loads.count }
    var isOverLimit: Bool { pool.isOverLimit }
    var entryCount: Int { pool.table.count }

    func residency(of key: TileKey) -> Residency { pool.residency(of: key) }

    /// Marks a tile as stale, as one that has expired and is needed.
    func expire(_ column: Int) {
        pool.set(PoolState.Validity(expiresAt: 0), of: pool.table.find(key(column)))
        pool.expire(key(column), now: 0)
    }

    func isStale(_ key: TileKey) -> Bool { pool.table[pool.table.find(key)].flags.contains(.stale) }

    func entry(_ column: Int) -> Entry? {
        let number = pool.table.find(key(column))
        return number == .none ? nil : pool.table[number]
    }

    /// Columns of resident tiles of layer 0.
    var resident: Set<Int> { columns { $0.isResident } }
    var decoded: Set<Int> { columns { $0.isDecoded } }

    private func columns(where isIncluded: (Residency) -> Bool) -> Set<Int> {
        var columns: Set<Int> = []
        pool.table.forEach { number in
            let entry = pool.table[number]
            if entry.key.layer == 0, isIncluded(entry.residency) { columns.insert(entry.key.coordinate.column) }
        }
        return columns
    }
}

extension PoolState {
    /// Marks the tiles of a layer that `affects` as outdated, in one step.
    mutating func invalidate(layer: Int, dropsAtOnce: Bool, where affects: (TileCoordinate) -> Bool) {
        beginInvalidation(layer: layer, where: affects)
        invalidate(onPages: table.pages, layer: layer, dropsAtOnce: dropsAtOnce, where: affects)
        endInvalidation(layer: layer)
    }
}
