/// Default policy: assigns each candidate tile to a bin, and learns the probabilities of the bins.
///
/// The gain of a load is the probability that the tile is demanded too soon to wait, less the price of a needless load,
/// which follows from the effort. The loss of an eviction is computed in the same way. A plan loads the highest gains,
/// evicts the lowest losses, and starts nothing that is not worth more than its victim. All tables are bounded.
///
/// Four values decide: how the view moves on, how likely tiles of each bin are demanded, which tiles are candidates, and
/// what is worth a load. Each has storage that only its own methods change. The policy passes results from one to the
/// next.
package struct AdaptivePolicy: PrefetchPolicy {
    private(set) var motion: ViewMotion
    private(set) var bins: LearnedBins
    private(set) var candidates: CandidateSearch
    private(set) var judgement: Judgement
    /// Whether the last plan equals the one before, and depends on nothing that changes with time.
    private var isSettled = false

    /// Effects in use.
    private let effects: PolicyEffects

    /// - Parameters:
    ///   - effects: Effects in use. Default: all.
    ///   - memory: Approximate maximum of the tables, in bytes; at least 190 KB. Default: 1.5 MB, the maximum. The
    ///     tables of a profile come on top, at most 0.7 MB, if its probabilities are within the maximum; otherwise the
    ///     profile is left out. The profile itself is not counted: layers share it.
    ///   - profile: What was learned in other sessions. Default: nothing.
    package init(effects: PolicyEffects = .all, memory: Int = .max, profile: PrefetchProfile? = nil) {
        self.init(effects, LearnedBins(effects: effects, memory: memory, profile: profile))
    }

    private init(_ effects: PolicyEffects, _ bins: LearnedBins) {
        self.effects = effects
        motion = ViewMotion(effects: effects)
        self.bins = bins
        candidates = CandidateSearch(effects: effects, places: bins.places)
        judgement = Judgement(effects: effects)
    }

    package var validity: WishValidity {
        var validity: WishValidity = isSettled ? [.onceRested, .whileStill] : .onceRested
        if effects.contains(.reuse) { validity.insert(.whileGoingOn) }
        return validity
    }

    package var byteCount: Int { bins.byteCount + candidates.byteCount + judgement.byteCount }

    package mutating func reset() {
        bins.reset()
        self = AdaptivePolicy(effects, bins)
    }

    /// Forgets which tiles the last plan walked, so that the next one takes no candidates over. For tests.
    mutating func forgetGrids() { candidates.forgetGrids() }

    package var learned: SessionSamples? { bins.learned }

    package mutating func observe(_ frame: FrameObservation) {
        motion.observe(frame)
        bins.noteFrame(at: motion.time)
        guard bins.visits.isChange(frame.needed) else { return }
        motion.noteChange(newTiles: bins.visits.newCount(of: frame.needed))
        bins.learn(from: frame.needed, motion.deadlines)
        judgement.noteChange()
    }

    package mutating func appendWishes(to wishes: inout Wishes, target: PlanTarget, context: PlanContext) {
        motion.setLoads(of: context)
        bins.setTerms(of: context, motion)
        // Without prefetches nothing can change.
        isSettled = true
        guard context.effort > 0, bins.canLearn(from: target.needed), !target.isCut else { return }
        let outlook = motion.outlook(on: target, now: context.now)
        wishes.keepValues.reserveCapacity(candidates.count + target.needed.count)
        judgement.appendNeeds(to: &wishes, outlook, shown: bins.visits.shown, in: context)
        let hasNewCandidates = candidates.find(outlook, &bins, in: context)
        let hasNewNeeds = judgement.appendValues(to: &wishes, of: candidates, bins, outlook, in: context)
        isSettled = !hasNewCandidates && !hasNewNeeds && target.destination == nil && motion.isStill
    }
}
