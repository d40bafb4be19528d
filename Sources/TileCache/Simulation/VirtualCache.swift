/// The cache's decisions under a virtual clock: no threads, no pixels, reproducible to the bit.
///
/// Frames and the ends of loads are the only events. Codec work takes no time unless `codecCost` is set; then it takes
/// a worker's time, except for the tiles that a frame decompresses itself.
package final class VirtualCache {
    // One thread uses a cache, and no closure accesses what its caller is changing. Checks of exclusive access took 5 % of
    // a replay.
    @exclusivity(unchecked) private(set) var pool: PoolState
    @exclusivity(unchecked) private(set) var views: [ViewModel] = []
    @exclusivity(unchecked) private var planner = Planner()
    @exclusivity(unchecked) private var work: VirtualWork
    /// Layers with synthesized levels.
    @exclusivity(unchecked) private var synthesis: [Int: VirtualSynthesis] = [:]
    /// Tiers below memory; `nil` for the source alone.
    private let tiers: VirtualTiers?
    /// Tier of each load in flight that no source serves.
    private var served: [LoadID: Int] = [:]
    /// Tiers before which a tile waits until it is drawn.
    private(set) var unsaved: [TileKey: Int?] = [:]
    @exclusivity(unchecked) private var changes = 0
    /// Whether a further frame of the only view at the same viewport would change nothing.
    @exclusivity(unchecked) private var isSettled = false
    private var newest: FinishedPlan?
    /// Time from which on a prefetch that a ceiling has held back may begin; `.max` if there is none.
    @exclusivity(unchecked) package private(set) var replanAt = Int64.max
    /// When the next needed tile expires.
    @exclusivity(unchecked) private var nextExpiry = Int64.max
    private let options: Options
    /// Duration of a load, in nanoseconds; called once for each load.
    private let latency: (StartedLoad, _ start: Int64) -> Int64
    private var meanLatency: Int64

    /// Figures of the last frame.
    @exclusivity(unchecked) package private(set) var coverage = Coverage()
    @exclusivity(unchecked) package private(set) var hasMoved = false
    /// Whether the last frame was left out, since it would have changed nothing.
    @exclusivity(unchecked) package private(set) var wasLeftOut = false
    @exclusivity(unchecked) package private(set) var timesToSharp: [Int64] = []
    /// Fallbacks that the last frame drew, if they are kept.
    package private(set) var fallbacks: [ScreenTile] = []
    package var keepsFallbacks = false
    /// Demands, without those of first frames, that could be drawn in the same frame.
    package private(set) var drawableHits = 0

    /// Nanoseconds for which a loaded tile is valid; `nil` for ever. Default: for ever.
    package var lifetime: (_ layer: Int, TileCoordinate) -> Int64? = { _, _ in nil }

    /// Whether frames that change nothing are skipped; off only in tests that compare both.
    package var skipsSettledFrames = true
    /// Whether to measure the thread's processor time of each plan.
    package var measuresPlans = false
    /// Processor time of the last plan, with observing and installing.
    package private(set) var planMicroseconds = 0.0
    package private(set) var maximumNeededTiles = 0

    package init(
        options: Options,
        expectedLatency: Int64,
        tiers: VirtualTiers? = nil,
        latency: @escaping (StartedLoad, _ start: Int64) -> Int64
    ) {
        var configuration = options.poolConfiguration
        configuration.expectedLoadTime = expectedLatency
        pool = PoolState(configuration: configuration)
        work = VirtualWork(bandwidth: options.bandwidth)
        self.options = options
        self.tiers = tiers
        self.latency = latency
        meanLatency = expectedLatency
    }

    /// Adds a layer.
    ///
    /// - Parameters:
    ///   - pyramid: Required if levels are synthesized. Default: nil.
    ///   - synthesizedLevels: Number of coarse levels that the cache makes of the finer ones. Default: 0.
    ///   - allowance: What may be loaded ahead of need. Default: what the effort allows.
    /// - Throws: ``TileCacheError/invalidLayer(_:)`` if the limit does not hold the tables and the layer's scratch memory,
    ///   as in the service.
    package func addLayer(
        tileBytes: Int,
        maximumShare: Double = 1,
        pyramid: TilePyramid? = nil,
        synthesizedLevels: Int = 0,
        allowance: PrefetchAllowance = .standard
    ) throws(TileCacheError) -> Int {
        let made = pyramid.flatMap { VirtualSynthesis($0, levels: synthesizedLevels) }
        let scratchBytes = made == nil ? 0 : pool.configuration.paged(tileBytes)
        guard !pool.isOverLimit, pool.charge(scratchBytes, to: .layers) else {
            let bytes = pool.bookkeepingBytes + scratchBytes
            throw .invalidLayer("the tables and its scratch memory take \(bytes) bytes, more than the limit")
        }
        let layer = pool.addLayer(
            tileBytes: tileBytes,
            maximumShare: maximumShare,
            synthesizedLevels: synthesizedLevels,
            allowance: allowance,
            tiles: pyramid?.tileRanges ?? [],
            loadsInFlight: options.loadsInFlight
        )
        synthesis[layer] = made
        return layer
    }

    package func prefetchCounts(ofLayer layer: Int) -> LayerPrefetchCounts { pool.layers[layer].prefetches }

    package func addView(layers: [(layer: Int, pyramid: TilePyramid, policy: any PrefetchPolicy)]) -> Int {
        views.append(
            ViewModel(
                layers: layers.map { ViewLayer(id: LayerID($0.layer), pyramid: $0.pyramid) },
                selection: TileLevelSelection(bias: options.levelBias, hysteresis: options.hysteresis),
                fitsBudget: options.fitsBudget
            )
        )
        for layer in layers {
            planner.policies[views.count - 1, default: [:]][LayerID(layer.layer)] = layer.policy
        }
        return views.count - 1
    }

    /// What a view has learned of its only layer.
    package func learned(view: Int) -> PrefetchProfile? {
        planner.policies[view]?.values.first?.learned.flatMap { SessionSamples([$0]) }.map(PrefetchProfile.init)
    }

    /// Draws one frame of a view; times must not decrease.
    package func frame(view: Int, _ viewport: TileViewport, at now: Int64, destination: ViewportDestination? = nil) {
        if isSettled, now < replanAt, destination == nil, viewport == views[view].viewport {
            views[view].rest(at: now)
            hasMoved = false
            wasLeftOut = true
            timesToSharp.removeAll(keepingCapacity: true)
            return
        }
        isSettled = false
        wasLeftOut = false
        let counters = pool.counters
        let changes = changes
        finishWork(until: now)
        views[view].destination = destination
        let before = options.codecCost == nil ? [] : views[view].layers.map(\.needs)
        _ = views[view].update(viewport, now: now, pool: &pool)
        if let cost = options.codecCost {
            promoteNeeded(byView: view, cost: cost)
            countDrawable(view, before: before)
        }
        hasMoved = views[view].hasMoved
        coverage = Coverage()
        timesToSharp.removeAll(keepingCapacity: true)
        var composer = FrameComposer(emitsPlacements: false, drawsCompressed: drawsCompressed, now: now)
        var isMissing = false
        for index in views[view].layers.indices {
            let missing = composer.touch(&views[view].layers[index], &pool) { timesToSharp.append($0) }
            isMissing = isMissing || missing
        }
        noteEffects()
        fallbacks.removeAll(keepingCapacity: true)
        composer.emitsPlacements = keepsFallbacks
        if isMissing {
            for layer in views[view].layers {
                // Not the layer, which would be copied for each missing tile.
                let id = layer.id
                composer.compose(layer, viewport: viewport, pool: pool, isMissing: true, coverage: &coverage) {
                    if !$0.isExact { fallbacks.append(ScreenTile($0, of: id)) }
                }
            }
        }
        guard !isResting(view: view, at: now) else { return }
        guard !isPlanReused(by: views[view], at: now) else { return }
        let isPlanSettled = makePlan(now: now)
        cancelUnwanted(now: now)
        startJobs(now: now)
        let mayReplan = pool.layers.haveAllowances || pool.hasExpiries
        // The others are for memory, which a virtual cache does not have.
        let effects = pool.takeEffects()
        replanAt = mayReplan ? min(effects.replanAt, nextExpiry) : .max
        isSettled =
            isPlanSettled && skipsSettledFrames && views.count == 1 && !hasMoved && coverage.missingTiles == 0
            && work.count == 0 && changes == self.changes && pool.counters.isUnchanged(since: counters)
    }

    /// Whether a view is complete and has rested so long that no plan is made. The service rests sooner, and with work
    /// under way.
    package func isResting(view: Int, at now: Int64) -> Bool {
        views[view].hasRested(at: now, for: 3_000_000_000) && work.count == 0 && coverage.missingTiles == 0
            && now < replanAt
            && planner.policies[view, default: [:]].values.allSatisfy { $0.validity.contains(.onceRested) }
    }

    /// Whether a frame needs no plan, since the view goes on as in the newest one, of which nothing is left to load.
    private func isPlanReused(by view: ViewModel, at now: Int64) -> Bool {
        work.count == 0 && now < replanAt && newest?.holds(for: view, at: now, isStill: false, in: pool) ?? false
    }

    /// Makes a plan; returns whether another one would equal it.
    private func makePlan(now: Int64) -> Bool {
        let slotBytes = max(pool.layers.first.map { pool.slots[$0.slotClass].slotBytes } ?? 1, 1)
        var context = PlanContext(
            now: now,
            workers: options.workers,
            loadLatency: meanLatency,
            capacityTiles: options.byteLimit / slotBytes,
            effort: options.effort,
            // The closures live only during the plan; unowned references would cost more than the look-ups.
            residency: { [self] key in pool.residency(of: key) },
            lookUpMany: { [self] keys in pool.knownResidencies(of: keys) },
            changedTiles: { [self] version in pool.table.changes.take(since: &version) },
            residents: { [self] body in
                pool.table.forEach { if pool.table[$0].residency.isResident { body(pool.table[$0].key) } }
            },
            flights: { [self] in work.flights() },
            changes: changes
        )
        if let tiers {
            let source = Double(max(meanLatency, 1))
            context.nearness = { key in
                tiers.nearest(key).map { min(Double(tiers.tiers[$0].latency) / source, 1) } ?? 1
            }
            context.isNear = { tiers.nearest($0) != nil }
        }
        if !synthesis.isEmpty { context.synthesizedLevels = pool.layers.map(\.synthesizedLevels) }
        context.loadsInFlight = pool.loadsInFlight
        if pool.layers.haveAllowances { context.allowances = pool.layers.map(\.allowance) }
        nextExpiry = .max
        if pool.hasExpiries {
            for view in views { nextExpiry = min(nextExpiry, view.expire(now: now, pool: &pool)) }
        }
        let snapshots = views.indices.map { (id: $0, snapshot: views[$0].takeSnapshot(at: now, pool)) }
        let counters = pool.counters
        let start = measuresPlans ? MonotonicTime.ofThread.nanoseconds : 0
        let plan = planner.makePlan(of: snapshots, context: context)
        let made = FinishedPlan(
            counters: counters,
            validity: planner.validity(of: plan, on: snapshots)
        )
        newest = made
        pool.install(plan, now: now)
        nextExpiry = min(nextExpiry, pool.queue.plan.nextRetry)
        if measuresPlans {
            planMicroseconds = Double(MonotonicTime.ofThread.nanoseconds - start) / 1000
            let needed = views.reduce(0) { $0 + $1.layers.reduce(0) { $0 + $1.needs.tiles.count } }
            maximumNeededTiles = max(maximumNeededTiles, needed)
        }
        return made.validity.contains(.whileStill)
    }

    private func startJobs(now: Int64) {
        while work.workerCount < options.workers, let job = pool.nextJob(now: now) {
            changes += 1
            switch job {
            case .load(let ticket) where synthesis[ticket.key.layer]?.makes(ticket.key.coordinate) == true:
                make(ticket, now: now)
            case .load(let ticket):
                let bytes = entryBytes(ofLayer: ticket.key.layer)
                if let tiers, let tier = tiers.load(ticket.key, bytes: bytes) {
                    served[ticket.load] = tier
                    work.begin(ticket, at: now, latency: tiers.tiers[tier].latency, bytes: 0)
                    break
                }
                guard pool.mayAskSource(ticket, now: now) else {
                    pool.finishLoad(ticket.load, .cancelled, now: now)
                    break
                }
                let started = StartedLoad(
                    layer: ticket.key.layer,
                    tile: ticket.key.coordinate,
                    isDemand: ticket.isDemand,
                    bytes: pool.layers[ticket.key.layer].tileBytes
                )
                let time = latency(started, now)
                let hasWorker = options.loadsInFlight == nil
                work.begin(ticket, at: now, latency: time, bytes: started.bytes, hasWorker: hasWorker)
                if !hasWorker { pool.releaseWorker(of: ticket, at: now) }
            case .demote(let ticket), .promote(let ticket):
                guard let cost = options.codecCost else {
                    finish(job, now: now)
                    break
                }
                let bytes = pool.layers[ticket.key.layer].tileBytes
                let (down, up) = (cost.compression(ofBytes: bytes), cost.decompression(ofBytes: bytes))
                work.begin(job, at: now, takes: job == .demote(ticket) ? down : up)
            }
            confirmDecommits()
        }
        confirmDecommits()
    }

    /// Begins to synthesize a tile, which takes as long as all its loads.
    private func make(_ ticket: LoadTicket, now: Int64) {
        let layer = ticket.key.layer
        let bytes = pool.layers[layer].tileBytes
        let hasScratch = synthesis[layer]?.takeScratch(ticket.load) { takeScratch(ticket.load) } ?? false
        guard hasScratch else {
            pool.finishLoad(ticket.load, .refused, now: now)
            return
        }
        var span: Int64 = 0
        var count = 0
        synthesis[layer]?.forEachLoad(
            below: ticket.key.coordinate,
            isResident: { pool.residency(of: TileKey(layer: layer, $0)) != .none },
            { tile in
                let load = StartedLoad(layer: layer, tile: tile, isDemand: ticket.isDemand, bytes: bytes)
                span = min(span + min(latency(load, now), 1 << 40), 1 << 60)
                count += 1
            }
        )
        work.begin(ticket, at: now, latency: span, bytes: bytes * count)
    }

    private func takeScratch(_ load: LoadID) -> SlotID? {
        while true {
            switch pool.takeScratch(for: load) {
            case .granted(let slot): return slot
            case .demote(let victim): finishDemotion(pool.beginDemotion(victim))
            case .refused: return nil
            }
            confirmDecommits()
        }
    }

    /// Cancels the synthesis of unwanted tiles; other loads always end.
    private func cancelUnwanted(now: Int64) {
        guard !synthesis.isEmpty else { return }
        let cancelled = work.removeLoads { ticket in
            synthesis[ticket.key.layer]?.makes(ticket.key.coordinate) == true && pool.isUnwanted(load: ticket.load)
        }
        for ticket in cancelled { finish(ticket, .cancelled, now: now) }
        changes += cancelled.count
    }

    private func finish(_ ticket: LoadTicket, _ result: LoadResult, now: Int64) {
        let layer = ticket.key.layer
        if let slot = synthesis[layer]?.returnScratch(ticket.load) { pool.returnScratch(slot, layer: layer) }
        let validity = PoolState.Validity(
            expiresAt: lifetime(layer, ticket.key.coordinate).map { now.addingReportingOverflow($0) }
                .flatMap { $0.overflow ? nil : $0.partialValue }
        )
        pool.finishLoad(ticket.load, result, now: now, validity: validity)
    }

    /// Ends a job.
    private func finish(_ job: Job, now: Int64) {
        switch job {
        case .load(let ticket): finish(ticket, .pixels, now: now)
        case .demote(let ticket): finishDemotion(ticket)
        case .promote(let ticket): pool.finishPromotion(ticket)
        }
    }

    /// Bytes of a layer's compressed tiles.
    private func blockBytes(ofLayer layer: Int) -> Int {
        Int((Double(pool.layers[layer].tileBytes) / options.compressionRatio).rounded(.up))
    }

    /// Bytes of a layer's tiles in stores.
    private func entryBytes(ofLayer layer: Int) -> Int { blockBytes(ofLayer: layer) + Self.entryHeaderBytes }

    /// Bytes of an entry beside its payload.
    private static let entryHeaderBytes = 200

    /// Writes a landed tile to the tiers before the one that had it. Returns whether one had it.
    private func noteStored(_ ticket: LoadTicket, took: Int64) -> Bool {
        guard let tiers else { return false }
        let tier = served.removeValue(forKey: ticket.load)
        guard pool.hasLanded(ticket.key, .pixels) else { return tier != nil }
        if ticket.isDemand || pool.isNeeded(ticket.key) || took >= SaveQueue.expensive {
            tiers.write(ticket.key, bytes: entryBytes(ofLayer: ticket.key.layer), before: tier)
            return tier != nil
        }
        // As in the service, those that were evicted undrawn make room.
        if unsaved.count >= SaveQueue.mostUndrawn { unsaved = unsaved.filter { pool.isUnsaved($0.key) } }
        if unsaved.count < SaveQueue.mostUndrawn || unsaved[ticket.key] != nil {
            pool.mark(ticket.key, .unsaved)
            unsaved[ticket.key] = .some(tier)
        }
        return tier != nil
    }

    /// Notes when tiles expire that are needed from now on, and writes those that have been drawn for the first time.
    private func noteEffects() {
        guard tiers != nil || pool.hasExpiries else { return }
        let effects = pool.takeEffects()
        if pool.hasExpiries { replanAt = min(replanAt, effects.replanAt) }
        guard let tiers else { return }
        for key in effects.drawn {
            guard let tier = unsaved.removeValue(forKey: key) else { continue }
            tiers.write(key, bytes: entryBytes(ofLayer: key.layer), before: tier)
        }
    }

    private func finishDemotion(_ ticket: CodecTicket) {
        let bytes = blockBytes(ofLayer: ticket.key.layer)
        if let stored = pool.finishDemotion(ticket, .block(bytes)) { pool.finishStore(stored) }
    }

    private func confirmDecommits() {
        let ranges = pool.takePendingDecommits()
        if !ranges.isEmpty { pool.finishDecommits(ranges) }
    }

    /// Ends all work that is done by `now`, in order. Free workers take the next job at that moment.
    private func finishWork(until now: Int64) {
        while let done = work.next(until: now) {
            changes += 1
            finish(done.job, now: done.finish)
            if case .load(let ticket) = done.job, !noteStored(ticket, took: done.finish - done.start) {
                // An exponential mean over about eight loads, as in the service.
                meanLatency += (done.finish - done.start - meanLatency) / 8
            }
            // Work with the same end finishes before a worker takes the next job.
            if done.finish < now, !work.hasEnd(at: done.finish) { startJobs(now: done.finish) }
        }
        confirmDecommits()
    }

    /// Decompresses needed tiles on the drawing thread, within the default budget of a view. If a slot requires
    /// compressing another tile first, it is left to a worker.
    private func promoteNeeded(byView view: Int, cost: CodecCost) {
        let budget = PromotionBudget()
        var done = 0
        var spent: Int64 = 0
        for layer in views[view].layers {
            for number in layer.needs.entries where number != .none && pool.table[number].residency == .compressed {
                guard done < budget.maximumTiles, done == 0 || spent < budget.maximumTime.nanoseconds,
                    case .granted(let ticket) = pool.beginPromotion(number, worth: .infinity)
                else { return }
                pool.finishPromotion(ticket)
                confirmDecommits()
                changes += 1
                done += 1
                spent += cost.decompression(ofBytes: pool.layers[layer.layer].tileBytes)
            }
        }
    }

    private func countDrawable(_ view: Int, before: [ViewNeeds]) {
        for (layer, before) in zip(views[view].layers, before) where before.hasBegun {
            guard layer.needs.tiles != before.tiles else { continue }
            let known = Set(before.tiles)
            for (key, number) in zip(layer.needs.tiles, layer.needs.entries)
            where number != .none && !known.contains(key) {
                if pool.table[number].residency.isDecoded { drawableHits += 1 }
            }
        }
    }

    /// Whether decompression costs nothing, so that compressed tiles can be drawn.
    var drawsCompressed: Bool { options.codecCost == nil }

    /// Makes a view's levels coarser than its selection says.
    package func setLevelBias(_ bias: Double, view: Int, at now: Int64) {
        if views[view].setLevelBias(bias, now: now, pool: &pool) { isSettled = false }
    }
}
