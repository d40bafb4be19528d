/// The library's own policy: every tile that may be needed belongs to a bin, a bin has odds, and the odds learn.
///
/// What a tile gains by being loaded now is the probability that it is demanded so soon that waiting would be too late,
/// less the price of the load where it is not demanded at all; the price follows from the effort. What a resident tile
/// loses by going is found in the same way. The plan loads the highest gains, gives up the lowest losses, and starts
/// nothing that is not worth more than what it pushes out. A renderer's own destination counts as all but certain.
///
/// All tables are bounded, so a session may last for weeks.
package struct AdaptivePolicy: PrefetchPolicy {
    /// What a gain must exceed its victim's loss by, so that tiles of nearly the same worth do not push each other out.
    /// 0.03 closes .02 less of the gap of `starcraft_view` at 12 screens, and .02 more at 4, for .04 less waste.
    static let margin: Float = 0.0075
    /// Wishes of one plan; more never start before the next one.
    static let maximumWishes = 64
    /// What a compressed tile must gain to be decompressed ahead of need: more likely than not it is about to be drawn.
    static let promotionGain = 0.5
    /// How fast the usual number of tiles demanded at once is followed.
    static let burstRate = 0.2
    /// A frame at 60 Hz: plans are made no more often, so loads begin up to that much later.
    static let frameSeconds = 1.0 / 60
    /// Screen pixels that a view pans before its candidates are thought of anew, as long as it needs the same tiles. Half
    /// of the frames of `gps_follow` pan by less.
    static let leastWay = 2.0
    /// The same for how far it will still go: at the end of a stroke that changes while the view hardly does.
    static let leastTravel = 4.0
    /// How many leads the decay of the motion lasts at least: with long loads or long queues what is near comes too late.
    static let leadsAhead = 1.5

    var motion = MotionEstimate()
    var odds = ForesightOdds()
    var trials: ForesightTrials
    var seen: SeenTiles
    var candidates = ForesightCandidates()
    private var previous = ForesightCandidates()

    private var needed: [TileKey] = []
    /// Counts the changes of the needed tiles.
    var change = 0
    /// Counts the demands: the clock that ages and horizons go by.
    var demands = 0
    /// Tiles demanded at once, on average.
    private var burst = 4.0
    /// How long before its demand a load has to begin, in seconds.
    private(set) var lead = 0.1
    private var horizon = ForesightTrials.horizon.upperBound
    private var latency = 0.04
    private var workers = 4
    private var hasNewNeeds = false
    private var lastStand: Stand?
    /// Whether the last plan thought of no other tiles than the one before, and nothing it looked at depends on the time.
    package private(set) var isSettled = false

    /// All that the candidates of a view at rest depend on, and nearly all for one that moves.
    private struct Stand {
        var viewport: TileViewport
        var destination: ViewportDestination?
        var change: Int
        var travel: EdgeTravel
        var isMoving: Bool { travel.isMoving }

        /// Whether the candidates thought of at another stand are those of this one.
        func hasCandidates(of other: Stand) -> Bool {
            guard change == other.change, isMoving == other.isMoving, destination == other.destination else {
                return false
            }
            guard isMoving else { return viewport == other.viewport }
            var near = viewport
            near.center = other.viewport.center
            let way = max(
                abs(viewport.center.x - other.viewport.center.x),
                abs(viewport.center.y - other.viewport.center.y)
            )
            return near == other.viewport && way * viewport.scale < AdaptivePolicy.leastWay
                && travel.change(from: other.travel) < AdaptivePolicy.leastTravel
        }
    }

    /// What it looks at.
    let effects: ForesightEffects

    /// - Parameters:
    ///   - effects: what it looks at. Default: everything.
    ///   - memory: bytes that the tables may grow to, about; at least 180 KB. Default: 1.4 MB, and no more than that.
    package init(effects: ForesightEffects = .all, memory: Int = .max) {
        self.effects = effects
        // A tile that has been seen takes 140 bytes with its index, a trial 110, and there are two trials to a tile.
        var capacity = 4096
        while capacity > 512, capacity * 360 > memory { capacity /= 2 }
        seen = SeenTiles(capacity: capacity)
        trials = ForesightTrials(capacity: 2 * capacity)
    }

    package var byteCount: Int {
        seen.byteCount + trials.byteCount + candidates.byteCount + previous.byteCount
            + needed.count * MemoryLayout<TileKey>.stride
    }

    package mutating func reset() {
        let memory = seen.capacity * 360
        self = AdaptivePolicy(effects: effects, memory: memory)
    }

    // MARK: - Learning

    package mutating func observe(_ frame: FrameObservation) {
        let cover = ViewportCover(pyramid: frame.pyramid, viewport: frame.viewport, levelIndex: max(frame.level, 0))
        motion.observe(
            frame.viewport,
            box: cover.box,
            level: frame.level,
            time: Double(frame.time) / 1e9,
            period: frame.pyramid.wrapsX ? frame.pyramid.worldWidth : 0
        )
        let isFirst = change == 0
        guard isFirst || frame.needed != needed else { return }
        if !isFirst { odds.count(demands: frame.demands, missed: frame.missed) }
        take(frame.needed, isFirst: isFirst)
        needed = frame.needed
        hasNewNeeds = true
    }

    /// The needed tiles have changed: trials win, tiles age, what is long past is forgotten.
    private mutating func take(_ tiles: [TileKey], isFirst: Bool) {
        change += 1
        let time = motion.time
        let before = demands
        let current = tiles.prefix(seen.maximumNeeded)
        if !isFirst {
            let count = current.reduce(0) { $0 + (wasNeeded($1) ? 0 : 1) }
            if count > 0 { burst += (Double(count) - burst) * Self.burstRate }
            lead = latency * (1 + burst / Double(workers)) + Self.frameSeconds
        }
        // The first tiles of a burst wait for no turn. Asked to come before all turns, every trial was late where loads take
        // long, and nothing was loaded at all.
        let latest = time - min(latency + Self.frameSeconds, lead)
        for key in current {
            let slot = seen.record(key)
            let isDemand = seen.records[slot].neededAt != change - 1 || isFirst
            if isDemand {
                demands += 1
                trials.succeed(key, deadline: time - lead, latest: latest, odds: &odds)
            }
            seen.note(slot, change: change, isDemand: isDemand, demands: demands)
        }
        for key in needed.prefix(seen.maximumNeeded) {
            guard let slot = seen.find(key), seen.records[slot].neededAt != change else { continue }
            seen.depart(slot, demands: before)
            openReturn(slot, age: 0)
        }
        for (slot, age) in seen.grow(demands: demands) {
            trials.leaveReturns(of: seen.records[slot].key, time: time)
            openReturn(slot, age: age)
        }
        odds.forget()
        trials.expire(demands: demands, odds: &odds)
        if !effects.contains(.learning) { odds.unlearn() }
    }

    private func wasNeeded(_ key: TileKey) -> Bool {
        seen.find(key).map { seen.records[$0].neededAt == change - 1 } ?? false
    }

    private mutating func openReturn(_ slot: Int, age: Int) {
        let visitClass = VisitClass.of(visits: seen.records[slot].visits)
        _ = trials.open(
            seen.records[slot].key,
            ForesightBin.visited(age: age, visitClass: visitClass),
            time: motion.time,
            until: demands + horizon
        )
    }

    // MARK: - Planning

    package mutating func appendWishes(to wishes: inout Wishes, target: PlanTarget, context: PlanContext) {
        latency = max(Double(context.loadLatency) / 1e9, 0)
        workers = max(context.workers, 1)
        horizon = min(
            max(context.capacityTiles, ForesightTrials.horizon.lowerBound),
            ForesightTrials.horizon.upperBound
        )
        odds.setEffort(context.effort)
        // Without wishes there is nothing that could change.
        isSettled = true
        guard context.effort > 0, target.needed.count <= seen.maximumNeeded else { return }
        let outlook = Outlook(
            target: target,
            travel: travel(of: target.rectangle, scale: target.viewport.scale, now: context.now),
            motion: motion,
            seesHeading: effects.contains(.heading),
            latency: latency,
            workers: workers
        )
        let standings = context.standings(target.needed)
        if effects.contains(.order) { appendNeeded(to: &wishes, outlook: outlook, standings: standings) }
        if effects.contains(.cover) {
            appendCover(to: &wishes, outlook: outlook, standings: standings, context: context)
        }
        if effects.contains(.abandonment) { appendHopeless(to: &wishes, outlook: outlook) }
        let stand = Stand(
            viewport: target.viewport,
            destination: target.destination,
            change: change,
            travel: outlook.travel
        )
        // At rest, and nearly so, the same tiles would be thought of again and again.
        let thinksAnew = !(lastStand.map { stand.hasCandidates(of: $0) } ?? false)
        if thinksAnew {
            swap(&candidates, &previous)
            candidates.removeAll()
            if effects.contains(.destination) { findDestination(outlook, now: context.now) }
            if effects.contains(.pan) { findNeighbours(outlook) }
            findKin(outlook)
            for candidate in previous.list { trials.leave(candidate.trial, time: motion.time) }
            lastStand = stand
        }
        let count = candidates.list.count
        let hadNewNeeds = hasNewNeeds
        if effects.contains(.returns) { findReturns(context) }
        appendValues(to: &wishes, target: target, context: context)
        isSettled =
            !thinksAnew && !hadNewNeeds && candidates.list.count == count && target.destination == nil && motion.isStill
    }

    /// Where the edges of a view go from now on.
    func travel(of view: PixelRect, scale: Double, now: Int64) -> EdgeTravel {
        EdgeTravel(
            view: view,
            scale: scale,
            motion: effects.contains(.motion) ? motion : nil,
            now: Double(now) / 1e9,
            decay: max(EdgeTravel.decay, Self.leadsAhead * lead)
        )
    }

    /// A tile to think about, once in a plan; the trial of its bin goes on or begins.
    mutating func consider(_ key: TileKey, bin: Int, _ worth: ForesightOdds.Worth, slot: Int?) {
        guard candidates.claim(key) else { return }
        var trial = -1
        if bin >= 0 {
            trial = previous.takeTrial(of: key, bin: bin)
            if trial >= 0, !trials.isOpen(trial, bin) { trial = -1 }
            if trial < 0 { trial = trials.open(key, bin, time: motion.time, until: demands + horizon) }
        }
        candidates.append(
            ForesightCandidates.Candidate(
                key: key,
                bin: Int32(truncatingIfNeeded: bin),
                slot: Int32(truncatingIfNeeded: slot ?? -1),
                worth: worth,
                trial: trial
            )
        )
    }

    /// Gains and losses become wishes, worths and what is known of visits.
    private mutating func appendValues(to wishes: inout Wishes, target: PlanTarget, context: PlanContext) {
        let isWeighed = effects.contains(.worth)
        if isWeighed {
            wishes.margin = Self.margin
            wishes.recency = odds.recency
        }
        if hasNewNeeds {
            // Tiles loaded anew do not know that they have been in view before.
            for key in target.needed {
                guard let slot = seen.find(key), seen.records[slot].visits > 1 else { continue }
                wishes.keepValues.append(entry(key, value: 1, slot: slot))
            }
            hasNewNeeds = false
        }
        let standings = context.standings(candidates.list.map(\.key))
        var missing: [(value: Float, number: Int)] = []
        var promoted: [Int] = []
        for (number, candidate) in candidates.list.enumerated() {
            // What is nowhere cannot be kept.
            if isWeighed, standings[number].isKnown {
                wishes.keepValues.append(entry(of: candidate, value: candidate.worth.loss))
            }
            guard candidate.worth.gain > 0 else { continue }
            if standings[number].residency == .none {
                missing.append((Float(candidate.worth.gain), number))
            } else if standings[number].residency == .compressed, candidate.worth.gain >= Self.promotionGain {
                promoted.append(number)
            }
        }
        // Stable: equal gains keep the order in which they were thought of.
        missing.sort { ($1.value, $0.number) < ($0.value, $1.number) }
        for wish in missing.prefix(Self.maximumWishes) {
            let candidate = candidates.list[wish.number]
            wishes.entries.append(entry(of: candidate, value: candidate.worth.gain))
        }
        for number in promoted.prefix(Self.maximumWishes) {
            let candidate = candidates.list[number]
            var entry = entry(of: candidate, value: candidate.worth.gain)
            entry.wantsDecoded = true
            wishes.entries.append(entry)
        }
    }

    private func entry(of candidate: ForesightCandidates.Candidate, value: Double) -> PlanEntry {
        entry(candidate.key, value: Float(value), slot: Int(candidate.slot))
    }

    private func entry(_ key: TileKey, value: Float, slot: Int) -> PlanEntry {
        var entry = PlanEntry(key: key, value: value, reason: .prefetch)
        if slot >= 0 {
            entry.visits = UInt8(min(seen.records[slot].visits, 255))
            entry.age = Int32(clamping: demands - seen.records[slot].lastNeeded)
        }
        return entry
    }
}
