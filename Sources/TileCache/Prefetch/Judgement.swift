/// What is worth a load, and in which order: needed tiles, what is drawn in their place, candidates, and what is kept.
struct Judgement: Sendable {
    /// Minimum excess of a gain over the victim's loss. Keeps similar tiles from evicting each other. A larger margin
    /// saves loads, but if memory is ample it keeps old tiles in place of likely ones.
    static let margin: Float = 0.0075
    /// Maximum prefetches of a plan; more never start before the next one.
    static let maximumWishes = 64
    /// Minimum gain to decompress a tile ahead of need. A decompression takes far less time than a load, but a slot:
    /// with a higher minimum, more tiles come too late for the frame that needs them; with a lower one, they take room
    /// from others.
    static let promotionGain = 0.25

    private let effects: PolicyEffects
    private var fallbacks: Fallbacks
    /// Whether the needed tiles have changed since the last plan.
    private var hasNewNeeds = false

    init(effects: PolicyEffects) {
        self.effects = effects
        fallbacks = Fallbacks(loadsCoarser: effects.contains(.coarser))
    }

    var byteCount: Int { fallbacks.byteCount }

    /// Notes that the needed tiles have changed.
    mutating func noteChange() { hasNewNeeds = true }

    // MARK: - Needed tiles

    /// Adds the order of the needed tiles, those that are not worth a load, and what is drawn in place of missing ones.
    ///
    /// - Parameter shown: The needed tiles as a range, if they are one.
    mutating func appendNeeds(to wishes: inout Wishes, _ outlook: Outlook, shown: TileRange?, in context: PlanContext) {
        let needed = outlook.target.needed
        let residencies = context.residencies(of: needed)
        let missing = residencies.indices.filter { residencies[$0].residency == .none }
        let hopeless = effects.contains(.abandonment) ? Self.hopelessTiles(outlook, shown: shown) : []
        if effects.contains(.order) {
            wishes.needed = Self.order(outlook, missing: missing, hopeless: hopeless)
        }
        wishes.hopeless = hopeless.map { needed[$0] }
        if effects.contains(.fallback) {
            fallbacks.append(to: &wishes, outlook, missing: missing, residencies: residencies, context)
        }
    }

    // MARK: - Candidates

    /// Adds gains, losses and visits to the wishes. Returns whether the needed tiles have changed since the last plan.
    mutating func appendValues(
        to wishes: inout Wishes,
        of candidates: borrowing CandidateSearch,
        _ bins: borrowing LearnedBins,
        _ outlook: Outlook,
        in context: PlanContext
    ) -> Bool {
        if effects.contains(.worth) {
            wishes.margin = Self.margin
            wishes.recency = .standard
        }
        defer { hasNewNeeds = false }
        if hasNewNeeds {
            // The pool does not know the visits of tiles that are loaded again.
            for key in outlook.target.needed {
                let slot = bins.visits.slot(of: key)
                if bins.visits.isRevisited(slot) {
                    wishes.keepValues.append(bins.visits.entry(key, value: 1, slot: slot))
                }
            }
        }
        let candidates = candidates.list
        let list = candidates.span
        var worthy = chooseWorthy(of: list, &wishes, bins, outlook, in: context)
        if effects.contains(.deadlines), outlook.travel.isMoving {
            wishes.urgent = MissingCandidate.takeUrgent(of: &worthy.missing, workers: outlook.workers).map { wish in
                var entry = bins.visits.entry(of: list[wish.number], value: Double(wish.value))
                entry.isUrgent = true
                return entry
            }
        }
        // Of equal gains, first what comes into view first, then in the order of the candidates. Tiles of a near tier are
        // not put first, although their loads are short: the pool ends with the first prefetch that is worth less than
        // what it would evict.
        worthy.missing.sort { ($1.value, $0.entersAfter, $0.number) < ($0.value, $1.entersAfter, $1.number) }
        wishes.entries.reserveCapacity(
            wishes.entries.count + min(worthy.missing.count, Self.maximumWishes)
                + min(worthy.promoted.count, Self.maximumWishes)
        )
        for wish in worthy.missing.prefix(Self.maximumWishes) {
            wishes.entries.append(bins.visits.entry(of: list[wish.number], value: Double(wish.value)))
        }
        for number in worthy.promoted.prefix(Self.maximumWishes) {
            var entry = bins.visits.entry(of: list[number], value: list[number].gain)
            entry.wantsDecoded = true
            wishes.entries.append(entry)
        }
        return hasNewNeeds
    }

    /// Candidates that are worth a load, and numbers of those that are worth a promotion.
    private typealias Worthy = (missing: [MissingCandidate], promoted: [Int])

    /// Chooses the candidates that are worth a load or a promotion. Adds the losses of candidates that can be kept, and
    /// loads in flight that go on.
    private func chooseWorthy(
        of list: Span<Candidates.Candidate>,
        _ wishes: inout Wishes,
        _ bins: borrowing LearnedBins,
        _ outlook: Outlook,
        in context: PlanContext
    ) -> Worthy {
        let (level, latency, isWeighed) = (outlook.target.level, outlook.latency, effects.contains(.worth))
        var worthy: Worthy = ([], [])
        for number in list.indices {
            guard let found = list[number].state else { continue }
            // Most candidates are neither in memory nor worth a load.
            if !found.isKnown, context.nearness == nil, !(list[number].gain > 0) { continue }
            // Others cannot be kept.
            if isWeighed, found.isKnown {
                wishes.keepValues.append(bins.visits.entry(of: list[number], value: list[number].worth.loss))
            }
            if found.isLoading, list[number].entersAfter.isFinite {
                // Too late to begin, but not to go on: without an entry the load would be cancelled.
                wishes.entries.append(bins.visits.entry(of: list[number], value: max(list[number].gain, 0)))
                continue
            }
            if let nearness = context.nearness, found.residency == .none, list[number].bin >= 0 {
                let share = nearness(list[number].key)
                if share < 1 {
                    let gain = bins.gain(Int(list[number].bin), nearness: share)
                    if gain > 0 {
                        worthy.missing.append(
                            MissingCandidate(
                                list[number],
                                number,
                                viewLevel: level,
                                value: gain,
                                latency: share * latency
                            )
                        )
                    }
                    continue
                }
            }
            let gain = list[number].gain
            guard gain > 0 else { continue }
            if found.residency == .none {
                if context.isResidentOnly, context.isNear?(list[number].key) != true { continue }
                worthy.missing.append(
                    MissingCandidate(list[number], number, viewLevel: level, value: gain, latency: latency)
                )
            } else if found.residency == .compressed, gain >= Self.promotionGain {
                worthy.promoted.append(number)
            }
        }
        return worthy
    }
}

extension Visits {
    fileprivate func entry(of candidate: Candidates.Candidate, value: Double) -> PlanEntry {
        entry(candidate.key, value: Float(value), slot: Int(candidate.slot))
    }
}
