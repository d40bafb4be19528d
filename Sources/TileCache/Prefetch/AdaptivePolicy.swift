/// Default policy: assigns each candidate tile to a bin, and learns the probabilities of the bins.
///
/// The gain of a load is the probability that the tile is demanded too soon to wait, less the price of a needless load,
/// which follows from the effort. The loss of an eviction is computed in the same way. A plan loads the highest gains,
/// evicts the lowest losses, and starts nothing that is not worth more than its victim. All tables are bounded.
package struct AdaptivePolicy: PrefetchPolicy {
    /// Minimum excess of a gain over the victim's loss. Keeps similar tiles from evicting each other. With 0.03,
    /// `starcraft_view` closes .02 less of the gap at 12 screens and .02 more at 4, for .04 less waste.
    static let margin: Float = 0.0075
    /// Maximum prefetches of a plan; more never start before the next one.
    static let maximumWishes = 64
    /// Minimum gain to decompress a tile ahead of need. It takes far less time than a load, but a slot. With 0.5 and the
    /// codec's time charged, `immens_map` draws .89 instead of .92 of the demands at 4 screens in their own frame; with
    /// 0.15 .95, but at 2 screens it hits .006 less if that time is not charged.
    static let promotionGain = 0.25
    /// Rate of the mean number of tiles demanded at once.
    static let burstRate = 0.2
    /// A frame at 60 Hz. Plans are at most as frequent, so loads begin up to that much later.
    static let frameSeconds = 1.0 / 60
    /// Screen pixels of panning before candidates are recomputed, if the needed tiles are the same. Half of the frames
    /// of `gps_follow` pan by less.
    static let leastWay = 2.0
    /// The same for the expected travel. At the end of a stroke it changes while the view hardly does.
    static let leastTravel = 4.0
    /// Minimum decay of the motion, in leads. With long loads or queues, near tiles are late anyway.
    static let leadsAhead = 1.5
    /// Duration that people take for immediate, in seconds: Miller, "Response time in man-computer conversational
    /// transactions", 1968. Shorter loads that come late are hardly noticed, so fewer needless ones are worth it.
    static let noticedSeconds = 0.1

    var motion: MotionEstimate
    var probabilities: ProbabilityTable
    /// What was learned in other sessions, if it says anything.
    let profile: PrefetchProfile?
    var popular: PopularTiles?
    private var viewed = ViewedPlaces()
    /// The motion's pace at the last change of the needed tiles.
    private var pace = PanPace()
    var samples: Samples
    /// Apart from the others, whose ring they would fill. Not more than popular tiles, visited or not.
    var popularSamples = Samples(capacity: 2 * PopularTiles.maximumTiles)
    /// Change of the needed tiles that popular tiles were sampled at.
    var popularChange = 0
    var seen: SeenTiles
    var candidates = Candidates()
    /// Room for the columns of a level's candidates, and for the judgements of a row.
    var columns: [(column: Int, place: CandidateSide)] = []
    var judgements: [CandidateJudgement] = []
    var previous = Candidates()

    /// The last fallbacks, newest first.
    var fallbacks: [TileKey] = []
    private var needed: [TileKey] = []
    /// The needed tiles as a range; `nil` if they are none, or too many to learn from.
    private(set) var shown: TileRange?
    /// Number of changes of the needed tiles.
    var change = 0
    /// Number of demands: the clock of ages and horizons.
    var demands = 0
    /// Mean number of tiles demanded at once.
    private var burst = 4.0
    /// How long before its demand a load has to begin, in seconds.
    private(set) var lead = 0.1
    private(set) var horizon = Samples.horizon.upperBound
    private var latency = 0.04
    private(set) var workers = 4
    private var hasNewNeeds = false
    /// Version of the pool's states that the candidates' are of. A policy belongs to one pool.
    private var lookUpVersion = -1
    private var lastStand: Stand?
    /// Whether the last plan equals the one before, and depends on nothing that changes with time.
    package private(set) var isSettled = false

    /// State that the candidates depend on: completely at rest, nearly so in motion.
    private struct Stand {
        var viewport: TileViewport
        var destination: ViewportDestination?
        var destinationLevel: Int?
        var change: Int
        /// Tiles that memory holds.
        var capacity: Int
        var travel: EdgeTravel
        var isMoving: Bool { travel.isMoving }

        /// Whether the candidates of another stand are valid for this one.
        func hasCandidates(of other: Stand) -> Bool {
            guard change == other.change, capacity == other.capacity, isMoving == other.isMoving,
                destination == other.destination, destinationLevel == other.destinationLevel
            else { return false }
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

    /// Effects in use.
    let effects: PolicyEffects

    /// - Parameters:
    ///   - effects: Effects in use. Default: all.
    ///   - memory: Approximate maximum of the tables, in bytes; at least 190 KB. Default: 1.5 MB, the maximum. Those of
    ///     a profile come on top, at most 0.7 MB, if its probabilities are within it; otherwise the profile is left out.
    ///     The profile itself is not counted: layers share it.
    ///   - profile: What was learned in other sessions. Default: nothing.
    package init(effects: PolicyEffects = .all, memory: Int = .max, profile: PrefetchProfile? = nil) {
        self.effects = effects
        motion = MotionEstimate(followsZoom: effects.contains(.zoom))
        let known = effects.contains(.profile) ? profile.flatMap { $0.isTelling ? $0 : nil } : nil
        self.profile = ProbabilityTable.profileBytes <= memory ? known : nil
        popular = self.profile?.places.map { PopularTiles($0) }
        probabilities = ProbabilityTable(profile: self.profile?.bins)
        // A visited tile takes some 150 bytes with its index, a sample 111, and there are two samples per tile.
        var capacity = 4096
        while capacity > 512, capacity * 360 > memory { capacity /= 2 }
        seen = SeenTiles(capacity: capacity)
        samples = Samples(capacity: 2 * capacity)
    }

    package var isReusable: Bool { effects.contains(.reuse) }

    package var byteCount: Int {
        seen.byteCount + samples.byteCount + candidates.byteCount + previous.byteCount
            + (needed.count + fallbacks.count) * MemoryLayout<TileKey>.stride + probabilities.byteCount
            + (popular?.byteCount ?? 0) + popularSamples.byteCount
    }

    package mutating func reset() {
        let (memory, learned, viewed) = (seen.capacity * 360, probabilities.learned, viewed)
        // There is no room for the tables of a profile.
        self = AdaptivePolicy(effects: effects, memory: memory)
        // For the profile that is taken at the end. Its size is fixed.
        probabilities = ProbabilityTable(learned: learned)
        self.viewed = viewed
    }

    package var learned: SessionSamples? { SessionSamples(bins: probabilities.learned, viewed: viewed) }

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
        take(frame.needed, isFirst: isFirst)
        needed = frame.needed
        shown = needed.count <= seen.maximumNeeded ? TileRange(needed.lazy.map(\.coordinate)) : nil
        hasNewNeeds = true
    }

    /// Updates samples and ages after a change of the needed tiles.
    private mutating func take(_ tiles: [TileKey], isFirst: Bool) {
        change += 1
        pace = motion.pace
        let time = motion.time
        let current = tiles.prefix(seen.maximumNeeded)
        if !isFirst {
            let count = current.count { !wasNeeded($0) }
            if count > 0 { burst += (Double(count) - burst) * Self.burstRate }
            lead = latency * (1 + burst / Double(workers)) + Self.frameSeconds
        }
        // The first tiles of a burst do not wait for a worker. With the full lead, every sample would be late if loads
        // take long, and nothing would be loaded.
        let latest = time - min(latency + Self.frameSeconds, lead)
        for key in current {
            let slot = seen.record(key)
            let isDemand = seen.records[slot].neededAt != change - 1 || isFirst
            if isDemand {
                demands += 1
                viewed.note(key)
                samples.succeed(key, deadline: time - lead, latest: latest, probabilities: &probabilities)
                popularSamples.succeed(key, deadline: time - lead, latest: latest, probabilities: &probabilities)
            }
            seen.note(slot, change: change, isDemand: isDemand, demands: demands)
        }
        probabilities.forget()
        samples.expire(demands: demands, probabilities: &probabilities)
        popularSamples.expire(demands: demands, probabilities: &probabilities)
        if !effects.contains(.learning) { probabilities.unlearn() }
    }

    /// Whether a tile was needed before the change of the needed tiles that is being learned from.
    private func wasNeeded(_ key: TileKey) -> Bool {
        // The range is that of the tiles before.
        shown?.contains(key.coordinate) ?? seen.find(key).map { seen.records[$0].neededAt == change - 1 } ?? false
    }

    // MARK: - Planning

    package mutating func appendWishes(to wishes: inout Wishes, target: PlanTarget, context: PlanContext) {
        latency = max(Double(context.loadLatency) / 1e9, 0)
        workers = max(context.workers, 1)
        horizon = min(max(context.capacityTiles, Samples.horizon.lowerBound), Samples.horizon.upperBound)
        probabilities.setEffort(context.effort)
        if effects.contains(.latency) { probabilities.setLatency(latency, speed: pace.speed) }
        probabilities.caution = effects.contains(.caution) ? caution : .none
        // Without prefetches nothing can change.
        isSettled = true
        guard context.effort > 0, target.needed.count <= seen.maximumNeeded, !target.isCut else { return }
        let outlook = Outlook(
            target: target,
            travel: travel(of: target.rectangle, scale: target.viewport.scale, now: context.now),
            motion: motion,
            seesHeading: effects.contains(.heading),
            latency: latency,
            workers: workers
        )
        let residencies = context.residencies(of: target.needed)
        if effects.contains(.worth) { wishes.keepValues.reserveCapacity(candidates.count + target.needed.count) }
        let missing = residencies.indices.filter { residencies[$0].residency == .none }
        let hopeless = effects.contains(.abandonment) ? hopelessTiles(outlook) : []
        if effects.contains(.order) {
            appendNeeded(to: &wishes, outlook: outlook, missing: missing, hopeless: hopeless)
        }
        wishes.hopeless = hopeless.map { target.needed[$0] }
        if effects.contains(.fallback) {
            appendFallbacks(
                to: &wishes,
                outlook: outlook,
                missing: missing,
                residencies: residencies,
                context: context
            )
        }
        let stand = Stand(
            viewport: target.viewport,
            destination: target.destination.flatMap { $0.isAhead(at: context.now) ? $0 : nil },
            destinationLevel: target.destinationLevel,
            change: change,
            capacity: context.capacityTiles,
            travel: outlook.travel
        )
        // At rest, and nearly so, the candidates are the same, with their worths unless a price or the load time changed.
        let hasSameWorths = candidates.valuation == probabilities.valuation
        let thinksAnew = !hasSameWorths || !(lastStand.map { stand.hasCandidates(of: $0) } ?? false)
        if thinksAnew {
            swap(&candidates, &previous)
            // Elsewhere a tile comes up once: the levels differ, and a walk has each tile once.
            let mayRepeat = stand.destination != nil || popular != nil || target.pyramid.wrapsX
            candidates.begin(change: change, valuation: probabilities.valuation, mayRepeat: mayRepeat)
            if effects.contains(.destination) { findDestination(outlook, now: context.now) }
            if effects.contains(.pan) { findNeighbours(outlook, capacity: context.capacityTiles) }
            findParentsAndChildren(outlook, capacity: context.capacityTiles)
            findPopular(outlook, capacity: context.capacityTiles)
            leaveOthers()
            lastStand = stand
        }
        let hadNewNeeds = hasNewNeeds
        appendValues(to: &wishes, outlook: outlook, context: context)
        isSettled = !thinksAnew && !hadNewNeeds && target.destination == nil && motion.isStill
    }

    /// Whether people notice how long a load takes.
    var isNoticed: Bool { latency >= Self.noticedSeconds }

    /// Patient if two loads in a row are shorter than what people notice: a late tile shows for a moment only.
    private var caution: ProbabilityTable.Caution {
        isNoticed ? .none : 2 * latency > Self.noticedSeconds ? .bounded : .patient
    }

    func travel(of view: PixelRect, scale: Double, now: Int64) -> EdgeTravel {
        EdgeTravel(
            view: view,
            scale: scale,
            motion: effects.contains(.motion) ? motion : nil,
            now: Double(now) / 1e9,
            decay: max(EdgeTravel.decay, Self.leadsAhead * lead)
        )
    }

    /// Adds gains, losses and visits to the wishes.
    private mutating func appendValues(to wishes: inout Wishes, outlook: Outlook, context: PlanContext) {
        let target = outlook.target
        let isWeighed = effects.contains(.worth)
        if isWeighed {
            wishes.margin = Self.margin
            wishes.recency = .standard
        }
        if hasNewNeeds {
            // The pool does not know the visits of tiles that are loaded again.
            for key in target.needed {
                guard let slot = seen.find(key), seen.records[slot].visits > 1 else { continue }
                wishes.keepValues.append(entry(key, value: 1, slot: slot))
            }
            hasNewNeeds = false
        }
        candidates.lookUp(after: context.changedTiles?(&lookUpVersion), in: context)
        let list = candidates.list.span
        var missing: [MissingCandidate] = []
        var promoted: [Int] = []
        for number in list.indices {
            guard let found = list[number].state else { continue }
            // Most: neither in memory nor worth a load.
            if !found.isKnown, context.nearness == nil, !(list[number].gain > 0) { continue }
            // Others cannot be kept.
            if isWeighed, found.isKnown {
                wishes.keepValues.append(entry(of: list[number], value: list[number].worth.loss))
            }
            if found.isLoading, list[number].entersAfter.isFinite {
                // Too late to begin, but not to go on: it would be cancelled.
                wishes.entries.append(entry(of: list[number], value: max(list[number].gain, 0)))
                continue
            }
            if let nearness = context.nearness, found.residency == .none, list[number].bin >= 0 {
                let share = nearness(list[number].key)
                if share < 1 {
                    let gain = probabilities.gain(Int(list[number].bin), nearness: share)
                    if gain > 0 {
                        missing.append(MissingCandidate(list[number], number, value: gain, latency: share * latency))
                    }
                    continue
                }
            }
            let gain = list[number].gain
            guard gain > 0 else { continue }
            if found.residency == .none {
                if context.isResidentOnly, context.isNear?(list[number].key) != true { continue }
                missing.append(MissingCandidate(list[number], number, value: gain, latency: latency))
            } else if found.residency == .compressed, gain >= Self.promotionGain {
                promoted.append(number)
            }
        }
        if effects.contains(.deadlines), outlook.travel.isMoving {
            wishes.urgent = takeUrgent(of: &missing, level: target.level)
        }
        // Of equal gains, first what comes into view first, then in the order of the candidates. Tiles of a near tier are
        // not put first, although their loads are short: the pool ends with the first prefetch that is worth less than
        // what it would evict.
        missing.sort { ($1.value, $0.entersAfter, $0.number) < ($0.value, $1.entersAfter, $1.number) }
        wishes.entries.reserveCapacity(
            wishes.entries.count + min(missing.count, Self.maximumWishes) + min(promoted.count, Self.maximumWishes)
        )
        for wish in missing.prefix(Self.maximumWishes) {
            wishes.entries.append(entry(of: list[wish.number], value: Double(wish.value)))
        }
        for number in promoted.prefix(Self.maximumWishes) {
            var entry = entry(of: list[number], value: list[number].gain)
            entry.wantsDecoded = true
            wishes.entries.append(entry)
        }
    }

    func entry(of candidate: Candidates.Candidate, value: Double) -> PlanEntry {
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
