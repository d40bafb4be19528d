/// Weights of the samples of each bin. Counts all samples, those needed, and those needed too soon to wait.
struct BinCounts: Hashable, Sendable {
    /// Maximum of a sum of events. Far above that of any session, and far below sums to which 1 more makes no
    /// difference.
    static let maximum = 0x1p48

    var events: [Double]
    var needed: [Double]
    var soon: [Double]

    init(count: Int) {
        events = [Double](repeating: 0, count: count)
        (needed, soon) = (events, events)
    }

    var byteCount: Int { 3 * events.count * MemoryLayout<Double>.stride }

    mutating func count(_ bin: Int, weight: Double, wasNeeded: Bool, wasSoon: Bool) {
        events[bin] += weight
        if wasNeeded { needed[bin] += weight }
        if wasSoon { soon[bin] += weight }
    }

    /// Multiplies all counts by a factor.
    mutating func scale(by factor: Double) {
        for bin in events.indices {
            events[bin] *= factor
            needed[bin] *= factor
            soon[bin] *= factor
        }
    }

    /// Adds the counts of another table that is not longer. A bin stops at the maximum, with its probabilities.
    mutating func add(_ other: BinCounts) {
        for bin in other.events.indices {
            events[bin] += other.events[bin]
            needed[bin] += other.needed[bin]
            soon[bin] += other.soon[bin]
            guard events[bin] > Self.maximum else { continue }
            let factor = Self.maximum / events[bin]
            events[bin] = Self.maximum
            needed[bin] = min(needed[bin] * factor, events[bin])
            soon[bin] = min(soon[bin] * factor, needed[bin])
        }
    }
}

/// Probabilities of a demand of a bin's tile: within the horizon, and too soon to wait.
struct DemandLikelihood: Hashable, Sendable {
    var needed: Double
    var soon: Double
}

/// Probabilities of bins before any sample, and how many samples they weigh.
struct BinPriors: Sendable {
    var needed: [Double]
    var soon: [Double]
    var strength: [Double]

    /// Mean of the prior and the samples.
    func likelihood(_ bin: Int, _ counts: BinCounts, at place: Int? = nil) -> DemandLikelihood {
        let place = place ?? bin
        let (weight, total) = (strength[bin], strength[bin] + counts.events[place])
        return DemandLikelihood(
            needed: (needed[bin] * weight + counts.needed[place]) / total,
            soon: (soon[bin] * weight + counts.soon[place]) / total
        )
    }

    /// Standard errors that a probability above its prior is lowered by, at most to the prior.
    static let caution = 2.0

    /// Mean of the prior and the samples, with a lower bound of what samples have raised.
    ///
    /// Of many bins, those with the luckiest samples would be loaded: the winner's curse.
    func cautiousLikelihood(_ bin: Int, _ counts: BinCounts) -> DemandLikelihood {
        var mean = likelihood(bin, counts)
        guard mean.soon > soon[bin] else { return mean }
        let error = (mean.soon * (1 - mean.soon) / (strength[bin] + counts.events[bin])).squareRoot()
        mean.soon = max(soon[bin], mean.soon - Self.caution * error)
        return mean
    }
}
