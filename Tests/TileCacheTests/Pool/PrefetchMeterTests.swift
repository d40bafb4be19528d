import TestSupport
import Testing

@testable import TileCache

/// Ceilings of prefetches: the meter against a list of all loads, and the pool's turns.
@Suite struct PrefetchMeterTests {
    private static let second: Int64 = 1_000_000_000

    /// No minute exceeds a ceiling, and what is counted has no effect after 65 seconds.
    @Test(arguments: 0..<30) func noMinuteExceedsACeiling(seed: Int) throws {
        var random = SplitMix64(seed: UInt64(seed))
        let limits = (requests: 2 + random.below(20), bytes: 2500 + random.below(20_000))
        let terms = PrefetchTerms(requestsPerMinute: limits.requests, bytesPerMinute: .bytes(limits.bytes))
        var meter = try #require(PrefetchMeter(.priced(terms)))
        var begun: [(time: Int64, requests: Int, bytes: Int)] = []
        func sums(from time: Int64) -> (requests: Int, bytes: Int) {
            let recent = begun.filter { $0.time > time }
            return (recent.reduce(0) { $0 + $1.requests }, recent.reduce(0) { $0 + $1.bytes })
        }
        var now: Int64 = 0
        for _ in 0..<400 {
            now += Int64(random.below(5000)) * 1_000_000
            let load = (requests: 1 + random.below(3), bytes: random.below(3000))
            let time = meter.time(requests: load.requests, bytes: load.bytes, now: now)
            #expect((time == nil) == (load.requests > limits.requests || load.bytes > limits.bytes))
            guard let time else { continue }
            let (within, recent) = (sums(from: now - 60 * Self.second), sums(from: now - 65 * Self.second))
            let fits = within.requests + load.requests <= limits.requests && within.bytes + load.bytes <= limits.bytes
            let isFree = recent.requests + load.requests <= limits.requests && recent.bytes + load.bytes <= limits.bytes
            #expect(time > now || fits, "a minute exceeds a ceiling at \(now)")
            #expect(time == now || !isFree, "held back for more than 65 seconds at \(now)")
            // If nothing else begins, it may begin at the time that was named.
            #expect(meter.time(requests: load.requests, bytes: load.bytes, now: time) == time)
            guard time == now else { continue }
            meter.count(requests: load.requests, bytes: load.bytes, now: now)
            begun.append((now, load.requests, load.bytes))
        }
        #expect(begun.count > 15)
    }

    @Test func withoutCeilingsThereIsNoMeter() {
        #expect(PrefetchMeter(.standard) == nil && PrefetchMeter(.never) == nil && PrefetchMeter(.resident) == nil)
    }

    // Expectations cannot capture the pool itself, which is not copyable.
    private func counts(_ small: TilePool) -> LayerPrefetchCounts { small.pool.layers[0].prefetches }
    private func effects(_ small: TilePool) -> PoolEffects { small.pool.takeEffects() }
    private func mayAskSource(_ ticket: LoadTicket, _ small: TilePool) -> Bool {
        let now = small.now
        return small.pool.mayAskSource(ticket, now: now)
    }

    private func staysHere(_ ticket: LoadTicket, _ small: TilePool) -> Bool { small.pool.terms(of: ticket).isOnlyNear }

    private func pool(_ terms: PrefetchTerms) -> TilePool {
        let small = TilePool(tiles: 20)
        small.pool.set(.priced(terms), ofLayer: 0)
        _ = small.pool.takeEffects()
        return small
    }

    @Test func prefetchesBeyondTheCeilingWaitAndDemandsDoNot() {
        let small = pool(PrefetchTerms(requestsPerMinute: 2))
        small.install((0..<5).map { small.wish($0, 1) } + [small.demand(key(9))])
        small.runPlan()
        #expect(small.resident == [0, 1, 9])
        #expect(effects(small).replanAt == 65 * Self.second)
        let first = counts(small)
        #expect(first.started == 2 && first.requests == 2 && first.heldBack == 3)
        #expect(first.bytes == .bytes(2 * TilePool.tileBytes) && first.drawn == 0)
        small.now = 65 * Self.second - 1
        small.install((0..<5).map { small.wish($0, 1) })
        small.runPlan()
        #expect(small.resident == [0, 1, 9])
        small.now = 65 * Self.second
        small.install((0..<5).map { small.wish($0, 1) })
        small.runPlan()
        #expect(small.resident == [0, 1, 2, 3, 9])
        small.touch(2)
        small.touch(9)
        #expect(counts(small).drawn == 1)
        #expect(counts(small).drawnBytes == .bytes(TilePool.tileBytes))
    }

    @Test func bytesHaveACeilingToo() {
        let small = pool(PrefetchTerms(bytesPerMinute: .bytes(3 * TilePool.tileBytes - 1)))
        small.install((0..<5).map { small.wish($0, 1) })
        small.runPlan()
        #expect(small.resident == [0, 1])
        // A higher ceiling counts what has begun.
        small.pool.set(.priced(PrefetchTerms(requestsPerMinute: 3)), ofLayer: 0)
        let hasDemand = small.pool.takeDemand()
        #expect(hasDemand)
        small.install((0..<5).map { small.wish($0, 1) })
        small.runPlan()
        #expect(small.resident == [0, 1, 2])
        small.pool.set(.standard, ofLayer: 0)
        small.install((0..<5).map { small.wish($0, 1) })
        small.runPlan()
        #expect(small.resident == [0, 1, 2, 3, 4])
    }

    /// Tiles that a near tier has do not count. If it has lost one, the source is asked within the ceilings only.
    @Test func nearTilesAskNoSource() throws {
        let small = pool(PrefetchTerms(requestsPerMinute: 1))
        func near(_ column: Int) -> PlanEntry {
            var entry = small.wish(column, 1)
            entry.isNear = true
            return entry
        }
        small.install((0..<4).map(near))
        let tickets = (0..<4).compactMap { _ in small.beginLoad() }
        #expect(tickets.count == 4 && counts(small).requests == 0)
        #expect(tickets.map { mayAskSource($0, small) } == [true, false, false, false])
        #expect(counts(small).requests == 1)
        // A view needs it by now.
        var needs = ViewNeeds()
        small.need([3], &needs)
        #expect(mayAskSource(tickets[3], small))
        small.pool.set(.resident, ofLayer: 0)
        #expect(!mayAskSource(tickets[1], small) && staysHere(tickets[1], small))
        #expect(mayAskSource(tickets[3], small))
    }

    @Test func aSynthesizedTileCountsAsTheTilesItIsMadeOf() {
        var pool = PoolState(configuration: PoolConfiguration(byteLimit: 1 << 20))
        let index = pool.addLayer(tileBytes: 4096, synthesizedLevels: 3)
        let requests = (0..<5).map { pool.layers[index].requests(atLevel: $0) }
        #expect(requests == [64, 16, 4, 1, 1])
    }
}
