import TileCache

/// Prefetch and eviction with the future known, as a bound for hits.
///
/// Loads the tile needed next, evicts the tile needed last, and loads none that is needed later than the one it would
/// evict.
///
/// A load that cannot end before its demand makes no hit, so that it yields to loads that can (`OracleSchedule`).
/// Missing needed tiles have had their demand: they are loaded first if that makes no later demand late, and wait
/// otherwise. With enough workers this is the reference order, missing tiles row by row before everything else; with
/// too few it is not, because the reference order is then not the best.
///
/// Evictions are greedy, so that it is no proof of an optimum if room and workers are both short.
struct OraclePolicy: PrefetchPolicy {
    struct Knowledge: Sendable {
        var workers: Int
        /// Number of tiles that fit the cache, including compressed ones.
        var capacityTiles: Int
        /// Duration of a tile's load, in nanoseconds; `nil` if all are equal.
        var loadTime: (@Sendable (TileCoordinate) -> Int64)?

        init(workers: Int, capacityTiles: Int, loadTime: (@Sendable (TileCoordinate) -> Int64)? = nil) {
            self.workers = max(workers, 1)
            self.capacityTiles = max(capacityTiles, 1)
            self.loadTime = loadTime
        }
    }

    /// Maximum number of wishes of one plan; more rarely start before the next one.
    static let maximumWishes = 256
    /// Demands examined for each tile that fits the cache. No load of a later one would begin now.
    static let lookAhead = 8

    private let future: FutureNeeds
    private let knowledge: Knowledge
    private let prefetches: Bool
    private var base: any PrefetchPolicy

    private var change = 0
    private var cached: (change: Int, pool: Int, wishes: Wishes)?
    /// By tile, the plans that found it resident or in flight, counted and included it.
    private var present: [Int]
    private var counted: [Int]
    private var wanted: [Int]
    private var number = 0

    /// - Parameter base: Prefetch policy; `nil` for the oracle's own. With another, only eviction uses the future.
    init(future: FutureNeeds, knowledge: Knowledge, base: (any PrefetchPolicy)? = nil) {
        self.future = future
        self.knowledge = knowledge
        prefetches = base == nil
        self.base = base ?? NoPrefetch()
        present = Array(repeating: 0, count: future.tileCount)
        counted = present
        wanted = present
    }

    var validity: WishValidity { [] }
    var goesFirst: Bool { base.goesFirst }

    mutating func observe(_ frame: FrameObservation) { base.observe(frame) }

    mutating func appendWishes(to wishes: inout Wishes, target: PlanTarget, context: PlanContext) {
        while change < future.changes.count, future.changes[change].time <= context.now { change += 1 }
        // Nothing has become needed, was loaded or was evicted: the last plan is still best.
        if let cached, let pool = context.changes, cached.change == change, cached.pool == pool {
            wishes = cached.wishes
            return
        }
        base.appendWishes(to: &wishes, target: target, context: context)
        number += 1
        let holdings = valueResidents(in: &wishes, target: target, context: context)
        guard prefetches else { return }
        let gaps = leaveGaps(in: &wishes, target: target, context: context)
        let schedule = makeSchedule(holdings, target: target, context: context)
        appendLoads(schedule, holdings, gaps, to: &wishes, target: target, context: context)
        if let pool = context.changes { cached = (change, pool, wishes) }
    }

    /// A missing needed tile, and the last frame that needs it.
    private struct Gap {
        var tile: TileCoordinate
        var end: Int64
    }

    /// Collects the missing needed tiles, row by row. Skips those that have left by the next frame.
    private func leaveGaps(in wishes: inout Wishes, target: PlanTarget, context: PlanContext) -> [Gap] {
        var gaps: [Gap] = []
        for tile in target.neededTiles {
            guard let tileNumber = future.number(of: tile), present[tileNumber] != number else { continue }
            wishes.leaveToPolicy(tile, layer: target.layer)
            guard let need = future.need(of: tileNumber, after: context.now), need.start <= context.now else {
                continue
            }
            gaps.append(Gap(tile: tile, end: need.end))
        }
        return gaps
    }

    /// State of the cache that loads depend on.
    private struct Holdings {
        /// Time at which each prefetching worker is free.
        var workers: [Int64] = []
        /// Tiles that can be loaded before any is evicted that is needed again.
        var room = 0
        /// Times at which resident tiles without a present need are needed again.
        var victims: [Int64] = []
    }

    /// Sets the worth of each resident tile. Those never needed again have none and are evicted first.
    private mutating func valueResidents(
        in wishes: inout Wishes,
        target: PlanTarget,
        context: PlanContext
    ) -> Holdings {
        var holdings = Holdings()
        var lively = 0
        context.forEachResident(ofLayer: target.layer) { tile in
            guard let tileNumber = future.number(of: tile) else { return }
            present[tileNumber] = number
            guard let need = future.need(of: tileNumber, after: context.now) else { return }
            lively += 1
            if need.start > context.now { holdings.victims.append(need.start) }
            wishes.value(tile, layer: target.layer, value: Self.value(max(need.start - context.now, 0)))
        }
        var ends: [Int64] = []
        for flight in context.flights(ofLayer: target.layer) {
            ends.append(max(flight.finish, context.now))
            lively += 1
            guard let tileNumber = future.number(of: flight.tile) else { continue }
            present[tileNumber] = number
            // It may be loaded, and be a candidate for eviction, before the next plan.
            if let need = future.need(of: tileNumber, after: context.now) {
                wishes.value(flight.tile, layer: target.layer, value: Self.value(max(need.start - context.now, 0)))
            }
        }
        ends.sort()
        let idle = max(knowledge.workers - ends.count, 0)
        holdings.workers = Array(repeating: context.now, count: idle) + ends.prefix(knowledge.workers - idle)
        holdings.room = knowledge.capacityTiles - lively
        return holdings
    }

    /// Schedules the loads that can be in time for their demands.
    private mutating func makeSchedule(
        _ holdings: Holdings,
        target: PlanTarget,
        context: PlanContext
    ) -> OracleSchedule {
        var schedule = OracleSchedule(
            workers: holdings.workers,
            duration: context.loadLatency,
            isUniform: knowledge.loadTime == nil
        )
        // The cache should hold the tiles needed sooner than this many others; no other load begins now.
        let limit = knowledge.capacityTiles + knowledge.workers
        var held = target.neededTiles.count
        var index = change < future.changes.count ? future.changes[change].firstNeed : future.needs.count
        let end = min(index + Self.lookAhead * limit, future.needs.count)
        while index < end, held < limit {
            defer { index += 1 }
            let need = future.needs[index]
            if counted[need.tile] != number, present[need.tile] == number {
                counted[need.tile] = number
                held += 1
            }
            guard present[need.tile] != number, wanted[need.tile] != number else { continue }
            wanted[need.tile] = number
            held += 1
            let job = OracleSchedule.Job(
                need: index,
                deadline: need.start,
                duration: knowledge.loadTime?(future.tile(need.tile)) ?? context.loadLatency,
                again: need.next < 0 ? .max : future.needs[need.next].start,
                stay: need.end - need.start
            )
            if let left = schedule.add(job) {
                // Its next demand, if there is one, is another job.
                wanted[future.needs[left.need].tile] = 0
                held -= 1
            }
        }
        return schedule
    }

    /// Appends the loads in the order of their starts. Missing needed tiles are as early as no later demand is late.
    private func appendLoads(
        _ schedule: OracleSchedule,
        _ holdings: Holdings,
        _ gaps: [Gap],
        to wishes: inout Wishes,
        target: PlanTarget,
        context: PlanContext
    ) {
        let jobs = schedule.jobs
        let shifts = gaps.isEmpty ? [] : schedule.shifts(upTo: gaps.count + 1)
        let victims = gaps.isEmpty ? [] : holdings.victims.sorted(by: >)
        var gaps = gaps[...]
        var early = 0
        for index in 0...jobs.count {
            while let gap = gaps.first, early < shifts[index] {
                gaps.removeFirst()
                let start = schedule.slot(index + early)
                let landing = start.addingReportingOverflow(
                    knowledge.loadTime?(gap.tile) ?? context.loadLatency
                ).partialValue
                guard landing <= gap.end, !isCrowded(until: gap.end, latency: context.loadLatency) else {
                    continue
                }
                let loadsBefore = index + early
                if loadsBefore >= holdings.room {
                    // A tile that is needed again is evicted: it must be possible to reload it in time.
                    let victim = loadsBefore - max(holdings.room, 0)
                    guard victim < victims.count else { continue }
                    let back = jobs.firstIndex { $0.job.deadline > victims[victim] } ?? jobs.count
                    guard schedule.slot(back + early + 1) <= victims[victim] - context.loadLatency,
                        shifts[back] > early + 1
                    else { continue }
                }
                wishes.need(gap.tile, layer: target.layer)
                early += 1
            }
            guard index < jobs.count, index + early < Self.maximumWishes else { break }
            let job = jobs[index].job
            wishes.wish(
                for: future.tile(future.needs[job.need].tile),
                layer: target.layer,
                value: Self.value(job.deadline - context.now)
            )
        }
    }

    /// Whether one more tile on screen would displace one that is demanded before its end.
    private func isCrowded(until end: Int64, latency: Int64) -> Bool {
        var index = change
        while index < future.changes.count {
            let here = future.changes[index]
            var last = here.firstNeed
            while last < future.needs.count, future.needs[last].start - latency <= here.time { last += 1 }
            if here.neededBefore + last - here.firstNeed > knowledge.capacityTiles { return true }
            // Including the first frame that no longer needs it: its demands had to find room before.
            if here.time > end { break }
            index += 1
        }
        return false
    }

    /// Decreases with the wait. At most 1, so that a prefetch of another policy, worth 2, may evict any unneeded tile.
    private static func value(_ wait: Int64) -> Float { 1 / (1 + Float(wait) / 1e6) }
}
