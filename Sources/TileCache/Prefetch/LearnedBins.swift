/// What a session teaches about the bins of candidates: how likely their tiles are demanded, and what that is worth.
struct LearnedBins: Sendable {
    /// Horizon of popular tiles, as a multiple of that of other tiles: popular tiles are kept for long, so that they
    /// are worth a load for a later demand.
    static let popularHorizon = 2

    private let effects: PolicyEffects
    /// What was learned in other sessions, if it says anything.
    private let profile: PrefetchProfile?
    private(set) var visits: Visits
    private var probabilities: ProbabilityTable
    private(set) var samples: Samples
    /// Apart from the other samples, whose ring they would fill. There are no more than popular tiles, visited or not.
    private var popularSamples = Samples(capacity: 2 * PopularTiles.maximumTiles)
    private var viewed = ViewedPlaces()
    /// Horizon of new samples, in demands.
    private var horizon = Samples.horizon.upperBound
    /// Time of the last frame, in seconds.
    private var time = 0.0

    /// - Parameters:
    ///   - memory: As for ``AdaptivePolicy``.
    ///   - profile: What was learned in other sessions. Default: nothing.
    init(effects: PolicyEffects, memory: Int, profile: PrefetchProfile? = nil) {
        self.effects = effects
        let known = effects.contains(.profile) ? profile.flatMap { $0.isTelling ? $0 : nil } : nil
        self.profile = ProbabilityTable.profileBytes <= memory ? known : nil
        probabilities = ProbabilityTable(profile: self.profile?.bins)
        // A visited tile takes some 150 bytes with its index, a sample 111, and there are two samples per tile.
        var capacity = 4096
        while capacity > 512, capacity * Self.bytesPerTile > memory { capacity /= 2 }
        visits = Visits(capacity: capacity)
        samples = Samples(capacity: 2 * capacity)
    }

    private static let bytesPerTile = 360

    /// Forgets all but what a profile is made of. Its size is fixed.
    mutating func reset() {
        let (memory, learned, viewed) = (visits.seen.capacity * Self.bytesPerTile, probabilities.learned, viewed)
        // There is no room for the tables of a profile.
        self = LearnedBins(effects: effects, memory: memory)
        probabilities = ProbabilityTable(learned: learned)
        self.viewed = viewed
    }

    var byteCount: Int { visits.byteCount + samples.byteCount + popularSamples.byteCount + probabilities.byteCount }

    /// What the session has taught, for later ones.
    var learned: SessionSamples { SessionSamples(bins: probabilities.learned, viewed: viewed) }

    /// How many other sessions viewed each place, if a profile says so.
    var places: PlaceSketch? { profile?.places }

    // MARK: - Learning

    /// Notes a frame: samples that begin or end are dated by it.
    ///
    /// - Parameter time: In seconds.
    mutating func noteFrame(at time: Double) { self.time = time }

    /// Whether needed tiles are few enough to learn from.
    func canLearn(from needed: [TileKey]) -> Bool { needed.count <= visits.seen.maximumNeeded }

    /// Ends samples after a change of the needed tiles.
    mutating func learn(from needed: [TileKey], _ deadlines: ViewMotion.Deadlines) {
        let (deadline, latest) = (deadlines.behindOthers, deadlines.withFreeWorker)
        for key in visits.take(needed) {
            viewed.note(key)
            samples.succeed(key, deadline: deadline, latest: latest, probabilities: &probabilities)
            popularSamples.succeed(key, deadline: deadline, latest: latest, probabilities: &probabilities)
        }
        probabilities.forget()
        samples.expire(demands: visits.demands, probabilities: &probabilities)
        popularSamples.expire(demands: visits.demands, probabilities: &probabilities)
        if !effects.contains(.learning) { probabilities.unlearn() }
    }

    // MARK: - Worths

    /// Sets what worths depend on beside samples.
    mutating func setTerms(of context: borrowing PlanContext, _ motion: borrowing ViewMotion) {
        horizon = min(max(context.capacityTiles, Samples.horizon.lowerBound), Samples.horizon.upperBound)
        probabilities.setEffort(context.effort)
        if effects.contains(.latency) { probabilities.setLatency(motion.latency, speed: motion.panSpeed) }
        probabilities.caution =
            effects.contains(.caution) ? ProbabilityTable.Caution(latency: motion.latency) : .none
    }

    /// Number of changes of the worths.
    var valuation: Int { probabilities.valuation }

    /// Gain and loss of a bin's tiles.
    mutating func worth(_ bin: Int) -> ProbabilityTable.Worth { probabilities.worth(bin) }

    /// Gain of a bin's tile from a tier that is nearer than the source.
    ///
    /// - Parameter nearness: Load time relative to the source's, 0...1.
    func gain(_ bin: Int, nearness: Double) -> Double { probabilities.gain(bin, nearness: nearness) }

    // MARK: - Candidates

    /// Sets what follows from a candidate's place, and its bin.
    ///
    /// - Parameters:
    ///   - popularities: Those of places, if they count.
    ///   - isUnchanged: Whether nothing was learned since the candidate got its worth.
    @inline(__always)
    mutating func judge(
        _ candidate: inout Candidates.Candidate,
        _ judgement: CandidateJudgement,
        popularities: PlaceSketch?,
        isUnchanged: Bool
    ) {
        let bin = popularities.placed(judgement.bin &+ (candidate.isSeen ? 1 : 0), candidate.key)
        // Otherwise without the tables, of which each tile would read another part.
        if !isUnchanged || candidate.bin != bin || !samples.isCurrent(candidate.sample) { enter(&candidate, bin) }
        candidate.entersAfter = judgement.entersAfter
        candidate.isHopeless = judgement.isHopeless
    }

    /// Sets the bin of a candidate, its worth and its sample.
    @inline(never)
    private mutating func enter(_ candidate: inout Candidates.Candidate, _ bin: Int) {
        candidate.worth = probabilities.worth(bin)
        guard candidate.bin != bin || !samples.isOpen(candidate.sample, bin) else { return }
        candidate.sample = newSample(of: candidate.key, bin, after: candidate.sample)
        candidate.bin = Int32(truncatingIfNeeded: bin)
    }

    // Apart, since few candidates need it.
    @inline(never)
    private mutating func newSample(of key: TileKey, _ bin: Int, after former: Int) -> Int {
        leave(former)
        return samples.open(key, bin, time: time, until: visits.demands + horizon)
    }

    /// Notes that a tile is no longer a candidate of the bin of its sample.
    mutating func leave(_ sample: Int) { samples.leave(sample, time: time) }

    /// Notes that a tile is still a candidate of the bin of its sample.
    mutating func stay(_ sample: Int) { samples.stay(sample) }

    /// Opens the sample of a popular tile.
    mutating func samplePopular(_ key: TileKey, _ bin: Int) {
        _ = popularSamples.open(key, bin, time: time, until: visits.demands + Self.popularHorizon * horizon)
    }
}

extension PlaceSketch? {
    /// The bin of a tile, by the popularity of its place if there is a profile.
    @inline(__always)
    func placed(_ bin: Int, _ key: TileKey) -> Int {
        self?.popularity(of: key).map { CandidateBin.placed(bin, $0) } ?? bin
    }
}
