import TileCache

/// Random numbers as people's movements have them.
struct GestureDice: Sendable {
    private var random: SplitMix64

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    mutating func unit() -> Double { random.nextUnit() }

    mutating func next(from low: Double, to high: Double) -> Double { random.next(from: low, to: high) }

    mutating func chance(_ share: Double) -> Bool { random.nextUnit() < share }

    /// Of the standard normal distribution, by Box and Muller's way.
    mutating func normal() -> Double {
        let radius = (-2 * 0.6931471805599453 * PortableMath.log2(1 - random.nextUnit())).squareRoot()
        return radius * PortableMath.cos(2 * Double.pi * random.nextUnit())
    }

    /// Of the log-normal distribution with a median and a spread: the standard deviation of the logarithm.
    mutating func logNormal(median: Double, spread: Double) -> Double {
        median * PortableMath.exp(spread * normal())
    }

    /// The spread of the log-normal distribution with a median and a 90th percentile, which lies 1.2816 standard
    /// deviations above.
    static func spread(median: Double, percentile90: Double) -> Double {
        PortableMath.log2(percentile90 / median) * 0.6931471805599453 / 1.2815515655446004
    }
}
