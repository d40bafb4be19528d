import TestSupport
import Testing

@testable import TileCache

/// Victims of random pools, against a search that reads all tiles.
@Suite struct PoolVictimTests {
    /// More tiles than a search weighs, or few, so that the plan has most of them.
    @Test(arguments: [12, 40, PoolState.tilesWeighed + 60], 1...3)
    func victimsAreThoseOfAPlainSearch(tiles: Int, seed: Int) {
        let session = VictimSession(tiles: tiles, seed: UInt64(tiles * 10 + seed), compresses: seed == 3)
        for step in 0..<800 {
            session.operate()
            if let problem = session.problem() {
                Issue.record("\(tiles) tiles, seed \(seed), step \(step): \(problem)")
                return
            }
        }
        // All of these have to occur.
        #expect(session.planned > 0 && session.oldest > 0 && session.younger > 0)
        #expect((session.cut > 0) == (tiles > PoolState.tilesWeighed))
        if seed == 3 { #expect(session.compressed > 0) }
    }
}

/// A pool with random traffic and plans.
private final class VictimSession {
    private let small: TilePool
    private let columns: Int
    private var random: SplitMix64
    private var needs = ViewNeeds()
    private var flights: [LoadTicket] = []
    private var leases: [LeaseToken] = []
    /// Victims that the plan values, that are the least recently used tile, and that are another unplanned one.
    private(set) var (planned, oldest, younger) = (0, 0, 0)
    /// Victims that were compressed, and searches that left younger tiles out.
    private(set) var (compressed, cut) = (0, 0)

    init(tiles: Int, seed: UInt64, compresses: Bool) {
        random = SplitMix64(seed: seed)
        columns = tiles * 3 / 2
        small = TilePool(tiles: tiles) {
            $0.eviction = .value
            $0.compressedTier = compresses
            $0.compressedShare = 0.3
        }
        for column in 0..<tiles { small.load(column) }
    }

    private func some(_ most: Int) -> [Int] { (0..<1 + random.below(most)).map { _ in random.below(columns) } }

    func operate() {
        small.now += 1_000_000
        small.compressed = random.element(of: [.block(1024), .block(3000), .solid(7)])
        switch random.below(17) {
        case 0...2: small.need(Array(Set(some(8))).sorted(), &needs)
        case 3:
            // Far behind, so that tiles are of all ages.
            small.need(Array(random.below(columns / 2)..<columns), &needs)
            small.need([], &needs)
        case 4...5: for column in some(3) { small.load(column) }
        case 6...7: for column in some(5) where isResident(column) { small.touch(column) }
        case 8: lease()
        case 9: if !leases.isEmpty { small.pool.release(leases.remove(at: random.below(leases.count))) }
        case 10...11: if !flights.isEmpty { small.end(flights.remove(at: random.below(flights.count))) }
        case 12: small.runPlan()
        case 13: if flights.count < 3, let ticket = small.beginLoad() { flights.append(ticket) }
        default: plan()
        }
    }

    private func isResident(_ column: Int) -> Bool { small.entry(column)?.residency.isResident ?? false }

    private func lease() {
        let column = random.below(columns)
        guard leases.count < 3, small.entry(column)?.residency == .decoded else { return }
        let number = small.pool.table.find(key(column))
        small.pool.lease(number)
        leases.append(small.pool.token(of: number, layer: 0))
    }

    /// Values are about the worths of unplanned tiles, many of them equal. Some tiles have several, or a history.
    private func plan() {
        func wish(_ column: Int) -> PlanEntry {
            var wish = small.wish(column, Float(random.below(24)) / 100)
            wish.visits = UInt8(random.below(11))
            wish.age = Int32(random.below(6000))
            return wish
        }
        let most = random.element(of: [1, 8, columns])
        let keepValues = some(most).map(wish)
        let recency = random.oneIn(5) ? RecencyWorth() : .standard
        small.pool.install(Plan(entries: some(most).map(wish), keepValues: keepValues, recency: recency))
    }

    // MARK: - Victims

    /// Compares the victims of all tiers; `nil` if they are the same.
    func problem() -> String? {
        // As while a tile makes room for itself: leased, and still listed.
        let held = small.pool.table.find(key(random.below(columns)))
        let isHeld = held != .none && random.oneIn(2)
        if isHeld { small.pool.table.stage(held) { $0.leaseCount += 1 } }
        defer { if isHeld { small.pool.table.stage(held) { $0.leaseCount -= 1 } } }
        for tier in [EntryList.decoded, .compressed, .solid] {
            let found = plainVictim(of: tier)
            let own = found?.worth ?? 0
            for worth in [own, own.nextUp, Float(random.below(24)) / 100, .infinity] {
                let expected: EntryID = if let found, found.worth < worth { found.number } else { .none }
                let victim = small.pool.coldest(of: tier, worth: worth)
                guard victim != expected else { continue }
                return "\(tier) worth less than \(worth): \(victim) in the place of \(found.map { "\($0)" } ?? "none")"
            }
            if tier != .decoded, found != nil { compressed += 1 }
        }
        return nil
    }

    /// The tile of the least worth. Of equal ones an unplanned one, then the least recently used, or the plan's first.
    private func plainVictim(of tier: EntryList) -> (number: EntryID, worth: Float)? {
        var tiles: [(number: EntryID, entry: Entry)] = []
        var listed = small.pool.table.lists.tail(of: tier)
        while listed != .none {
            let entry = small.pool.table[listed]
            if entry.leaseCount == 0 { tiles.append((listed, entry)) }
            listed = entry.previous
        }
        let queue = small.pool.queue
        let unplanned = tiles.filter { $0.entry.planEpoch != queue.epoch }
        var found: (number: EntryID, worth: Float)?
        func offer(_ number: EntryID, _ worth: Float) {
            if worth < found?.worth ?? .infinity { found = (number, worth) }
        }
        var classes: Set<Int> = []
        for tile in unplanned.prefix(PoolState.tilesWeighed) {
            guard classes.insert(VisitClass.of(visits: Int(tile.entry.visits))).inserted else { continue }
            offer(tile.number, small.pool.worthByAge(tile.number))
        }
        let first = found?.number
        let places = Dictionary(queue.valued.enumerated().map { ($1.number, $0) }) { first, _ in first }
        func place(_ tile: (number: EntryID, entry: Entry)) -> Int { places[tile.number] ?? .max }
        for tile in tiles.filter({ $0.entry.planEpoch == queue.epoch }).sorted(by: { place($0) < place($1) }) {
            offer(tile.number, tile.entry.value)
        }
        if unplanned.count > PoolState.tilesWeighed { cut += 1 }
        guard let found else { return nil }
        if found.number != first {
            planned += 1
        } else if found.number == unplanned.first?.number {
            oldest += 1
        } else {
            younger += 1
        }
        return found
    }
}
