/// Probabilities of a demand of each bin: within the horizon, and too soon to wait.
///
/// Starts with a weak prior and learns from samples.
struct ProbabilityTable: Sendable {
    /// Weight of the prior, in events. A lower one takes chance for habit. A higher one learns too slowly if a session
    /// is unlike the prior.
    static let strength = 30.0
    /// Decay of evidence per change of the needed tiles. Hit rates hardly depend on it.
    static let memory = 0.995
    /// Worth of keeping a tile that is likely to be needed later. At much less it is evicted, and loaded again.
    static let keepShare = 0.3
    /// Price of a needless load at an effort of 0.5, in loads in time: eight needless loads for one tile in time.
    static let lossAtHalf = PrefetchTerms.priceAtHalf

    /// Samples of this session by unplaced bin; older ones weigh less.
    private var session = BinCounts(count: CandidateBin.count)
    private var prior = BinPriors.standard
    private var mixture: ProfileMixture?
    /// Samples of this session by placed bin, for a profile. Nothing is forgotten.
    private(set) var learned: BinCounts
    private(set) var price = lossAtHalf {
        didSet { if price != oldValue { valuation += 1 } }
    }

    /// Factor of the distances in the prior, by the expected time of a load; above 0, to 1.
    private var stretch = 1.0

    var caution = Caution.none {
        didSet { if caution != oldValue { valuation += 1 } }
    }

    /// How much of a gain has to be certain: more if a late tile costs little.
    enum Caution: Int, Comparable {
        case none
        /// The gain of a pan's bin takes the lower bound of a probability that samples have raised: of many bins, some
        /// are high by chance. Zooms are taken as learned: their priors are low before the first one.
        case bounded
        /// Besides, tiles that can wait have a multiple of the price.
        case patient

        /// Patient if two loads in a row are shorter than what people notice: a late tile shows for a moment only.
        ///
        /// - Parameter latency: Expected time of a load, in seconds.
        init(latency: Double) {
            let noticed = Outlook.noticedSeconds
            self = latency >= noticed ? .none : 2 * latency > noticed ? .bounded : .patient
        }

        static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
    }

    /// Worth of a tile.
    struct Worth: Sendable {
        /// Gain of starting the load now instead of waiting; nothing starts for 0 or less.
        var gain: Double
        /// Loss of evicting the tile.
        var loss: Double
    }

    /// Cached worths of the bins: a plan reads hundreds.
    private var worths: [(valuation: Int, worth: Worth)]
    /// Number of changes of the probabilities.
    private(set) var valuation = 1

    /// - Parameters:
    ///   - profile: Samples of other sessions by placed bin. Default: none.
    ///   - learned: What was learned in this session before. Default: nothing.
    init(profile: BinCounts? = nil, learned: BinCounts? = nil) {
        mixture = profile.map { ProfileMixture($0, prior: .standard) }
        let bins = profile == nil ? CandidateBin.count : CandidateBin.placedCount
        worths = [(valuation: Int, worth: Worth)](repeating: (0, Worth(gain: 0, loss: 0)), count: bins)
        self.learned = learned ?? BinCounts(count: bins)
    }

    /// Bytes of a table with a profile beyond those of one without.
    static let profileBytes =
        ProfileMixture.byteCount
        + (CandidateBin.placedCount - CandidateBin.count)
        * (MemoryLayout<(Int, Worth)>.stride + 3 * MemoryLayout<Double>.stride)

    /// Bytes beyond those of a table without a profile, for short loads.
    var byteCount: Int {
        (mixture == nil ? 0 : Self.profileBytes) + (stretch < 1 ? prior.soon.count * MemoryLayout<Double>.stride : 0)
    }

    /// - Parameter effort: Above 0, to 1: from no waste to any.
    mutating func setEffort(_ effort: Double) {
        price = effort > 0 ? Self.lossAtHalf * (1 - effort) / effort : 1e9
    }

    /// - Parameters:
    ///   - latency: Expected time of a load, in seconds.
    ///   - speed: Speed of the view's pans, in screen pixels a second: a slow view does not go far during a long load.
    ///     Default: that of the priors.
    mutating func setLatency(_ latency: Double, speed: Double = BinPriors.speed) {
        let share = BinPriors.latency / latency * max(BinPriors.speed / speed, 1)
        // In steps, since loads never take equally long.
        let stretch = max((16 * min(share, 1)).rounded(), 1) / 16
        guard stretch != self.stretch else { return }
        self.stretch = stretch
        prior.soon = stretch == 1 ? BinPriors.standard.soon : BinPriors(stretch: stretch).soon
        valuation += 1
    }

    /// Counts a sample of a bin, placed if there is a profile with places.
    mutating func count(_ bin: Int, weight: Double, wasNeeded: Bool, wasSoon: Bool) {
        valuation += 1
        let plain = CandidateBin.unplaced(bin)
        mixture?.weigh(
            bin,
            prior.likelihood(plain, session),
            session,
            weight: weight,
            wasNeeded: wasNeeded,
            wasSoon: wasSoon
        )
        session.count(plain, weight: weight, wasNeeded: wasNeeded, wasSoon: wasSoon)
        learned.count(plain, weight: weight, wasNeeded: wasNeeded, wasSoon: wasSoon)
        if bin != plain { learned.count(bin, weight: weight, wasNeeded: wasNeeded, wasSoon: wasSoon) }
    }

    mutating func forget() {
        valuation += 1
        session.scale(by: Self.memory)
    }

    /// Forgets all samples.
    mutating func unlearn() {
        valuation += 1
        session.scale(by: 0)
        mixture?.unlearn()
    }

    /// Probabilities that a tile of a bin is demanded within the horizon, and too soon. Too soon: a load begun at the
    /// last moment is late.
    func likelihood(_ bin: Int) -> DemandLikelihood {
        likelihood(bin, cold: prior.likelihood(CandidateBin.unplaced(bin), session))
    }

    private func likelihood(_ bin: Int, cold: DemandLikelihood) -> DemandLikelihood {
        mixture?.likelihood(bin, cold, session) ?? cold
    }

    /// Gain of starting the load of a candidate now instead of waiting.
    ///
    /// - Parameter nearness: Load time relative to the source's, 0...1; a needless load costs as much less. Default: 1.
    func gain(_ bin: Int, nearness: Double = 1) -> Double {
        let plain = CandidateBin.unplaced(bin)
        let isBounded = caution >= .bounded && CandidateBin.kind(plain) == .pan
        let cold = isBounded ? prior.cautiousLikelihood(plain, session) : prior.likelihood(plain, session)
        let likelihood = likelihood(bin, cold: cold)
        let price = caution == .patient ? CandidateBin.patience(plain) * price : price
        return likelihood.soon - nearness * price * (1 - likelihood.needed)
    }

    /// Loss of evicting the tile.
    func loss(_ bin: Int) -> Double {
        let likelihood = likelihood(bin)
        return likelihood.soon + Self.keepShare * likelihood.needed
    }

    /// Gain and loss, cached.
    @inline(__always)
    mutating func worth(_ bin: Int) -> Worth {
        worths[bin].valuation == valuation ? worths[bin].worth : newWorth(bin)
    }

    private mutating func newWorth(_ bin: Int) -> Worth {
        let worth = Worth(gain: gain(bin), loss: loss(bin))
        worths[bin] = (valuation, worth)
        return worth
    }
}

extension BinPriors {
    /// Round numbers that fall with distance, and from ahead over aside to behind.
    static let standard = BinPriors(stretch: 1)

    /// Longest load, in seconds, for which the standard priors are. During a longer one, a view goes further, so that
    /// tiles further away are needed too soon.
    static let latency = 0.05
    /// Speed of pans, in screen pixels a second, from which on longer loads count in full. Slower views go less far during
    /// such a load.
    static let speed = 500.0

    /// - Parameter stretch: Distance that a view goes during the longest load of the standard priors, relative to that
    ///   during the present ones.
    fileprivate init(stretch: Double) {
        needed = [Double](repeating: 0, count: CandidateBin.count)
        soon = needed
        strength = [Double](repeating: ProbabilityTable.strength, count: CandidateBin.count)
        setPan(stretch)
        setZoom()
        // Too low for a load: a session has to show that people go to popular places.
        for isSeen in [false, true] {
            let bin = CandidateBin.popular(isSeen: isSeen)
            (needed[bin], soon[bin]) = (0.02, 0.02)
        }
    }

    private mutating func setPan(_ stretch: Double) {
        let falls = [1, 0.75, 0.5, 0.35, 0.25, 0.15, 0.09, 0.05, 0.02]
        let sooner = [0.8, 0.6, 0.4, 0.25, 0.15, 0.1, 0.07, 0.05, 0.03]
        let bounds = CandidateBin.distanceBounds + [CandidateBin.distanceBounds.last! * 4 / 3]
        let shares = bounds.map { bound in
            // The first class whose bound is as far.
            let last = max(bounds.firstIndex { $0 >= bound * stretch } ?? 0, 1)
            let part = (bound * stretch - bounds[last - 1]) / (bounds[last] - bounds[last - 1])
            return sooner[last - 1] + part * (sooner[last] - sooner[last - 1])
        }
        let reached = [0.95, 0.75, 0.5, 0.3]
        let reachedSoon = [0.95, 0.6, 0.35, 0.15]
        let byDirection = [0.7, 0.45, 0.4, 0.5]
        for isMoving in [false, true] {
            for direction in 0..<4 {
                for reach in 0..<4 {
                    for distance in 0..<CandidateBin.distances {
                        let isAhead = isMoving && direction == 0
                        let fall = falls[distance]
                        var likely = byDirection[direction] * fall
                        var share = shares[distance]
                        if isAhead {
                            likely = reached[reach] * (reach >= 2 ? 1.5 * fall : 0.4 + 0.6 * fall)
                            share = max(share, reachedSoon[reach])
                        }
                        for isSeen in [false, true] {
                            let bin = CandidateBin.pan(
                                isMoving: isMoving,
                                CandidateBin.Direction(rawValue: direction)!,
                                reach: reach,
                                distance: distance,
                                isSeen: isSeen
                            )
                            needed[bin] = min(isSeen ? likely + 0.15 * (1 - likely) : likely, 0.97)
                            soon[bin] = needed[bin] * share
                        }
                    }
                }
            }
        }
    }

    /// Sets the probabilities of zooms by step and context. Steps: -3, -2, -1, +1, +2. Contexts: never zoomed, in, out,
    /// in and panned since, out and panned since, panned far since (as if never); then, of any step, by when a zoom in
    /// progress reaches the level.
    ///
    /// Low before the first zoom, unless the view is an overview (`Outlook`): otherwise the next finer level would be
    /// loaded everywhere, also in sessions that never zoom.
    private mutating func setZoom() {
        let falls = [1, 0.5, 0.35, 0.25, 0.2, 0.12, 0.07, 0.03, 0.01]
        let likelihoods = [
            [0.01, 0.1, 0.3, 0.1, 0.2], [0.03, 0.2, 0.45, 0.2, 0.3], [0.06, 0.4, 0.75, 0.45, 0.55],
            [0.1, 0.75, 0.35, 0.6, 0.6], [0.03, 0.4, 0.15, 0.3, 0.25],
        ]
        // Low for the last two, since fingers that pan change the scale a little, too.
        let reached = [0.9, 0.5, 0.2]
        for step in likelihoods.indices {
            let isNext = abs(CandidateBin.levelSteps[step]) == 1
            // A view that has settled on its level is like one that never zoomed.
            let unreached = likelihoods[step] + [likelihoods[step][0]]
            let byContext = unreached + reached
            for context in byContext.indices {
                for distance in 0..<CandidateBin.distances {
                    for isSeen in [false, true] {
                        let bin = CandidateBin.zoom(
                            step: step,
                            MotionEstimate.ZoomContext(rawValue: context)!,
                            distance: distance,
                            isSeen: isSeen
                        )
                        let likely = byContext[context] * falls[distance]
                        needed[bin] = isSeen ? likely + 0.2 * (1 - likely) : likely
                        soon[bin] = needed[bin] * (isNext || context >= unreached.count ? 0.6 : 0.05)
                    }
                }
            }
        }
    }
}
