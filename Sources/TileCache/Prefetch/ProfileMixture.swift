/// Mixes two predictions, with and without the popularity of a place. The weights follow how well each predicts this
/// session.
///
/// A profile multiplies the odds of a bin by what popularity changed in other sessions. The weight of the result follows
/// the logarithmic loss, separately for each kind of candidate. No weight ever vanishes, so that a profile that
/// fails loses its say and can regain it: fixed share of Herbster and Warmuth, "Tracking the best expert", 1998.
///
/// A profile raises the probabilities of pans and zooms, and never lowers them: what few people look at is still needed
/// soon, once a view is there.
struct ProfileMixture: Sendable {
    /// Maximum weight of what a profile says of a bin, in events.
    static let maximumStrength = 4 * ProbabilityTable.strength
    /// Part of the weights that is spread evenly after each sample.
    static let share = 0.001
    /// Minimum distance of compared probabilities from 0 and 1. Bounds the effect of one surprise.
    static let leastProbability = 0.01
    /// Least probability that has odds.
    static let leastOdds = 0.0005

    /// The standard prior and the profile's samples.
    private let bins: BinPriors
    /// Factors of the odds, by popularity, then bin.
    private let factors: [DemandLikelihood]
    /// Weight of the prediction with popularity, by kind.
    private var weights = [Double](repeating: 0.5, count: CandidateBin.kinds)

    /// - Parameters:
    ///   - counts: The profile's, of all placed bins.
    ///   - prior: The standard prior.
    init(_ counts: BinCounts, prior: BinPriors) {
        var bins = prior
        for bin in 0..<CandidateBin.count { bins.take(counts, of: bin) }
        self.bins = bins
        let anyPlace = BinPriors(needed: bins.needed, soon: bins.soon, strength: prior.strength)
        factors = (CandidateBin.count..<CandidateBin.placedCount).map { placed in
            let bin = CandidateBin.unplaced(placed)
            let (there, anywhere) = (anyPlace.likelihood(bin, counts, at: placed), bins.likelihood(bin))
            return DemandLikelihood(
                needed: Self.odds(there.needed) / Self.odds(anywhere.needed),
                soon: Self.odds(there.soon) / Self.odds(anywhere.soon)
            )
        }
    }

    static let byteCount =
        MemoryLayout<DemandLikelihood>.stride * (CandidateBin.placedCount - CandidateBin.count)
        + 3 * MemoryLayout<Double>.stride * CandidateBin.count

    private static func odds(_ probability: Double) -> Double {
        let bounded = min(max(probability, leastOdds), 1 - leastOdds)
        return bounded / (1 - bounded)
    }

    private static func times(_ factor: Double, _ probability: Double) -> Double {
        let odds = odds(probability) * factor
        return odds / (1 + odds)
    }

    /// Probabilities without and with popularity.
    ///
    /// Popular tiles are candidates only because of the profile, so that both start with its samples.
    private func predictions(
        _ bin: Int,
        _ cold: DemandLikelihood,
        _ counts: BinCounts
    ) -> (DemandLikelihood, DemandLikelihood) {
        let plain = CandidateBin.unplaced(bin)
        guard bin != plain else { return (cold, cold) }
        let base = CandidateBin.kind(plain) == .popular ? bins.likelihood(plain, counts) : cold
        let factor = factors[bin - CandidateBin.count]
        let needed = Self.times(factor.needed, base.needed)
        return (base, DemandLikelihood(needed: needed, soon: min(Self.times(factor.soon, base.soon), needed)))
    }

    /// Mean of both predictions, not below that without a profile.
    ///
    /// - Parameters:
    ///   - cold: Probabilities without a profile.
    ///   - counts: Samples of this session by unplaced bin.
    func likelihood(_ bin: Int, _ cold: DemandLikelihood, _ counts: BinCounts) -> DemandLikelihood {
        let (without, with) = predictions(bin, cold, counts)
        let kind = CandidateBin.kind(CandidateBin.unplaced(bin))
        let weight = weights[kind.rawValue]
        let mean = DemandLikelihood(
            needed: without.needed + weight * (with.needed - without.needed),
            soon: without.soon + weight * (with.soon - without.soon)
        )
        if kind == .popular { return mean }
        return DemandLikelihood(needed: max(mean.needed, cold.needed), soon: max(mean.soon, cold.soon))
    }

    /// Compares a sample with each prediction. To be called before it is counted.
    mutating func weigh(
        _ bin: Int,
        _ cold: DemandLikelihood,
        _ counts: BinCounts,
        weight: Double,
        wasNeeded: Bool,
        wasSoon: Bool
    ) {
        let (without, with) = predictions(bin, cold, counts)
        guard without != with else { return }
        func chance(_ prediction: DemandLikelihood) -> Double {
            let both = Self.chance(prediction.needed, wasNeeded) * Self.chance(prediction.soon, wasSoon)
            return PortableMath.pow(both, weight)
        }
        let kind = CandidateBin.kind(CandidateBin.unplaced(bin)).rawValue
        let (first, second) = ((1 - weights[kind]) * chance(without), weights[kind] * chance(with))
        weights[kind] = (1 - Self.share) * second / (first + second) + Self.share / 2
    }

    /// Forgets how well each has predicted.
    mutating func unlearn() { weights = [Double](repeating: 0.5, count: CandidateBin.kinds) }

    /// Probability that was given to what happened.
    private static func chance(_ probability: Double, _ happened: Bool) -> Double {
        let bounded = min(max(probability, leastProbability), 1 - leastProbability)
        return happened ? bounded : 1 - bounded
    }
}

extension BinPriors {
    /// Adds a profile's samples to the prior of a bin.
    fileprivate mutating func take(_ counts: BinCounts, of bin: Int) {
        let mean = likelihood(bin, counts)
        (needed[bin], soon[bin]) = (mean.needed, mean.soon)
        strength[bin] = min(strength[bin] + counts.events[bin], ProfileMixture.maximumStrength)
    }

    /// Probabilities before any sample.
    fileprivate func likelihood(_ bin: Int) -> DemandLikelihood {
        DemandLikelihood(needed: needed[bin], soon: soon[bin])
    }
}
