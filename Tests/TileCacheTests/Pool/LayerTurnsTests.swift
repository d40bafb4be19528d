import TestSupport
import Testing

@testable import TileCache

/// Layers that miss tiles at the same time get the same time of workers, whatever a load of each takes.
@Suite struct LayerTurnsTests {
    private typealias Claim = LayerTurns.Claim
    private static let millisecond: Int64 = 1_000_000

    @Test func whoHasHadLeastGoesFirst() {
        let turns = LayerTurns()
        #expect(turns.order(of: [Claim(time: 30), Claim(time: 10), Claim(time: 20)], most: 3) == [1, 2, 0])
        #expect(turns.order(of: [Claim(time: 10), Claim(time: 10)], most: 3) == [0, 1], "the plan's order")
        #expect(turns.order(of: [], most: 1).isEmpty)
    }

    /// A layer with as many workers as it may have leaves the next one to others, though these have had more.
    @Test func workersAreLeftToOthers() {
        let turns = LayerTurns()
        let claims = [Claim(time: 10, busy: 3), Claim(time: 50, busy: 0), Claim(time: 40, busy: 1)]
        #expect(turns.order(of: claims, most: 4) == [0, 2, 1])
        #expect(turns.order(of: claims, most: 3) == [2, 1, 0])
        #expect(turns.order(of: claims, most: 1) == [1, 0, 2])
    }

    /// A layer that has not asked for anything meanwhile has not saved up its time.
    @Test func whatWasNotAskedForIsForfeited() {
        var turns = LayerTurns()
        let first = turns.take(Claim(time: 100), least: 100)
        #expect(first == 0 && turns.clock == 100)
        // From behind: as if it had had as much. Of two such layers, first the one further behind.
        #expect(turns.order(of: [Claim(time: 90), Claim(time: 100), Claim(time: 20)], most: 3) == [2, 0, 1])
        let late = turns.take(Claim(time: 20), least: 20)
        #expect(late == 80 && turns.clock == 100)
        // One that goes first although another one has had less takes nothing from that.
        let ahead = turns.take(Claim(time: 130), least: 110)
        #expect(ahead == 0 && turns.clock == 110)
    }

    @Test func plansAreDividedUpToTheLastNeededTile() {
        func entry(_ layer: Int, _ column: Int, _ reason: Rank = .demand) -> PlanEntry {
            PlanEntry(key: key(column, layer: layer), reason: reason)
        }
        func divided(_ entries: [PlanEntry]) -> Plan {
            var plan = Plan(entries: entries)
            plan.divide()
            return plan
        }
        // One layer: as it is.
        let one = [entry(3, 0), entry(3, 1, .prefetch), entry(3, 2, .pin), entry(1, 9, .prefetch)]
        #expect(divided(one).lanes.isEmpty && divided(one).entries == one)
        #expect(divided([entry(0, 0, .prefetch), entry(1, 0, .margin)]).lanes.isEmpty)
        #expect(divided([]).lanes.isEmpty)
        // In the order of their first entries, urgent prefetches included; what follows stays.
        let two = divided([
            entry(5, 0, .pin), entry(2, 0, .prefetch), entry(2, 1), entry(5, 1), entry(2, 2, .fallback),
            entry(2, 3, .prefetch), entry(5, 2, .margin),
        ])
        #expect(two.lanes.map(\.layer) == [5, 2] && two.lanes.map(\.end) == [2, 5])
        #expect(
            two.entries == [
                entry(5, 0, .pin), entry(5, 1), entry(2, 0, .prefetch), entry(2, 1), entry(2, 2, .fallback),
                entry(2, 3, .prefetch), entry(5, 2, .margin),
            ]
        )
    }

    // MARK: - The pool

    private struct Layer {
        var milliseconds: Int64
        var tiles = 140
        /// When its tiles are needed, in milliseconds.
        var start: Int64 = 0
        var reason = Rank.demand
    }

    /// Loads the tiles of layers under a virtual clock. The plan has all tiles of a layer one after the other, and is made
    /// again only when another layer's tiles are needed, or after each load.
    ///
    /// - Returns: Milliseconds from a layer's start to its last tile, and the most workers that it occupied while others
    ///   missed tiles.
    private func run(
        _ layers: [Layer],
        workers: Int = 4,
        isAsynchronous: Bool,
        plansOften: Bool = false
    ) -> [(took: Int64, busy: Int)] {
        let small = TilePool(tiles: 2048) { $0.workers = workers }
        // The first layer is the pool's own.
        for _ in layers { _ = small.pool.addLayer(tileBytes: TilePool.tileBytes, reservesLate: isAsynchronous) }
        func keys(_ number: Int) -> [TileKey] {
            (0..<layers[number].tiles).map { key($0, level: 8, layer: number + 1) }
        }
        var flights: [(end: Int64, number: Int, ticket: LoadTicket)] = []
        var ends = layers.map { _ in Int64(0) }
        var busy = layers.map { _ in 0 }
        var left = layers.map(\.tiles)
        var now: Int64 = 0
        func plan() {
            var plan = Plan()
            // Pins come first.
            for reason in [Rank.pin, .demand] {
                for number in layers.indices where layers[number].reason == reason && layers[number].start <= now {
                    plan.entries += keys(number).map { PlanEntry(key: $0, value: .infinity, reason: reason) }
                }
            }
            plan.divide()
            small.pool.install(plan, now: now * Self.millisecond)
        }
        plan()
        while true {
            while let job = small.pool.nextJob(now: now * Self.millisecond), case .load(let ticket) = job {
                let number = ticket.key.layer - 1
                flights.append((now + layers[number].milliseconds, number, ticket))
                left[number] -= 1
                let others = layers.indices.contains { $0 != number && layers[$0].start <= now && left[$0] > 0 }
                if others { busy[number] = max(busy[number], flights.count { $0.number == number }) }
            }
            let starts = layers.map(\.start).filter { $0 > now }
            guard let next = (flights.map(\.end) + starts).min() else { break }
            now = next
            while let place = flights.firstIndex(where: { $0.end <= now }) {
                let flight = flights.remove(at: place)
                if flight.ticket.slot == .none { _ = small.pool.reserve(flight.ticket.load) }
                small.pool.finishLoad(flight.ticket.load, .pixels, now: now * Self.millisecond)
                ends[flight.number] = now
            }
            if plansOften || starts.contains(now) { plan() }
        }
        for number in layers.indices {
            #expect(keys(number).allSatisfy { small.residency(of: $0) == .decoded }, "layer \(number)")
        }
        return layers.indices.map { (ends[$0] - layers[$0].start, busy[$0]) }
    }

    /// Loads of 4 ms beside those of 400 ms: at most twice as long as alone, and one slow load.
    @Test(arguments: [false, true], [1, 3, 4]) func aFastLayerDoesNotWaitForSlowOnes(
        isAsynchronous: Bool,
        slowLayers: Int
    ) {
        let alone = run([Layer(milliseconds: 4)], isAsynchronous: isAsynchronous)[0].took
        #expect(alone == 140)
        let slow = Array(repeating: Layer(milliseconds: 400, tiles: 40), count: slowLayers)
        for plansOften in [false, true] {
            for start in [Int64(0), 300] {
                let fast = Layer(milliseconds: 4, start: start)
                let last = run(slow + [fast], isAsynchronous: isAsynchronous, plansOften: plansOften)
                #expect(last[slowLayers].took <= 2 * alone + 400, "last, \(start): \(last)")
                let first = run([fast] + slow, isAsynchronous: isAsynchronous, plansOften: plansOften)
                #expect(first[0].took <= 2 * alone + 400, "first, \(start): \(first)")
                // Nor do the slow ones: the workers are never idle.
                let most = (slowLayers * 40 * 400 + 140 * 4) / 4 + 2 * 400 + Int(start)
                #expect(
                    last[..<slowLayers].allSatisfy { $0.took <= most } && first[1...].allSatisfy { $0.took <= most }
                )
            }
        }
    }

    /// A request of a host, or a pin: one tile, behind or before all others.
    @Test(arguments: [false, true], [Rank.demand, .pin]) func oneTileComesSoon(
        isAsynchronous: Bool,
        reason: Rank
    ) {
        let slow = Layer(milliseconds: 400, tiles: 40)
        let one = Layer(milliseconds: 4, tiles: 1, start: 300, reason: reason)
        let took = run([slow, one], isAsynchronous: isAsynchronous)[1].took
        #expect(took == 104, "the first slow loads end at 400")
        // Pins of a slow layer do not keep it either.
        let pins = Layer(milliseconds: 400, tiles: 40, reason: .pin)
        #expect(run([pins, one], isAsynchronous: isAsynchronous)[1].took == 104)
    }

    /// While others miss tiles, a layer leaves them a worker.
    @Test func aSlowLayerLeavesAWorker() {
        // As much time for both: the slow layer is behind for long, since the other one had all workers before.
        let result = run(
            [Layer(milliseconds: 4, tiles: 800), Layer(milliseconds: 400, tiles: 8, start: 600)],
            isAsynchronous: false
        )
        #expect(result[1].busy <= 3)
        #expect(result[0].took <= 1600 + 400)
        let alone = run([Layer(milliseconds: 400, tiles: 8)], isAsynchronous: false)
        #expect(alone[0].took == 800, "all four")
    }

    /// Layers that take as long as each other come side by side.
    @Test func equalLayersShare() {
        let result = run(Array(repeating: Layer(milliseconds: 40, tiles: 40), count: 2), isAsynchronous: false)
        #expect(result.map(\.took) == [800, 800])
    }

    /// Loads that hang count for as long as they take.
    @Test func aLayerThatHangsYields() {
        let small = TilePool(tiles: 64) { $0.workers = 4 }
        _ = small.pool.addLayer(tileBytes: TilePool.tileBytes)
        var plan = Plan(
            entries: (0..<8).map { small.demand(key($0)) } + (0..<8).map { small.demand(key($0, layer: 1)) }
        )
        plan.divide()
        small.pool.install(plan)
        let first = (0..<4).compactMap { _ in small.beginLoad() }
        #expect(first.map(\.key.layer) == [0, 1, 0, 1])
        // The other layer's loads take a millisecond each; those of the first one do not end.
        for ticket in first where ticket.key.layer == 1 { small.end(ticket) }
        for _ in 0..<6 {
            guard let ticket = small.beginLoad() else { break }
            #expect(ticket.key.layer == 1)
            small.now += Self.millisecond
            small.end(ticket)
        }
        let last = small.pool.claim(ofLayer: 0, at: 500 * Self.millisecond)
        #expect(last == LayerTurns.Claim(time: 1000 * Self.millisecond, busy: 2))
        // Once their workers are replaced they occupy none, and their time is spent.
        small.now = 500 * Self.millisecond
        let replaced = small.pool.writeOffLoads(startedBefore: small.now, atMost: 4, now: small.now)
        #expect(replaced == 2)
        let after = small.pool.claim(ofLayer: 0, at: 900 * Self.millisecond)
        #expect(after == LayerTurns.Claim(time: 1000 * Self.millisecond, busy: 0))
    }

    // MARK: - Hanging layers

    /// The second half of the spare workers is for layers that do not hang yet.
    @Test func hangingLayersLeaveSpareWorkersToOthers() {
        let small = TilePool(tiles: 64) {
            $0.workers = 1
            $0.spareWorkers = 4
        }
        for _ in 0..<4 { _ = small.pool.addLayer(tileBytes: TilePool.tileBytes) }
        small.install((0..<4).flatMap { layer in (0..<2).map { small.demand(key($0, layer: layer)) } })
        var layers: [Int] = []
        while let ticket = small.beginLoad() {
            layers.append(ticket.key.layer)
            small.now += 1000
            _ = small.pool.writeOffLoads(startedBefore: small.now, atMost: 1, now: small.now)
        }
        // Two of the first layer, one of each other.
        #expect(layers == [0, 0, 1, 2, 3])
        #expect(small.pool.spareWorkersInUse == 5)
    }

    /// A layer without a worker gets one of a load that takes long, but not for the sake of tiles that are there.
    @Test func aWorkerIsLent() {
        let small = TilePool(tiles: 64) { $0.workers = 2 }
        _ = small.pool.addLayer(tileBytes: TilePool.tileBytes)
        small.load(key(7, layer: 1))
        func plan(_ column: Int) {
            var plan = Plan(entries: (0..<8).map { small.demand(key($0)) } + [small.demand(key(column, layer: 1))])
            plan.divide()
            small.pool.install(plan)
        }
        small.install((0..<8).map { small.demand(key($0)) })
        let begun = (small.beginLoad(), small.beginLoad())
        #expect(begun.0?.key == key(0) && begun.1?.key == key(1))
        small.now += 1000
        plan(7)
        let vainly = small.pool.lendWorker(startedBefore: small.now, now: small.now)
        #expect(vainly == 0 && !small.pool.hasStarvedLayer(at: small.now))
        plan(6)
        let tooEarly = small.pool.lendWorker(startedBefore: small.now - 1000, now: small.now)
        #expect(tooEarly == 0 && small.pool.hasStarvedLayer(at: small.now))
        let lent = small.pool.lendWorker(startedBefore: small.now, now: small.now)
        #expect(lent == 1 && small.pool.loads[begun.0?.load ?? .none]?.isLent == true)
        #expect(small.beginLoad()?.key == key(6, layer: 1))
        let again = small.pool.lendWorker(startedBefore: small.now, now: small.now)
        #expect(again == 0)
    }

    /// Two layers of long loads have all workers, and one that has had much more time than they misses a tile.
    private func starved() -> TilePool {
        let small = TilePool(tiles: 64) {
            $0.workers = 4
            $0.spareWorkers = 4
        }
        for _ in 0..<2 { _ = small.pool.addLayer(tileBytes: TilePool.tileBytes) }
        small.pool.layers.change(2) { $0.workTime = 60_000 * Self.millisecond }
        func plan(_ layers: Int) {
            var plan = Plan()
            for layer in 0..<layers { plan.entries += (0..<8).map { small.demand(key($0, layer: layer)) } }
            plan.divide()
            small.pool.install(plan)
        }
        plan(2)
        for _ in 0..<4 { _ = small.beginLoad() }
        plan(3)
        small.now += 1000
        return small
    }

    /// The worker that is lent is the only free one.
    @Test func theLentWorkerGoesToALayerThatHasNone() {
        let small = starved()
        let lent = small.pool.lendWorker(startedBefore: small.now, now: small.now)
        #expect(lent == 1 && small.beginLoad()?.key.layer == 2)
    }

    /// No worker is lent to a layer that may start nothing.
    @Test func noneIsLentInVain() {
        let hanging = starved()
        let most = hanging.pool.configuration.mostOfHangingLayer
        hanging.pool.layers.change(2) { $0.stuckRequests = most }
        let lent = hanging.pool.lendWorker(startedBefore: hanging.now, now: hanging.now)
        #expect(lent == 0)
    }
}
