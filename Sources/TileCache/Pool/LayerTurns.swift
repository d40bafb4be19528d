/// Whose turn it is while several layers miss tiles: each gets the same time of workers, whatever its loads take.
///
/// Otherwise a layer whose loads take 400 ms would keep one of 2 ms waiting until all of its own tiles are there. This is
/// start-time fair queueing (P. Goyal, H. M. Vin, H. Cheng, "Start-time Fair Queueing", SIGCOMM 1996): the layer that
/// has had the least goes first. A layer that had nothing to load meanwhile saves nothing up.
struct LayerTurns {
    /// What a layer has had, and has at present.
    struct Claim: Hashable {
        /// Time that workers have spent on its loads, in nanoseconds. Loads in flight count as expected, or as long as
        /// they have taken so far if that is more.
        var time: Int64
        /// Number of workers that its loads occupy.
        var busy: Int
        /// Number of its loads in flight that occupy none.
        var flights = 0
        /// Time that its next load is expected to take, in nanoseconds.
        var next: Int64 = 0

        init(time: Int64, busy: Int = 0) { (self.time, self.busy) = (time, busy) }
    }

    /// Time that the layer which had had the least, of those that missed tiles, had had at the last turn.
    private(set) var clock: Int64 = 0

    /// Claims of the plan's lanes at the present turn.
    fileprivate(set) var claims: [Claim] = []
    /// Whether a worker was lent to a layer that has none, and no load has begun since.
    fileprivate(set) var isLending = false

    /// Numbers of the claims in the order of their turns: by the time that each will have had with its next load. Equal
    /// ones keep their order.
    ///
    /// - Parameter most: Layers with as many workers come last: their loads may take long.
    func order(of claims: [Claim], most: Int) -> [Int] {
        func rank(_ number: Int) -> (Int, Int64, Int64, Int) {
            let claim = claims[number]
            return (claim.busy >= most ? 1 : 0, max(claim.time, clock) + claim.next, claim.time, number)
        }
        return claims.indices.sorted { rank($0) < rank($1) }
    }

    /// Notes that a layer has its turn.
    ///
    /// - Parameter least: The least time that a layer has had of those that miss tiles.
    /// - Returns: Time to add to its claim: what it has not asked for meanwhile is forfeited.
    mutating func take(_ claim: Claim, least: Int64) -> Int64 {
        clock = max(clock, min(least, claim.time))
        return max(clock - claim.time, 0)
    }
}

extension PoolState {
    /// What a layer has had of the workers' time, and has at present. The table knows the layers of loads in flight.
    func claim(ofLayer layer: Int, at now: Int64) -> LayerTurns.Claim {
        var claim = LayerTurns.Claim(time: layers[layer].workTime)
        for (_, load) in loads.all where table[load.entry].key.layer == layer { add(load, to: &claim, at: now) }
        return claim
    }

    private func add(_ load: Load, to claim: inout LayerTurns.Claim, at now: Int64) {
        guard !load.isWrittenOff else { return }
        guard load.hasWorker else {
            claim.flights += 1
            return
        }
        let layer = layers[table[load.entry].key.layer]
        let expected = layer.meanLoadTime ?? configuration.expectedLoadTime
        claim.time += max(expected, (now - load.started).boundedTime)
        claim.busy += 1
    }

    /// Sets the order of the plan's layers, if several need tiles.
    mutating func orderTurns(at now: Int64) {
        guard queue.hasLanes else { return }
        turns.claims = laneClaims(at: now)
        // A layer leaves one worker to the others. One that was lent goes to a layer that has none.
        let most = turns.isLending ? 1 : max(configuration.workers - 1, 1)
        queue.arrange(turns.order(of: turns.claims, most: most))
    }

    private func laneClaims(at now: Int64) -> [LayerTurns.Claim] {
        let lanes = queue.plan.lanes
        var claims = lanes.map { lane in
            let layer = layers[lane.layer]
            var claim = LayerTurns.Claim(time: layer.workTime)
            claim.next = layer.meanLoadTime ?? configuration.expectedLoadTime
            return claim
        }
        for (_, load) in loads.all {
            let layer = table[load.entry].key.layer
            if let lane = lanes.firstIndex(where: { $0.layer == layer }) { add(load, to: &claims[lane], at: now) }
        }
        return claims
    }

    /// Notes that a load of a layer is about to begin, after `orderTurns`.
    mutating func noteTurn(ofLayer layer: Int, at now: Int64) {
        let lanes = queue.plan.lanes
        let own = lanes.firstIndex { $0.layer == layer }
        let claim = own.map { turns.claims[$0] } ?? claim(ofLayer: layer, at: now)
        var least = claim.time
        for lane in lanes.indices where !queue.rest(ofLane: lane).isEmpty {
            least = min(least, turns.claims[lane].time)
        }
        turns.isLending = false
        let forfeited = turns.take(claim, least: least)
        if forfeited > 0 { layers.change(layer) { $0.workTime += forfeited } }
    }

    /// Notes the time that a load has occupied a worker, which is free now or is replaced.
    mutating func noteWork(_ load: Load, isOver: Bool, at now: Int64) {
        guard load.hasWorker else { return }
        let took = (now - load.started).boundedTime
        layers.change(table[load.entry].key.layer) {
            // A load counts until its worker is replaced.
            if !load.isWrittenOff { $0.workTime += took }
            if isOver { $0.meanLoadTime = $0.meanLoadTime.map { $0 + (took - $0) / 8 } ?? took }
        }
    }

    // MARK: - Lent workers

    /// Whether a layer needs a tile and has no worker, since the loads of others occupy all of them.
    func hasStarvedLayer(at now: Int64) -> Bool {
        guard loads.workerCount >= configuration.workers, queue.hasLanes, !queue.hasEnded else { return false }
        let claims = laneClaims(at: now)
        return claims.indices.contains { lane in
            let layer = queue.plan.lanes[lane].layer
            return claims[lane].busy == 0 && claims[lane].flights == 0
                && !layers[layer].isRemoved && !hasAllItsLoads(layer: layer)
                && queue.rest(ofLane: lane).contains { planned in
                    guard !planned.reason.isExtra else { return false }
                    let number = table.find(planned.key)
                    // Out of view since the plan was made, or the table has no room for it.
                    if number == .none { return !queue.plan.followsNeeds || !planned.reason.isNeed }
                    return needsWork(number, planned, now: now)
                }
        }
    }

    /// Replaces the worker of the oldest load for the sake of a layer that has none.
    ///
    /// - Parameter time: Only of a load that began before.
    /// - Returns: Number of workers to replace, 0 or 1.
    mutating func lendWorker(startedBefore time: Int64, now: Int64) -> Int {
        let oldest = loads.calls.filter { $0.load.started < time }
            .min { ($0.load.started, $0.id) < ($1.load.started, $1.id) }
        guard let oldest, hasStarvedLayer(at: now), writeOff(oldest.id, now: now) else { return 0 }
        loads.change(oldest.id) { $0.isLent = true }
        turns.isLending = true
        return 1
    }
}
